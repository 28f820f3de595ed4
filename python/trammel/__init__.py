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

Scenarios of other subjects are in `trammel.forwarding`, `trammel.traffic`, `trammel.routing` and
`trammel.placement`; `read` reads a file of any. `paper`, `bench`, `estimate`, `place` and the other
commands are functions, and `Click` is a router's configuration.
"""

from . import executors, forwarding, placement, routing, traffic
from ._click import Click
from ._commands import (
    bench,
    compare,
    conformance,
    decode,
    estimate,
    export,
    fidelity,
    import_files,
    paper,
    place,
)
from ._described import Engine, Point
from ._faults import CommandError, Fault, ScenarioError, Unsupported
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
from ._own import CongestionControl, Law, LossModel, QueueDiscipline, Verdict, names, register
from ._progress import Progress
from ._read import read
from ._result import Interrupted, Result
from ._run import Run
from ._scenario import Scenario
from ._table import Table
from ._trammel import (
    AckSample,
    IntervalSample,
    LostSegment,
    Packet,
    RateSample,
    Sender,
    Waiting,
    __version__,
)

__all__ = [
    "Access",
    "AckSample",
    "App",
    "Change",
    "Click",
    "CommandError",
    "CongestionControl",
    "Distribution",
    "Engine",
    "Fault",
    "Flow",
    "Grants",
    "Host",
    "Interrupted",
    "IntervalSample",
    "Jitter",
    "Law",
    "Library",
    "Link",
    "Loss",
    "LossModel",
    "LostSegment",
    "Matrix",
    "Measure",
    "Packet",
    "Path",
    "Point",
    "Predict",
    "Progress",
    "Queue",
    "QueueDiscipline",
    "RateSample",
    "Reorder",
    "Result",
    "Run",
    "Scenario",
    "ScenarioError",
    "ScheduleFile",
    "Sender",
    "Stream",
    "Table",
    "Topology",
    "Unsupported",
    "Verdict",
    "Waiting",
    "Wifi",
    "Workload",
    "__version__",
    "bench",
    "compare",
    "conformance",
    "decode",
    "estimate",
    "executors",
    "export",
    "fidelity",
    "forwarding",
    "import_files",
    "names",
    "paper",
    "place",
    "placement",
    "read",
    "register",
    "routing",
    "traffic",
]
