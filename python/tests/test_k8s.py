"""The Job of `trammel k8s`, read by another reader of YAML."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import trammel as tm


def test_the_manifest_is_yaml(short: tm.Scenario, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = short.replace(repeat=40).to_toml() + '# "quoted": and \\ more\n'
    (tmp_path / "s.toml").write_text(text)
    words = [sys.executable, "-m", "trammel", "k8s", "s.toml", "--store", "s3://lab/runs"]
    words += ["--image", "lab/trammel:0.2", "--pods", "3", "--secret", "s3-key"]
    written = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True)
    config, job = yaml.safe_load_all(written.stdout)
    assert config["data"] == {"scenario.toml": text}
    spec = job["spec"]
    assert spec["completionMode"] == "Indexed" and spec["backoffLimitPerIndex"] == 2
    assert (spec["completions"], spec["parallelism"]) == (24, 3)
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    (container,) = pod["containers"]
    assert container["command"][:2] == ["trammel", "point"]
    assert container["command"][-1] == "$(TRAMMEL_PART)/24"
    assert container["env"][0]["name"] == "TRAMMEL_PART"
    assert pod["volumes"][0]["configMap"]["name"] == config["metadata"]["name"]
