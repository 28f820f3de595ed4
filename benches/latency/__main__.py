"""How true the simulation of loads is on this machine: `python3 -m benches.latency [NAME …]`.

Each function is simulated on `host` and measured on rings in memory: throughput, p50 and p99 of
latency at 10, 50 and 90 % of the maximum that each engine finds for itself, what comes through at
90 to 150 % of it, and how long it takes to recover from 110 %. What came through and the throughput
are to agree within 5 %, times within 20 %. `spread` is how much the windows of the measurement
differ, from the least to the greatest, over their median: of the 99th percentile, the loss or the
delay. Calibrate first, on a machine at rest: `trammel calibrate`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from benches.measure import ROOT, Failure, say

PROGRAM = ROOT / "target" / "release" / "trammel"
EXAMPLES = ROOT / "examples" / "forwarding"
SIZES = [82, 1518]
PLAIN = (
    "020000000003 020000000002 0800 4500002e 00000000 4011aeb4 0a000002 c0000209 03e807d0 001a0000"
)
QINQ = (
    "020000000001 020909090909 88a80007 81000064 0800 4500002e 00000000 4011aeb4 0a000002 c0000209 "
    "03e807d0 001a0000"
)
GRE = (
    "020000000001 020000000003 8847 0012c140 4500004e 00000000 402f0181 cb007101 cb0071fe a0000800 "
    "39c60000 00001267 "
    "4500002e 00000000 4011aeb4 c0000209 0a000002 03e807d0 001a0000"
)
COUNTERS = "FromDevice(in) -> Counter -> Paint(1) -> CheckPaint(1) -> Queue -> ToDevice(out);"
FIREWALL = (
    "FromDevice(in) -> MarkIPHeader(14) -> IPFilter("
    + ", ".join(f"deny src net 10.{n}.0.0/24 and dst port {1000 + n}" for n in range(1, 20))
    + ", allow all) -> Queue -> ToDevice(out);"
)

# The name, the configuration (a file of examples or a text), and the frames that come in by each
# port.
FUNCTIONS: list[tuple[str, str | Path, list[str]]] = [
    ("counters", COUNTERS, [PLAIN]),
    ("L2 switch, static", EXAMPLES / "l2-switch-static.click", [PLAIN]),
    ("L2 switch, learning", EXAMPLES / "l2-switch-learning.click", [PLAIN]),
    ("IP router, 8 routes", EXAMPLES / "ip-router.click", []),
    ("firewall, 20 rules", FIREWALL, [PLAIN]),
    ("BNG, access to core", EXAMPLES / "bng-up.click", [QINQ]),
    ("BNG, core to access", EXAMPLES / "bng-down.click", [GRE]),
    ("BNG, both directions", EXAMPLES / "bng.click", [QINQ, GRE]),
]


def scenario(path: Path, frames: list[str], gap: str) -> str:
    """A scenario of one function, at both sizes, with every test."""
    lines = ['subject = "forwarding"', "[device]", f'file = "{path}"', 'machine = "host"']
    for port, frame in enumerate(frames or [""]):
        lines += [
            "[[stream]]",
            f"from = {port}",
            f"size = {SIZES}",
            f'gap = {{ distribution = "{gap}" }}',
        ]
        lines += [f'frames = ["{frame}"]'] if frame else []
    lines += ["[bench]", 'tests = ["throughput", "latency", "frame-loss", "recovery"]']
    return "\n".join(lines)


def run(program: Path, function: str | Path, frames: list[str], gap: str) -> dict:
    """The tables of a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = function
        if isinstance(function, str):
            path = Path(folder) / "function.click"
            path.write_text(function)
        file = Path(folder) / "scenario.toml"
        file.write_text(scenario(Path(path), frames, gap))
        command = [str(program), "run", str(file), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = f"`trammel run` failed: {done.stderr.strip()[-400:]}"
        raise Failure(message)
    return json.loads(done.stdout)["tables"]


def spreads(tables: dict) -> dict[tuple[int, str, float], float]:
    """How much the windows of each measured load differ."""
    rows = [
        row for row in tables["trials"] if row["engine"] == "measure" and row["load"] is not None
    ]
    return {(row["frame_bytes"], row["test"], row["load"]): row.get("spread") for row in rows}


def error(metric: str, simulated: float, measured: float) -> float | None:
    """Relative to what was measured; of a loss, that of what came through."""
    if metric.startswith("loss_at"):
        simulated, measured = 1 - simulated, 1 - measured
    return simulated / measured - 1 if measured else None


# The beginning of a metric, its test, and the bound of its errors.
KINDS = [
    ("throughput", None, 0.05),
    ("latency_", "latency", 0.20),
    ("loss_at", "frame-loss", 0.05),
    ("recovery_delay", "recovery", 0.20),
    ("recovery_loss", "recovery", 0.20),
]


def main() -> None:
    """Prints a row for each function, size and metric, and what they come to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only functions with this in their name"
    )
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the program to ask")
    parser.add_argument(
        "--gap",
        default="constant",
        choices=["constant", "exponential", "bursts"],
        help="how frames come",
    )
    wanted = parser.parse_args()
    if not wanted.program.is_file():
        message = f"{wanted.program} is not there; build it: cargo build --release -p trammel"
        raise Failure(message)
    say(
        f"{'function':<22} {'bytes':>5} {'metric':<24} {'simulated':>10} {'measured':>10} "
        f"{'error':>8} {'spread':>7}"
    )
    all_errors: dict[str, list[float]] = {}
    for name, function, frames in FUNCTIONS:
        if wanted.names and not any(part in name for part in wanted.names):
            continue
        tables = run(wanted.program, function, frames, wanted.gap)
        by_load = spreads(tables)
        for row in tables["comparison"]:
            metric, simulated, measured = row["metric"], row.get("simulated"), row.get("measured")
            kind = next((kind for kind in KINDS if metric.startswith(kind[0])), None)
            if kind is None or simulated is None or measured is None:
                continue
            found = error(metric, simulated, measured)
            load = float(metric.rsplit("_", 1)[1]) / 100 if kind[1] else 0.0
            spread = by_load.get((row["frame_bytes"], kind[1] or "", load))
            if found is not None:
                all_errors.setdefault(kind[0], []).append(abs(found))
            say(
                f"{name:<22} {row['frame_bytes']:>5} {metric:<24} {simulated:>10.4f} "
                f"{measured:>10.4f} "
                f"{'' if found is None else f'{found:+.1%}':>8} "
                f"{'' if spread is None else f'{spread:.0%}':>7}"
            )
    if not all_errors:
        message = "no function has such a name"
        raise Failure(message)
    say("")
    for beginning, _, bound in KINDS:
        errors = all_errors.get(beginning, [])
        if errors:
            inside = sum(found <= bound for found in errors)
            say(
                f"{beginning.rstrip('_'):<16} {len(errors)} cases: median error "
                f"{statistics.median(errors):.1%}, "
                f"worst {max(errors):.1%}; within {bound:.0%}: {inside}"
            )


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"error: {failure}") from failure
