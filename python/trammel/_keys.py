"""The tables of a scenario as classes, one argument a key.

Made from the table of keys in `crates/scenario/src/keys.rs` by a test, `python_keys.rs`:
`UPDATE_DOCS=1 cargo test -p trammel-scenario` writes it anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ._section import Section, Value


class ScenarioKeys(Section):
    """The file: the question, the duration, the repeats.

    Args:
        title: title of the scenario, in one line: a text.
        question: the question that it answers, for the report: a text.
        answer: the kind of answer that the report's first sentence gives: one of `share`, `rank`,
            `goodput`, `delay`, `loss`, `recovery`, `utilisation`, `fairness`, `convergence`,
            `completion`, `experience`, `agreement`, `prediction`; default: by the shape of the
            file.
        subject: what is studied: one of `transport`, `forwarding`, `traffic`; default `transport`.
        engines: which engines answer: a list of `predict`, `simulate`, `measure`; default: predict
            and simulate; measure too with `[measure]`.
        duration: length of a run (s in results): a time such as `10 ms`; default `30 s`.
        warmup: metrics are also computed from this instant on (s in results): a time such as `10
            ms`; default `0 s`.
        repeat: runs of every point, with seeds `seed`, `seed` + 1, …: a whole number from 1 to
            100000; default `1`.
        seed: first seed of the random streams: a whole number of at least 0; default `1`.
        solo: each flow also runs alone; its harm is the goodput that it loses to the others: `true`
            or `false`; default `false`.
        trace: what to trace of every flow: nothing, every ACK, or samples at an interval: `off`,
            `ack` or a time such as `10 ms`; default `off`.
        pcap: links whose packets are captured, `true` for all; of a guest also its hosts: `true`,
            `false` or a list of names; default `false`.
        qlog: the events of every flow are written as qlog 0.3, a JSON text sequence; `trace` is
            `ack` then unless it is given: `true` or `false`; default `false`.
        path: the path that all flows share: a `path` table.
        topology: a preset network made of `[path]`s: a `topology` table.
        hosts: a host or router of an explicit network: a list of `host` tables.
        links: a link of an explicit network: a list of `link` tables.
        flows: a TCP flow, or several alike: a list of `flow` tables.
        workloads: TCP flows that come and go: a list of `workload` tables.
        streams: a stream of datagrams: a list of `stream` tables.
        apps: an application, for what its users get: a list of `app` tables.
        sweeps: dotted keys with lists of values; all combinations run: a table of dotted keys and
            lists.
        matrix: every pair from a list of variants, for the first two flows: a `matrix` table.
        predict: the analytic models to use: a `predict` table.
        measure: how real stacks are measured: a `measure` table.
    """

    _renamed = {"hosts": "host", "links": "link", "flows": "flow", "workloads": "workload", "streams": "stream", "apps": "app", "sweeps": "sweep"}
    _tables = {
        "path": "Path",
        "topology": "Topology",
        "host": "Host",
        "link": "Link",
        "flow": "Flow",
        "workload": "Workload",
        "stream": "Stream",
        "app": "App",
        "matrix": "Matrix",
        "predict": "Predict",
        "measure": "Measure",
    }

    title: str | None
    question: str | None
    answer: Literal["share", "rank", "goodput", "delay", "loss", "recovery", "utilisation", "fairness", "convergence", "completion", "experience", "agreement", "prediction"] | None
    subject: Literal["transport", "forwarding", "traffic"] | None
    engines: Sequence[Literal["predict", "simulate", "measure"]] | None
    duration: str | None
    warmup: str | None
    repeat: int | None
    seed: int | None
    solo: bool | None
    trace: str | None
    pcap: bool | Sequence[str] | None
    qlog: bool | None
    path: Path | None
    topology: Topology | None
    hosts: Sequence[Host] | None
    links: Sequence[Link] | None
    flows: Sequence[Flow] | None
    workloads: Sequence[Workload] | None
    streams: Sequence[Stream] | None
    apps: Sequence[App] | None
    sweeps: Mapping[str, object] | None
    matrix: Matrix | None
    predict: Predict | None
    measure: Measure | None

    def __init__(
        self,
        *,
        title: str | None = None,
        question: str | None = None,
        answer: Literal["share", "rank", "goodput", "delay", "loss", "recovery", "utilisation", "fairness", "convergence", "completion", "experience", "agreement", "prediction"] | None = None,
        subject: Literal["transport", "forwarding", "traffic"] | None = None,
        engines: Sequence[Literal["predict", "simulate", "measure"]] | None = None,
        duration: str | None = None,
        warmup: str | None = None,
        repeat: int | None = None,
        seed: int | None = None,
        solo: bool | None = None,
        trace: str | None = None,
        pcap: bool | Sequence[str] | None = None,
        qlog: bool | None = None,
        path: Path | None = None,
        topology: Topology | None = None,
        hosts: Sequence[Host] | None = None,
        links: Sequence[Link] | None = None,
        flows: Sequence[Flow] | None = None,
        workloads: Sequence[Workload] | None = None,
        streams: Sequence[Stream] | None = None,
        apps: Sequence[App] | None = None,
        sweeps: Mapping[str, object] | None = None,
        matrix: Matrix | None = None,
        predict: Predict | None = None,
        measure: Measure | None = None,
    ) -> None:
        self._fill(
            {
                "title": title,
                "question": question,
                "answer": answer,
                "subject": subject,
                "engines": engines,
                "duration": duration,
                "warmup": warmup,
                "repeat": repeat,
                "seed": seed,
                "solo": solo,
                "trace": trace,
                "pcap": pcap,
                "qlog": qlog,
                "path": path,
                "topology": topology,
                "hosts": hosts,
                "links": links,
                "flows": flows,
                "workloads": workloads,
                "streams": streams,
                "apps": apps,
                "sweeps": sweeps,
                "matrix": matrix,
                "predict": predict,
                "measure": measure,
            }
        )


class Path(Section):
    """One bottleneck between all senders and all receivers.

    Args:
        preset: a named path; its keys apply unless given here: a text.
        rate: rate of the bottleneck (bit/s in results): a rate such as `100 Mbit/s`; default:
            required without `wifi`, `trace` or `preset`.
        rtt: unloaded round trip of the whole path (s in results): a time such as `10 ms`; default:
            required without `preset`.
        access: a separate access link for every sender and receiver: a `access` table.
        wifi: the bottleneck is an 802.11 cell; `rate` defaults to its fastest mode: a `wifi` table.
        ack_rate: rate of the way back (bit/s in results): a rate such as `100 Mbit/s`; default:
            `rate`.
        queue: queue before the bottleneck: a `queue` table; default: droptail, 1 bdp.
        loss: losses behind the bottleneck: a `loss` table.
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
        "access": "Access",
        "wifi": "Wifi",
        "queue": "Queue",
        "loss": "Loss",
        "jitter": "Jitter",
        "reorder": "Reorder",
        "schedule": "Change",
        "schedule_file": "ScheduleFile",
        "grants": "Grants",
    }

    preset: str | None
    rate: str | None
    rtt: str | None
    access: Access | None
    wifi: Wifi | None
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
        preset: str | None = None,
        rate: str | None = None,
        rtt: str | None = None,
        access: Access | None = None,
        wifi: Wifi | None = None,
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
                "preset": preset,
                "rate": rate,
                "rtt": rtt,
                "access": access,
                "wifi": wifi,
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


