"""Cost of a packet with few flows and with many: `python3 -m benches.growth`.

10 Gbit/s, a buffer of one bandwidth-delay product, round trips spread over 10 to 100 ms. The cost
of setting the network up is taken off by an empty run. Counts of flows are run in turn, and the
ratio is taken within each round.
"""

from __future__ import annotations

import argparse
import sys

from benches.measure import Failure, Spread, build_example, run, say, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benches.growth", description=__doc__)
    parser.add_argument(
        "--flows", default="2,10,100,1000", help="counts of flows; the first is the reference"
    )
    parser.add_argument("--variant", default="reno", help="congestion control (reno)")
    parser.add_argument("--duration", type=float, default=10, help="virtual seconds (10)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds in turn (3)")
    args = parser.parse_args()
    counts = [int(word) for word in args.flows.split(",")]
    cost: dict[int, list[float]] = {count: [] for count in counts}
    rest: dict[int, list[str]] = {}
    try:
        program = build_example()
        for turn in range(args.repeats):
            for count in counts:
                command = [
                    program,
                    f"flows={count}*{args.variant}",
                    "rate=10Gbit/s",
                    "rtt=10ms..100ms",
                ]
                # The default receive buffer would hold two flows below the path's capacity.
                command.append("window=600MB")
                full = run([*command, f"duration={args.duration:g}s"])
                empty = run([*command, "duration=0s"])
                ns = (full.cpu_s - empty.cpu_s) * 1e9 / full.packets
                cost[count].append(ns)
                rest[count] = [
                    f"{full.packets}",
                    f"{full.goodput_mbps:.0f}",
                    f"{full.peak_rss_mb:.1f}",
                ]
                say(f"{turn + 1} of {args.repeats}, {count} flows: {ns:.0f} ns/packet")
    except Failure as failure:
        say(f"error: {failure}")
        return 3
    rows = []
    for count in counts:
        ratio = Spread.of(b / a for a, b in zip(cost[counts[0]], cost[count], strict=True))
        ns = Spread.of(cost[count])
        rows.append([str(count), args.variant, f"{ns.median:.0f}", str(ratio), *rest[count]])
    header = [
        "flows",
        "variant",
        "ns/packet",
        "ratio (min median max)",
        "packets",
        "goodput Mbit/s",
    ]
    print(table([*header, "peak RSS MB"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
