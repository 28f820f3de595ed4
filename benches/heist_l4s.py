"""Writes `papers/heist-l4s/expected.csv` from the tables of github.com/heistp/l4s-tests.

    python3 -m benches.heist_l4s FOLDER                       values and tolerances anew
    python3 -m benches.heist_l4s FOLDER RUN/comparison.csv    verdicts too, of that run

FOLDER has `s1_table.md` and `s6_steady_state.md`. Tolerances follow from the printed numbers
alone. A number that differs and did not before becomes `unexplained`; a cause that is recorded
stays while the number differs.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benches.measure import ROOT

EXPECTED = ROOT / "papers" / "heist-l4s" / "expected.csv"
HEADER = "table,row,column,value,unit,tolerance,verdict,cause,reason".split(",")
# A share may be off by this much where the tests themselves repeat better.
FLOOR = 0.03
# 97.5 % quantiles of the t distribution, by degrees of freedom.
QUANTILE = {9: 2.262}
# Of the small rate and of the ratio of scenario 6, which was run once: a choice, not a spread.
RELATIVE = 0.2
CNQ = "the queue cnq_codel_af (of the authors) is not in Trammel"
ARED = "Trammel's red does not adapt max_probability"


@dataclass(frozen=True)
class Row:
    """A row of a table: two flows through a queue."""

    rate: str
    queue: str
    first: str
    rtt1: str
    value1: str
    second: str
    rtt2: str
    value2: str
    last: str

    @property
    def total(self) -> float:
        return float(self.value1) + float(self.value2)

    @property
    def share(self) -> float:
        return float(self.value1) / self.total


def read(path: Path) -> list[Row]:
    rows = []
    for line in path.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 7 or not re.fullmatch(r"\d+Mbit", cells[0]):
            continue
        flows = [re.fullmatch(r"([a-z-]+)\((\d+)ms\)", cell).groups() for cell in (cells[2], cells[4])]
        (first, rtt1), (second, rtt2) = flows
        rows.append(Row(cells[0], cells[1], first, rtt1, cells[3], second, rtt2, cells[5], cells[6]))
    return rows


def jain(share: float) -> float:
    return 1 / (2 * (share**2 + (1 - share) ** 2))


def spreads(rows: list[Row]) -> dict[tuple[str, str], float]:
    """The standard deviation of a share by rate and queue, from tests that are the same test:
    two flows alike, whose share is a half, and each pair in both orders, at equal round trips."""
    squares = defaultdict(list)
    mixed: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in rows:
        if row.rtt1 != row.rtt2:
            continue
        if row.first == row.second:
            squares[row.rate, row.queue].append((row.share - 0.5) ** 2)
        else:
            of_cubic = row.share if row.first == "cubic" else 1 - row.share
            mixed[row.rate, row.queue, row.rtt1].append(of_cubic)
    for (rate, queue, _), (one, other) in mixed.items():
        squares[rate, queue].append((one - other) ** 2 / 2)
    assert {len(all) for all in squares.values()} == {9}
    return {key: math.sqrt(statistics.fmean(all)) for key, all in squares.items()}


def fairness(rows: list[Row]):
    """Scenario 1: both rates and Jain's index."""
    spread = spreads(rows)
    for row in rows:
        table = f"{row.queue} {row.rate.removesuffix('Mbit')} Mbit/s"
        name = f"{row.first} {row.rtt1} ms + {row.second} {row.rtt2} ms"
        # Half of the interval of the difference of two runs.
        wide = QUANTILE[9] * spread[row.rate, row.queue] * math.sqrt(2)
        share = max(FLOOR, wide)
        rate = f"{share * row.total:.2f}"
        ends = [jain(max(0.0, min(1.0, row.share + sign * share))) for sign in (-1, 1)]
        index = max(abs(end - jain(row.share)) for end in ends)
        why = CNQ if row.queue == "cnq_codel_af" else ""
        yield table, name, "first", row.value1, "Mbit/s", rate, why
        yield table, name, "second", row.value2, "Mbit/s", rate, why
        yield table, name, "jain", row.last, "ratio", f"{index:.3f}", why


def shared(rows: list[Row]):
    """Scenario 6: both rates and their ratio."""
    for row in rows:
        table = "RFC 3168 50 Mbit/s"
        name = f"{row.queue}: prague + {row.second}"
        why = ARED if row.queue.startswith("red") else ""
        first, second = float(row.value1), float(row.value2)
        ratio = row.last.removesuffix(":1")
        yield table, name, "prague", row.value1, "Mbit/s", f"{FLOOR * row.total:.2f}", why
        yield table, name, "other", row.value2, "Mbit/s", f"{RELATIVE * second:.2f}", why
        yield table, name, "ratio", ratio, "ratio", f"{RELATIVE * first / second:.1f}", why


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("comparison", type=Path, nargs="?")
    options = parser.parse_args()
    known = {}
    if EXPECTED.exists():
        with EXPECTED.open() as file:
            known = {(r["table"], r["row"], r["column"]): r for r in csv.DictReader(file)}
    ours = {}
    if options.comparison:
        with options.comparison.open() as file:
            for r in csv.DictReader(file):
                if r["outcome"] != "shown beside" and r["simulated"]:
                    ours[r["table"], r["row"], r["column"]] = float(r["simulated"])
    cells = list(fairness(read(options.folder / "s1_table.md")))
    cells += shared(read(options.folder / "s6_steady_state.md"))
    with EXPECTED.open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n").writerow
        write(HEADER)
        for table, row, column, value, unit, tolerance, lacks in cells:
            key = table, row, column
            old = known.get(key, {})
            verdict, cause, reason = (old.get(k, "") for k in ("verdict", "cause", "reason"))
            if lacks:
                verdict, cause, reason = "inapplicable", "", lacks
            elif key in ours:
                limit = float(tolerance) * (1 + 1e-9)
                if abs(ours[key] - float(value)) <= limit:
                    verdict, cause, reason = "matches", "", ""
                elif verdict != "differs":
                    verdict, cause, reason = "differs", "unexplained", "no cause was found"
            elif not verdict:
                verdict, cause, reason = "matches", "", ""
            write([*key, value, unit, tolerance, verdict, cause, reason])


if __name__ == "__main__":
    main()
