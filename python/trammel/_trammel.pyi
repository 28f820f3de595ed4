"""The extension module: conversion only; the package around it is what users see."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, SupportsFloat

State = Literal["open", "disorder", "cwr", "recovery", "loss"]

__version__: str

class Refused(ValueError): ...
class Stopped(Exception): ...

class Table:
    @property
    def name(self) -> str: ...
    @property
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def column(self, name: str, most: int | None = None) -> list[object]: ...
    def to_csv(self) -> str: ...
    def to_parquet(self, path: str | PathLike[str], facts: list[tuple[str, str]]) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class Outcome:
    @property
    def engines(self) -> list[str]: ...
    @property
    def provenance(self) -> list[tuple[str, str]]: ...
    @property
    def parquet_facts(self) -> list[tuple[str, str]]: ...
    def tables(self) -> list[Table]: ...
    def traces(self) -> list[Table]: ...
    @property
    def answer(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def failures(self) -> list[str]: ...
    @property
    def lacks(self) -> str | None: ...
    @property
    def runs(self) -> tuple[int, int]: ...
    def report(self) -> str: ...

class AckSample:
    """Newly acknowledged segments, for `pkts_acked`."""

    @property
    def pkts_acked(self) -> int:
        """Segments newly acknowledged."""

    @property
    def rtt_us(self) -> int | None:
        """Round trip of the newest of them, µs; none without a sample."""

    @property
    def in_flight(self) -> int:
        """Segments in flight with the newest of them."""

class RateSample:
    """A sample of the delivery rate, for `cong_control`."""

    @property
    def delivered(self) -> int | None:
        """Segments delivered over the interval; none without a sample."""

    @property
    def delivered_ce(self) -> int:
        """Segments that this ACK reported as marked."""

    @property
    def interval_us(self) -> int | None:
        """Length of the interval, µs; none without a sample."""

    @property
    def prior_delivered(self) -> int:
        """`delivered` when the sampled segment was sent."""

    @property
    def rtt_us(self) -> int | None:
        """Round trip of the last segment that was acknowledged, µs."""

    @property
    def losses(self) -> int:
        """Segments newly marked lost by this ACK."""

    @property
    def acked_sacked(self) -> int:
        """Segments newly acknowledged or SACKed by this ACK."""

    @property
    def prior_in_flight(self) -> int:
        """Segments in flight before this ACK."""

    @property
    def is_app_limited(self) -> bool:
        """The application limited the sample, not the network."""

    @property
    def is_retrans(self) -> bool:
        """The sampled segment had been retransmitted."""

    @property
    def is_ack_delayed(self) -> bool:
        """The receiver may have held the ACK back."""

    @property
    def tx_in_flight(self) -> int:
        """Segments in flight when the sampled one was sent; with the hook `lost` only."""

    @property
    def lost(self) -> int:
        """Segments marked lost since then; with the hook `lost` only."""

class LostSegment:
    """A segment newly marked lost, for `lost`."""

    @property
    def seq(self) -> int:
        """Its first sequence number."""

    @property
    def end(self) -> int:
        """The first after it."""

    @property
    def tx_in_flight(self) -> int:
        """Segments in flight when it was last sent, itself included."""

    @property
    def lost(self) -> int:
        """Segments marked lost since then, itself included."""

    @property
    def is_app_limited(self) -> bool:
        """It was sent while the application limited the flow."""

class IntervalSample:
    """What a sender learnt in an interval, for `on_interval`."""

    @property
    def length_us(self) -> int:
        """Length of the interval, µs; it ends with the first ACK after `every`."""

    @property
    def acks(self) -> int:
        """ACKs in it."""

    @property
    def acked(self) -> int:
        """Segments acknowledged or SACKed."""

    @property
    def lost(self) -> int:
        """Segments marked lost."""

    @property
    def marked(self) -> int:
        """Segments reported as marked."""

    @property
    def rtt_us(self) -> float | None:
        """Mean round trip, µs; none without a sample."""

    @property
    def least_rtt_us(self) -> float | None:
        """Smallest round trip, µs; none without a sample."""

    @property
    def rtt_gradient(self) -> float:
        """Slope of the round trip over time, s/s."""

    @property
    def delivery_rate(self) -> float:
        """Segments acknowledged a second."""

    @property
    def loss_ratio(self) -> float:
        """Lost of those that were acknowledged or lost, from 0 to 1."""

class Packet:
    """A packet, for a discipline in Python."""

    @property
    def bytes(self) -> int:
        """Bytes that the queue's limit counts."""

    @property
    def flow(self) -> int:
        """A hash of its flow."""

    @property
    def is_ecn_capable(self) -> bool:
        """Whether it may be marked in place of a drop."""

    @property
    def dscp(self) -> int:
        """Its differentiated services codepoint."""

    @property
    def wait_us(self) -> float:
        """How long it has waited, µs."""

