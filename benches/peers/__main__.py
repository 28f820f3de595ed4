"""Compares Trammel's simulator with ns-2 and ns-3: `python3 -m benches.peers [--install]`.

Every program simulates the same dumbbell, one after the other, again and again; what is compared is
CPU time per data packet. The ratio is taken within each round, so that a machine that grows slower
between rounds spoils no ratio, and is given with its spread. Goodput stands beside it to show that
all of them did the same work. A peer that is not there is skipped with the reason.

ns-2 runs the whole matrix. ns-3 runs what it finishes in reasonable time: 1 Gbit/s, 2 ms, 3 s.
`NS3_CXXFLAGS` and `NS3_LIBS` point the compiler at another ns-3 than the system's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benches.measure import ROOT, Failure, Run, Spread, build_example, run, say, table

HERE = Path(__file__).resolve().parent
PACKAGES = ["ns2", "libns3-dev", "g++"]
NS3_MODULES = ["applications", "core", "internet", "network", "point-to-point", "traffic-control"]
WIRE_BYTES = 1500


@dataclass(frozen=True)
class Scenario:
    """Flows over one bottleneck with a buffer of one bandwidth-delay product."""

    flows: tuple[str, ...]
    rtt_ms: float
    duration_s: float
    access_delay_ms: float
    ack: str
    rate_mbps: float = 1000
    access_mbps: float = 10000

    @property
    def buffer_packets(self) -> int:
        return int(self.rate_mbps * 1e3 * self.rtt_ms / 8 / WIRE_BYTES)

    def __str__(self) -> str:
        return f"{'+'.join(self.flows)} {self.rtt_ms:g} ms {self.duration_s:g} s"


@dataclass(frozen=True)
class Engine:
    """A simulator: its name and how to start it for a scenario."""

    name: str
    command: Callable[[Scenario], list[str | Path]]


def trammel() -> Engine:
    program = build_example()

    def command(s: Scenario) -> list[str | Path]:
        return [
            program,
            f"flows={','.join(s.flows)}",
            f"rate={s.rate_mbps:g}Mbit/s",
            f"rtt={s.rtt_ms:g}ms",
            f"duration={s.duration_s:g}s",
            f"buffer={s.buffer_packets}p",
            f"access={s.access_mbps:g}Mbit/s,{s.access_delay_ms:g}ms",
            # The peers' links count the IP packet alone.
            "overhead=0B",
            "ack=every" if s.ack == "every" else "ack=100ms",
        ]

    return Engine("trammel", command)


def ns2() -> Engine:
    program = shutil.which("ns")
    if program is None:
        raise Failure("no program `ns`; `apt-get install ns2`, or run with --install")
    asked = subprocess.run(
        [program], input="puts [ns-version]; exit", capture_output=True, text=True, check=False
    )
    version = asked.stdout.strip()
    if not version.startswith("2."):
        raise Failure(f"`{program}` is not ns-2")

    def command(s: Scenario) -> list[str | Path]:
        return [
            program,
            HERE / "ns2_dumbbell.tcl",
            f"flows={','.join(s.flows)}",
            f"rate_mbps={s.rate_mbps:g}",
            f"rtt_ms={s.rtt_ms:g}",
            f"duration_s={s.duration_s:g}",
            f"buffer_packets={s.buffer_packets}",
            f"access_mbps={s.access_mbps:g}",
            f"access_delay_ms={s.access_delay_ms:g}",
            f"ack={s.ack}",
        ]

    return Engine(f"ns-2 {version}", command)


def ns3() -> Engine:
    flags = os.environ.get("NS3_CXXFLAGS", "").split()
    libs = os.environ.get("NS3_LIBS", "").split() or [f"-lns3-{name}" for name in NS3_MODULES]
    headers = [flag[2:] for flag in flags if flag.startswith("-I")] + [
        "/usr/include",
        "/usr/local/include",
    ]
    if not any((Path(folder) / "ns3" / "core-module.h").exists() for folder in headers):
        raise Failure("no headers of ns-3; `apt-get install libns3-dev`, or run with --install")
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        raise Failure("no C++ compiler; `apt-get install g++`, or run with --install")
    program = ROOT / "target" / "peers" / "ns3_dumbbell"
    program.parent.mkdir(parents=True, exist_ok=True)
    built = subprocess.run(
        [
            compiler,
            "-O2",
            "-DNDEBUG",
            "-std=c++17",
            *flags,
            HERE / "ns3_dumbbell.cc",
            "-o",
            program,
            *libs,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        raise Failure(f"the ns-3 program does not compile: {built.stderr[-400:].strip()}")

    def command(s: Scenario) -> list[str | Path]:
        return [
            program,
            f"--flows={','.join(s.flows)}",
            f"--rateMbps={s.rate_mbps:g}",
            f"--rttMs={s.rtt_ms:g}",
            f"--durationS={s.duration_s:g}",
            f"--bufferPackets={s.buffer_packets}",
            f"--accessMbps={s.access_mbps:g}",
            f"--accessDelayMs={s.access_delay_ms:g}",
            f"--ack={s.ack}",
        ]

    return Engine(f"ns-3 ({'logging compiled in' if logs(program) else 'no logging'})", command)


def logs(program: Path) -> bool:
    """Whether the ns-3 library that `program` loads was built with its logging, which costs it
    time.
    """
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    libraries = [
        line.split()[2] for line in loaded.splitlines() if "internet" in line and "=>" in line
    ]
    symbols = subprocess.run(
        ["nm", "--dynamic", "--undefined-only", *libraries],
        capture_output=True,
        text=True,
        check=False,
    )
    # `LogComponent::IsEnabled` is called from each function that logs, and from nowhere else.
    return "LogComponent9IsEnabled" in symbols.stdout


def install() -> None:
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
        # Their lists and progress are no results.
        done = subprocess.run([*prefix, "apt-get", "-qq", *command], check=False, stdout=sys.stderr)
        if done.returncode != 0:
            raise Failure(f"`apt-get {' '.join(command)}` failed")


def compare(scenario: Scenario, engines: list[Engine], repeats: int) -> list[list[str]]:
    """Runs all engines in turn, and makes a row of each."""
    runs: dict[str, list[Run]] = {engine.name: [] for engine in engines}
    for turn in range(repeats):
        for engine in engines:
            one = run(engine.command(scenario))
            say(
                f"{scenario}, {turn + 1} of {repeats}, {engine.name}: {one.ns_per_packet:.0f} "
                f"ns/packet"
            )
            runs[engine.name].append(one)
    ours = runs[engines[0].name]
    rows = []
    for engine in engines:
        theirs = runs[engine.name]
        median = sorted(theirs, key=lambda one: one.cpu_s)[len(theirs) // 2]
        ratio = Spread.of(
            b.ns_per_packet / a.ns_per_packet for a, b in zip(ours, theirs, strict=True)
        )
        rows.append(
            [
                str(scenario),
                engine.name,
                f"{median.goodput_mbps:.1f}",
                f"{median.packets}",
                f"{median.cpu_s:.2f}",
                f"{median.ns_per_packet:.0f}",
                f"{median.packets_per_cpu_s:.3g}",
                "1" if engine is engines[0] else str(ratio),
                f"{max(one.peak_rss_mb for one in theirs):.1f}",
            ]
        )
    return rows


HEADER = [
    "scenario",
    "simulator",
    "goodput Mbit/s",
    "data packets",
    "CPU s",
    "ns/packet",
    "packets/CPU s",
    "ratio (min median max)",
    "peak RSS MB",
]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benches.peers", description=__doc__)
    parser.add_argument(
        "--install", action="store_true", help=f"apt-get install {' '.join(PACKAGES)} first"
    )
    parser.add_argument("--repeats", type=int, default=3, help="rounds in turn (3)")
    parser.add_argument(
        "--duration", type=float, default=100, help="virtual seconds of the ns-2 matrix (100)"
    )
    parser.add_argument(
        "--rtt", default="10,200", help="round trips of the ns-2 matrix, ms (10,200)"
    )
    parser.add_argument(
        "--mixes", default="scalable+reno,reno+reno,cubic+cubic", help="flows of each run"
    )
    parser.add_argument(
        "--ack", choices=["every", "delayed"], default="every", help="what receivers do"
    )
    parser.add_argument("--peers", default="ns2,ns3", help="which peers (ns2,ns3)")
    args = parser.parse_args()
    try:
        if args.install:
            install()
        ours = trammel()
    except Failure as failure:
        say(f"error: {failure}")
        return 3

    wide = [
        Scenario(tuple(mix.split("+")), float(rtt), args.duration, 1, args.ack)
        for rtt in args.rtt.split(",")
        for mix in args.mixes.split(",")
    ]
    narrow = [Scenario(("reno", "reno"), 2, 3, 0.1, args.ack)]
    narrow.append(replace(narrow[0], flows=("reno",)))
    rows: list[list[str]] = []
    skipped = []
    for key, make, scenarios in (("ns2", ns2, wide), ("ns3", ns3, narrow)):
        if key not in args.peers.split(","):
            continue
        try:
            peer = make()
            for scenario in scenarios:
                rows += compare(scenario, [ours, peer], args.repeats)
        except Failure as failure:
            skipped.append(f"{key}: skipped: {failure}")
    print(table(HEADER, rows))
    for line in skipped:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
