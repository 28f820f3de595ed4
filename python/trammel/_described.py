"""What the scenarios of all subjects share: text, sweep, check."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from . import _command, _toml, _trammel
from ._faults import ScenarioError, refuse
from ._result import Result
from ._section import Section

Engine = Literal["predict", "simulate", "measure"]

S = TypeVar("S", bound="Described")


class Point(NamedTuple):
    """A point of a scenario: one combination of what is swept."""

    name: str
    """The name in the tables."""
    hash: str
    """A hash of all that decides its numbers; empty but in scenarios of transport."""


class Described(Section):
    """A scenario. It does not change: `replace` and `sweep` make another one."""

    _subject: ClassVar[str] = "transport"
    _text: str | None = None
    _name: str = "scenario.toml"
    _folder: Path | None = None
    """The folder of the files that it names; nothing stands for the one at hand."""

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
        subject = _trammel.subject(text)
        if subject != cls._subject:
            raise ScenarioError(
                f"{name}: this is a scenario of {subject}, not of {cls._subject}; `trammel.read` "
                "reads a file of any subject"
            )
        try:
            scenario = cls._of(_trammel.parse(text))
        except _trammel.Refused as refused:
            # Read as a scenario, the fault is shown with its line.
            _check(text, name, Path(folder).absolute(), ())
            refuse(refused)
        scenario._fill({"_text": text, "_name": name, "_folder": Path(folder).absolute()})
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
        before: Mapping[str, Any] = getattr(self, "sweeps", None) or {}
        return self.replace(sweeps={**before, **values})

    def check(self, engines: Engine | Sequence[Engine] = ()) -> list[Point]:
        """The points of the scenario; raises a `ScenarioError` with all faults.

        Args:
            engines: engines that are to run it, in place of its own.
        """
        return _check(self.to_toml(), self._name, self._here(), asked(engines))

    def _given_to(self) -> _command.Given:
        """The scenario as a command reads it."""
        path = None if self._text is None else Path(self._name)
        return _command.Given(self.to_toml(), self._here(), path)

    def _here(self) -> Path:
        return self._folder or Path.cwd()


class ByProgram(Described):
    """A scenario that the program runs, in a process of its own.

    What it does to its process (namespaces, processors, signals) does not touch yours.
    """

    def run(
        self,
        engines: Engine | Sequence[Engine] = (),
        *,
        seed: int | None = None,
        threads: int | None = None,
        out: str | PathLike[str] | None = None,
        force: bool = False,
    ) -> Result:
        """Runs every point by every engine, as `trammel run` does.

        An interrupt keeps the runs that are finished and raises `Interrupted`, whose `run` has
        them.

        Args:
            engines: engines in place of the scenario's own.
            seed: the first seed in place of the scenario's.
            threads: threads; one a core by default.
            out: run folder to write and keep.
            force: replace the folder, whatever run it holds.
        """
        engines, seed = asked(engines), seeded(seed)
        self.check(engines)
        options = {"engine": engines, "seed": seed, "threads": threads}
        return _command.call("run", [self], options, out, force)


def asked(engines: Engine | Sequence[Engine]) -> list[Engine]:
    """The engines as a list, of one word too."""
    return [engines] if isinstance(engines, str) else list(engines)


def seeded(seed: int | None) -> int | None:
    """The seed, where it is one."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not 0 <= operator.index(seed) < 1 << 64:
        raise ValueError(f"`seed` is a whole number from 0 to 2**64 - 1, not {seed}")
    return operator.index(seed)


def _check(text: str, name: str, folder: Path, engines: Sequence[Engine]) -> list[Point]:
    try:
        points = _trammel.check(text, name, folder, list(engines))
    except _trammel.Refused as refused:
        refuse(refused)
    return [Point(*point) for point in points]
