"""Jobs of Slurm, by submitit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from os import PathLike
from typing import Any

from ._executor import Ended, Executor, Task, Tell, carry_out

_POLL_S = 1.0
"""Between two looks at the jobs."""


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
        engine = submitit.AutoExecutor(folder=self._folder, cluster="slurm")
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
        shares = [places[at::jobs] for at in range(jobs)]
        work = [[tasks[at] for at in share] for share in shares]
        left = dict(enumerate(engine.map_array(_carry_out_all, work)))
        try:
            while left:
                time.sleep(_POLL_S)
                for at in [at for at, job in left.items() if job.done()]:
                    job = left.pop(at)
                    try:
                        all_ended = job.result()
                    except Exception as lost:
                        all_ended = [Ended(None, str(lost))] * len(shares[at])
                    for place, ended in zip(shares[at], all_ended):
                        tell(place, Ended(*ended))
        finally:
            for job in left.values():
                job.cancel()


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
