"""What is wrong with a scenario, with its place."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from . import _trammel


class Fault(NamedTuple):
    """One fault of a scenario's text."""

    line: int
    """The line, from 1."""
    column: int
    """The column, from 1, in characters."""
    message: str
    """What is wrong."""
    why: str
    """Why, in a few words."""
    help: str
    """What to do; empty where that is plain."""


class ScenarioError(ValueError):
    """A scenario that cannot be run; its text shows every fault with its line."""

    faults: tuple[Fault, ...]
    """The faults in the order of the text; none where the text is not a scenario."""

    def __init__(self, message: str, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class CommandError(ValueError):
    """What a command refused, in the program's words."""


class Unsupported(RuntimeError):
    """What this machine, or this installation, lacks for what was asked."""


def refuse(refused: _trammel.Refused) -> NoReturn:
    """Raises the error of the package for that of the extension module."""
    message, faults = refused.args
    raise ScenarioError(message, tuple(Fault(*fault) for fault in faults)) from None
