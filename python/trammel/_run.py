"""What came of a scenario."""

from __future__ import annotations

from collections.abc import Mapping

from . import _trammel
from ._results import Results
from ._table import Table


class Run(Results):
    """The tables, the answer and the report of a run."""

    def __init__(self, outcome: _trammel.Outcome) -> None:
        self._outcome = outcome
        self._all = {table.name: Table(table) for table in outcome.tables()}
        self._traces = {table.name: Table(table) for table in outcome.traces()}

    @property
    def traces(self) -> Mapping[str, Table]:
        """Samples over time, where the scenario has `trace`: a table for each flow, queue and run.

        Each is named `POINT.ENTITY`, or `POINT.REPEAT.ENTITY` where runs are repeated, as the
        command names its file.
        """
        return dict(self._traces)

    @property
    def flows(self) -> Table:
        """A row a flow and run."""
        return self["flows"]

    @property
    def links(self) -> Table:
        """A row a link and run."""
        return self["links"]

    @property
    def devices(self) -> Table:
        """A row a port of a device and run."""
        return self["devices"]

    @property
    def workloads(self) -> Table:
        """A row a workload, range of sizes and run."""
        return self["workloads"]

    @property
    def streams(self) -> Table:
        """A row a stream and run."""
        return self["streams"]

    @property
    def apps(self) -> Table:
        """A row an application and run."""
        return self["apps"]

    @property
    def groups(self) -> Table:
        """A row a run: what all flows share."""
        return self["groups"]

    @property
    def predictions(self) -> Table:
        """A row a model, flow and point."""
        return self["predictions"]

    @property
    def summary(self) -> Table:
        """A row a metric: mean and interval over the repeats."""
        return self["summary"]

    @property
    def comparison(self) -> Table:
        """A row a metric: all engines beside each other."""
        return self["comparison"]

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

    def _parquet_facts(self) -> list[tuple[str, str]]:
        return self._outcome.parquet_facts

    def _page(self) -> str:
        return self._outcome.report()

    def __repr__(self) -> str:
        made, tables = self.runs[1], ", ".join(self._all)
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<run: {made} of {self.runs[0]} runs{failed}; {tables}>"
