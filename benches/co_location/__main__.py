"""Two functions on two processors: `python3 -m benches.co_location [NAME …]`.

For each pair the slowdown of each of the two beside the other is predicted for `host`, whose
constants come from probes (`trammel calibrate`), and measured on rings in memory, by turns alone
and together. No function is predicted from its own counters or slowdowns. Beside the median error
stand that of a null model (nobody slows anybody) and the repeatability: half of the quartiles'
distance of the rounds that count. A pair that is not steady (other programs ran, or the pace
changed) is shown and left out of the totals. Calibrate first, on a machine at rest:
`trammel calibrate`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from benches.accuracy.__main__ import FUNCTIONS
from benches.measure import ROOT, Failure, say

PROGRAM = ROOT / "target" / "release" / "trammel"
SIZES = "64"
GOAL = 0.10

# Names of `benches.accuracy`: some that stay in their processor's own caches, some that do not, and
# both together.
PAIRS = [
    ("L2 switch, static", "counters"),
    ("MPLS switch", "IPv6 router"),
    ("IP router, 8 routes", "NAT"),
    ("firewall, 20 rules", "GRE encapsulation"),
    ("firewall, 1,000 rules", "NAT, 10 k flows"),
    ("IP router, 100 k routes", "IP router, 100 k routes"),
    ("IP router, 100 k routes, radix", "IP router, 100 k routes, radix"),
    ("IP router, 100 k routes, radix", "learning switch, 64 k"),
    ("NAT, 10 k flows", "learning switch, 64 k"),
    ("learning switch, 64 k", "learning switch, 64 k"),
    ("learning switch, 500 k", "learning switch, 500 k"),
    ("learning switch, 2 M", "IP router, 100 k routes, radix"),
    ("learning switch, 2 M", "learning switch, 2 M"),
    ("learning switch, 2 M", "counters"),
]

MORE = {"learning switch, 500 k": ("learning switch, 2 M", ["--flows", "500000"])}


def function(name: str) -> tuple[str, list[str]]:
    """The text of a function and its traffic."""
    if name in MORE:
        like, traffic = MORE[name]
        text, usual = function(like)
        return text, [*traffic, *usual[2:]]
    return next((text, traffic) for known, text, traffic in FUNCTIONS if known == name)


def run(first: str, second: str, processors: str) -> list[dict]:
    """The rows of the table `neighbours` for two functions."""
    (text, traffic), (other, beside) = function(first), function(second)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "first.click", Path(folder) / "second.click"]
        for file, content in zip(files, (text, other), strict=True):
            file.write_text(content)
        command = [
            str(PROGRAM),
            "estimate",
            str(files[0]),
            "--machine",
            "host",
            "--frame-sizes",
            SIZES,
        ]
        command += [
            "--measure",
            "--json",
            "--processors",
            processors,
            *traffic,
            "--beside",
            str(files[1]),
        ]
        command += [option.replace("--", "--beside-", 1) for option in beside]
        # What the first has and the second has not is not to be the second's.
        command += ["--beside-flows", "1"] if traffic and not beside else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout:
        message = (
            f"{first} beside {second}: `trammel estimate` failed: {done.stderr.strip()[-400:]}"
        )
        raise Failure(message)
    return json.loads(done.stdout)["tables"]["neighbours"]


def main() -> None:
    """Prints two rows for each pair, and what they come to."""
    global PROGRAM  # noqa: PLW0603: one program for the whole run
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only pairs with this in one of their names"
    )
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the program to ask")
    parser.add_argument("--processors", default="0,1", help="the two processors")
    wanted = parser.parse_args()
    PROGRAM = wanted.program
    if not PROGRAM.is_file():
        message = f"{PROGRAM} is not there; build it: cargo build --release -p trammel"
        raise Failure(message)
    say(
        f"{'function':<32} {'beside':<32} {'alone':>7} {'then':>7} {'predicted':>9} "
        f"{'measured':>8} {'quartiles':>13} "
        f"{'error':>7} {'rounds':>7}"
    )
    errors, null, repeats, indicative, left_out = [], [], [], [], 0
    for pair in PAIRS:
        if wanted.names and not any(part in name for part in wanted.names for name in pair):
            continue
        try:
            rows = run(*pair, wanted.processors)
        except Failure as failure:
            say(str(failure))
            left_out += 2
            continue
        for name, other, row in zip(pair, reversed(pair), rows, strict=True):
            predicted, measured = row["predicted_slowdown"], row["measured_slowdown"]
            low, high = row["measured_lower_quartile"], row["measured_upper_quartile"]
            error = predicted / measured - 1
            say(
                f"{name:<32} {other:<32} {row['first_alone_cycles']:>7.1f} "
                f"{row['last_alone_cycles']:>7.1f} {predicted:>9.3f} "
                f"{measured:>8.3f} {f'{low:.3f}-{high:.3f}':>13} {error:>+7.1%} "
                f"{row['counted_rounds']:>3}/{row['rounds']:<3}{'' if row['is_steady'] else ' not steady'}"
            )
            if not row["is_steady"]:
                left_out += 1
                indicative.append(abs(error))
                continue
            errors.append(abs(error))
            null.append(abs(1 / measured - 1))
            repeats.append((high - low) / 2 / measured)
    if indicative:
        say(
            f"\n{len(indicative)} that are not steady, which prove nothing: median error "
            f"{statistics.median(indicative):.1%}"
        )
    if not errors:
        message = (
            "nothing was steady: contention is not validated; stop what else runs and try again"
        )
        raise Failure(message)
    median = statistics.median(errors)
    verdict = "reached" if median <= GOAL else "not reached: contention is not validated"
    say(
        f"\n{len(errors)} slowdowns, {left_out} not steady: median error {median:.1%}, worst "
        f"{max(errors):.1%} "
        f"(at most {GOAL:.0%} median: {verdict})\n"
        f"null model (nobody slows anybody): median {statistics.median(null):.1%}, worst "
        f"{max(null):.1%}; "
        f"repeatability {statistics.median(repeats):.1%} (median), {max(repeats):.1%} at most"
    )


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"error: {failure}") from failure
