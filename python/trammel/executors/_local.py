"""Processes on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from ._executor import Ended, Executor, Task, Tell, start

_PATIENCE_S = 10
"""How long a process may take to end after an interrupt."""


class _Local(Executor):
    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._running: set[subprocess.Popen[str]] = set()

    @property
    def cores(self) -> int | None:
        return self._cores

    def _carry_out(self, task: Task) -> Ended:
        process = start(task)
        self._running.add(process)
        try:
            _, said = process.communicate(task.scenario)
        finally:
            self._running.discard(process)
        return Ended(process.returncode, said)

    def run(self, tasks: Sequence[Task], tell: Tell) -> None:
        pool = ThreadPoolExecutor(self._cores, "trammel")
        try:
            places = {pool.submit(self._carry_out, task): at for at, task in enumerate(tasks)}
            left = set(places)
            while left:
                # A wait without an end would not see an interrupt.
                done, left = wait(left, timeout=1, return_when=FIRST_COMPLETED)
                for future in done:
                    tell(places[future], future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # They keep the runs that are finished; one that does not end is not waited for.
            for process in list(self._running):
                process.send_signal(signal.SIGINT)
            try:
                for process in list(self._running):
                    process.wait(_PATIENCE_S)
            except BaseException:
                for process in list(self._running):
                    process.kill()
            raise
        finally:
            pool.shutdown()


def local(cores: int | None = None) -> Executor:
    """Processes on this machine, so many at once; by default one a core that is ours to use.

    Unlike `run` without an executor, a run that takes a process down, for want of memory for
    example, takes no other run with it.
    """
    if cores is not None and cores < 1:
        raise ValueError(f"`cores` is at least 1, not {cores}")
    return _Local(cores or len(os.sched_getaffinity(0)))
