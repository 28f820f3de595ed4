"""What depends on the machine, in one table to attach to a report: `scripts/elsewhere`, at most 15
minutes.

What Trammel publishes was measured on few processors. This runs the parts that could differ on
another one: guests of the real kernel, the calibration and the accuracy of estimates, the pacing of
streams, forwarding by AF_XDP and AF_PACKET, and the quick fidelity matrix. A part that fails, that
this machine cannot run or that the time does not suffice for says so in its row; the others go on.
Nothing of yours is changed: the calibration is for this table alone. The exit code is 1 where a
part failed, and 130 after Ctrl-C, with the table of what is done.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from benches.measure import ROOT, say

# All parts together.
LIMIT_S = 15 * 60

# Six functions: a small and a large one of each kind of cost (header work, tables in and beyond the
# caches, payload).
FUNCTIONS = [
    "L2 switch, static",
    "MPLS switch",
    "IP router, 100 k routes, radix",
    "NAT, 10 k flows",
    "firewall, 20 rules",
    "GRE encapsulation",
]
PACING_PPS = (1_000, 20_000, 80_000)
PACING_S = 5


class Absent(Exception):
    """The machine lacks what a part needs: not a fault of Trammel's."""


class Late(Exception):
    """A part was not done in its time: a slow machine, or a fault; a reader of the table sees
    which.
    """


@dataclass(frozen=True)
class Part:
    """A row of the table: what is looked at, the most seconds that it may take, and how. `look` has
    the program, a folder and the end
    of its time."""

    name: str
    limit_s: int
    look: Callable[[Path, Path, float], str]


def ended(command: list[str], folder: Path, until: float) -> subprocess.CompletedProcess[str]:
    """`command` at its end. Late or interrupted, it goes with all that it started."""
    begin = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"XDG_DATA_HOME": str(folder / "data"), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=max(until - time.monotonic(), 0.1))
    except BaseException as why:
        lasted = time.monotonic() - begin
        for sent in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, sent)
                process.communicate(timeout=10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
            break
        if isinstance(why, subprocess.TimeoutExpired):
            name = " ".join(Path(word).name for word in command[:3])
            raise Late(
                f"`{name}` was not done in the {lasted:.0f} s that were left for it"
            ) from why
        raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def run(
    program: Path, *words: str | int, folder: Path, until: float, good: tuple[int, ...] = (0,)
) -> str:
    """What `program` prints where its exit code is a good one; its last line of complaint where it
    fails.
    """
    done = ended([str(program), *(str(word) for word in words)], folder, until)
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()] or [
        "no word"
    ]
    if done.returncode == 3:
        raise Absent(lines[-1].removeprefix("error: "))
    if done.returncode not in good:
        raise RuntimeError(f"exit code {done.returncode}: {lines[-1]}")
    return done.stdout or done.stderr


def guest(program: Path, folder: Path, until: float) -> str:
    """The real kernel boots, and two runs of it are the same."""
    run(program, "kernel", "build", folder=folder, until=until)
    said = run(program, "kernel", "check", folder=folder, until=until)
    return said.strip().splitlines()[-1]


def calibration(program: Path, folder: Path, until: float) -> str:
    """A machine file is written."""
    begin = time.monotonic()
    said = run(program, "calibrate", folder=folder, until=until).strip().splitlines()
    return f"{said[-1]} ({time.monotonic() - begin:.0f} s)"


