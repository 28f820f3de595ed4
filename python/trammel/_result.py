"""What came of a command of the program."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from . import _trammel
from ._results import Results
from ._run import Run
from ._table import Table


class Room:
    """A folder for a result, removed with it, by the process that made it and no child of it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="trammel-")
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: str, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(path, ignore_errors=True)


class Result(Results):
    """The tables, the answer and the report of a command, read from its run folder."""

    def __init__(
        self,
        folder: Path,
        text: str,
        messages: list[str],
        code: int,
        room: Room | None = None,
    ) -> None:
        # Removed with this object, unless the folder was asked for.
        self._room = room
        self._folder = folder
        self._text = text
        self._messages = messages
        self._code = code
        self._facts: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
        self._all = {
            table["name"]: Table(
                _trammel.read_table(
                    table["name"],
                    [(name, of) for name, of in table["columns"]],
                    (folder / f"{table['name']}.csv").read_text("utf-8"),
                )
            )
            for table in self._facts["tables"]
        }

    @property
    def folder(self) -> Path:
        """The run folder; it lasts as long as this object, where none was asked for."""
        return self._folder

    @property
    def answer(self) -> str:
        """The answer in a sentence; empty where no question is answered."""
        return str(self._facts.get("answer", ""))

    @property
    def messages(self) -> list[str]:
        """What the command said: notes, warnings, failures, a line each."""
        return list(self._messages)

    @property
    def is_met(self) -> bool:
        """Whether every run was made, and every verdict and bound was met (exit code 0)."""
        return self._code == 0

    @property
    def lacks(self) -> str | None:
        """What this machine lacks for an engine that was asked for; the other engines ran."""
        if self._code != 3:
            return None
        lines = [line for line in self._messages if line.startswith("error:")]
        return "\n".join(lines)

    @property
    def files(self) -> list[Path]:
        """The files of the run folder; they last as long as this object, or the folder."""
        return [self._folder / name for name in ("run.json", *self._facts["files"])]

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the numbers come from: version, command, seeds, machine, time."""
        named = ("command", "version", "seeds", "machine", "started", "wall_s", "interrupted")
        return {name: self._facts[name] for name in named if name in self._facts}

    def _page(self) -> str:
        return (self._folder / "report.html").read_text("utf-8")

    def __str__(self) -> str:
        return self._text or self.answer or repr(self)

    def __repr__(self) -> str:
        return f"<result of `{' '.join(self._facts['command'][1:2])}`: {', '.join(self._all)}>"


class Interrupted(KeyboardInterrupt):
    """A run that was interrupted; `run` has what was done."""

    run: Any
    """What was finished: a `Run`, or the `Result` of a command."""

    def __init__(self, run: Run | Result) -> None:
        told = "what was finished is in `.run`"
        if isinstance(run, Run):
            told = f"{run.runs[1]} of {run.runs[0]} runs are finished, and in `.run`"
        super().__init__(told)
        self.run = run
