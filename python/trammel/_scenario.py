"""A scenario of transport: run inside this process, and set beside the real kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike

from . import _command, _program, _trammel
from ._described import Described, Engine, asked, seeded
from ._faults import refuse
from ._keys import ScenarioKeys
from ._progress import Progress, Tell, shown
from ._result import Interrupted, Result
from ._run import Run
from .executors import Executor, _hand_out, local


class Scenario(Described, ScenarioKeys):
    """A scenario, with the keys of a scenario file as arguments.

    It does not change: `replace` and `sweep` make another one.
    """

    def run(
        self,
        engines: Engine | Sequence[Engine] = (),
        *,
        seed: int | None = None,
        threads: int | None = None,
        progress: Callable[[Progress], object] | bool = False,
        store: str | PathLike[str] | None = None,
        executor: Executor | None = None,
    ) -> Run:
        """Runs every point by every engine, over all cores, without Python's lock.

        An interrupt keeps the runs that are finished and raises `Interrupted`, whose `run` has
        them; a second one ends at once.

        Args:
            engines: engines in place of the scenario's own.
            seed: the first seed in place of the scenario's.
            threads: threads; one a core by default.
            progress: called about ten times a second, or True for a bar, by rich where
                it is installed.
            store: a folder or address of runs: those it has are not made again.
            executor: who makes the others and puts them there; processes on this machine by
                default. It needs `store`.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"`threads` is at least 1, not {threads}")
        engines, seed = asked(engines), seeded(seed)
        with shown(progress) as tell:
            if store is not None or executor is not None:
                return self._hand_out(engines, seed, threads, tell, store, executor)
            return self._run(engines, seed, threads, tell)

    def _run(
        self, engines: Sequence[Engine], seed: int | None, threads: int | None, tell: Tell
    ) -> Run:
        program = _program.find("trammel")
        if program is not None:
            _trammel.stand_in(program)
        call = None if tell is None else lambda *numbers: tell(Progress(*numbers))
        try:
            outcome = _trammel.run(
                self.to_toml(), self._name, self._here(), list(engines), threads, seed, call
            )
        except _trammel.Refused as refused:
            refuse(refused)
        except _trammel.Stopped as stopped:
            outcome, error = stopped.args
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(Run(outcome)) from None
            raise error from None
        return Run(outcome)

    def _hand_out(
        self,
        engines: Sequence[Engine],
        seed: int | None,
        threads: int | None,
        tell: Tell,
        store: str | PathLike[str] | None,
        executor: Executor | None,
    ) -> Run:
        if store is None:
            raise ValueError("an executor needs `store`, a place that all its workers see")
        if threads is not None and executor is not None:
            raise ValueError("with an executor, the cores are its own: leave out `threads`")
        words = _hand_out.Scenario(
            self.to_toml(), self._name, self._here(), list(engines), seed, _hand_out.place_of(store)
        )
        return _hand_out.hand_out(words, executor or local(threads), tell)

    def diverge(
        self,
        *,
        point: str | None = None,
        flow: str | None = None,
        tolerance: str | None = None,
        until: str | None = None,
        seed: int | None = None,
        out: str | PathLike[str] | None = None,
        force: bool = False,
    ) -> Result:
        """Finds the first segment that the simulator and the real kernel send differently.

        `is_met` says whether there was none. Raises `Unsupported` where there is no kernel.

        Args:
            point: the point of a sweep to run; the first by default.
            flow: the flow to compare; the first by default.
            tolerance: largest difference that counts as the same time, such as `1 ms`.
            until: when to stop; the scenario's duration by default.
            seed: the seed of both, in place of the scenario's.
            out: run folder to write and keep.
            force: replace the folder, whatever run it holds.
        """
        options = {
            "point": point,
            "flow": flow,
            "tolerance": tolerance,
            "until": until,
            "seed": seed,
        }
        return _command.call("diverge", [self], options, out, force)
