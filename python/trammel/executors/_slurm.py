"""Jobs of Slurm, by submitit."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import Any

from ._executor import Ended, Executor, Task, Tell, carry_out

_POLL_S = 1.0
"""Between two looks at the jobs."""
_GRACE = 5
"""Looks until a job that has gone without a result is lost: a file may be seen late."""


def _carry_out_all(tasks: Sequence[Task]) -> list[Ended]:
    """A job's work: its tasks, one after the other."""
    return [carry_out(task) for task in tasks]


class _Slurm(Executor):
    def __init__(
        self,
        folder: str | PathLike[str],
        cores: int,
        most: int,
        settings: dict[str, Any],
        kernel: str | None,
    ) -> None:
        self._cores = cores
        self._folder, self._most = folder, most
        self._settings, self._kernel = settings, kernel

    @property
    def cores(self) -> int | None:
        return self._cores

    def run(self, tasks: Sequence[Task], tell: Tell) -> None:
        simulated = [at for at, task in enumerate(tasks) if task.engine == "simulate"]
        others = [at for at, task in enumerate(tasks) if task.engine != "simulate"]
        self._run(simulated, tasks, tell, None)
        self._run(others, tasks, tell, self._kernel)

    def _run(
        self, places: list[int], tasks: Sequence[Task], tell: Tell, constraint: str | None
    ) -> None:
        import submitit

        if not places:
            return
        engine = submitit.AutoExecutor(folder=os.fspath(self._folder), cluster="slurm")
        extra = {"no-requeue": True, **({"constraint": constraint} if constraint else {})}
        engine.update_parameters(
            name="trammel",
            cpus_per_task=1,
            slurm_array_parallelism=self._cores,
            slurm_additional_parameters=extra,
            **self._settings,
        )
        # Slurm starts jobs slowly, so a job has a share of the tasks, long ones and short ones.
        jobs = min(len(places), self._most)
        shares = [list(range(at, len(places), jobs)) for at in range(jobs)]
        work = [[tasks[places[one]] for one in share] for share in shares]
        left = dict(enumerate(engine.map_array(_carry_out_all, work)))
        gone: Counter[str] = Counter()
        try:
            while left:
                time.sleep(_POLL_S)
                queued = _queued()
                for at, job in list(left.items()):
                    if job.job_id not in queued:
                        gone[job.job_id] += 1
                    if job.paths.result_pickle.exists() or gone[job.job_id] > _GRACE:
                        self._tell(left.pop(at), [places[one] for one in shares[at]], tell)
        finally:
            for job in left.values():
                job.cancel()

    def _tell(self, job: Any, places: list[int], tell: Tell) -> None:
        try:
            all_ended = job.result() if job.paths.result_pickle.exists() else None
        except Exception as lost:
            all_ended = [Ended(None, str(lost))] * len(places)
        for place, ended in zip(places, all_ended or [Ended(None, "")] * len(places)):
            tell(place, Ended(*ended))


def _queued() -> set[str]:
    """The jobs of this user that Slurm still has. Its accounting would say more, and is not
    everywhere."""
    words = ["squeue", "--noheader", "--array", "--me", "--format=%i"]
    asked = subprocess.run(words, capture_output=True, text=True, check=True)
    return set(asked.stdout.split())


def slurm(
    folder: str | PathLike[str],
    *,
    cores: int = 64,
    most_jobs: int = 1000,
    kernel: str | None = None,
    **settings: Any,
) -> Executor:
    """Arrays of jobs of Slurm, submitted by `submitit`; nodes need this package.

    Args:
        folder: a folder that all nodes see, for submitit's files.
        cores: jobs that run at once; each has one core.
        most_jobs: jobs of an array at most, as `MaxArraySize` allows.
        kernel: the feature (`--constraint`) of nodes that can run kernels; None where all can.
        settings: others of submitit, such as `slurm_partition="short"` or `timeout_min=30`.
    """
    import submitit  # noqa: F401

    return _Slurm(folder, cores, most_jobs, settings, kernel)
