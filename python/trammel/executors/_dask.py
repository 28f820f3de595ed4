"""The workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._executor import Ended, Executor, Task, Tell, carry_out

if TYPE_CHECKING:
    from distributed import Client, Scheduler

_LOSSES = 2
"""How many workers may be lost with a task before Dask gives it up: it is begun three times."""


class _Dask(Executor):
    def __init__(self, client: Client, kernel: dict[str, float]) -> None:
        self._client = client
        self._kernel = kernel

    @property
    def cores(self) -> int | None:
        threads: Any = self._client.nthreads()
        return sum(threads.values()) or None

    def run(self, tasks: Sequence[Task], tell: Tell) -> None:
        from distributed import KilledWorker, as_completed

        before: Any = self._client.run_on_scheduler(_allow, _LOSSES)
        futures: dict[Any, int] = {}
        try:
            for at, task in enumerate(tasks):
                needs = None if task.engine == "simulate" else self._kernel or None
                # A task that was carried out is not one to remember: the store is.
                future = self._client.submit(carry_out, task, pure=False, resources=needs)
                futures[future] = at
            for future in as_completed(list(futures)):
                at, error = futures.pop(future), future.exception()
                if error is None:
                    tell(at, future.result())
                elif isinstance(error, KilledWorker):
                    tell(at, Ended(None, "", _LOSSES + 1))
                else:
                    tell(at, Ended(None, str(error)))
                future.release()
        finally:
            self._client.cancel(list(futures))
            self._client.run_on_scheduler(_allow, before)


def _allow(losses: int, dask_scheduler: Scheduler) -> int:
    """Sets how many workers may be lost with a task; gives what it was."""
    before = int(dask_scheduler.allowed_failures or 0)
    dask_scheduler.allowed_failures = losses
    return before


def dask(client: Client, *, kernel: dict[str, float] | None = None) -> Executor:
    """The workers of a Dask cluster, which need this package.

    Dask itself begins a task anew whose worker is lost. For the time of a run, its scheduler gives
    a task up after three workers, in place of its own number.

    Args:
        client: a client of the cluster.
        kernel: resources that a worker must have for runs on a kernel, such as `{"kernel": 1}`;
            None where all workers have one.
    """
    return _Dask(client, kernel or {})
