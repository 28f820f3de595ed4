"""ns-2 on the cells of `trammel fidelity`: `python3 -m benches.fidelity_ns2 DIR [--ack every]`.

DIR is the output folder of `trammel fidelity`. Every cell that ns-2 2.35 can express runs in its
TCP/Linux, which has the congestion controls of Linux 2.6.22 in a sender of ns-2's own: as many
phases as the cell has, starts drawn within the first round trip or second, whichever is longer,
goodput from the warm-up to the end. Beside ns-2's means stand the kernel's and the simulator's. The
errors of ns-2, the simulator and the null model are those of the same flows: those that ns-2 can
run and that count in the targets of `trammel fidelity`.

What differs from the cell: ns-2's wire lets no two packets go at once, so a round trip that is
shorter than a packet and its ACK take on the wire becomes as long as that. Delayed ACKs wait 40 ms.
Most modules of Linux 2.6.22 count ACKs where those of today count segments: `--ack every` has an
ACK for each packet, which the kernel does not send, and can bring ns-2 nearer.

Needs the Debian package `ns2`.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.measure import Failure, say, table
from benches.peers.linux_2_6 import VARIANTS

SCRIPT = Path(__file__).resolve().parent / "path.tcl"
QUEUES = ["droptail", "red"]
RED = ["weight", "min_threshold", "max_threshold"]
WIRE_BITS = 1514 * 8
MOST_PACKETS = 3_000_000


class LeftOut(Exception):
    """A cell cannot be run, and why."""


def amount(text: str, unit: str) -> float:
    """The number of an amount such as `63.490 ms`."""
    number, found = text.split()
    if found != unit:
        raise Failure(f"`{text}` is not in `{unit}`")
    return float(number)


@dataclass(frozen=True)
class Flow:
    """A row of `fidelity_flows.csv`: goodput in Mbit/s by whom it is of."""

    name: str
    kernel: float
    simulated: float
    null: float
    counts: bool

    @staticmethod
    def of(row: dict[str, str]) -> Flow:
        goodputs = (float(row[key]) for key in ("linux_vt_mbps", "simulated_mbps", "null_mbps"))
        return Flow(row["flow"], *goodputs, row["counts"] == "yes")

    def error(self, mbps: float) -> float:
        """How far `mbps` is from the kernel's, of the kernel's."""
        if self.kernel > 0:
            return mbps / self.kernel - 1
        return 1.0 if mbps > 0 else 0.0


@dataclass(frozen=True)
class Cell:
    """A scenario and what ns-2 needs to know of it."""

    name: str
    variants: list[str]
    queue: dict[str, Any]
    loss: float
    rate_bps: float
    rtt_s: float
    warmup_s: float
    duration_s: float
    phases: int
    seed: int

    @staticmethod
    def read(path: Path) -> Cell:
        scenario = tomllib.loads(path.read_text())
        of_path = scenario["path"]
        return Cell(
            name=path.stem,
            variants=[flow["variant"] for flow in scenario["flow"]],
            queue=of_path["queue"],
            loss=of_path.get("loss", {}).get("probability", 0.0),
            rate_bps=amount(of_path["rate"], "bit/s"),
            rtt_s=amount(of_path["rtt"], "ms") / 1e3,
            warmup_s=amount(scenario["warmup"], "s"),
            duration_s=amount(scenario["duration"], "s"),
            phases=scenario["repeat"],
            seed=scenario["seed"],
        )

    def flow_names(self) -> list[str]:
        """The variants, numbered from the second flow of each on."""
        seen: Counter[str] = Counter()
        names = []
        for variant in self.variants:
            seen[variant] += 1
            names.append(variant if seen[variant] == 1 else f"{variant}-{seen[variant]}")
        return names

    def check(self) -> None:
        """Raises the first thing that ns-2 lacks."""
        discipline = self.queue["discipline"]
        if discipline not in QUEUES:
            raise LeftOut(f"queue {discipline}")
        for variant in self.variants:
            if variant not in VARIANTS:
                raise LeftOut(f"variant {variant}")
        if self.rate_bps * self.duration_s / WIRE_BITS > MOST_PACKETS:
            raise LeftOut(f"more than {MOST_PACKETS:,} packets")

    def command(self, phase: int, ack: str) -> list[str]:
        seed = self.seed + phase
        draw = random.Random(seed)
        starts = [draw.uniform(0, max(1.0, self.rtt_s)) for _ in self.variants]
        options = {
            "flows": ",".join(self.variants),
            "starts_s": ",".join(f"{start:.6f}" for start in starts),
            "rate_bps": f"{self.rate_bps:.0f}",
            "rtt_s": f"{self.rtt_s:.6f}",
            "queue": self.queue["discipline"],
            "limit": f"{amount(self.queue['limit'], 'pkts'):.0f}",
            "loss": self.loss,
            "warmup_s": self.warmup_s,
            "duration_s": self.duration_s,
            "ack": ack,
            "seed": seed,
        }
        options |= {key: self.queue[key] for key in RED if key in self.queue}
        return ["ns", str(SCRIPT), *(f"{key}={value}" for key, value in options.items())]


def phase_of(cell: Cell, phase: int, ack: str, seconds: int) -> list[float]:
    """The flows' goodputs in a phase, Mbit/s, if it takes no more processor time than `seconds`."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    done = subprocess.run(
        cell.command(phase, ack), capture_output=True, text=True, check=False, preexec_fn=bound
    )
    if done.returncode == -signal.SIGXCPU:
        raise LeftOut(f"more than {seconds} s of processor time")
    goodputs = [float(word) for word in re.findall(r"flow goodput_mbps=(\S+)", done.stdout)]
    if done.returncode != 0 or len(goodputs) != len(cell.variants):
        say(done.stderr[-400:].strip())
        raise LeftOut(f"`ns` ended with {done.returncode}")
    return goodputs


