"""The rule of Snakemake in docs/cluster.md. Long: with `TRAMMEL_LONG=1`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import trammel as tm

if "TRAMMEL_LONG" not in os.environ:
    pytest.skip("long: set TRAMMEL_LONG=1", allow_module_level=True)

pytest.importorskip("snakemake")


def test_the_rule_makes_the_run_folder(short: tm.Scenario, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "cluster.md").read_text()
    rule = re.search(r"^```text\n(PARTS = .*?)^```$", page, re.M | re.S)
    assert rule
    (tmp_path / "Snakefile").write_text(rule[1])
    swept = short.replace(repeat=20).sweep({"path.queue.limit": ["1 bdp", "4 bdp"]})
    (tmp_path / "s.toml").write_text(swept.to_toml())
    # The program of this package, whatever else is in the path.
    bin_of_package = os.path.dirname(sys.executable)
    path = f"{bin_of_package}{os.pathsep}{os.environ['PATH']}"
    assert shutil.which("trammel", path=path)
    words = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet"]
    subprocess.run(words, cwd=tmp_path, env={**os.environ, "PATH": path}, check=True)
    assert (tmp_path / "out" / "flows.csv").read_text() == swept.run().flows.to_csv()
