"""What an executor does: it starts processes, and tells how they ended."""

from __future__ import annotations

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .. import _program

_SAID = 4000
"""The characters that are kept of what a process said, from its end."""


class Task(NamedTuple):
    """A process that makes runs one after the other, on one core."""

    words: list[str]
    """The program and its arguments."""
    scenario: str
    """Its standard input."""
    folder: str
    """Its working folder, where the worker has that: files that the scenario names are there."""
    engine: str
    """What makes the runs: `simulate`, `linux_vt` (a Linux kernel) or `measure` (the host)."""
    expected_s: float
    """The seconds that it takes, roughly."""


class Ended(NamedTuple):
    """How a process ended."""

    code: int | None
    """The exit code; below 0 a signal's number; None where the worker was lost with it."""
    said: str
    """The end of its standard error."""
    times: int = 1
    """How often it was begun."""


Tell = Callable[[int, Ended], None]
"""Takes the place of a task and how it ended."""


class Executor(ABC):
    """Starts processes, here or elsewhere. One of your own needs `run` alone."""

    @property
    def cores(self) -> int | None:
        """How many tasks it carries out at once; None where that is not known."""
        return None

    @abstractmethod
    def run(self, tasks: Sequence[Task], tell: Tell) -> None:
        """Carries out tasks, each once, and tells of each when it has ended.

        Where an exception passes, such as an interrupt, what has not begun is left out.
        """


def carry_out(task: Task) -> Ended:
    """Carries out a task on this machine."""
    process = start(task)
    _, said = process.communicate(task.scenario)
    return Ended(process.returncode, said[-_SAID:])


def start(task: Task) -> subprocess.Popen[str]:
    """Starts a task on this machine, which may have the program at another place."""
    program = task.words[0]
    if not os.access(program, os.X_OK):
        program = str(_program.find("trammel") or shutil.which("trammel") or program)
    return subprocess.Popen(
        [program, *task.words[1:]],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=task.folder if os.path.isdir(task.folder) else None,
    )
