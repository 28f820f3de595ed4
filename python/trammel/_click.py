"""A router's configuration in Click's language."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

from . import _command
from ._commands import estimate
from ._faults import CommandError, Unsupported
from ._result import Result


class ClickRun(NamedTuple):
    """What a run of a configuration came to."""

    handlers: dict[str, str]
    """The values of the read handlers that were asked for, after the run."""
    statistics: dict[str, Any]
    """Packets, batches and reasons of loss of each element; empty unless it was asked for."""
    messages: str
    """What elements such as `Print` wrote."""


def _values(shown: str, handlers: Sequence[str]) -> dict[str, str]:
    """The values of handlers: one is shown alone, several each with a heading before it."""
    if len(handlers) == 1:
        return {handlers[0]: shown.rstrip("\n")}
    values: dict[str, str] = {}
    for at, name in enumerate(handlers):
        shown = shown.removeprefix(f"{name}:\n")
        after = f"{handlers[at + 1]}:\n" if handlers[at + 1 :] else None
        # A value ends with a line, an empty one or none at all.
        end = 0 if after and shown.startswith(after) else shown.find(f"\n{after}")
        end = len(shown) if end < 0 or after is None else end
        values[name] = shown[:end].rstrip("\n")
        shown = shown[end:].lstrip("\n")
    return values


class Click:
    """A configuration in Click's language: run it, draw it, estimate it.

    >>> import trammel as tm
    >>> click = tm.Click("InfiniteSource(LIMIT 1000, STOP true) -> c :: Counter -> Discard")
    >>> click.run(handlers=["c.count"]).handlers
    {'c.count': '1000'}
    """

    def __init__(self, text: str, *, folder: str | PathLike[str] = ".") -> None:
        """The configuration of a text; files that it names are relative to `folder`."""
        if not isinstance(text, str):
            raise TypeError(f"a configuration is a text, not a {type(text).__name__}")
        self.text = text
        # Where the process goes later does not matter.
        self.folder = Path(folder).absolute()
        self.path: Path | None = None

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Click:
        """The configuration of a file."""
        path = Path(path)
        click = cls(path.read_text("utf-8"), folder=path.parent)
        click.path = path
        return click

    def _call(self, words: Sequence[str]) -> tuple[str, str]:
        """Gives the configuration to the program; what it wrote to both outputs."""
        done = subprocess.run(
            [_command.program(), *words],
            cwd=self.folder,
            input=self.text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
        if done.returncode != 0:
            kind = Unsupported if done.returncode == 3 else CommandError
            raise kind(done.stderr.strip())
        return done.stdout, done.stderr

    def run(
        self,
        *,
        define: Mapping[str, str | int | PathLike[str]] | None = None,
        handlers: str | Sequence[str] = (),
        statistics: bool = False,
        virtual: bool = True,
        threads: int = 1,
        seed: int = 1,
    ) -> ClickRun:
        """Runs the configuration until it stops.

        Packets come from `FromDump(…)`, `InfiniteSource(…)` and the like: a configuration of
        devices that never stops is not for this method. Captures are given as variables:
        `click.run(define={"IN": "a.pcap"})` with `FromDump($IN, STOP true)`.

        Args:
            define: variables of the configuration.
            handlers: read handlers such as `c.count`, read after the run.
            statistics: whether packets and reasons of loss of each element are counted.
            virtual: whether time is virtual, so that the same bytes come each time.
            threads: threads; in virtual time one thread runs all elements.
            seed: the seed of all random numbers.
        """
        handlers = [handlers] if isinstance(handlers, str) else list(handlers)
        words = ["router", "-f", "-", f"--seed={seed}", f"--threads={threads}"]
        words += ["--simtime"] if virtual else []
        words += ["--statistics-json"] if statistics else []
        words += [f"--handler={name}" for name in handlers]
        words += [f"{name}={value}" for name, value in (define or {}).items()]
        shown, said = self._call(words)
        counted: dict[str, Any] = {}
        if statistics:
            # It comes before the handlers.
            counted, end = json.JSONDecoder().raw_decode(shown)
            shown = shown[end:].lstrip("\n")
        return ClickRun(_values(shown, handlers), counted, said)

    def graph(self, format: Literal["svg", "dot"] = "svg") -> str:
        """The drawing of the configuration."""
        return self._call(["graph", "-", f"--{format}"])[0]

    def estimate(self, machine: str | None = None, **options: Any) -> Result:
        """What it will do on a machine, and what limits it; `options` are those of `estimate`."""
        return estimate(self, machine=machine, **options)

    def _given_to(self) -> _command.Given:
        return _command.Given(self.text, self.folder, self.path)

    def _repr_svg_(self) -> str:
        return self.graph()

    def __repr__(self) -> str:
        return f"Click({self.text!r})"
