"""Plug-ins in Python: classes that take part in runs as the built-in ones do."""

from __future__ import annotations

import atexit
import hashlib
import inspect
import os
import re
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar, Union

from . import _trammel
from ._trammel import (
    AckSample,
    IntervalSample,
    LostSegment,
    Packet,
    RateSample,
    Sender,
    Waiting,
)

State = Literal["open", "disorder", "cwr", "recovery", "loss"]
"""A state of recovery, as `Sender.ca_state`."""

Event = Literal[
    "tx_start",
    "cwnd_restart",
    "complete_cwr",
    "loss",
    "tail_loss_repaired",
    "ecn_no_ce",
    "ecn_is_ce",
]
"""What `CongestionControl.cwnd_event` is told."""

Verdict = Union[Literal["pass", "mark", "drop"], None]
"""What becomes of a packet; None passes it, and what cannot be marked is dropped."""

Parameter = Union[float, tuple[float, float, float]]
"""A parameter's default, or its default, least and most."""


class _Own:
    """What every plug-in in Python says of itself."""

    name: ClassVar[str]
    """As in a scenario: letters a to z, digits, `-` and `_`."""
    summary: ClassVar[str] = ""
    """One line."""
    params: ClassVar[Mapping[str, Parameter]] = {}
    """Numbers that a scenario may set; an object has them as attributes."""

    seed: int = 0
    """For random numbers, such as by `random.Random(self.seed)`; set before the first call."""

    _family: ClassVar[str]
    _hooks: ClassVar[Sequence[str]]
    _flags: ClassVar[Sequence[str]] = ()

    def __init__(self, **params: float) -> None:
        for name, value in params.items():
            setattr(self, name, value)


class CongestionControl(_Own):
    """A congestion control, with the hooks of Linux's `struct tcp_congestion_ops`.

    Each flow has an object of its own. A hook that the class does not have costs nothing and does
    what Reno does. Windows are segments, times microseconds, rates bytes/s. An object must not
    share anything with others that changes, since several run at once.
    """

    needs_ecn: ClassVar[bool] = False
    """Segments are marked ECN-capable, and marks are left to the class."""
    needs_accurate_ecn: ClassVar[bool] = False
    """Marks are counted one by one (RFC 9768)."""
    sends_ect1: ClassVar[bool] = False
    """Segments ask for the L4S service (RFC 9331)."""
    variables: ClassVar[Sequence[str]] = ()
    """Attributes with numbers that traces show."""
    every: ClassVar[str | None] = None
    """How often `on_interval` is called, such as `"10 ms"`."""

    _family = "variant"
    _hooks = (
        "init",
        "ssthresh",
        "cong_avoid",
        "set_state",
        "cwnd_event",
        "in_ack_event",
        "pkts_acked",
        "undo_cwnd",
        "cong_control",
        "lost",
        "on_interval",
    )
    _flags = ("needs_ecn", "needs_accurate_ecn", "sends_ect1")

    def init(self, tp: Sender) -> None:
        """The connection is established, and nothing was sent."""

    def ssthresh(self, tp: Sender) -> float:
        """Gives the slow-start threshold after a loss or a mark."""
        return max(tp.snd_cwnd / 2, 2)

    def cong_avoid(self, tp: Sender, acked: int) -> None:
        """Grows the window for `acked` segments."""
        tp.reno_cong_avoid(acked)

    def set_state(self, tp: Sender, new: State) -> None:
        """The state of recovery becomes `new`; `tp.ca_state` is still the old one."""

    def cwnd_event(self, tp: Sender, event: Event) -> None:
        """A transmission, restart, loss or ECN event."""

    def in_ack_event(self, tp: Sender, ece: bool) -> None:
        """An ACK came; `ece` says whether it reported marks."""

    def pkts_acked(self, tp: Sender, sample: AckSample) -> None:
        """An ACK came, before `in_ack_event`."""

    def undo_cwnd(self, tp: Sender) -> float:
        """Gives the window after a reduction that proved to be spurious."""
        return max(tp.snd_cwnd, tp.prior_cwnd)

    def cong_control(self, tp: Sender, sample: RateSample) -> None:
        """Sets window and pacing rate at each ACK, in the place of `cong_avoid` and of the
        stack's own reduction."""

    def lost(self, tp: Sender, segment: LostSegment) -> None:
        """A segment was marked lost."""

    def on_interval(self, tp: Sender, sample: IntervalSample) -> None:
        """Sets window and pacing rate once every `every`, at an ACK; they hold until the next
        call. Takes the place of `cong_control`, and of most of its cost."""


class LossModel(_Own):
    """Which packets a path loses: `losses` by the block, or `loses` one by one."""

    mean_loss: ClassVar[float | None] = None
    """The long-run share that is lost, for models that predict."""

    _family = "loss"
    _hooks = ("losses", "loses")

    def losses(self, count: int) -> Any:
        """Gives about `count` decisions for the packets to come, as a list or an array: what is
        not zero loses."""
        raise NotImplementedError

    def loses(self, now_us: int, size: int) -> bool:
        """Whether the packet of `size` bytes that leaves at `now_us` is lost; a class that has
        this method is asked for each packet."""
        raise NotImplementedError


