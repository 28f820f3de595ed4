"""Our MLRsearch beside the reference implementation on the same simulated devices: `python3 -m
benches.mlr`.

Both search NDR and PDR (0.5 %) to half a percent with final trials of 60 s and first ones of 1 s.
The devices are those of the example `mlr_study`, which serves them to the reference implementation
line by line; each search has chances of its own. Compared are the time of the trials, the bounds
that are wrong (trials made anew would more likely say otherwise), and how far apart the lower
bounds of the two are; *grossly* wrong is what nine of ten would contradict. A lower bound is a
matter of chance where a device's loss rises slowly, so the distance is also given between two
searches of the reference.

Needs (PyPI): `pip install MLRsearch==1.2.1`.
"""

from __future__ import annotations

import argparse
import csv
import io
import logging
import statistics
import subprocess
from dataclasses import dataclass

from benches.measure import ROOT, Failure, say

try:
    from MLRsearch import (
        AbstractMeasurer,
        Config,
        MeasurementResult,
        MultipleLossRatioSearch,
        SearchGoal,
    )
except ImportError as missing:
    raise SystemExit(
        "error: the reference implementation is missing: pip install MLRsearch==1.2.1"
    ) from missing

STUDY = ROOT / "target" / "release" / "examples" / "mlr_study"
FAMILIES = ["logistic", "capacity", "bistable", "rarely losing"]
GOALS = [0.0, 0.005]
WIDTH = 0.005
LINE_FPS = 1e9 / 672


@dataclass(frozen=True)
class Bounds:
    """What a search found for one goal, frames a second."""

    lower: float | None
    upper: float | None
    passes_at_lower: float | None
    passes_at_upper: float | None

    @property
    def contradicted(self) -> float:
        """The greater of the probabilities that trials made anew contradict one of the bounds."""
        at_lower = 1.0 if self.passes_at_lower is None else self.passes_at_lower
        return max(1.0 - at_lower, self.passes_at_upper or 0.0)

    @property
    def is_regular(self) -> bool:
        return (
            self.lower is not None
            and self.upper is not None
            and self.upper - self.lower <= WIDTH * self.upper * 1.000001
        )


@dataclass(frozen=True)
class Search:
    """One search of a device for both goals."""

    bounds: list[Bounds]
    trials: int
    time_s: float


class Devices(AbstractMeasurer):
    """The study's devices, as the reference implementation's measurer."""

    def __init__(self, seed: int) -> None:
        command = [str(STUDY), "--serve", "--seed", str(seed)]
        self.served = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.trials = 0
        self.time_s = 0.0

    def say(self, line: str) -> None:
        self.served.stdin.write(line + "\n")
        self.served.stdin.flush()

    def ask(self, line: str) -> list[str]:
        self.say(line)
        answer = self.served.stdout.readline().split()
        if not answer:
            raise Failure(f"no answer to `{line}`")
        return answer

    def choose(self, family: str, number: int) -> None:
        self.say(f"device {family} {number}")
        self.trials, self.time_s = 0, 0.0

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        self.trials += 1
        self.time_s += intended_duration
        offered, forwarded = map(int, self.ask(f"trial {intended_load} {intended_duration}"))
        return MeasurementResult(
            intended_duration, intended_load, offered_count=offered, forwarding_count=forwarded
        )

    def passes(self, rate: float | None, goal: float) -> float | None:
        return None if rate is None else float(self.ask(f"passes {rate} {goal}")[0])

    def search(self) -> Search:
        goals = [
            SearchGoal(
                loss_ratio=goal,
                exceed_ratio=0.0,
                relative_width=WIDTH,
                initial_trial_duration=1.0,
                final_trial_duration=60.0,
                duration_sum=60.0,
                preceding_targets=2,
                fail_fast=False,
            )
            for goal in GOALS
        ]
        config = Config()
        config.goals = goals
        config.min_load = 0.01 * LINE_FPS
        config.max_load = LINE_FPS
        config.warmup_duration = None
        found = MultipleLossRatioSearch(config=config).search(measurer=self)
        trials, time_s = self.trials, self.time_s
        bounds = []
        for goal in goals:
            result = found[goal]
            lower, upper = (
                None if bound is None else float(bound)
                for bound in (result.relevant_lower_bound, result.relevant_upper_bound)
            )
            bounds.append(
                Bounds(
                    lower,
                    upper,
                    self.passes(lower, goal.loss_ratio),
                    self.passes(upper, goal.loss_ratio),
                )
            )
        return Search(bounds, trials, time_s)


