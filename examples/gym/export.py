"""Writes the policy of `policy.json` as C: for the simulator and for the kernel.

    python examples/gym/export.py       # policy.c and tcp_policy.c, beside this file
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from common import FOLDER, OBSERVE

UNIT = 65536


def fixed(number: float) -> str:
    return str(round(number * UNIT))


def row(numbers: Sequence[float]) -> str:
    return "{ " + ", ".join(map(fixed, numbers)) + " }"


def matrix(rows: Sequence[Sequence[float]]) -> str:
    return "{\n" + "".join(f"\t{row(one)},\n" for one in rows) + "}"


def weights(policy: dict[str, object]) -> str:
    """The constants that the core needs."""
    assert policy["observe"] == list(OBSERVE), "the core computes these, in this order"
    first, second, last = policy["layers"]
    hidden, inputs = len(first["weight"]), len(first["weight"][0])
    assert inputs == 5 and len(second["weight"]) == hidden and len(last["weight"]) == 1
    milliseconds, unit = str(policy["interval"]).split()
    assert unit == "ms"
    table = [math.tanh(at / 16) for at in range(65)]
    return "\n".join(
        [
            f"#define INPUTS {inputs}",
            f"#define HIDDEN {hidden}",
            f"#define INTERVAL_US {int(milliseconds) * 1000}",
            "",
            "/* At steps of 1/16. */",
            f"static const s32 TANH[65] = {row(table)};",
            f"static const s32 WEIGHT_1[HIDDEN][INPUTS] = {matrix(first['weight'])};",
            f"static const s32 BIAS_1[HIDDEN] = {row(first['bias'])};",
            f"static const s32 WEIGHT_2[HIDDEN][HIDDEN] = {matrix(second['weight'])};",
            f"static const s32 BIAS_2[HIDDEN] = {row(second['bias'])};",
            f"static const s32 WEIGHT_3[HIDDEN] = {row(last['weight'][0])};",
            f"static const s32 BIAS_3 = {fixed(last['bias'][0])};",
            "",
            "",
        ]
    )


def write(into: Path) -> None:
    """Writes both files into a folder."""
    core = weights(json.loads((FOLDER / "policy.json").read_text()))
    core += (FOLDER / "policy_core.h").read_text()
    for template, name in (("policy_library.c", "policy.c"), ("policy_module.c", "tcp_policy.c")):
        text = (FOLDER / template).read_text().replace("@CORE@\n", core + "\n")
        (into / name).write_text(text)


if __name__ == "__main__":
    write(FOLDER)