class Law(_Own):
    """A law of gaps, sizes or times, wherever a scenario takes a distribution."""

    mean: ClassVar[float | None] = None
    """The mean, where it is known; else it is taken from 4,096 draws."""

    _family = "law"
    _hooks = ("draw",)

    def draw(self, count: int) -> Any:
        """Gives about `count` numbers, as a list or an array, in seconds or bytes."""
        raise NotImplementedError


class QueueDiscipline(_Own):
    """A queue's law. The packets wait in first-in, first-out bands; lower bands go first."""

    marks: ClassVar[bool] = False
    """Whether it marks ECN-capable packets."""

    _family = "discipline"
    _hooks = ("enqueue", "dequeue", "band")
    _flags = ("marks",)

    def enqueue(self, packet: Packet, waiting: Waiting) -> Verdict:
        """What becomes of a packet that comes, and for which there is room."""
        return None

    def dequeue(self, packet: Packet, waiting: Waiting) -> Verdict:
        """What becomes of a packet that would go; after a drop the next one is asked for."""
        return None

    def band(self, packet: Packet) -> int:
        """The band that a packet waits in, from 0 to 255."""
        return 0


C = TypeVar("C", bound=type[_Own])


def register(own: C) -> C:
    """Makes a class known by its name to the scenarios of this process; gives the class, so it
    is a decorator too. A class of the same name and kind takes the place of the first.

    The hash of the class's source is part of the hash of every point that uses it.
    """
    families = (CongestionControl, LossModel, Law, QueueDiscipline)
    base = next((one for one in families if issubclass(own, one) and own is not one), None)
    if base is None:
        names = ", ".join(f"`{one.__name__}`" for one in families)
        raise TypeError(f"`{own.__name__}` is derived from none of {names}")
    name = getattr(own, "name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9_-]{1,40}", name):
        raise ValueError(f"`{own.__name__}.name` must be 1 to 40 of a-z, 0-9, `-`, `_`, not {name!r}")
    hooks = [hook for hook in base._hooks if getattr(own, hook) is not getattr(base, hook)]
    every = getattr(own, "every", None)
    if base is CongestionControl and ("on_interval" in hooks) != (every is not None):
        raise TypeError(f"`{own.__name__}` needs both `every` and `on_interval`, or neither")
    if every is not None and not isinstance(every, str):
        raise TypeError(f"`{own.__name__}.every` is a time such as \"20 ms\", not {every!r}")
    if late := [hook for hook in hooks if inspect.iscoroutinefunction(getattr(own, hook))]:
        raise TypeError(f"`{own.__name__}.{late[0]}` is `async`; hooks are called, not awaited")
    if not isinstance(own.params, Mapping):
        raise TypeError(f"`{own.__name__}.params` is a dictionary, not {own.params!r}")
    if taken := [key for key in own.params if key == "self" or hasattr(base, str(key))]:
        raise ValueError(f"`{own.__name__}` cannot have a parameter `{taken[0]}`: it is a name of ours")
    said = {
        "family": base._family,
        "name": name,
        "summary": f"{own.summary or own.__name__} (a class in Python, slow)",
        "digest": _digest(own, base),
        "params": [_parameter(key, value) for key, value in own.params.items()],
        "hooks": hooks,
        "flags": [flag for flag in base._flags if getattr(own, flag)],
        "variables": list(getattr(own, "variables", ())),
        "every": every,
    }
    _trammel.register(own, said)
    return own


def names(family: Literal["variant", "discipline", "loss", "law"]) -> dict[str, str]:
    """The names that scenarios of this process may use, with a line on each: what is built in,
    then what was registered."""
    return dict(_trammel.names(family))


@atexit.register
def _leave() -> None:
    """A run that was left behind by a second interrupt must not be in Python when Python ends."""
    if not _trammel.leave():
        print("trammel: a hook does not return, so Python ends at once", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_INTERRUPTED)


_INTERRUPTED = 130
"""The exit code of what was interrupted."""


def _parameter(name: str, value: Parameter) -> tuple[str, float, float, float]:
    triple = value if isinstance(value, tuple) else (value, -1e18, 1e18)
    if not isinstance(name, str) or len(triple) != 3:
        raise TypeError(f"a parameter is `name: (default, least, most)`, not {name!r}: {value!r}")
    default, least, most = triple
    return name, float(default), float(least), float(most)


def _digest(own: type, base: type) -> str:
    """A hash of the sources of a class and of those that it is derived from, up to the base; of
    the compiled code where there is no source, as at a prompt."""
    heard = hashlib.sha256()
    for one in own.__mro__[: own.__mro__.index(base)]:
        try:
            text = inspect.getsource(one)
        except (OSError, TypeError):
            text = repr([(key, _shown(value)) for key, value in sorted(vars(one).items())])
        heard.update(f"{base.__name__} {one.__qualname__}\n{text}\n".encode())
    return heard.hexdigest()


def _shown(value: object) -> object:
    """What a function does, or what a value is, as text that is the same in another process."""
    if isinstance(value, types.FunctionType):
        return _code(value.__code__)
    return value if isinstance(value, (str, int, float, tuple, list, dict)) else type(value).__name__


def _code(code: types.CodeType) -> object:
    consts = [_code(one) if isinstance(one, types.CodeType) else one for one in code.co_consts]
    return code.co_code, consts, code.co_names