def accuracy(program: Path, folder: Path, until: float) -> str:
    """Estimates of six functions beside their measurement; it needs the calibration."""
    if not (folder / "data" / "trammel" / "machines" / "host.toml").exists():
        raise Absent("it needs the calibration")
    script = ROOT / "benches" / "accuracy" / "__main__.py"
    done = ended(
        [sys.executable, str(script), "--program", str(program), *FUNCTIONS], folder, until
    )
    found = re.search(r"^\d+ cases: (.*); null", done.stdout, re.MULTILINE)
    inside = re.search(r"^(in the interval: .*);", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found or not inside:
        lines = (done.stderr + done.stdout).strip().splitlines() or ["no word"]
        raise RuntimeError(lines[-1])
    return f"{found[0].split('; null')[0]}; {inside[1]}"


def pacing(program: Path, folder: Path, until: float) -> str:
    """Streams of UDP over loopback: the rate at which they were sent, and what was late or lost."""
    found = []
    for rate in PACING_PPS:
        receiver = subprocess.Popen(
            [str(program), "recv", "--flows", "1", "--port", "0"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert receiver.stderr is not None
            port = re.search(r":(\d+)\s*$", receiver.stderr.readline())
            if not port:
                raise RuntimeError("the receiver does not say where it listens")
            words = (
                f"127.0.0.1:{port[1]}",
                "--rate",
                f"{rate} pps",
                "--duration",
                f"{PACING_S}s",
                "--size",
                64,
                "--json",
            )
            # 1 says that packets were lost, which is for this table to tell.
            said = run(program, "send", *words, folder=folder, until=until, good=(0, 1))
            row = json.loads(said)["tables"]["streams"][0]
            late, lost = (row[key] / row["sent_pkts"] for key in ("overdue_pkts", "lost_pkts"))
            found.append(
                f"{rate:,}/s: {row['sent_pkts'] / PACING_S / rate - 1:+.3%} sent, {late:.1%} late, "
                f"{lost:.1%} lost"
            )
        finally:
            receiver.terminate()
            receiver.wait()
    return "; ".join(found)


def forwarding(by: str) -> Callable[[Path, Path, float], str]:
    """The answer of a quick bench through a wire between two interfaces, by one kind of socket."""

    def look(program: Path, folder: Path, until: float) -> str:
        words = (
            "bench",
            "--dut",
            "wire",
            "--by",
            by,
            "--quick",
            "--frame-sizes",
            "64",
            "--rate",
            "1 Gbit/s",
            "--tests",
            "throughput",
        )
        said = run(program, *words, "-o", f"bench-{by}", folder=folder, until=until)
        return next((line for line in said.splitlines() if "frames/s" in line), "no answer").strip()

    return look


def fidelity(program: Path, folder: Path, until: float) -> str:
    """The simulator against the real kernel on sixteen cells."""
    said = run(program, "fidelity", "--quick", "-o", "fidelity", folder=folder, until=until)
    return next((line for line in said.splitlines() if "%" in line), "no answer").strip()


PARTS = [
    Part("a guest boots and repeats itself", 400, guest),
    Part("calibration", 240, calibration),
    Part("accuracy on six functions", 180, accuracy),
    Part("pacing", 60, pacing),
    Part("forwarding by AF_XDP", 60, forwarding("af-xdp")),
    Part("forwarding by AF_PACKET", 60, forwarding("af-packet")),
    Part("fidelity --quick", 120, fidelity),
]


def machine() -> list[tuple[str, str]]:
    """The facts that a reader of the table needs."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"^model name\s*:\s*(.*)$", info, re.MULTILINE)
    family = re.search(r"^cpu family\s*:\s*(.*)$", info, re.MULTILINE)
    number = re.search(r"^model\s*:\s*(.*)$", info, re.MULTILINE)
    name = model[1] if model else platform.processor() or "unknown"
    if family and number:
        name += f", family {family[1]} model {number[1]}"
    try:
        revision = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
    except FileNotFoundError:
        revision = "unknown: there is no git"
    return [
        ("processor", name + (", with AMX" if "amx_tile" in info else "")),
        ("processors", str(os.cpu_count())),
        ("kernel", f"{platform.system()} {platform.release()}"),
        ("load before", " ".join(f"{load:.1f}" for load in os.getloadavg())),
        ("revision", revision or "unknown"),
        ("date", datetime.now(timezone.utc).date().isoformat()),
    ]


def cell(text: str) -> str:
    """One line, without what would end a cell of Markdown."""
    return " ".join(text.split()).replace("|", "/")[:300]


def look_at(program: Path) -> tuple[list[tuple[str, str, str, str]], int]:
    """The rows of the table, and the exit code."""
    rows, code = [], 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end = time.monotonic() + LIMIT_S
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            say(f"{part.name} …")
            begin = time.monotonic()
            try:
                if begin >= end:
                    raise Late(f"the {LIMIT_S // 60} minutes were over")
                result, found = (
                    "works",
                    part.look(program, Path(folder), min(begin + part.limit_s, end)),
                )
            except Absent as absent:
                result, found = "lacking", str(absent)
            except Late as late:
                result, found = "not done", str(late)
            except KeyboardInterrupt:
                result, found, code = "not done", "interrupted; what follows was not looked at", 130
            except Exception as fault:  # noqa: BLE001: whatever a part does, the others are looked at
                result, found, code = "FAILED", str(fault), 1
            rows.append((part.name, cell(found), result, f"{time.monotonic() - begin:.0f}"))
            say(f"  {result}: {rows[-1][1]}")
            if code == 130:
                break
    return rows, code


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/elsewhere", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--program",
        type=Path,
        default=ROOT / "target" / "quick" / "trammel",
        help="the program to ask",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("elsewhere.md"),
        help="the table (elsewhere.md); never overwritten",
    )
    wanted = parser.parse_args()
    if wanted.output.exists():
        parser.error(f"`{wanted.output}` exists; choose another with `-o`")
    program = wanted.program.resolve()
    if not program.is_file():
        parser.error(f"`{program}` is not there; `scripts/elsewhere` builds it")
    if not os.access(wanted.output.absolute().parent, os.W_OK):
        parser.error(
            f"nothing can be written beside `{wanted.output.absolute()}`; choose another place "
            f"with `-o`"
        )
    facts = machine()
    rows, code = look_at(program)
    lines = ["# Trammel on this machine", "", "| | |", "| --- | --- |"]
    lines += [f"| {key} | {cell(value)} |" for key, value in facts]
    lines += ["", "| part | what was found | result | s |", "| --- | --- | --- | ---: |"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    with wanted.output.open("x") as file:
        file.write("\n".join(lines) + "\n")
    say(f"The table: {wanted.output}")
    return code


if __name__ == "__main__":
    sys.exit(main())