class Queue(Section):
    """A queue: its discipline and limit; further keys are the discipline's parameters.

    Args:
        discipline: the queue's law: the name of a queue discipline; default `droptail`.
        limit: capacity in packets, bytes or bandwidth-delay products; a bare number is packets: a
            number of packets such as `100 packets` or a size such as `64 KB` or a multiple of the
            bandwidth-delay product such as `1 bdp` or a number or a percentage such as `0.1 %`;
            default: codel and pie 1000 packets, fq_codel, fq_pie and cake 10240, fq and dualpi2
            10000, as in Linux; else 1 bdp.
        ecn: the discipline marks ECN-capable packets instead of dropping them: `true` or `false`;
            default: the discipline's.
        params: parameters of what is named, by their names.
    """

    discipline: str | None
    limit: str | float | None
    ecn: bool | None

    def __init__(
        self,
        discipline: str | None = None,
        *,
        limit: str | float | None = None,
        ecn: bool | None = None,
        **params: Value,
    ) -> None:
        self._fill(
            {
                "discipline": discipline,
                "limit": limit,
                "ecn": ecn,
                **params,
            }
        )


class Loss(Section):
    """Losses that no queue causes; further keys are the model's parameters.

    Args:
        model: the law of loss: the name of a loss model; default `bernoulli`.
        direction: whose packets are lost: one of `data`, `ack`, `both`; default `data`.
        params: parameters of what is named, by their names.
    """

    model: str | None
    direction: Literal["data", "ack", "both"] | None

    def __init__(
        self,
        model: str | None = None,
        *,
        direction: Literal["data", "ack", "both"] | None = None,
        **params: Value,
    ) -> None:
        self._fill(
            {
                "model": model,
                "direction": direction,
                **params,
            }
        )


class Jitter(Section):
    """Extra delay of each packet, in seconds; further keys are the distribution's parameters.

    Args:
        distribution: its law: the name of a distribution; required.
        params: parameters of what is named, by their names.
    """

    distribution: str | None

    def __init__(
        self,
        distribution: str | None = None,
        **params: Value,
    ) -> None:
        self._fill(
            {
                "distribution": distribution,
                **params,
            }
        )


class Reorder(Section):
    """Packets held back so that later ones overtake them.

    Args:
        probability: fraction of packets held back: a number or a percentage such as `0.1 %`;
            required.
        delay: for how long (s in results): a time such as `10 ms`; required.
    """

    probability: str | float | None
    delay: str | None

    def __init__(
        self,
        probability: str | float | None = None,
        *,
        delay: str | None = None,
    ) -> None:
        self._fill(
            {
                "probability": probability,
                "delay": delay,
            }
        )


