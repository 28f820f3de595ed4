"""Counts instructions a packet and compares them with the baseline: `python3 -m
benches.instructions`.

Time on a shared machine is noise; instructions are not. Valgrind counts those of a short run of the
example `dumbbell`, less those of an empty run of the same network, over the data packets sent. Of
netfpga's example `contents` it counts those of a frame of 64 bytes in the same way: `card` is the
reference router in virtual time, `device` receives and transmits, `pass` is what a live card does
with a frame, and `streams` is the timing engine without contents. The result differs between
compilers but hardly between machines, so a loss of speed shows in CI. It exits with 1 where a
scenario is beyond ±5 % of `baseline.csv`, in either direction: an unnoticed gain today hides a loss
tomorrow. What instructions do not show is waiting for memory; `benches.peers` and `benches.growth`
measure that.

After a change that is meant to cost or to save, `python3 -m benches.instructions --update` rewrites
the baseline; commit it with the change, whose message says why. The same goes for a new compiler.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benches.measure import Failure, build_example, say, table, words

BASELINE = Path(__file__).resolve().parent / "baseline.csv"
TOLERANCE = 0.05
DUMBBELL = ["rate=1Gbit/s", "rtt=10ms"]
ACCESS = ["access=10Gbit/s,1ms"]
# One scenario for each path through the code whose cost matters.
SCENARIOS = {
    "reno": [*DUMBBELL, "flows=reno,reno"],
    "cubic": [*DUMBBELL, "flows=cubic,cubic"],
    "scalable-reno": [*DUMBBELL, "flows=scalable,reno"],
    "bbr": [*DUMBBELL, "flows=bbr,bbr"],
    "bbr3": [*DUMBBELL, "flows=bbr3,bbr3"],
    "loss": [*DUMBBELL, "flows=scalable,reno", "loss=1e-3"],
    "every-ack-six-links": [*DUMBBELL, *ACCESS, "flows=scalable,reno", "ack=every"],
    "rfc": [*DUMBBELL, "flows=reno,reno", "stack=rfc"],
    "hundred-flows": ["rate=1Gbit/s", "rtt=10ms..100ms", "flows=100*reno"],
}
# Cases of netfpga's example.
FRAMES = ["card", "device", "pass", "streams"]


def count(program: Path, options: list[str]) -> tuple[int, int]:
    """Instructions and data packets of one run."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/out",
                str(program),
                *options,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    results = [words(line) for line in done.stdout.splitlines() if line.startswith("run ")]
    if done.returncode != 0 or found is None or not results:
        raise Failure(f"valgrind failed: {done.stderr[-400:].strip()}")
    return int(found[1]), int(results[0]["data_packets"])


def instructions_per_packet(program: Path, options: list[str], duration_s: float) -> float:
    full, packets = count(program, [*options, f"duration={duration_s:g}s"])
    # Long enough to build the network, too short for its first packet.
    empty, _ = count(program, [*options, "duration=0s"])
    return (full - empty) / max(packets, 1)


def instructions_per_frame(program: Path, case: str) -> float:
    """Of netfpga's example: a long run less a short one, since each begins with empty buffers."""
    long, short = (count(program, [case, str(frames)]) for frames in (80_000, 40_000))
    return (long[0] - short[0]) / max(long[1] - short[1], 1)


def compiler() -> str:
    asked = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def read_baseline() -> dict[str, tuple[float, str]]:
    if not BASELINE.exists():
        return {}
    with BASELINE.open(newline="") as file:
        return {
            row["scenario"]: (float(row["instructions_per_packet"]), row["compiler"])
            for row in csv.DictReader(file)
        }


def write_baseline(counted: dict[str, float]) -> None:
    with BASELINE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["scenario", "instructions_per_packet", "compiler"])
        for name, value in counted.items():
            writer.writerow([name, f"{value:.1f}", compiler()])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benches.instructions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--update", action="store_true", help="rewrite the baseline with what is counted"
    )
    parser.add_argument("--duration", type=float, default=2, help="virtual seconds (2)")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        say("error: no program `valgrind`; `apt-get install valgrind`")
        return 3
    try:
        program = build_example()
        counted = {}
        for name, options in SCENARIOS.items():
            counted[name] = instructions_per_packet(program, options, args.duration)
            say(f"{name}: {counted[name]:.1f} instructions/packet")
        program = build_example("trammel-netfpga", "contents")
        for case in FRAMES:
            name = f"netfpga-{case}"
            counted[name] = instructions_per_frame(program, case)
            say(f"{name}: {counted[name]:.1f} instructions/frame")
    except Failure as failure:
        say(f"error: {failure}")
        return 3
    if args.update:
        write_baseline(counted)
        return 0

    baseline = read_baseline()
    rows, beyond = [], []
    for name, value in counted.items():
        before, built_by = baseline.get(name, (0.0, ""))
        change = value / before - 1 if before else float("inf")
        if abs(change) > TOLERANCE:
            beyond.append((name, change, built_by))
        rows.append([name, "beyond" if abs(change) > TOLERANCE else "within", f"{before:.1f}"])
        rows[-1] += [f"{value:.1f}", f"{change:+.1%}"]
    print(table(["scenario", f"±{TOLERANCE:.0%}", "baseline", "now", "change"], rows))
    for name, change, built_by in beyond:
        cause = "" if built_by == compiler() else f" (the baseline is of {built_by or 'nobody'})"
        verdict = "slower than" if change > 0 else "faster than"
        print(f"{name}: {verdict} the baseline by {abs(change):.1%}{cause}")
    if beyond:
        print(
            "if that is meant: `python3 -m benches.instructions --update`, and commit the baseline"
        )
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
