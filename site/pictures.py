"""The pictures of the reference: each from a short simulation of what its page is about."""

import re
import struct
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import program
from figure import Axis, Point, Series, chart, strip

TIME = Axis("time, s", low=0)


def toml(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{k}" = {toml(v)}' for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


def scenario(path: dict[str, Any], flows: list[dict[str, Any]], seconds: float, every: str) -> str:
    """A transport scenario."""
    lines = [f'duration = "{seconds} s"', f'trace = "{every}"', 'engines = ["simulate"]', "[path]"]
    lines += [f"{key} = {toml(value)}" for key, value in path.items()]
    for flow in flows:
        lines.append("[[flow]]")
        lines += [f"{key} = {toml(value)}" for key, value in flow.items()]
    return "\n".join(lines) + "\n"


# Variants that need marks; their own example has the queue that gives them.
MARKED = ("dctcp", "prague")
PATH = {"rate": "20 Mbit/s", "rtt": "40 ms", "queue": {"limit": "1 bdp"}}


def variant(name: str, example: str) -> str:
    """The window of one flow, and of two beside each other."""
    own = tomllib.loads(example)["path"] if name in MARKED else PATH
    seconds, every = {"dctcp": (0.5, "0.2 ms"), "prague": (5, "2 ms")}.get(name, (40, "20 ms"))
    where = f"{own['rate']}, {own['rtt']}"
    where += ", marks above a threshold" if name in MARKED else ", a queue of one BDP"
    flow = {"name": name, "variant": name, "start": "0 s"}
    alone = program.run(scenario(own, [flow], seconds, every))
    window = alone.column(f"traces/base.{name}.csv", "time_s", "cwnd_pkts")
    second = [p[1] for p in window if p[0] > seconds / 2]
    says = (
        f"The window of {name} alone over {seconds} s: in the second half between"
        f" {min(second):.0f} and {max(second):.0f} packets"
    )
    one = chart(
        f"The window of {name} alone: {where}",
        [Series("", window)],
        TIME._replace(high=seconds), Axis("window, packets", low=0), says,
    )
    if name in MARKED or name == "reno":
        return one
    other = {"name": "reno", "variant": "reno", "start": "0 s"}
    pair = program.run(scenario(PATH, [flow, other], 40, every))
    rows = {row["flow"]: float(row["goodput_mbps"]) for row in pair.table("flows.csv")}
    share = rows[name] / sum(rows.values())
    lines = [
        Series(each, pair.column(f"traces/base.{each}.csv", "time_s", "cwnd_pkts"))
        for each in (name, "reno")
    ]
    two = chart(
        f"The windows of {name} and of Reno on the same link: {where}. {name} gets"
        f" {share * 100:.0f} % of the goodput of this run",
        lines,
        TIME._replace(high=40), Axis("window, packets", low=0),
    )
    return f"{one}\n\n{two}"


class Course(NamedTuple):
    """What a queue did: its delay in ms over time, and a row of numbers."""

    delay: list[Point]
    row: str


def course(name: str, queue: dict[str, Any], rate_mbps: float) -> Course:
    """How long the bytes that wait would take to leave, and what came of it."""
    path = {"rate": f"{rate_mbps:g} Mbit/s", "rtt": "40 ms", "queue": queue}
    flows = [
        {"name": "a", "variant": "cubic", "start": "0 s", "ecn": True},
        {"name": "b", "variant": "cubic", "start": "10 s", "ecn": True},
    ]
    done = program.run(scenario(path, flows, 30, "20 ms"))
    column = done.column("traces/base.bottleneck.csv", "time_s", "queue_bytes")
    delay = [(t, waiting * 8 / rate_mbps / 1e3) for t, waiting in column]
    late = sorted(p[1] for p in delay if p[0] > 15)
    link = next(row for row in done.table("links.csv") if row["link"] == "bottleneck")
    kinds = ("drops_overflow_pkts", "drops_early_pkts", "marks_pkts")
    counts = " | ".join(link.get(kind) or "0" for kind in kinds)
    row = (
        f"| {name} | {late[len(late) // 2]:.1f} | {late[len(late) * 95 // 100]:.1f}"
        f" | {float(link['utilisation']) * 100:.1f} % | {counts} |"
    )
    return Course(delay, row)


def discipline(name: str, example: str) -> str:
    """The delay of the queue under two flows, beside a plain queue of the same link."""
    queue = tomllib.loads(example)["path"]["queue"]
    if name == "policer":
        return ""
    own = "droptail, 1 BDP" if name == "droptail" else name
    law = course(own, queue, 20)
    plain = course("droptail, 2 BDP", {"discipline": "droptail", "limit": "2 bdp"}, 20)
    drawn = chart(
        "Delay of the queue: two CUBIC flows with ECN on 20 Mbit/s and 40 ms, the second from"
        " 10 s on; the queue is that of the example",
        [Series(own, law.delay), Series("droptail, 2 BDP", plain.delay)],
        TIME._replace(high=30), Axis("delay, ms", low=0),
    )
    head = "| queue | delay from 15 s on, median, ms | 95th percentile, ms | the link is used |"
    head += " dropped, full | dropped early | marked |\n| --- |" + " ---: |" * 6
    return f"{drawn}\n\n{head}\n{law.row}\n{plain.row}\n"


def packets(capture: Path) -> list[tuple[float, int]]:
    """Time in s and length of the IP packet, of the packets of a capture's first interface."""
    data = capture.read_bytes()
    at, out = 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            port, high, low, _, whole = struct.unpack_from("<IIIII", data, at + 8)
            if port == 0:
                out.append(((high << 32 | low) / 1e9, whole - 14))
        at += length
    return out


def distribution(name: str, example: str) -> str:
    """The share of samples up to a value, from the packets of a stream."""
    stream = tomllib.loads(example).get("stream", [{}])[0]
    if name == "empirical":
        # Its published presets are sizes of flows, which no packet has; this is a mix of packets.
        mix = {"values": [40, 40, 576, 1372, 1372], "probabilities": [0, 0.5, 0.7, 0.7, 1]}
        stream = {"size": {"distribution": name, **mix}}
    if not stream:
        return ""
    what = "gap" if isinstance(stream.get("gap"), dict) else "size"
    law = stream[what]
    if law.get("preset"):
        return ""
    gap = law if what == "gap" else "1 ms"
    size = law if what == "size" else "100 B"
    text = (
        'duration = "20 s"\nengines = ["simulate"]\npcap = true\n[path]\nrate = "400 Gbit/s"\n'
        f'rtt = "1 ms"\nmtu = 65000\n[[stream]]\ngap = {toml(gap)}\nsize = {toml(size)}\n'
    )
    got = packets(program.run(text).folder / "pcap/base.bottleneck.pcapng")
    if what == "gap":
        values = [(b[0] - a[0]) * 1e3 for a, b in zip(got, got[1:])]
    else:
        values = [float(one[1] - 28) for one in got]
    values.sort()
    count = len(values)
    # Enough of them for a line, by rank and not by place: a step stays a step.
    ranks = sorted({*range(0, count, max(1, count // 600)), *range(count - 20, count)})
    points = [(values[n], (n + 1) / count) for n in ranks]
    # A heavy tail needs an axis of powers; else the axis leaves out three in a thousand at its ends.
    least, middle = values[count // 100], values[count // 2]
    is_log = values[count * 999 // 1000] > 3 * values[count * 99 // 100] and least > middle / 3
    low, high = None, None
    if not is_log:
        points = [(values[0], 0.0), *points]
        low, high = values[count * 3 // 1000], values[count * 997 // 1000]
        if low == high:
            low, high = 0, 2 * high
    words = ", ".join(f"{key} {value}" for key, value in law.items() if key != "distribution")
    unit = "gap, ms" if what == "gap" else "size, bytes"
    return chart(
        f"CDF of {count} samples of {name} ({words}): half are below"
        f" {values[count // 2]:.4g}, one in a hundred is above {values[count * 99 // 100]:.4g}",
        [Series("", points, is_step=True)],
        Axis(unit, is_log, low, high), Axis("share", low=0, high=1),
    )


def loss(name: str, example: str) -> str:
    """Which of four thousand packets are lost."""
    law = tomllib.loads(example)["path"]["loss"] | {
        "bernoulli": {"probability": 0.02},
        "netem": {"probability": 0.02},
        "gilbert-elliott": {"p": 0.005, "r": 0.25},
        "periodic": {"every": 50},
        "trace": {"packets": [500, 501, 502, 1200, 2000]},
    }.get(name, {})
    hosts = "".join(f'[[host]]\nname = "{one}"\n' for one in "abc")
    text = (
        'duration = "4 s"\nengines = ["simulate"]\npcap = ["behind"]\n'
        f'{hosts}[[link]]\nname = "lossy"\nfrom = "a"\nto = "b"\nrate = "1 Gbit/s"\n'
        f'loss = {toml(law)}\n[[link]]\nname = "behind"\nfrom = "b"\nto = "c"\n'
        'rate = "1 Gbit/s"\n[[stream]]\nfrom = "a"\nto = "c"\ngap = "1 ms"\nsize = "100 B"\n'
        'start = "0 s"\n'
    )
    folder = program.run(text).folder
    # A packet leaves each millisecond, and the way takes less.
    arrived = {int(one[0] * 1e3) for one in packets(folder / "pcap/base.behind.pcapng")}
    marks = [n not in arrived for n in range(3990)]
    words = ", ".join(f"{key} {value}" for key, value in law.items() if key != "model")
    return strip(
        f"{name} ({words}): {sum(marks)} of {len(marks)} packets are lost, row by row",
        marks, 133,
    )


def on_preset(name: str) -> str:
    """A scenario on a preset's path: one flow, for a time that suits its rate."""
    page = program.say("doc", "preset", name)
    rate = re.search(r"^rate = '([\d.]+) ([GMk]?)bit/s'", page, re.M)
    size = {"G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}[rate[2]] * float(rate[1]) if rate else 1e8
    seconds = next(s for s in (60, 30, 5, 0.2) if s * size <= 6e9 or s == 0.2)
    ecn = "ecn = true\n" if "threshold" in page else ""
    return (
        f'duration = "{seconds} s"\ntrace = "{seconds:g} ms"\n'
        f'[path]\npreset = "{name}"\n[[flow]]\nvariant = "cubic"\nstart = "0 s"\n{ecn}'
    )


def preset(name: str, text: str) -> str:
    """The round trip that a flow over a preset's path sees."""
    done = program.run(text, "--engine", "simulate")
    points = done.column("traces/base.cubic.csv", "time_s", "srtt_us")
    goodput = float(done.table("flows.csv")[0]["goodput_mbps"])
    return chart(
        f"The smoothed round trip of one CUBIC flow over {name}, which gets {goodput:.3g} Mbit/s",
        [Series("", [(t, rtt / 1e3) for t, rtt in points])],
        TIME, Axis("round trip, ms", low=0),
    )


def model(name: str) -> str:
    """The goodput that a model predicts, over the loss rate."""
    mine = {
        "pftk": "reno", "square-root": "reno", "rfc3649": "highspeed", "rfc9438": "cubic",
        "scalable-kelly": "scalable",
    }.get(name)
    if mine is None:
        return ""
    rates = [round(10 ** (-5 + n / 4), 8) for n in range(13)]
    params = 'params = { dialect = "kelly" }\n' if mine == "scalable" else ""
    text = (
        'duration = "60 s"\nengines = ["predict", "simulate"]\n[path]\nrate = "1 Gbit/s"\n'
        'rtt = "40 ms"\nqueue = { limit = "1 bdp" }\nloss = { probability = 0.001 }\n[[flow]]\n'
        f'variant = "{mine}"\n{params}[predict]\nmodels = ["{name}"]\n[sweep]\n'
        f'"path.loss.probability" = {toml(rates)}\n'
    )
    rows = program.run(text).table("comparison.csv")
    rows = [row for row in rows if row["metric"] == "goodput" and row["predicted"]]
    lines: dict[str, list[Point]] = {}
    for row in rows:
        at = float(row["probability"])
        lines.setdefault(row["model"], []).append((at, float(row["predicted"])))
    simulated = {float(row["probability"]): float(row["simulated"]) for row in rows}
    series = [Series(key, points) for key, points in lines.items()]
    series.append(Series(f"{mine}, simulated", sorted(simulated.items()), is_dotted=True))
    return chart(
        f"Goodput of one flow of {mine} over the loss rate, as {name} predicts it and as simulated:"
        " 1 Gbit/s, 40 ms, a queue of one BDP, one run of 60 s for each point",
        series, Axis("loss rate", is_log=True), Axis("goodput, Mbit/s", is_log=True),
    )