class Change(Section):
    """One change of the path; what it does not name stays as it is.

    Args:
        at: when (s in results): a time such as `10 ms`; required.
        direction: whose packets: `data` (or `down`) from senders to receivers, `ack` (or `up`) the
            way back: one of `data`, `ack`, `both`, `down`, `up`; default `data`.
        rate: the new rate; zero is an outage (bit/s in results): a rate such as `100 Mbit/s`.
        delay: the new one-way delay, in place of half of `rtt`; of a link, of its `delay`. No
            packet overtakes another unless `reorder = true` (s in results): a time such as `10 ms`.
        loss: the new probability of loss: a number or a percentage such as `0.1 %`.
        jitter: the most of an extra delay, drawn uniformly (s in results): a time such as `10 ms`.
        down: whether an outage begins, or one ends: `true` or `false`.
        outage: what an outage does with the queue: it keeps what waits and takes in what comes, or
            it drops both: one of `hold`, `drop`; default `hold`.
    """

    at: str | None
    direction: Literal["data", "ack", "both", "down", "up"] | None
    rate: str | None
    delay: str | None
    loss: str | float | None
    jitter: str | None
    down: bool | None
    outage: Literal["hold", "drop"] | None

    def __init__(
        self,
        at: str | None = None,
        *,
        direction: Literal["data", "ack", "both", "down", "up"] | None = None,
        rate: str | None = None,
        delay: str | None = None,
        loss: str | float | None = None,
        jitter: str | None = None,
        down: bool | None = None,
        outage: Literal["hold", "drop"] | None = None,
    ) -> None:
        self._fill(
            {
                "at": at,
                "direction": direction,
                "rate": rate,
                "delay": delay,
                "loss": loss,
                "jitter": jitter,
                "down": down,
                "outage": outage,
            }
        )


class ScheduleFile(Section):
    """A schedule as a file: CSV with a header such as `time_s,rate_mbps,delay_ms,loss`, or a log of
    paths as LeoEM computes them.

    Args:
        file: the file, named from the scenario's own folder: a text; required.
        between: what holds between two rows: the first of them, or values on a straight line, in
            steps of 10 ms (rates of 100 ms): one of `steps`, `linear`; default `steps`.
        end: after the last row: it holds, or the file begins anew: one of `hold`, `repeat`; default
            `hold`.
        offset: the run begins at this time of the file (s in results): a time such as `10 ms`;
            default `0 s`.
        direction: whose packets its rows are about, but for columns that begin with `ack_`: one of
            `data`, `ack`, `both`, `down`, `up`; default `both`.
        gap: an outage of this length at each change of the path, of logs that have one (s in
            results): a time such as `10 ms`; default `0 s`.
        outage: what outages do with the queue: one of `hold`, `drop`; default `hold`.
    """

    file: str | None
    between: Literal["steps", "linear"] | None
    end: Literal["hold", "repeat"] | None
    offset: str | None
    direction: Literal["data", "ack", "both", "down", "up"] | None
    gap: str | None
    outage: Literal["hold", "drop"] | None

    def __init__(
        self,
        file: str | None = None,
        *,
        between: Literal["steps", "linear"] | None = None,
        end: Literal["hold", "repeat"] | None = None,
        offset: str | None = None,
        direction: Literal["data", "ack", "both", "down", "up"] | None = None,
        gap: str | None = None,
        outage: Literal["hold", "drop"] | None = None,
    ) -> None:
        self._fill(
            {
                "file": file,
                "between": between,
                "end": end,
                "offset": offset,
                "direction": direction,
                "gap": gap,
                "outage": outage,
            }
        )


class Grants(Section):
    """Bursts in which packets leave the line, by netem's `slot`.

    Args:
        every: from a packet that waits, or from a grant that was used up, to the next grant (s in
            results): a time such as `10 ms`; required.
        packets: packets of a grant at most (packets in results): a whole number from 1 to 1000000;
            required.
        direction: whose packets: one of `data`, `ack`, `both`, `down`, `up`; default `ack`.
    """

    every: str | None
    packets: int | None
    direction: Literal["data", "ack", "both", "down", "up"] | None

    def __init__(
        self,
        every: str | None = None,
        *,
        packets: int | None = None,
        direction: Literal["data", "ack", "both", "down", "up"] | None = None,
    ) -> None:
        self._fill(
            {
                "every": every,
                "packets": packets,
                "direction": direction,
            }
        )


class Access(Section):
    """The links between each host and the bottleneck.

    Args:
        rate: rate of each (bit/s in results): a rate such as `100 Mbit/s`; required.
        delay: one-way delay of each, within the path's `rtt` (s in results): a time such as `10
            ms`; default `0 s`.
    """

    rate: str | None
    delay: str | None

    def __init__(
        self,
        rate: str | None = None,
        *,
        delay: str | None = None,
    ) -> None:
        self._fill(
            {
                "rate": rate,
                "delay": delay,
            }
        )


