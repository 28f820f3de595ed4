"""Runs the program for the site, and keeps what it said.

What a command says follows from the program and the command, so it is kept in
`target/site/kept` under a hash of both. Building the site again then takes little but mdBook.
"""

import csv
import hashlib
import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from pages import ROOT

TRAMMEL = os.environ.get("TRAMMEL", str(ROOT / "target/quick/trammel"))
KEPT = ROOT / "target/site/kept"
PLAIN = {**os.environ, "NO_COLOR": "1", "XDG_DATA_HOME": "/nonexistent"}


@cache
def build() -> str:
    """A hash of the program."""
    if not Path(TRAMMEL).exists():
        raise SystemExit(f"there is no program {TRAMMEL}: `scripts/site` builds it, or TRAMMEL=FILE")
    with open(TRAMMEL, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def kept(what: str) -> Path:
    """Where the result of `what` is kept."""
    return KEPT / hashlib.sha256(f"{build()}\n{what}".encode()).hexdigest()[:32]


def say(*arguments: str, entered: str | None = None, may_fail: bool = False) -> str:
    """What `trammel ARGUMENTS` writes to standard output; an error where it fails."""
    file = kept(json.dumps([arguments, entered]))
    if file.exists():
        return file.read_text()
    done = subprocess.run(
        [TRAMMEL, *arguments], input=entered, capture_output=True, text=True, cwd=ROOT, env=PLAIN
    )
    if done.returncode != 0 and not may_fail:
        raise SystemExit(f"trammel {' '.join(arguments)}: {done.stderr}{done.stdout}")
    text = done.stdout if done.returncode == 0 else ""
    KEPT.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return text


def check(text: str) -> str:
    """What `trammel check` says of a scenario; a fault ends the build."""
    file = kept(json.dumps(["check", text]))
    if not file.exists():
        done = subprocess.run(
            [TRAMMEL, "check", "-"], input=text, capture_output=True, text=True, env=PLAIN
        )
        if done.returncode != 0:
            raise SystemExit(f"{text}\n{done.stderr}")
        KEPT.mkdir(parents=True, exist_ok=True)
        file.write_text((done.stdout + done.stderr).strip())
    return file.read_text().partition(": ")[2]


def names(kind: str) -> list[dict[str, Any]]:
    """The entries of `trammel list KIND`: name, aliases, summary."""
    listed = json.loads(say("list", kind, "--json"))
    entries: list[dict[str, Any]] = next(v for k, v in listed.items() if k != "schema")
    return entries


class Run:
    """The tables of a run folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a table, or of a trace as `traces/base.NAME.csv`."""
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def column(self, name: str, x: str, y: str) -> list[tuple[float, float]]:
        """Two columns of a table, without rows that lack one."""
        rows = self.table(name)
        return [(float(row[x]), float(row[y])) for row in rows if row[x] and row[y]]


def run(scenario: str, *options: str, beside: Path | None = None) -> Run:
    """The run folder of a scenario; `beside` is the folder that its files are relative to."""
    folder = kept(json.dumps(["run", scenario, options]))
    if not folder.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as work:
            file = Path(work) / "scenario.toml"
            file.write_text(scenario)
            out = Path(work) / "out"
            done = subprocess.run(
                [TRAMMEL, "run", str(file), "-o", str(out), "--threads", "1", *options],
                capture_output=True, text=True, cwd=beside or ROOT, env=PLAIN,
            )
            if done.returncode != 0:
                raise SystemExit(f"{scenario}\n{done.stderr}{done.stdout}")
            try:
                out.rename(folder)
            except OSError:
                # Another thread has just kept the same run.
                if not folder.is_dir():
                    raise
    return Run(folder)
