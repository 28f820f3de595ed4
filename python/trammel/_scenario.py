"""A scenario: built, read, written, checked and run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from . import _program, _toml, _trammel
from ._faults import ScenarioError, refuse
from ._keys import ScenarioKeys
from ._run import Interrupted, Progress, Run

Engine = Literal["predict", "simulate", "measure"]

S = TypeVar("S", bound="Scenario")


class Point(NamedTuple):
    """A point of a scenario: one combination of what is swept."""

    name: str
    """The name in the tables."""
    hash: str
    """A hash of all that decides its numbers."""


class Scenario(ScenarioKeys):
    """A scenario, with the keys of a scenario file as arguments.

    It does not change: `replace` and `sweep` make another one.
    """

    _text: str | None = None
    _name: str = "scenario.toml"
    _folder: Path = Path(".")

    @classmethod
    def from_toml(
        cls: type[S],
        text: str,
        *,
        name: str = "scenario.toml",
        folder: str | PathLike[str] = ".",
    ) -> S:
        """The scenario of a text in TOML.

        Args:
            text: the text.
            name: what it is called in messages and in the report.
            folder: files that it names are relative to this folder.
        """
        try:
            scenario = cls._of(_trammel.parse(text))
        except _trammel.Refused as refused:
            # Read as a scenario, the fault is shown with its line.
            _check(text, name, Path(folder), ())
            refuse(refused)
        scenario._fill({"_text": text, "_name": name, "_folder": Path(folder)})
        return scenario

    @classmethod
    def from_file(cls: type[S], path: str | PathLike[str]) -> S:
        """The scenario of a file."""
        path = Path(path)
        return cls.from_toml(path.read_text("utf-8"), name=str(path), folder=path.parent)

    def to_toml(self) -> str:
        """The scenario as the text of a file; of one that was read, the same text."""
        return _toml.write(self) if self._text is None else self._text

    def replace(self: S, **changes: Any) -> S:
        """The same scenario with other values; None takes a key away."""
        other = super().replace(**changes)
        other._fill({"_name": self._name, "_folder": self._folder})
        return other

    def sweep(self: S, values: Mapping[str, Sequence[Any]]) -> S:
        """The scenario with every combination of these values, beside what it sweeps already.

        Args:
            values: lists by dotted keys, such as `{"path.queue.limit": ["1 bdp", "4 bdp"]}`;
                the parts after `flow`, `link` and so on are places, names, or `*` for all.
        """
        return self.replace(sweeps={**(self.sweeps or {}), **values})

    def check(self, engines: Sequence[Engine] = ()) -> list[Point]:
        """The points of the scenario; raises a `ScenarioError` with all faults.

        Args:
            engines: engines that are to run it, in place of its own.
        """
        return _check(self.to_toml(), self._name, self._folder, engines)

    def run(
        self,
        engines: Sequence[Engine] = (),
        *,
        seed: int | None = None,
        threads: int | None = None,
        progress: Callable[[Progress], object] | bool = False,
    ) -> Run:
        """Runs every point by every engine, over all cores, without Python's lock.

        An interrupt finishes the runs at hand and raises `Interrupted`, whose `run` has what was
        done; a second one ends at once.

        Args:
            engines: engines in place of the scenario's own.
            seed: the first seed in place of the scenario's.
            threads: threads; one a core by default.
            progress: called about ten times a second, or True for a line on standard error.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"`threads` is at least 1, not {threads}")
        program = _program.find("trammel")
        if program is not None:
            _trammel.stand_in(program)
        call = _say if progress is True else progress or None
        tell = None if call is None else lambda *numbers: call(Progress(*numbers))
        try:
            outcome = _trammel.run(
                self.to_toml(), self._name, self._folder, list(engines), threads, seed, tell
            )
        except _trammel.Refused as refused:
            refuse(refused)
        except _trammel.Stopped as stopped:
            outcome, error = stopped.args
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(Run(outcome)) from None
            raise error from None
        return Run(outcome)


def _check(text: str, name: str, folder: Path, engines: Sequence[Engine]) -> list[Point]:
    try:
        points = _trammel.check(text, name, folder, list(engines))
    except _trammel.Refused as refused:
        refuse(refused)
    return [Point(*point) for point in points]


def _say(progress: Progress) -> None:
    ended = progress.done + progress.failed
    text = f"\r{ended} of {progress.runs} runs, {progress.fraction:.0%}"
    print(text, end="\n" if ended == progress.runs else "", file=sys.stderr, flush=True)


__all__ = ["Point", "Scenario", "ScenarioError"]