class Wifi(Section):
    """An 802.11 cell as the bottleneck.

    Args:
        standard: the physical layer: one of `802.11g`; default `802.11g`.
        received_power: power at each receiver, which determines the rate and the losses of frames
            and ACKs (dBm in results): a power such as `-76 dBm` or a number or a percentage such as
            `0.1 %`; default `-60 dBm`.
        distance: distance, which gives the power by a path-loss model (m in results): a number from
            0.1 to 10000.
        stations: stations that contend for the channel: a whole number from 1 to 250; default `1`.
    """

    standard: Literal["802.11g"] | None
    received_power: str | float | None
    distance: float | None
    stations: int | None

    def __init__(
        self,
        *,
        standard: Literal["802.11g"] | None = None,
        received_power: str | float | None = None,
        distance: float | None = None,
        stations: int | None = None,
    ) -> None:
        self._fill(
            {
                "standard": standard,
                "received_power": received_power,
                "distance": distance,
                "stations": stations,
            }
        )


class Topology(Section):
    """A preset network whose bottlenecks are as `[path]` says.

    Args:
        preset: its shape: one of `dumbbell`, `parking-lot`, `four-host`; required.
        pairs: senders and receivers of a dumbbell: a whole number from 1 to 1000; default: one for
            every flow.
        hops: bottlenecks in a row of a parking lot: a whole number from 1 to 100; default `3`.
    """

    preset: Literal["dumbbell", "parking-lot", "four-host"] | None
    pairs: int | None
    hops: int | None

    def __init__(
        self,
        preset: Literal["dumbbell", "parking-lot", "four-host"] | None = None,
        *,
        pairs: int | None = None,
        hops: int | None = None,
    ) -> None:
        self._fill(
            {
                "preset": preset,
                "pairs": pairs,
                "hops": hops,
            }
        )


class Host(Section):
    """A host or router.

    Args:
        name: its name, for `from` and `to`: a text; required.
        device: it is a NetFPGA reference router of this timing: frames take its time, wait in its
            queues and go by its tables. Its ports are its links in the order of the file: one of
            `reference-1g`, `ideal-memory-1g`, `reference-10g`, `reference-sume`, `reference-plus`.
        registers: registers of the device that are written before the run, such as
            `OQ_QUEUE_2_MAX_PKTS_IN_Q=64`; after a table's fields, its `WR_ADDR` writes a row: a
            list of names.
    """

    name: str | None
    device: Literal["reference-1g", "ideal-memory-1g", "reference-10g", "reference-sume", "reference-plus"] | None
    registers: Sequence[str] | None

    def __init__(
        self,
        name: str | None = None,
        *,
        device: Literal["reference-1g", "ideal-memory-1g", "reference-10g", "reference-sume", "reference-plus"] | None = None,
        registers: Sequence[str] | None = None,
    ) -> None:
        self._fill(
            {
                "name": name,
                "device": device,
                "registers": registers,
            }
        )


