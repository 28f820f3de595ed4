"""Who makes the runs of a scenario: processes here, or the workers of a cluster.

>>> import trammel as tm
>>> run = scenario.run(store="runs", executor=tm.executors.local(8))  # doctest: +SKIP

The unit of work is a process, `trammel point`, that makes a few runs and puts them into the store.
So each executor is thin: it starts processes, and tells how they ended. The engine of a cluster,
such as Dask, is imported where its executor is made, and is no dependency of this package.
"""

from ._dask import dask
from ._executor import Ended, Executor, Task
from ._hand_out import Incomplete
from ._hyperqueue import hyperqueue
from ._local import local
from ._ray import ray
from ._slurm import slurm

__all__ = [
    "Ended",
    "Executor",
    "Incomplete",
    "Task",
    "dask",
    "hyperqueue",
    "local",
    "ray",
    "slurm",
]
