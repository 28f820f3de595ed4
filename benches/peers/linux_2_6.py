"""Measures ns-2's TCP/Linux, modules of Linux 2.6.22, for `papers/ns-2-linux`.

    python3 -m benches.peers.linux_2_6 RUNS.csv [--jobs N]     run what RUNS.csv lacks
    python3 -m benches.peers.linux_2_6 RUNS.csv --write values and tolerances of expected.csv anew

Every run is one row of RUNS.csv, so that an interrupted measurement goes on where it stopped.
`--write` keeps verdicts and reasons and replaces the rest.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benches.measure import ROOT

SCRIPT = Path(__file__).resolve().parent / "ns2_dumbbell.tcl"
EXPECTED = ROOT / "papers" / "ns-2-linux" / "expected.csv"
VARIANTS = (
    "reno vegas veno westwood bic cubic highspeed hybla scalable illinois yeah htcp lp"
).split()
WIRE_BYTES = 1500
DURATION_S = 60
ACCESS_DELAY_MS = 1
# 99.5 % quantile of the t distribution with 2 (n - 1) degrees of freedom, by n.
QUANTILE = {5: 3.36}
# A share with a wider tolerance could hardly be missed: it is not compared.
WIDEST_SHARE = 0.3


@dataclass(frozen=True)
class Cell:
    """One number of the tables: a variant on a path, alone or beside Reno."""

    table: str
    variant: str
    rate_mbps: int
    rtt_ms: int
    loss: float
    seeds: int

    @property
    def column(self) -> str:
        if self.table == "share":
            return f"{self.rtt_ms} ms"
        return f"{self.rtt_ms} ms q={self.loss:g}"

    @property
    def name(self) -> str:
        return f"{self.table}-{self.rate_mbps}"

    def command(self, seed: int) -> list[str]:
        starts = "0"
        flows = self.variant
        if self.table == "share":
            flows = f"{self.variant},reno"
            draw = random.Random(f"{seed}")
            starts = f"{draw.random():.6f},{draw.random():.6f}"
        options = {
            "flows": flows,
            "starts_s": starts,
            "rate_mbps": self.rate_mbps,
            "rtt_ms": self.rtt_ms,
            "duration_s": DURATION_S,
            # ns-2's DropTail keeps one place free: this limit lets as many wait as ours does.
            "buffer_packets": self.rate_mbps * self.rtt_ms * 125 // WIRE_BYTES + 1,
            "access_mbps": 10 * self.rate_mbps,
            "access_delay_ms": ACCESS_DELAY_MS,
            "ack": "every",
            "window": 20000,
            "initial_window": 3,
            "abc": 0,
            "loss": self.loss,
            "seed": seed,
        }
        return ["ns", str(SCRIPT), *(f"{key}={value}" for key, value in options.items())]


def cells() -> Iterator[Cell]:
    """What is measured; what takes longest comes last."""

    def single(rate: int, rtt: int, loss: float, seeds: int) -> Iterator[Cell]:
        return (Cell("single", variant, rate, rtt, loss, seeds) for variant in VARIANTS)

    def share(rate: int, rtt: int, seeds: int) -> Iterator[Cell]:
        return (Cell("share", variant, rate, rtt, 0.0, seeds) for variant in VARIANTS[1:])

    for rtt in (10, 100):
        yield from single(100, rtt, 0.0, 1)
        yield from single(100, rtt, 1e-4, 5)
    for rtt in (10, 100):
        yield from share(100, rtt, 5)
    for rtt in (10, 100):
        yield from single(1000, rtt, 0.0, 1)


def run(cell: Cell, seed: int) -> float:
    """Goodput in Mbit/s, or the variant's share."""
    done = subprocess.run(cell.command(seed), capture_output=True, text=True, check=True)
    # Not by line: the module lp writes to the same output what it thinks of every ACK.
    goodputs = [
        float(word) for word in re.findall(r"flow variant=\S+ goodput_mbps=(\S+)", done.stdout)
    ]
    return goodputs[0] / sum(goodputs) if cell.table == "share" else goodputs[0]


def key(cell: Cell, seed: int) -> tuple[str, str, str, str]:
    return (cell.name, cell.variant, cell.column, str(seed))


def read(path: Path) -> dict[tuple[str, str, str, str], float]:
    if not path.exists():
        return {}
    with path.open() as file:
        return {(row[0], row[1], row[2], row[3]): float(row[4]) for row in csv.reader(file)}


def measure(path: Path, jobs: int) -> None:
    done = read(path)
    missing = [(c, s) for c in cells() for s in range(1, c.seeds + 1) if key(c, s) not in done]
    with path.open("a") as file, ThreadPoolExecutor(jobs) as pool:
        for (cell, seed), value in zip(
            missing, pool.map(lambda one: run(*one), missing), strict=True
        ):
            file.write(",".join([*key(cell, seed), f"{value:.5f}"]) + "\n")
            file.flush()


def tolerance(cell: Cell, values: list[float]) -> float:
    """Half the 99 % interval of a difference of two means with ns-2's spread, and no less than the
    floor.
    """
    floor = 0.03 if cell.table == "share" else 0.03 * statistics.mean(values)
    n = len(values)
    if n < 2:
        return floor
    return max(floor, QUANTILE[n] * statistics.stdev(values) * (2 / n) ** 0.5)


def write(path: Path) -> None:
    done = read(path)
    kept: dict[tuple[str, str, str], tuple[str, str]] = {}
    if EXPECTED.exists():
        with EXPECTED.open() as file:
            for row in csv.DictReader(file):
                kept[row["table"], row["row"], row["column"]] = (row["verdict"], row["reason"])
    with EXPECTED.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow("table row column value unit tolerance verdict reason".split())
        for cell in cells():
            runs = [done[key(cell, s)] for s in range(1, cell.seeds + 1) if key(cell, s) in done]
            if len(runs) < cell.seeds:
                continue
            unit, digits = ("1", 3) if cell.table == "share" else ("Mbit/s", 2)
            verdict, reason = kept.get((cell.name, cell.variant, cell.column), ("matches", ""))
            value = f"{statistics.mean(runs):.{digits}f}"
            if cell.table == "share" and tolerance(cell, runs) > WIDEST_SHARE:
                continue
            bound = f"{tolerance(cell, runs):.2g}"
            row = [cell.name, cell.variant, cell.column, value, unit, bound, verdict, reason]
            out.writerow(row)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("runs", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write:
        write(options.runs)
    else:
        measure(options.runs, options.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