class Link(Section):
    """A link in both directions; packets take the path of least delay.

    Args:
        from_: the host at one end: a text; required.
        name: its name in the results: a text; default: `from-to`.
        to: the host at the other end; data direction is from `from` to `to`: a text; required.
        rate: its rate (bit/s in results): a rate such as `100 Mbit/s`; default: required without
            `trace`.
        delay: its one-way delay (s in results): a time such as `10 ms`; default `0 s`.
        ack_rate: rate of the way back (bit/s in results): a rate such as `100 Mbit/s`; default:
            `rate`.
        queue: queue before it, in both directions; a bdp is that of the longest flow across: a
            `queue` table; default: droptail, 1 bdp.
        loss: losses on it: a `loss` table.
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

    _renamed = {"from_": "from"}
    _tables = {
        "queue": "Queue",
        "loss": "Loss",
        "jitter": "Jitter",
        "reorder": "Reorder",
        "schedule": "Change",
        "schedule_file": "ScheduleFile",
        "grants": "Grants",
    }

    from_: str | None
    name: str | None
    to: str | None
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
        from_: str | None = None,
        *,
        name: str | None = None,
        to: str | None = None,
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
                "from_": from_,
                "name": name,
                "to": to,
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


class Flow(Section):
    """A TCP flow, or several alike.

    Args:
        variant: congestion control; `newreno` means reno over stack `rfc` without SACK: the name of
            a congestion control; required.
        name: its name in the results: a text; default: the variant's name, numbered where several
            share it.
        params: the variant's parameters: a table of the congestion control's parameters.
        count: flows alike: a whole number from 1 to 10000; default `1`.
        start: when it starts; drawn by its `name`, without one by its place, so that variants of a
            sweep start alike (s in results): a time such as `10 ms`; default: drawn from the seed
            within the first round trip or second, whichever is longer.
        stop: when it stops to send (s in results): a time such as `10 ms`; default: the end of the
            run.
        duration: instead of `stop`: how long it sends (s in results): a time such as `10 ms`.
        bytes: what it has to send (bytes in results): a size such as `64 KB`; default: no end.
        rate: payload that its application writes, in whole segments and once a millisecond at most;
            what TCP cannot send yet waits (bit/s in results): a rate such as `100 Mbit/s`; default:
            as fast as TCP sends.
        from_: sending host, in a network: a text.
        to: receiving host, in a network: a text.
        rtt: its own unloaded round trip (s in results): a time such as `10 ms`; default: the
            path's.
        stack: the TCP around the congestion control: one of `linux-6`, `linux-2.6`, `rfc`; default
            `linux-6`.
        sack: selective acknowledgements: `true` or `false`; default `true`.
        ecn: the ECN that is negotiated: `true` and `classic` by RFC 3168, `accurate` by RFC 9768
            (AccECN), with classic ECN where the peer has no other: `true`, `false`, `classic`,
            `accurate`; default: what the variant needs.
        dscp: differentiated services codepoint of its packets, in both directions: one of `CS0`,
            `CS1`, `CS2`, `CS3`, `CS4`, `CS5`, `CS6`, `CS7`, `AF11`, `AF12`, `AF13`, `AF21`, `AF22`,
            `AF23`, `AF31`, `AF32`, `AF33`, `AF41`, `AF42`, `AF43`, `VA`, `EF`, `LE`; default `CS0`.
        buffers: socket memory, unless the next two keys set it: never a limit, or as in Linux,
            where it grows to 4 MB for sending (`tcp_wmem`) and 6 MB for receiving (`tcp_rmem`): one
            of `unlimited`, `linux`; default `unlimited`.
        socket_buffer: send buffer, as an application sets it (`SO_SNDBUF`): the kernel takes twice
            as much memory for it; the receiver's too, without `receive_buffer` (bytes in results):
            a size such as `64 KB`; default: as `buffers` says.
        receive_buffer: receive buffer, as an application sets it (`SO_RCVBUF`), which bounds the
            offered window (bytes in results): a size such as `64 KB`; default: as `buffers` says.
        reader: interval at which the receiving application reads (s in results): a time such as `10
            ms`; default: at once.
        delayed_ack: whether ACKs are delayed, or after how many full segments an ACK is sent,
            within 100 ms; more than 2 violates RFC 5681 §4.2 (segments in results): `true`, `false`
            or a whole number from 1 to 64; default `true`.
        initial_window: first congestion window (segments in results): a whole number from 1 to
            1000; default: the stack's: 10, 3 or RFC 3390.
        min_rto: least retransmission timeout (s in results): a time such as `10 ms`; default: the
            stack's: 200 ms, with `rfc` 1 s.
        cwnd_clamp: largest congestion window (segments in results): a whole number from 1 to
            1000000000; default: no limit.
        timestamps: the timestamp option: `true` or `false`; default: the stack's: on.
        nagle: small segments wait while data is unacknowledged: `true` or `false`; default: the
            stack's: off.
        pacing: segments are paced: `true` or `false`; default: if the variant requires it.
        pacing_rate: payload that is sent at most, paced whatever the variant asks for
            (`SO_MAX_PACING_RATE`) (bit/s in results): a rate such as `100 Mbit/s`; default: no
            limit.
        sender_queue: queue of the sending host: none that counts, or Linux's `fq`, which paces
            every flow, by the variant's rate or the one that follows from the window: one of
            `none`, `fq`; default `none`.
        kernel_variant: the congestion control for engine `measure`, by its name in the kernel, if
            it differs from `variant`: a text.
        offload: segmentation offload: bursts leave as super-segments: `true` or `false`; default
            `false`.
    """

    _renamed = {"from_": "from"}
    _tables = {
        "variant": "Library",
    }

    variant: str | Library | None
    name: str | None
    params: Mapping[str, Value] | None
    count: int | None
    start: str | None
    stop: str | None
    duration: str | None
    bytes: str | None
    rate: str | None
    from_: str | None
    to: str | None
    rtt: str | None
    stack: Literal["linux-6", "linux-2.6", "rfc"] | None
    sack: bool | None
    ecn: bool | Literal["classic", "accurate"] | None
    dscp: Literal["CS0", "CS1", "CS2", "CS3", "CS4", "CS5", "CS6", "CS7", "AF11", "AF12", "AF13", "AF21", "AF22", "AF23", "AF31", "AF32", "AF33", "AF41", "AF42", "AF43", "VA", "EF", "LE"] | None
    buffers: Literal["unlimited", "linux"] | None
    socket_buffer: str | None
    receive_buffer: str | None
    reader: str | None
    delayed_ack: bool | int | None
    initial_window: int | None
    min_rto: str | None
    cwnd_clamp: int | None
    timestamps: bool | None
    nagle: bool | None
    pacing: bool | None
    pacing_rate: str | None
    sender_queue: Literal["none", "fq"] | None
    kernel_variant: str | None
    offload: bool | None

    def __init__(
        self,
        variant: str | Library | None = None,
        *,
        name: str | None = None,
        params: Mapping[str, Value] | None = None,
        count: int | None = None,
        start: str | None = None,
        stop: str | None = None,
        duration: str | None = None,
        bytes: str | None = None,
        rate: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        rtt: str | None = None,
        stack: Literal["linux-6", "linux-2.6", "rfc"] | None = None,
        sack: bool | None = None,
        ecn: bool | Literal["classic", "accurate"] | None = None,
        dscp: Literal["CS0", "CS1", "CS2", "CS3", "CS4", "CS5", "CS6", "CS7", "AF11", "AF12", "AF13", "AF21", "AF22", "AF23", "AF31", "AF32", "AF33", "AF41", "AF42", "AF43", "VA", "EF", "LE"] | None = None,
        buffers: Literal["unlimited", "linux"] | None = None,
        socket_buffer: str | None = None,
        receive_buffer: str | None = None,
        reader: str | None = None,
        delayed_ack: bool | int | None = None,
        initial_window: int | None = None,
        min_rto: str | None = None,
        cwnd_clamp: int | None = None,
        timestamps: bool | None = None,
        nagle: bool | None = None,
        pacing: bool | None = None,
        pacing_rate: str | None = None,
        sender_queue: Literal["none", "fq"] | None = None,
        kernel_variant: str | None = None,
        offload: bool | None = None,
    ) -> None:
        self._fill(
            {
                "variant": variant,
                "name": name,
                "params": params,
                "count": count,
                "start": start,
                "stop": stop,
                "duration": duration,
                "bytes": bytes,
                "rate": rate,
                "from_": from_,
                "to": to,
                "rtt": rtt,
                "stack": stack,
                "sack": sack,
                "ecn": ecn,
                "dscp": dscp,
                "buffers": buffers,
                "socket_buffer": socket_buffer,
                "receive_buffer": receive_buffer,
                "reader": reader,
                "delayed_ack": delayed_ack,
                "initial_window": initial_window,
                "min_rto": min_rto,
                "cwnd_clamp": cwnd_clamp,
                "timestamps": timestamps,
                "nagle": nagle,
                "pacing": pacing,
                "pacing_rate": pacing_rate,
                "sender_queue": sender_queue,
                "kernel_variant": kernel_variant,
                "offload": offload,
            }
        )


class Workload(Section):
    """TCP flows that come and go.

    Args:
        kind: how flows arrive: independently, as transactions, in bursts, or as cross traffic: one
            of `poisson`, `request-response`, `on-off`, `background`; required.
        name: its name in the results: a text; default: the kind.
        variant: congestion control of its flows: the name of a congestion control; default `cubic`.
        params: the variant's parameters: a table of the congestion control's parameters.
        stack: the TCP around the congestion control: one of `linux-6`, `linux-2.6`, `rfc`; default
            `linux-6`.
        buffers: memory of its sockets, as for a flow: one of `unlimited`, `linux`; default
            `unlimited`.
        from_: sending host, in a network: a text.
        to: receiving host, in a network: a text.
        start: when it starts (s in results): a time such as `10 ms`; default `0 s`.
        stop: when no more flows come (s in results): a time such as `10 ms`; default: the end of
            the run.
        load: poisson, background: offered fraction of the bottleneck: a number or a percentage such
            as `0.1 %`.
        rate: poisson, background: offered payload; on-off: sending rate while on (bit/s in
            results): a rate such as `100 Mbit/s`.
        arrivals: poisson, background: flows per second (1/s in results): a number from 0.000001 to
            1000000000.
        size: poisson, background: bytes of a flow (bytes in results): a size such as `64 KB` or a
            table with a `distribution`; default: background: Pareto, mean 100 kB, shape 1.3.
        request: request-response: bytes of a request (bytes in results): a size such as `64 KB` or
            a table with a `distribution`; default `300 B`.
        response: request-response: bytes of a response (bytes in results): a size such as `64 KB`
            or a table with a `distribution`; default `10 kB`.
        think: request-response: pause before the next request (s in results): a time such as `10
            ms` or a table with a `distribution`; default `1 s`.
        connections: request-response, on-off: connections at once: a whole number from 1 to 100000;
            default `1`.
        on: on-off: length of a burst (s in results): a time such as `10 ms` or a table with a
            `distribution`; default `1 s`.
        off: on-off: length of a pause (s in results): a time such as `10 ms` or a table with a
            `distribution`; default `1 s`.
    """

    _renamed = {"from_": "from"}
    _tables = {
        "variant": "Library",
        "size": "Distribution",
        "request": "Distribution",
        "response": "Distribution",
        "think": "Distribution",
        "on": "Distribution",
        "off": "Distribution",
    }

    kind: Literal["poisson", "request-response", "on-off", "background"] | None
    name: str | None
    variant: str | Library | None
    params: Mapping[str, Value] | None
    stack: Literal["linux-6", "linux-2.6", "rfc"] | None
    buffers: Literal["unlimited", "linux"] | None
    from_: str | None
    to: str | None
    start: str | None
    stop: str | None
    load: str | float | None
    rate: str | None
    arrivals: float | None
    size: str | Distribution | None
    request: str | Distribution | None
    response: str | Distribution | None
    think: str | Distribution | None
    connections: int | None
    on: str | Distribution | None
    off: str | Distribution | None

    def __init__(
        self,
        kind: Literal["poisson", "request-response", "on-off", "background"] | None = None,
        *,
        name: str | None = None,
        variant: str | Library | None = None,
        params: Mapping[str, Value] | None = None,
        stack: Literal["linux-6", "linux-2.6", "rfc"] | None = None,
        buffers: Literal["unlimited", "linux"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        start: str | None = None,
        stop: str | None = None,
        load: str | float | None = None,
        rate: str | None = None,
        arrivals: float | None = None,
        size: str | Distribution | None = None,
        request: str | Distribution | None = None,
        response: str | Distribution | None = None,
        think: str | Distribution | None = None,
        connections: int | None = None,
        on: str | Distribution | None = None,
        off: str | Distribution | None = None,
    ) -> None:
        self._fill(
            {
                "kind": kind,
                "name": name,
                "variant": variant,
                "params": params,
                "stack": stack,
                "buffers": buffers,
                "from_": from_,
                "to": to,
                "start": start,
                "stop": stop,
                "load": load,
                "rate": rate,
                "arrivals": arrivals,
                "size": size,
                "request": request,
                "response": response,
                "think": think,
                "connections": connections,
                "on": on,
                "off": off,
            }
        )


class Stream(Section):
    """A stream of datagrams.

    Args:
        gap: time from one datagram to the next; `rate` in packets per second sets the mean (s in
            results): a time such as `10 ms` or a table with a `distribution`; required.
        name: its name in the results: a text; default: `stream-1`, `stream-2`, ….
        protocol: the protocol: one of `udp`; default `udp`.
        size: payload of a datagram (bytes in results): a size such as `64 KB` or a table with a
            `distribution`; default `1400 B`.
        dscp: differentiated services codepoint of its datagrams: one of `CS0`, `CS1`, `CS2`, `CS3`,
            `CS4`, `CS5`, `CS6`, `CS7`, `AF11`, `AF12`, `AF13`, `AF21`, `AF22`, `AF23`, `AF31`,
            `AF32`, `AF33`, `AF41`, `AF42`, `AF43`, `VA`, `EF`, `LE`; default `CS0`.
        from_: sending host, in a network: a text.
        to: receiving host, in a network: a text.
        start: when it starts (s in results): a time such as `10 ms`; default `0 s`.
        stop: when it stops (s in results): a time such as `10 ms`; default: the end of the run.
    """

    _renamed = {"from_": "from"}
    _tables = {
        "gap": "Distribution",
        "size": "Distribution",
    }

    gap: str | Distribution | None
    name: str | None
    protocol: Literal["udp"] | None
    size: str | Distribution | None
    dscp: Literal["CS0", "CS1", "CS2", "CS3", "CS4", "CS5", "CS6", "CS7", "AF11", "AF12", "AF13", "AF21", "AF22", "AF23", "AF31", "AF32", "AF33", "AF41", "AF42", "AF43", "VA", "EF", "LE"] | None
    from_: str | None
    to: str | None
    start: str | None
    stop: str | None

    def __init__(
        self,
        gap: str | Distribution | None = None,
        *,
        name: str | None = None,
        protocol: Literal["udp"] | None = None,
        size: str | Distribution | None = None,
        dscp: Literal["CS0", "CS1", "CS2", "CS3", "CS4", "CS5", "CS6", "CS7", "AF11", "AF12", "AF13", "AF21", "AF22", "AF23", "AF31", "AF32", "AF33", "AF41", "AF42", "AF43", "VA", "EF", "LE"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        start: str | None = None,
        stop: str | None = None,
    ) -> None:
        self._fill(
            {
                "gap": gap,
                "name": name,
                "protocol": protocol,
                "size": size,
                "dscp": dscp,
                "from_": from_,
                "to": to,
                "start": start,
                "stop": stop,
            }
        )


class App(Section):
    """An application; the result is what its users get. Further keys are the kind's parameters.

    Args:
        kind: what a user does; the server is the sending host, the user the receiving one: the name
            of an application; required.
        name: its name in the results: a text; default: the kind.
        users: users alike; each begins within a second of `start`, drawn from the seed: a whole
            number from 1 to 10000; default `1`.
        variant: congestion control of its connections, where TCP carries it: the name of a
            congestion control; default `cubic`.
        params: the variant's parameters: a table of the congestion control's parameters.
        stack: the TCP around the congestion control: one of `linux-6`, `linux-2.6`, `rfc`; default
            `linux-6`.
        dscp: differentiated services codepoint of its packets, in both directions: one of `CS0`,
            `CS1`, `CS2`, `CS3`, `CS4`, `CS5`, `CS6`, `CS7`, `AF11`, `AF12`, `AF13`, `AF21`, `AF22`,
            `AF23`, `AF31`, `AF32`, `AF33`, `AF41`, `AF42`, `AF43`, `VA`, `EF`, `LE`; default `CS0`.
        from_: the server's host, in a network: a text.
        to: the users' host, in a network: a text.
        start: when its users begin (s in results): a time such as `10 ms`; default `0 s`.
        stop: when they leave (s in results): a time such as `10 ms`; default: the end of the run.
        own: parameters of what is named, by their names.
    """

    _renamed = {"from_": "from"}
    _tables = {
        "variant": "Library",
    }

    kind: str | None
    name: str | None
    users: int | None
    variant: str | Library | None
    params: Mapping[str, Value] | None
    stack: Literal["linux-6", "linux-2.6", "rfc"] | None
    dscp: Literal["CS0", "CS1", "CS2", "CS3", "CS4", "CS5", "CS6", "CS7", "AF11", "AF12", "AF13", "AF21", "AF22", "AF23", "AF31", "AF32", "AF33", "AF41", "AF42", "AF43", "VA", "EF", "LE"] | None
    from_: str | None
    to: str | None
    start: str | None
    stop: str | None

    def __init__(
        self,
        kind: str | None = None,
        *,
        name: str | None = None,
        users: int | None = None,
        variant: str | Library | None = None,
        params: Mapping[str, Value] | None = None,
        stack: Literal["linux-6", "linux-2.6", "rfc"] | None = None,
        dscp: Literal["CS0", "CS1", "CS2", "CS3", "CS4", "CS5", "CS6", "CS7", "AF11", "AF12", "AF13", "AF21", "AF22", "AF23", "AF31", "AF32", "AF33", "AF41", "AF42", "AF43", "VA", "EF", "LE"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        start: str | None = None,
        stop: str | None = None,
        **own: Value,
    ) -> None:
        self._fill(
            {
                "kind": kind,
                "name": name,
                "users": users,
                "variant": variant,
                "params": params,
                "stack": stack,
                "dscp": dscp,
                "from_": from_,
                "to": to,
                "start": start,
                "stop": stop,
                **own,
            }
        )


class Distribution(Section):
    """A distribution; further keys are its parameters. A plain value is constant.

    Args:
        distribution: its law: the name of a distribution; required.
        params: parameters of what is named, by their names.
    """

    distribution: str | None

    def __init__(
        self,
        distribution: str | None = None,
        **params: Value,
    ) -> None:
        self._fill(
            {
                "distribution": distribution,
                **params,
            }
        )


class Library(Section):
    """A congestion control from a shared object (`trammel header`), in place of its name.

    Args:
        library: the shared object, relative to this file; it is loaded: a text; required.
    """

    library: str | None

    def __init__(
        self,
        library: str | None = None,
    ) -> None:
        self._fill(
            {
                "library": library,
            }
        )


class Matrix(Section):
    """Every pair from a list of variants, for the first two flows.

    Args:
        variants: names, or tables with `variant` and other keys of a flow: a list of names or
            tables; required.
        pairs: each pair once including equal variants, `distinct` without those, or `ordered` in
            both orders: one of `unordered`, `distinct`, `ordered`; default `unordered`.
    """

    variants: Sequence[str | Flow] | None
    pairs: Literal["unordered", "distinct", "ordered"] | None

    def __init__(
        self,
        variants: Sequence[str | Flow] | None = None,
        *,
        pairs: Literal["unordered", "distinct", "ordered"] | None = None,
    ) -> None:
        self._fill(
            {
                "variants": variants,
                "pairs": pairs,
            }
        )


class Predict(Section):
    """The analytic models to use.

    Args:
        models: names, or `name:dialect`: a list of names; default: every model that applies.
    """

    models: Sequence[str] | None

    def __init__(
        self,
        *,
        models: Sequence[str] | None = None,
    ) -> None:
        self._fill(
            {
                "models": models,
            }
        )


class Measure(Section):
    """How real stacks are measured.

    Args:
        kernel: the kernel's TCP in virtual time, or this host's stack: one of `linux`, `host`;
            default `linux`.
        source: a source tree of Linux to build the kernel from; `TREE+x.patch` and
            `packaged+x.patch` apply patches to a copy of it: a text; default: the package
            linux-source-6.12.
        patches: patches to apply to a copy of the source, in this order: a list of names.
        kernels: several kernels to measure with, each as in `source`, `packaged` for the package's:
            a sweep over `measure.source`: a list of names.
        module: a congestion control to compile for the kernel, a file of C such as `tcp_mine.c`: a
            text.
        sysctls: sysctls of all hosts below /proc/sys/net, such as `ipv4.tcp_reordering=5`: a list
            of names.
        parameters: parameters of the kernel's modules, such as `tcp_cubic.hystart=0`: a list of
            names.
    """

    kernel: Literal["linux", "host"] | None
    source: str | None
    patches: Sequence[str] | None
    kernels: Sequence[str] | None
    module: str | None
    sysctls: Sequence[str] | None
    parameters: Sequence[str] | None

    def __init__(
        self,
        *,
        kernel: Literal["linux", "host"] | None = None,
        source: str | None = None,
        patches: Sequence[str] | None = None,
        kernels: Sequence[str] | None = None,
        module: str | None = None,
        sysctls: Sequence[str] | None = None,
        parameters: Sequence[str] | None = None,
    ) -> None:
        self._fill(
            {
                "kernel": kernel,
                "source": source,
                "patches": patches,
                "kernels": kernels,
                "module": module,
                "sysctls": sysctls,
                "parameters": parameters,
            }
        )
