"""Reading a scenario file of any subject."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Union

from . import _trammel, forwarding, placement, routing, traffic
from ._scenario import Scenario

Any = Union[
    Scenario, forwarding.Scenario, placement.Scenario, routing.Scenario, traffic.Scenario
]

_SUBJECTS: dict[str, type[Any]] = {
    "transport": Scenario,
    "forwarding": forwarding.Scenario,
    "placement": placement.Scenario,
    "routing": routing.Scenario,
    "traffic": traffic.Scenario,
}


def read(path: str | PathLike[str]) -> Any:
    """The scenario of a file, as the class of its subject."""
    text = Path(path).read_text("utf-8")
    return _SUBJECTS[_trammel.subject(text)].from_file(path)
