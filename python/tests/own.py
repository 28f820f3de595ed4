"""Plug-ins in Python for the tests: a module, so that their source has a place."""

from __future__ import annotations

import random

import trammel as tm


@tm.register
class Halve(tm.CongestionControl):
    """Reno whose cut may be set."""

    name = "own-halve"
    params = {"beta": (0.5, 0.1, 0.9)}

    def ssthresh(self, tp: tm.Sender) -> float:
        return tp.snd_cwnd * self.beta  # type: ignore[attr-defined, no-any-return]

    def cong_avoid(self, tp: tm.Sender, acked: int) -> None:
        tp.reno_cong_avoid(acked)


@tm.register
class Everything(tm.CongestionControl):
    """Has every hook of a classic control, and counts them."""

    name = "everything"
    heard: set[str] = set()
    variables = ("acks",)

    def __init__(self) -> None:
        super().__init__()
        self.acks = 0

    def init(self, tp: tm.Sender) -> None:
        self.heard.add("init")

    def ssthresh(self, tp: tm.Sender) -> float:
        self.heard.add("ssthresh")
        return super().ssthresh(tp)

    def cong_avoid(self, tp: tm.Sender, acked: int) -> None:
        self.heard.add("cong_avoid")
        left = tp.slow_start(acked)
        if left:
            tp.cong_avoid_ai(tp.snd_cwnd, left)

    def set_state(self, tp: tm.Sender, new: str) -> None:
        self.heard.add(f"set_state {new}")

    def cwnd_event(self, tp: tm.Sender, event: str) -> None:
        self.heard.add(f"cwnd_event {event}")

    def in_ack_event(self, tp: tm.Sender, ece: bool) -> None:
        self.heard.add("in_ack_event")

    def pkts_acked(self, tp: tm.Sender, sample: tm.AckSample) -> None:
        self.acks += 1
        assert sample.rtt_us is None or sample.rtt_us > 0
        self.heard.add("pkts_acked")

    def lost(self, tp: tm.Sender, segment: tm.LostSegment) -> None:
        assert segment.tx_in_flight > 0
        self.heard.add("lost")


@tm.register
class Rate(tm.CongestionControl):
    """Paces at what is delivered and a little more, at each ACK."""

    name = "own-rate"

    def __init__(self) -> None:
        super().__init__()
        self.most = 0.0

    def cong_control(self, tp: tm.Sender, sample: tm.RateSample) -> None:
        if sample.delivered and sample.interval_us:
            self.most = max(self.most, sample.delivered * tp.mss * 1e6 / sample.interval_us)
        if self.most:
            tp.pacing_rate = self.most * 1.02
            tp.cwnd = 2 * self.most * tp.min_rtt_us / 1e6 / tp.mss


@tm.register
class Tick(tm.CongestionControl):
    """Adds a segment each interval, and gives way to losses."""

    name = "own-tick"
    every = "20 ms"

    def on_interval(self, tp: tm.Sender, sample: tm.IntervalSample) -> None:
        assert sample.length_us >= 20_000
        tp.cwnd = max(tp.cwnd * 0.7, 2) if sample.lost else tp.cwnd + 1


@tm.register
class Failing(tm.CongestionControl):
    """Cannot go on after some ACKs."""

    name = "failing"

    def cong_avoid(self, tp: tm.Sender, acked: int) -> None:
        if tp.now_us > 500_000:
            raise ZeroDivisionError("too late")
        tp.reno_cong_avoid(acked)


@tm.register
class Some(tm.LossModel):
    """Loses some, by the block."""

    name = "some"
    params = {"p": (0.01, 0.0, 1.0)}

    def losses(self, count: int) -> list[bool]:
        if not hasattr(self, "drawn"):
            self.drawn = random.Random(self.seed)
        p: float = self.p  # type: ignore[attr-defined]
        return [self.drawn.random() < p for _ in range(count)]


@tm.register
class Hundredth(tm.LossModel):
    """Loses every hundredth."""

    name = "hundredth"
    count = 0
    mean_loss = 0.01

    def loses(self, now_us: int, size: int) -> bool:
        self.count += 1
        return self.count % 100 == 0


@tm.register
class TwoGaps(tm.Law):
    """One of two gaps."""

    name = "own-gaps"

    def draw(self, count: int) -> list[float]:
        if not hasattr(self, "drawn"):
            self.drawn = random.Random(self.seed)
        return [self.drawn.choice((0.001, 0.003)) for _ in range(count)]


@tm.register
class Short(tm.QueueDiscipline):
    """Marks or drops beyond a length, and has small packets go first."""

    name = "own-short"
    marks = True
    params = {"most": 20}

    def enqueue(self, packet: tm.Packet, waiting: tm.Waiting) -> tm.Verdict:
        most: float = self.most  # type: ignore[attr-defined]
        return "mark" if waiting.packets >= most else None

    def band(self, packet: tm.Packet) -> int:
        return 0 if packet.bytes < 100 else 1
