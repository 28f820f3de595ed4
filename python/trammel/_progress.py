"""How far a run is, and how that is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Optional


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


Tell = Optional[Callable[[Progress], object]]
"""Who is told of the progress."""


@contextmanager
def shown(wanted: Callable[[Progress], object] | bool) -> Iterator[Tell]:
    """What tells of the progress: the caller's function, a bar, or nothing.

    The bar is rich's where it is installed, in terminals and notebooks; else a line on standard
    error.
    """
    if not isinstance(wanted, bool):
        yield wanted
        return
    if not wanted:
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars
    except ImportError:
        yield _say
        return
    columns = (BarColumn(), MofNCompleteColumn(), "runs", TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task("runs", total=None)

        def tell(progress: Progress) -> None:
            ended = progress.done + progress.failed
            bars.update(task, total=progress.runs, completed=ended)

        yield tell


def _say(progress: Progress) -> None:
    ended = progress.done + progress.failed
    text = f"\r{ended} of {progress.runs} runs, {progress.fraction:.0%}"
    print(text, end="\n" if ended == progress.runs else "", file=sys.stderr, flush=True)