class Waiting:
    """What waits, for a discipline in Python."""

    @property
    def now_us(self) -> float:
        """The time, µs."""

    @property
    def packets(self) -> int:
        """Packets that wait."""

    @property
    def bytes(self) -> int:
        """Their bytes."""

    @property
    def limit_packets(self) -> int:
        """Packets that may wait."""

    @property
    def rate_bps(self) -> int:
        """The rate of the link, bit/s; 0 if it has none."""

class Sender:
    """The sender's state, by the names of Linux's `struct tcp_sock`."""

    @property
    def snd_cwnd(self) -> int:
        """Congestion window, segments."""

    @snd_cwnd.setter
    def snd_cwnd(self, value: float) -> None: ...
    @property
    def cwnd(self) -> float:
        """Congestion window with the part of a segment that was set here, segments."""

    @cwnd.setter
    def cwnd(self, value: float) -> None: ...
    @property
    def snd_cwnd_cnt(self) -> int:
        """ACKed segments counted towards the next increase."""

    @snd_cwnd_cnt.setter
    def snd_cwnd_cnt(self, value: int) -> None: ...
    @property
    def snd_cwnd_clamp(self) -> int:
        """Upper bound of the congestion window, segments."""

    @snd_cwnd_clamp.setter
    def snd_cwnd_clamp(self, value: float) -> None: ...
    @property
    def snd_ssthresh(self) -> int:
        """Slow-start threshold, segments; 2³¹ − 1 before the first loss."""

    @snd_ssthresh.setter
    def snd_ssthresh(self, value: float) -> None: ...
    @property
    def pacing_rate(self) -> float | None:
        """Pacing rate, bytes/s; none without a limit."""

    @pacing_rate.setter
    def pacing_rate(self, value: float | None) -> None: ...
    @property
    def pacing(self) -> bool:
        """Whether segments are paced; at `pacing_rate`, else at the stack's own."""

    @pacing.setter
    def pacing(self, value: bool) -> None: ...
    @property
    def ca_state(self) -> State:
        """State of recovery: `open`, `disorder`, `cwr`, `recovery` or `loss`."""

    @property
    def prior_cwnd(self) -> int:
        """Congestion window before the last reduction began, segments."""

    @property
    def packets_out(self) -> int:
        """Segments sent and not yet cumulatively acknowledged."""

    @property
    def sacked_out(self) -> int:
        """Of these, segments SACKed."""

    @property
    def lost_out(self) -> int:
        """Of these, segments held for lost."""

    @property
    def retrans_out(self) -> int:
        """Retransmissions in flight."""

    @property
    def max_packets_out(self) -> int:
        """Most segments outstanding in the last window that was not limited by `snd_cwnd`."""

    @property
    def snd_una(self) -> int:
        """First unacknowledged sequence number."""

    @property
    def snd_nxt(self) -> int:
        """Next sequence number to send."""

    @property
    def mss(self) -> int:
        """Payload bytes of a full segment."""

    @property
    def srtt_us(self) -> int:
        """Smoothed round-trip time, µs × 8; 0 before the first sample."""

    @property
    def mdev_us(self) -> int:
        """Medium deviation of the round-trip time, µs × 4."""

    @property
    def min_rtt_us(self) -> int:
        """Smallest round-trip time of the last five minutes, µs; 2³² − 1 before the first
        sample."""

    @property
    def delivered(self) -> int:
        """Segments delivered so far."""

    @property
    def delivered_ce(self) -> int:
        """Of these, segments reported as marked."""

    @property
    def delivered_mstamp_us(self) -> int:
        """When `delivered` last grew, µs."""

    @property
    def lost(self) -> int:
        """Segments ever marked lost."""

    @property
    def app_limited(self) -> int:
        """`delivered` at which the present application-limited phase ends; 0 outside one."""

    @property
    def bytes_acked(self) -> int:
        """Payload bytes acknowledged so far."""

    @property
    def lsndtime_us(self) -> int:
        """When data was last sent, µs."""

    @property
    def now_us(self) -> int:
        """The time of the event, µs."""

    @property
    def hz(self) -> int:
        """The kernel's clock ticks a second."""

    @property
    def ecn_ok(self) -> bool:
        """ECN was negotiated."""

    @property
    def sack_ok(self) -> bool:
        """SACK was negotiated."""

    @property
    def accurate_ecn(self) -> bool:
        """Accurate ECN was negotiated."""

    @property
    def packets_in_flight(self) -> int:
        """Segments believed to be in the network."""

    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the slow-start threshold."""

    @property
    def is_cwnd_limited(self) -> bool:
        """Whether the flow uses its window, so that it may grow."""

    def slow_start(self, acked: int) -> int:
        """Slow start over `acked` segments; gives those left for congestion avoidance."""

    def cong_avoid_ai(self, w: int, acked: int) -> None:
        """One segment more for every `w` of the `acked` segments."""

    def reno_cong_avoid(self, acked: int) -> None:
        """Reno's growth, whole: slow start, then one segment a window."""

    def random(self) -> float:
        """A number from 0 to below 1 from the flow's own stream of random numbers."""

