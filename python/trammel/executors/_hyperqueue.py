"""The workers of HyperQueue."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from ._executor import Ended, Executor, Task, Tell

if TYPE_CHECKING:
    from hyperqueue import Client


class _HyperQueue(Executor):
    def __init__(self, client: Client, cores: int | None, kernel: dict[str, float]) -> None:
        self._client = client
        self._kernel = kernel
        self._cores = cores

    @property
    def cores(self) -> int | None:
        return self._cores

    def run(self, tasks: Sequence[Task], tell: Tell) -> None:
        from hyperqueue import Job
        from hyperqueue.ffi.protocol import ResourceRequest

        job = Job(max_fails=None)
        for task in tasks:
            needs: dict[str, Any] = {} if task.engine == "simulate" else dict(self._kernel)
            # A lost worker is told of, and the task begun anew by us, who count.
            job.program(
                task.words,
                cwd=task.folder,
                stdin=task.scenario,
                stdout=None,
                stderr=None,
                resources=ResourceRequest(resources=needs),
                crash_limit=1,
            )
        sent = self._client.submit(job)
        # HyperQueue calls it every second, and interrupts are seen then.
        self._client.connection.wait_for_jobs((sent.id,), lambda _: None)
        failed = self._client.connection.get_failed_tasks((sent.id,)).get(sent.id, {})
        for at in range(len(tasks)):
            tell(at, _how(failed[at].error) if at in failed else Ended(0, ""))
        self._client.forget(sent)


def _how(error: str) -> Ended:
    """How a task ended, from HyperQueue's words; a worker that was lost has no exit code."""
    if killed := re.search(r"Received signal (\d+)", error):
        return Ended(-int(killed[1]), error)
    code = re.search(r"exit code (\d+)", error)
    return Ended(int(code[1]) if code else None, error)


def hyperqueue(
    server: str | PathLike[str] | Client | None = None,
    *,
    cores: int | None = None,
    kernel: dict[str, float] | None = None,
) -> Executor:
    """The workers of a HyperQueue server, which need the program at the same path.

    Progress is told when all tasks have ended. After an interrupt, those that HyperQueue has go on
    and fill the store.

    Args:
        server: the folder of a running server, by default the one that `hq` uses, or a
            `hyperqueue.Client`.
        cores: the cores of all workers, where known: they decide how work is cut.
        kernel: resources that a worker must have for runs on a kernel, such as `{"kernel": 1}`;
            None where all workers have one.
    """
    import hyperqueue as engine

    if server is not None and not isinstance(server, engine.Client):
        server = engine.Client(os.fspath(server))
    client = engine.Client() if server is None else server
    return _HyperQueue(client, cores, kernel or {})
