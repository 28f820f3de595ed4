"""Hands out the runs that a store lacks, until it has all of them; then gathers them.

    missing runs -> batches by expected time -> executor -> missing runs -> …

What is done is what the store has, whatever an executor tells. A run whose process was killed is
begun again, at most three times in all; one whose machine lacks something goes elsewhere.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from .. import _program, _trammel
from .._faults import ScenarioError, refuse
from .._progress import Progress
from .._result import Interrupted
from .._run import Run
from ._executor import Ended, Executor, Task
from ._local import local

_TRIES = 3
"""How often a run is begun at most."""
_REFUSALS = 10
"""How often a run is refused at most by machines that lack something."""
_LEAST_S, _MOST_S = 1.0, 20.0
"""The time of a batch: more than a process takes to start, less than one likes to lose."""
_SHARES = 16
"""Into how many batches the work of a core is cut, so that cores end at about one time."""
_CORES = 64
"""The cores that an executor is taken to have where it does not say."""

_DONE, _FAILED, _USAGE, _LACKS = 0, 1, 2, 3
"""Exit codes of the program."""


class Incomplete(RuntimeError):
    """Runs are missing although they were begun as often as they may be.

    The store keeps what was made: the same call tries the others again.
    """

    run: Run
    """What was made."""
    missing: list[str]
    """The keys of the runs that are missing."""

    def __init__(self, run: Run, missing: list[str], why: str) -> None:
        super().__init__(f"{len(missing)} of {run.runs[0]} runs are missing: {why}")
        self.run = run
        self.missing = missing


class Scenario(NamedTuple):
    """A scenario as the extension module takes it, and the store of its runs."""

    text: str
    name: str
    folder: Path
    engines: list[str]
    seed: int | None
    store: str

    def missing(self, only: set[str] | None = None) -> tuple[int, list[Missing]]:
        """How many runs there are, and those, of the keys `only` where given, that the store
        lacks."""
        try:
            runs, missing = _trammel.missing(*self, only)
        except _trammel.Refused as refused:
            refuse(refused)
        return runs, [Missing(*run) for run in missing]

    def gather(self) -> Run:
        return Run(_trammel.gather(*self))


class Missing(NamedTuple):
    """A run that a store lacks."""

    key: str
    engine: str
    expected_s: float


def place_of(store: str | os.PathLike[str]) -> str:
    """A store as all workers understand it, wherever they are."""
    place = os.fspath(store)
    return place if "://" in place else os.path.abspath(place)


def batches(runs: Iterable[Missing], cores: int | None) -> list[list[Missing]]:
    """The runs in batches of about one length and one engine, the longest first."""
    runs = list(runs)
    share = sum(run.expected_s for run in runs) / ((cores or _CORES) * _SHARES)
    most = min(max(share, _LEAST_S), _MOST_S)
    made: list[list[Missing]] = []
    # Of each engine the batch that still has room, and how much.
    last: dict[str, tuple[list[Missing], float]] = {}
    for run in runs:
        batch, room_s = last.get(run.engine, ([], -1.0))
        if run.expected_s > room_s:
            batch, room_s = [], most
            made.append(batch)
        batch.append(run)
        last[run.engine] = batch, room_s - run.expected_s
    return sorted(made, key=lambda batch: -sum(run.expected_s for run in batch))


def task_of(scenario: Scenario, batch: Sequence[Missing], program: str) -> Task:
    """The process that makes a batch."""
    words = [program, "point", "-", "--store", scenario.store, "--threads", "1"]
    words += ["--build", _trammel.build(), "--key", ",".join(run.key for run in batch)]
    if scenario.engines:
        words += ["--engine", ",".join(scenario.engines)]
    if scenario.seed is not None:
        words += ["--seed", str(scenario.seed)]
    expected_s = sum(run.expected_s for run in batch)
    folder = str(scenario.folder.absolute())
    return Task(words, scenario.text, folder, batch[0].engine, expected_s)


class _Rounds:
    """What becomes of the runs that are missing."""

    def __init__(self, all_runs: int, left: list[Missing], tell: _TellProgress | None) -> None:
        self.begun: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.why: dict[str, str] = {}
        self.said: list[str] = []
        self.unsure: set[str] = set()
        """Runs of processes that did not end well: they may be in the store or not."""
        self._lost: list[tuple[Sequence[Missing], int]] = []
        self._cut: list[list[Missing]] = []
        self._untold: set[int] = set()
        """The places of batches of which the executor has not told."""
        self._all, self._tell = all_runs, tell
        self._work_s = sum(run.expected_s for run in left) or 1.0
        self._done, self._done_s = 0, 0.0
        self._runs = len(left)

    def begin(self, cut: list[list[Missing]]) -> None:
        """A round with these batches begins."""
        self._cut, self._untold = cut, set(range(len(cut)))
        self.unsure = {run.key for batch in cut for run in batch}

    def ended(self, at: int, ended: Ended) -> None:
        """Notes how the process of the batch at this place ended."""
        self._untold.discard(at)
        batch = self._cut[at]
        words = ended.said.strip().splitlines()
        keys = [run.key for run in batch]
        if ended.code == _USAGE:
            raise ScenarioError(ended.said.strip())
        if ended.code == _DONE:
            self.unsure.difference_update(keys)
        if ended.code in (_DONE, _FAILED):
            # Those of them that are missing could not be stored.
            self.begun.update(keys)
            self.said += words
            self._done += len(batch)
            self._done_s += sum(run.expected_s for run in batch)
        elif ended.code == _LACKS:
            self.refused.update(keys)
        else:
            self._lost.append((batch, ended.times))
        last = words[-1] if words else _how(ended.code)
        self.why.update((key, last) for key in keys)
        if self._tell is not None:
            done = self._all - self._runs + self._done
            self._tell(Progress(self._all, done, 0, self._done_s / self._work_s))

    def look(self, left: Sequence[Missing]) -> None:
        """Counts what was begun by processes that were lost. They make their runs in order, so
        that is the first one that is missing; those behind it were not begun."""
        missing = {run.key for run in left}
        for batch, times in self._lost:
            first = next((run.key for run in batch if run.key in missing), None)
            if first is not None:
                self.begun[first] += times
        self._lost.clear()
        for at in self._untold:
            # Or an executor that forgets its tasks would be asked for ever.
            self.begun.update(run.key for run in self._cut[at])

    def may_begin(self, run: Missing) -> bool:
        return self.begun[run.key] < _TRIES and self.refused[run.key] < _REFUSALS


_TellProgress = Callable[[Progress], object]


def _how(code: int | None) -> str:
    if code is None:
        return "the worker was lost"
    return f"the process ended by signal {-code}" if code < 0 else f"the process ended with {code}"


def hand_out(
    scenario: Scenario, executor: Executor | None, tell: _TellProgress | None
) -> Run:
    """Has an executor make the runs that the store lacks; gives the whole run."""
    program = _program.find("trammel")
    if program is None:
        raise RuntimeError("the program `trammel` is missing; install the package again")
    # The build of a store is that of the program.
    _trammel.stand_in(program)
    executor = executor or local()
    runs, left = scenario.missing()
    rounds = _Rounds(runs, left, tell)
    given_up: list[Missing] = []
    try:
        while begin := [run for run in left if rounds.may_begin(run)]:
            given_up += [run for run in left if not rounds.may_begin(run)]
            cut = batches(begin, executor.cores)
            tasks = [task_of(scenario, one, str(program)) for one in cut]
            rounds.begin(cut)
            executor.run(tasks, rounds.ended)
            _, left = scenario.missing(rounds.unsure)
            rounds.look(left)
    except KeyboardInterrupt:
        raise Interrupted(scenario.gather()) from None
    run = scenario.gather()
    # Failures of runs are in the run; what else was said is a fault of the store or of a worker.
    known_words = tuple(run.failures)
    for line in dict.fromkeys(rounds.said):
        if not line.endswith(known_words):
            warnings.warn(f"a worker said: {line}", stacklevel=3)
    if keys := [one.key for one in given_up + left]:
        whys = Counter(rounds.why.get(key, "no worker has taken them") for key in keys)
        raise Incomplete(run, keys, whys.most_common(1)[0][0])
    return run
