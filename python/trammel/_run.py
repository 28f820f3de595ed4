"""What came of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from . import _trammel
from ._table import Table


class Progress(NamedTuple):
    """How far a run is."""

    runs: int
    """Runs that are to be made: points, repeats and engines."""
    done: int
    """Runs that were made."""
    failed: int
    """Runs that failed."""
    fraction: float
    """The part of the work that is done, from 0 to 1."""


class Interrupted(KeyboardInterrupt):
    """A run that was interrupted; `run` has what was done."""

    run: Run
    """The points that were finished."""

    def __init__(self, run: Run) -> None:
        done = run.runs
        super().__init__(f"{done[1]} of {done[0]} runs are finished, and in `.run`")
        self.run = run


class Run:
    """The tables, the answer and the report of a run."""

    def __init__(self, outcome: _trammel.Outcome) -> None:
        self._outcome = outcome
        self._tables = {table.name: Table(table) for table in outcome.tables()}

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables that have rows, by name, in the order in which the command writes them."""
        return dict(self._tables)

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            known = ", ".join(f"`{one}`" for one in self._tables) or "none"
            raise LookupError(f"this run has no rows in a table `{name}`; it has {known}")
        return self._tables[name]

    @property
    def flows(self) -> Table:
        """A row a flow and run."""
        return self._table("flows")

    @property
    def links(self) -> Table:
        """A row a link and run."""
        return self._table("links")

    @property
    def devices(self) -> Table:
        """A row a port of a device and run."""
        return self._table("devices")

    @property
    def workloads(self) -> Table:
        """A row a workload, range of sizes and run."""
        return self._table("workloads")

    @property
    def streams(self) -> Table:
        """A row a stream and run."""
        return self._table("streams")

    @property
    def apps(self) -> Table:
        """A row an application and run."""
        return self._table("apps")

    @property
    def groups(self) -> Table:
        """A row a run: what all flows share."""
        return self._table("groups")

    @property
    def predictions(self) -> Table:
        """A row a model, flow and point."""
        return self._table("predictions")

    @property
    def summary(self) -> Table:
        """A row a metric: mean and interval over the repeats."""
        return self._table("summary")

    @property
    def comparison(self) -> Table:
        """A row a metric: all engines beside each other."""
        return self._table("comparison")

    @property
    def answer(self) -> str:
        """The answer in a sentence; empty where no question is answered."""
        return self._outcome.answer

    @property
    def notes(self) -> list[str]:
        """What a reader must know, such as models that do not apply."""
        return self._outcome.notes

    @property
    def failures(self) -> list[str]:
        """Why runs failed, each with its point and seed; the others are in the tables."""
        return self._outcome.failures

    @property
    def lacks(self) -> str | None:
        """What this machine lacks for an engine that was asked for; the other engines ran."""
        return self._outcome.lacks

    @property
    def engines(self) -> list[str]:
        """The engines that were asked for."""
        return self._outcome.engines

    @property
    def runs(self) -> tuple[int, int]:
        """Runs that were to be made, and those that were."""
        return self._outcome.runs

    @property
    def provenance(self) -> dict[str, str]:
        """Where the numbers come from: version, seeds, machine, kernel, time."""
        facts: dict[str, str] = {}
        for name, text in self._outcome.provenance:
            # There are two kernels: the one that was measured, and this machine's.
            facts[f"{name} of this machine" if name in facts else name] = text
        return facts

    def report(self, path: str | PathLike[str] | None = None) -> str:
        """The report, one page of HTML that needs no network; with `path`, into that file."""
        page = self._outcome.report()
        if path is not None:
            Path(path).write_bytes(page.encode())
        return page

    def to_csv(self, folder: str | PathLike[str]) -> list[Path]:
        """Writes every table into `folder`, as the command does; gives the files."""
        into = Path(folder)
        into.mkdir(parents=True, exist_ok=True)
        files = []
        for name, table in self._tables.items():
            files.append(into / f"{name}.csv")
            table.to_csv(files[-1])
        return files

    def __repr__(self) -> str:
        made, tables = self.runs[1], ", ".join(self._tables)
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<run: {made} of {self.runs[0]} runs{failed}; {tables}>"

    def _repr_html_(self) -> str:
        # The page has a style and a script of its own.
        page = escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'
