"""Runs a program and reads what it cost: CPU time from the kernel, results from its own output.

Time is the CPU time of the process, user and system together, never the wall's: the machine may be
shared. Programs print their results as `key=value` words; the line that begins with `run` counts.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "target" / "release" / "examples"


class Failure(Exception):
    """A program did not do what it was started for."""


@dataclass(frozen=True)
class Run:
    """What one run of a program did and cost."""

    packets: int
    goodput_mbps: float
    user_s: float
    system_s: float
    peak_rss_mb: float

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s

    @property
    def ns_per_packet(self) -> float:
        return self.cpu_s * 1e9 / max(self.packets, 1)

    @property
    def packets_per_cpu_s(self) -> float:
        return self.packets / max(self.cpu_s, 1e-9)


def words(line: str) -> dict[str, str]:
    """The `key=value` words of a line."""
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def cost(command: Sequence[str | Path]) -> tuple[str, resource.struct_rusage]:
    """Runs `command` to its end: what it printed, and what it and those it waited for used."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(
            [str(word) for word in command], stdout=out, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if process.returncode != 0:
        raise Failure(f"`{command[0]}` ended with {process.returncode}: {text[-400:].strip()}")
    return text, usage


def run(command: Sequence[str | Path]) -> Run:
    """Runs `command`, which prints its results, to its end."""
    text, usage = cost(command)
    results = [words(line) for line in text.splitlines() if line.startswith("run ")]
    if not results:
        raise Failure(f"`{command[0]}` printed no result: {text[-400:].strip()}")
    result = results[-1]
    # The kernel's figure for a child includes what this interpreter held before the child began, so
    # a program's own word for its peak comes first.
    rss_kb = int(result.get("peak_rss_kb", usage.ru_maxrss))
    return Run(
        packets=int(result["data_packets"]),
        goodput_mbps=float(result["goodput_mbps"]),
        user_s=usage.ru_utime,
        system_s=usage.ru_stime,
        peak_rss_mb=rss_kb / 1024,
    )


def build_example(package: str = "trammel-netsim", name: str = "dumbbell") -> Path:
    """Builds an example program of a package in release and returns its path."""
    command = ["cargo", "build", "--release", "--quiet", "-p", package, "--example", name]
    program = EXAMPLES / name
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0 or not program.exists():
        raise Failure(f"`{' '.join(command)}` failed")
    return program


@dataclass(frozen=True)
class Spread:
    """Least, median and greatest of several values."""

    least: float
    median: float
    greatest: float

    @staticmethod
    def of(values: Iterable[float]) -> Spread:
        values = sorted(values)
        return Spread(values[0], statistics.median(values), values[-1])

    def __str__(self) -> str:
        return f"{self.least:.2f} {self.median:.2f} {self.greatest:.2f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; columns after the first two are aligned right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "| " + " | ".join(cells) + " |"

    rule = ["-" * width if i < 2 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return "\n".join([line(header), "| " + " | ".join(rule) + " |", *map(line, rows)])


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)
