"""The workers of a Ray cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._executor import Ended, Executor, Task, Tell, carry_out

_AT_ONCE = 10_000
"""Tasks that Ray is given at once: each takes some memory of the head."""


class _Ray(Executor):
    def __init__(self, kernel: dict[str, float]) -> None:
        self._kernel = kernel

    @property
    def cores(self) -> int | None:
        import ray as engine

        return int(engine.cluster_resources().get("CPU", 0)) or None

    def run(self, tasks: Sequence[Task], tell: Tell) -> None:
        import ray as engine
        from ray.exceptions import RayError

        # A lost worker is told of, and the task begun anew by us, who count.
        remote: Any = engine.remote(num_cpus=1, max_retries=0)(carry_out)
        waiting = list(enumerate(tasks))[::-1]
        places: dict[Any, int] = {}
        try:
            while waiting or places:
                while waiting and len(places) < _AT_ONCE:
                    at, task = waiting.pop()
                    needs = {} if task.engine == "simulate" else self._kernel
                    places[remote.options(resources=needs).remote(task)] = at
                # A wait without an end would not see an interrupt.
                done, _ = engine.wait(list(places), num_returns=1, timeout=1)
                for reference in done:
                    at = places.pop(reference)
                    try:
                        tell(at, engine.get(reference))
                    except RayError as lost:
                        tell(at, Ended(None, str(lost)))
        finally:
            for reference in places:
                engine.cancel(reference, force=True)


def ray(*, kernel: dict[str, float] | None = None) -> Executor:
    """The workers of the Ray cluster that `ray.init` has joined; they need this package.

    Args:
        kernel: custom resources that a node must have for runs on a kernel, such as
            `{"kernel": 1}`; None where all nodes have one.
    """
    import ray as engine

    if not engine.is_initialized():
        raise RuntimeError("call `ray.init` first: it says which cluster")
    return _Ray(kernel or {})
