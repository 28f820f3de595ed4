"""What the tests share: the repository, and the command of the package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import trammel as tm

ROOT = Path(__file__).resolve().parents[2]

Command = Callable[..., Path]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Runs a scenario by the command; gives the run folder."""

    def run(scenario: Path, *arguments: str) -> Path:
        out = tmp_path / "out"
        words = [sys.executable, "-m", "trammel", "run", str(scenario), "-o", str(out), *arguments]
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        return out

    return run


@pytest.fixture
def short() -> tm.Scenario:
    """A scenario that takes a moment."""
    return tm.Scenario(
        duration="2 s",
        path=tm.Path(rate="10 Mbit/s", rtt="20 ms"),
        flows=[tm.Flow("reno"), tm.Flow("cubic")],
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-examples", action="store_true", help="compare every example with the command's run"
    )