def goodputs_of(cell: Cell, ack: str, seconds: int) -> dict[str, float]:
    """The mean goodput of each flow over the phases, Mbit/s."""
    cell.check()
    phases = [phase_of(cell, phase, ack, seconds) for phase in range(cell.phases)]
    means = [statistics.mean(of_flow) for of_flow in zip(*phases, strict=True)]
    return dict(zip(cell.flow_names(), means, strict=True))


def read_flows(folder: Path) -> dict[str, list[Flow]]:
    """The flows of each cell."""
    flows: dict[str, list[Flow]] = {}
    with (folder / "fidelity_flows.csv").open() as file:
        for row in csv.DictReader(file):
            flows.setdefault(row["cell"], []).append(Flow.of(row))
    return dict(sorted(flows.items()))


def percentile(values: Iterable[float], percent: float) -> float:
    """As in `trammel fidelity`: between the two nearest values."""
    values = sorted(values)
    at = (len(values) - 1) * percent / 100
    low, high = values[int(at)], values[min(int(at) + 1, len(values) - 1)]
    return low + (high - low) * (at % 1)


HEADER = [
    "cell",
    "flow",
    "kernel Mbit/s",
    "simulated",
    "ns-2",
    "simulated error",
    "ns-2 error",
    "counts",
]


def row_of(cell: str, flow: Flow, ns2: float) -> list[str]:
    return [
        cell,
        flow.name,
        f"{flow.kernel:.4g}",
        f"{flow.simulated:.4g}",
        f"{ns2:.4g}",
        f"{100 * flow.error(flow.simulated):+.1f} %",
        f"{100 * flow.error(ns2):+.1f} %",
        "yes" if flow.counts else "no",
    ]


def summary(found: list[tuple[str, Flow, float]]) -> str:
    """How far each model is from the kernel, over the same flows."""
    counted = [(flow, ns2) for _, flow, ns2 in found if flow.counts]
    if not counted:
        return "No flow counts."
    models: list[tuple[str, Callable[[Flow, float], float]]] = [
        ("ns-2", lambda _, ns2: ns2),
        ("simulator", lambda flow, _: flow.simulated),
        ("null model", lambda flow, _: flow.null),
    ]
    rows = []
    for name, goodput in models:
        errors = [abs(flow.error(goodput(flow, ns2))) for flow, ns2 in counted]
        shares = (f"{100 * percentile(errors, percent):.1f} %" for percent in (50, 90))
        rows.append([name, str(len(errors)), *shares])
    return table(["error against the kernel", "flows", "median", "90th percentile"], rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benches.fidelity_ns2",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="what `trammel fidelity` wrote")
    parser.add_argument("--seconds", type=int, default=120, help="processor time of a run (120)")
    parser.add_argument("--cells", type=int, help="only the first so many cells")
    parser.add_argument("--ack", choices=["delayed", "every"], default="delayed", help="receivers")
    args = parser.parse_args()
    left_out: Counter[str] = Counter()
    found: list[tuple[str, Flow, float]] = []
    try:
        if shutil.which("ns") is None:
            raise Failure("no program `ns`; `apt-get install ns2`")
        flows = read_flows(args.folder)
        names = list(flows)[: args.cells]
        for name in names:
            try:
                cell = Cell.read(args.folder / "cells" / f"{name}.toml")
                goodputs = goodputs_of(cell, args.ack, args.seconds)
            except LeftOut as reason:
                left_out[str(reason)] += 1
                say(f"{name}: left out: {reason}")
                continue
            found += ((name, flow, goodputs[flow.name]) for flow in flows[name])
            say(f"{name}: run")
    except (Failure, OSError) as failure:
        say(f"error: {failure}")
        return 3
    print(table(HEADER, [row_of(*one) for one in found]))
    ran = len(names) - left_out.total()
    print(f"\n{ran} of {len(names)} cells, {len(found)} flows\n")
    print(summary(found))
    reasons = [[reason, str(cells)] for reason, cells in left_out.most_common()]
    print("\n" + table(["left out for", "cells"], reasons))
    return 0


if __name__ == "__main__":
    sys.exit(main())