class Memory:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class Environments:
    def __init__(
        self,
        text: str,
        name: str,
        folder: str | PathLike[str],
        agents: Sequence[str],
        observe: Sequence[str],
        act: str,
        interval: str,
        reward: Sequence[tuple[str, float]],
        count: int,
        threads: int,
    ) -> None: ...
    @property
    def agents(self) -> list[str]: ...
    @property
    def actions(self) -> Memory: ...
    @property
    def observations(self) -> Memory: ...
    @property
    def features(self) -> Memory: ...
    @property
    def rewards(self) -> Memory: ...
    @property
    def terminated(self) -> Memory: ...
    @property
    def truncated(self) -> Memory: ...
    @property
    def times(self) -> Memory: ...
    def reset(self, seeds: Sequence[int | None]) -> None: ...
    def step(self) -> None: ...
    def step_one(self, action: SupportsFloat) -> tuple[float, bool, bool, float]: ...

def features() -> list[tuple[str, float, float]]: ...
def acts() -> list[tuple[str, float, float]]: ...
def leave() -> bool: ...
def names(family: str) -> list[tuple[str, str]]: ...
def register(own: type, said: Mapping[str, Any]) -> None: ...
def subject(text: str) -> str: ...
def read_table(name: str, columns: Sequence[tuple[str, str]], text: str) -> Table: ...
def parse(text: str) -> dict[str, object]: ...
def check(
    text: str, name: str, folder: str | PathLike[str], engines: Sequence[str]
) -> list[tuple[str, str]]: ...
def run(
    text: str,
    name: str,
    folder: str | PathLike[str],
    engines: Sequence[str],
    threads: int | None,
    seed: int | None,
    progress: Callable[[int, int, int, float], object] | None,
) -> Outcome: ...
def stand_in(path: str | PathLike[str]) -> None: ...
def build() -> str: ...
def missing(
    text: str,
    name: str,
    folder: str | PathLike[str],
    engines: Sequence[str],
    seed: int | None,
    store: str,
    only: set[str] | None,
) -> tuple[int, list[tuple[str, str, float]]]: ...
def gather(
    text: str,
    name: str,
    folder: str | PathLike[str],
    engines: Sequence[str],
    seed: int | None,
    store: str,
) -> Outcome: ...
