"""Predicts, simulates and measures network performance from one description.

>>> import trammel as tm
>>> run = tm.Scenario(
...     duration="5 s",
...     path=tm.Path(rate="10 Mbit/s", rtt="20 ms"),
...     flows=[tm.Flow("cubic")],
... ).run()
>>> run.flows["variant"]
['cubic']

A `Scenario` has the keys of a scenario file, and is read from one or written as one. `run` gives
a `Run`, whose tables polars, pandas, pyarrow and DuckDB read as they are.
"""

from ._faults import Fault, ScenarioError
from ._keys import (
    Access,
    App,
    Change,
    Distribution,
    Flow,
    Grants,
    Host,
    Jitter,
    Library,
    Link,
    Loss,
    Matrix,
    Measure,
    Path,
    Predict,
    Queue,
    Reorder,
    ScheduleFile,
    Stream,
    Topology,
    Wifi,
    Workload,
)
from ._run import Interrupted, Progress, Run
from ._scenario import Engine, Point, Scenario
from ._table import Table
from ._trammel import __version__

__all__ = [
    "Access",
    "App",
    "Change",
    "Distribution",
    "Engine",
    "Fault",
    "Flow",
    "Grants",
    "Host",
    "Interrupted",
    "Jitter",
    "Library",
    "Link",
    "Loss",
    "Matrix",
    "Measure",
    "Path",
    "Point",
    "Predict",
    "Progress",
    "Queue",
    "Reorder",
    "Run",
    "Scenario",
    "ScenarioError",
    "ScheduleFile",
    "Stream",
    "Table",
    "Topology",
    "Wifi",
    "Workload",
    "__version__",
]
