"""CPU time of a guest for a data packet: `python3 -m benches.guest`.

One flow of CUBIC over 100 Mbit/s, 50 ms and a queue of a bandwidth-delay product, the real kernel
in virtual time. The boot and the report are told by a run of one second, and taken off from one of
`--duration`; both are run in turn. The processor time is that of the program and of its guest.

Needs `cargo build --release -p trammel --bins` and `trammel kernel build`.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from pathlib import Path

from benches.measure import ROOT, Failure, Spread, cost, say, table

PROGRAM = ROOT / "target" / "release" / "trammel"
SCENARIO = """\
duration = "{seconds} s"
engines = ["measure"]

[path]
rate = "100 Mbit/s"
rtt = "50 ms"
queue = {{ limit = "417 packets" }}

[[flow]]
variant = "{variant}"
start = "0 s"
"""
# Of a second of run, with its boot and its report.
SHORT_S = 1


def guest(variant: str, seconds: int, folder: Path) -> tuple[float, int]:
    """Processor time of a run, s, and the data packets that it sent."""
    file, out = folder / f"{seconds}.toml", folder / f"{seconds}"
    file.write_text(SCENARIO.format(seconds=seconds, variant=variant))
    _, usage = cost([PROGRAM, "run", file, "-o", out])
    with (out / "flows.csv").open() as rows:
        packets = sum(int(row["sent_pkts"]) for row in csv.DictReader(rows))
    return usage.ru_utime + usage.ru_stime, packets


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benches.guest", description=__doc__)
    parser.add_argument("--variant", default="cubic", help="congestion control (cubic)")
    parser.add_argument("--duration", type=int, default=100, help="virtual seconds, whole (100)")
    parser.add_argument("--repeats", type=int, default=5, help="rounds in turn (5)")
    args = parser.parse_args()
    if args.duration <= SHORT_S or args.repeats < 1:
        parser.error(f"`--duration` is more than {SHORT_S}, `--repeats` at least 1")
    if not PROGRAM.exists():
        say("error: there is no target/release/trammel: cargo build --release -p trammel --bins")
        return 3
    rounds: list[tuple[float, float, float]] = []
    packets = 0
    try:
        for turn in range(args.repeats):
            with tempfile.TemporaryDirectory() as folder:
                short_s, few = guest(args.variant, SHORT_S, Path(folder))
                long_s, packets = guest(args.variant, args.duration, Path(folder))
            beyond_us = (long_s - short_s) * 1e6 / (packets - few)
            rounds.append((short_s, long_s * 1e6 / packets, beyond_us))
            say(f"{turn + 1} of {args.repeats}: {beyond_us:.2f} us a packet")
    except Failure as failure:
        say(f"error: {failure}")
        return 3
    boot, whole, beyond = (Spread.of(of) for of in zip(*rounds, strict=True))
    header = [
        "variant",
        "packets",
        "boot and report, s",
        "us a packet, all included",
        "us a packet beyond them",
    ]
    print(table(header, [[args.variant, str(packets), str(boot), str(whole), str(beyond)]]))
    print("\nLeast, median, greatest. The target is 4.5 us on an idle machine, 7 on a busy one.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