def ours(devices: int, seed: int) -> dict[tuple[str, int], Search]:
    """Our searches, by family and number of the device."""
    command = [str(STUDY), "--csv", "--devices", str(devices), "--seed", str(seed)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    searches: dict[tuple[str, int], Search] = {}
    for row in csv.DictReader(io.StringIO(text)):
        cells = ("lower", "upper", "passes_at_lower", "passes_at_upper")
        bounds = Bounds(*(float(row[cell]) if row[cell] else None for cell in cells))
        key = (row["family"], int(row["number"]))
        before = searches[key].bounds if key in searches else []
        searches[key] = Search([*before, bounds], int(row["trials"]), float(row["time_s"]))
    return searches


def apart(one: list[Search], other: list[Search]) -> str:
    """The distances between the lower bounds of each goal, in widths: the median and the ninth
    decile.
    """
    shares = []
    for goal in range(len(GOALS)):
        pairs = [
            (a.bounds[goal].lower, b.bounds[goal].lower) for a, b in zip(one, other, strict=True)
        ]
        distances = [
            abs(a - b) / max(a, b) / WIDTH for a, b in pairs if a is not None and b is not None
        ]
        shares.append(
            f"{statistics.median(distances):5.2f} {statistics.quantiles(distances, n=10)[-1]:6.2f}"
        )
    return "   ".join(shares)


def row(family: str, name: str, searches: list[Search], distances: str) -> None:
    found = [bounds for search in searches for bounds in search.bounds]
    wrong, grossly = (
        100 * sum(bounds.contradicted > share for bounds in found) / len(found)
        for share in (0.5, 0.9)
    )
    irregular = 100 * sum(not bounds.is_regular for bounds in found) / len(found)
    time_s = statistics.mean(search.time_s for search in searches)
    trials = statistics.mean(search.trials for search in searches)
    say(
        f"{family:14} {name:10} {time_s:7.1f} {trials:7.1f} {wrong:7.1f} {grossly:8.1f} "
        f"{irregular:10.1f}   {distances}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--devices", type=int, default=100, help="of each family (100)")
    parser.add_argument("--seed", type=int, default=1, help="of the devices (1)")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    build = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "-p",
        "trammel-bench",
        "--example",
        "mlr_study",
    ]
    subprocess.run(build, cwd=ROOT, check=True)
    mine = ours(arguments.devices, arguments.seed)
    devices = Devices(arguments.seed)
    say(
        f"Of {arguments.devices} devices; wrong and irregular in percent; lower bounds apart from "
        f"the reference's, in widths"
    )
    say(
        f"{'devices':14} {'search':10} {'time s':>7} {'trials':>7} {'wrong':>7} {'grossly':>8} "
        f"{'irregular':>10}   NDR p50 p90    PDR p50 p90"
    )
    try:
        for family in FAMILIES:
            reference, again = [], []
            for number in range(arguments.devices):
                devices.choose(family, number)
                reference.append(devices.search())
                devices.trials, devices.time_s = 0, 0.0
                again.append(devices.search())
            row(family, "reference", reference, apart(reference, again))
            searches = [mine[family, number] for number in range(arguments.devices)]
            row(family, "ours", searches, apart(searches, reference))
    finally:
        devices.served.stdin.close()
        devices.served.wait()


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"error: {failure}") from failure
