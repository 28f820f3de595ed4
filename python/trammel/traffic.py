"""Scenarios of this subject: their tables as classes, one argument a key.

Made from the table of keys in `crates/scenario/src/traffic/keys.rs` by a test, `python_keys.rs`:
`UPDATE_DOCS=1 cargo test -p trammel-scenario` writes it anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ._described import ByProgram
from ._keys import Change, Distribution, Grants, Jitter, Loss, Queue, Reorder, ScheduleFile
from ._section import Section


class Scenario(ByProgram):
    """The file: the streams, the path, the duration.

    Args:
        title: title of the scenario, in one line: a text.
        question: the question that it answers, for the report: a text.
        subject: `traffic`: streams of packets over a path: one of `traffic`; required.
        engines: the engines; `measure` sends real packets and requires the right to create network
            namespaces: a list of `predict`, `simulate`, `measure`; default: predict and simulate.
        duration: when the last stream ends, at the latest (s in results): a time such as `10 ms`;
            default `10 s`.
        seed: seed of the path, and of streams without their own seed: a whole number of at least 0;
            default `1`.
        repeat: runs of every point, with seeds `seed`, `seed` + 1, …; a stream that has a seed of
            its own keeps it: a whole number from 1 to 100000; default `1`.
        path: the path that all streams share: a `path` table; required.
        streams: a stream of packets, or several alike: a list of `stream` tables; required.
        sweeps: dotted keys with their values: a table of dotted keys and lists.
    """

    _subject = "traffic"
    _renamed = {"streams": "stream", "sweeps": "sweep"}
    _tables = {
        "path": "Path",
        "stream": "Stream",
    }

    title: str | None
    question: str | None
    subject: Literal["traffic"] | None
    engines: Sequence[Literal["predict", "simulate", "measure"]] | None
    duration: str | None
    seed: int | None
    repeat: int | None
    path: Path | None
    streams: Sequence[Stream] | None
    sweeps: Mapping[str, object] | None

    def __init__(
        self,
        *,
        title: str | None = None,
        question: str | None = None,
        subject: Literal["traffic"] | None = "traffic",
        engines: Sequence[Literal["predict", "simulate", "measure"]] | None = None,
        duration: str | None = None,
        seed: int | None = None,
        repeat: int | None = None,
        path: Path | None = None,
        streams: Sequence[Stream] | None = None,
        sweeps: Mapping[str, object] | None = None,
    ) -> None:
        self._fill(
            {
                "title": title,
                "question": question,
                "subject": subject,
                "engines": engines,
                "duration": duration,
                "seed": seed,
                "repeat": repeat,
                "path": path,
                "streams": streams,
                "sweeps": sweeps,
            }
        )


class Path(Section):
    """The path from the sender to the receiver, and back.

    Args:
        rate: its rate (bit/s in results): a rate such as `100 Mbit/s`; default: required without
            `trace`.
        delay: its one-way delay (s in results): a time such as `10 ms`; default `0 s`.
        ack_rate: rate of the reverse path, used only by answers of a round trip (bit/s in results):
            a rate such as `100 Mbit/s`; default: `rate`.
        queue: queue before it; a bdp is its rate times twice its delay: a `queue` table; default:
            droptail, 1000 packets.
        loss: losses behind it: a `loss` table.
        processing: the largest delay with which packets leave the queue, drawn uniformly: the
            effect of processing and timers. It keeps flows from running in step to the picosecond
            (phase effects); at most the time of one packet counts (s in results): a time such as
            `10 ms`; default: none; `1 us` before a queue of one or two packets.
        jitter: extra delay of each packet; a time means uniform from zero to it (s in results): a
            time such as `10 ms` or a `jitter` table.
        reorder: `true`: packets overtake each other where jitter, or a delay that falls, says so,
            as with netem; a table: packets held back so that later ones overtake them: `true`,
            `false` or a `reorder` table; default `false`.
        mtu: largest IP packet (bytes in results): a whole number from 68 to 65535; default `1500`.
        overhead: bytes the link counts beside each IP packet (bytes in results): a size such as `64
            KB`; default `14 B`.
        burst: depth of a token bucket in each direction, as in Linux's tbf; without it, packets are
            serialised as on a wire (bytes in results): a size such as `64 KB`.
        schedule: changes of rate, delay, loss and jitter during the run, and outages: a list of
            `schedule` tables.
        schedule_period: the schedule repeats after this time (s in results): a time such as `10
            ms`.
        schedule_file: the schedule as a file: a `schedule_file` table.
        trace: a mahimahi trace file of delivery opportunities, instead of a rate: a text.
        ack_trace: the same of the way back, instead of `ack_rate`: a text.
        grants: packets leave the line in bursts, as in a cell, over a cable or by Wi-Fi's block
            ACKs: a `grants` table.
        delay_limit: packets that the delay holds at most, as netem's `limit`; those beyond are lost
            (packets in results): a whole number from 1 to 100000000; default: no limit.
    """

    _tables = {
        "queue": "Queue",
        "loss": "Loss",
        "jitter": "Jitter",
        "reorder": "Reorder",
        "schedule": "Change",
        "schedule_file": "ScheduleFile",
        "grants": "Grants",
    }

    rate: str | None
    delay: str | None
    ack_rate: str | None
    queue: Queue | None
    loss: Loss | None
    processing: str | None
    jitter: str | Jitter | None
    reorder: bool | Reorder | None
    mtu: int | None
    overhead: str | None
    burst: str | None
    schedule: Sequence[Change] | None
    schedule_period: str | None
    schedule_file: ScheduleFile | None
    trace: str | None
    ack_trace: str | None
    grants: Grants | None
    delay_limit: int | None

    def __init__(
        self,
        *,
        rate: str | None = None,
        delay: str | None = None,
        ack_rate: str | None = None,
        queue: Queue | None = None,
        loss: Loss | None = None,
        processing: str | None = None,
        jitter: str | Jitter | None = None,
        reorder: bool | Reorder | None = None,
        mtu: int | None = None,
        overhead: str | None = None,
        burst: str | None = None,
        schedule: Sequence[Change] | None = None,
        schedule_period: str | None = None,
        schedule_file: ScheduleFile | None = None,
        trace: str | None = None,
        ack_trace: str | None = None,
        grants: Grants | None = None,
        delay_limit: int | None = None,
    ) -> None:
        self._fill(
            {
                "rate": rate,
                "delay": delay,
                "ack_rate": ack_rate,
                "queue": queue,
                "loss": loss,
                "processing": processing,
                "jitter": jitter,
                "reorder": reorder,
                "mtu": mtu,
                "overhead": overhead,
                "burst": burst,
                "schedule": schedule,
                "schedule_period": schedule_period,
                "schedule_file": schedule_file,
                "trace": trace,
                "ack_trace": ack_trace,
                "grants": grants,
                "delay_limit": delay_limit,
            }
        )


class Stream(Section):
    """A stream of packets, or several identical ones: the options of `trammel send`.

    Args:
        name: its name in the results: a text; default: `stream-1`, `stream-2`, ….
        count: number of identical streams, each with its own random numbers; `-1`, `-2`, … are
            added to the name: a whole number from 1 to 100000; default `1`.
        protocol: transport protocol: `icmp` sends echo requests; `tcp` is measured only: one of
            `udp`, `tcp`, `icmp`; default `udp`.
        rate: packets per second; `gap` is then only a shape (1/s in results): a packet rate such as
            `10 kpps` or a number or a percentage such as `0.1 %`.
        gap: gaps between packets (s in results): a time such as `10 ms`, a law such as
            `exponential`, or a table with a `distribution`; default: constant, if there is a
            `rate`.
        size: payload of a packet, at least 16 bytes (bytes in results): a size such as `64 KB`, a
            law such as `exponential`, or a table with a `distribution`; default `512 B`.
        app: an application instead of `rate`, `gap` and `size`: `voip:codec=g729.2`: a text.
        start: when it starts (s in results): a time such as `10 ms`; default `0 s`.
        duration: how long it sends (s in results): a time such as `10 ms`; default: the end of the
            run.
        packets: most packets to send: a whole number of at least 1.
        bytes: most bytes of payload to send (bytes in results): a size such as `64 KB`.
        seed: seed of its gaps and sizes: a whole number of at least 0; default: drawn from the
            file's seed and the name.
        round_trip: each packet is returned, and the round trip is measured: `true` or `false`;
            default `false`.
        late: what a real sender does when late: catch up, leave packets out, or delay the rest: one
            of `burst`, `skip`, `stretch`; default `burst`.
        ds: byte of differentiated services: a whole number from 0 to 255.
        ttl: time to live or hop limit: a whole number from 1 to 255.
    """

    _tables = {
        "gap": "Distribution",
        "size": "Distribution",
    }

    name: str | None
    count: int | None
    protocol: Literal["udp", "tcp", "icmp"] | None
    rate: str | float | None
    gap: str | float | Distribution | None
    size: str | float | Distribution | None
    app: str | None
    start: str | None
    duration: str | None
    packets: int | None
    bytes: str | None
    seed: int | None
    round_trip: bool | None
    late: Literal["burst", "skip", "stretch"] | None
    ds: int | None
    ttl: int | None

    def __init__(
        self,
        *,
        name: str | None = None,
        count: int | None = None,
        protocol: Literal["udp", "tcp", "icmp"] | None = None,
        rate: str | float | None = None,
        gap: str | float | Distribution | None = None,
        size: str | float | Distribution | None = None,
        app: str | None = None,
        start: str | None = None,
        duration: str | None = None,
        packets: int | None = None,
        bytes: str | None = None,
        seed: int | None = None,
        round_trip: bool | None = None,
        late: Literal["burst", "skip", "stretch"] | None = None,
        ds: int | None = None,
        ttl: int | None = None,
    ) -> None:
        self._fill(
            {
                "name": name,
                "count": count,
                "protocol": protocol,
                "rate": rate,
                "gap": gap,
                "size": size,
                "app": app,
                "start": start,
                "duration": duration,
                "packets": packets,
                "bytes": bytes,
                "seed": seed,
                "round_trip": round_trip,
                "late": late,
                "ds": ds,
                "ttl": ttl,
            }
        )
