"""Runs: the command's tables byte for byte, progress, interrupts, threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT, Command

import trammel as tm

BOTH: list[tm.Engine] = ["predict", "simulate"]


@pytest.mark.parametrize("name", ["first", "wifi", "workload"])
def test_tables_are_those_of_the_command(name: str, command: Command, tmp_path: Path) -> None:
    path = ROOT / "examples" / f"{name}.toml"
    out = command(path, "--engine", "predict,simulate")
    run = tm.Scenario.from_file(path).run(BOTH, threads=3)
    written = run.to_csv(tmp_path / "ours")
    theirs = sorted(file.name for file in out.glob("*.csv"))
    assert sorted(file.name for file in written) == theirs
    for file in written:
        assert file.read_bytes() == (out / file.name).read_bytes(), file.name


def test_a_scenario_of_keywords_is_the_command_s_too(
    short: tm.Scenario, command: Command, tmp_path: Path
) -> None:
    swept = short.sweep({"path.queue.limit": ["1 bdp", "4 bdp"], "flow.1.variant": ["bbr", "reno"]})
    file = tmp_path / "mine.toml"
    file.write_text(swept.to_toml())
    out = command(file)
    run = swept.run()
    assert run.flows.to_csv() == (out / "flows.csv").read_text()
    assert len(run.flows) == 2 * 2 * 2


def test_the_seed_is_the_command_s(short: tm.Scenario, command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(short.to_toml())
    out = command(file, "--seed", "7")
    assert short.run(seed=7).flows.to_csv() == (out / "flows.csv").read_text()
    assert short.run(seed=7).flows["seed"] == [7, 7]


def test_a_run_says_what_it_found(short: tm.Scenario, tmp_path: Path) -> None:
    run = short.run(BOTH)
    assert "cubic" in run.answer
    assert run.engines == BOTH and run.runs == (1, 1)
    assert run.failures == [] and run.lacks is None
    assert run.provenance["version"] == tm.__version__
    page = run.report(tmp_path / "report.html")
    assert "<svg" in page and (tmp_path / "report.html").read_text() == page
    assert run._repr_html_().startswith("<iframe srcdoc=")
    assert list(run.tables) == ["flows", "links", "groups", "predictions", "summary", "comparison"]
    with pytest.raises(LookupError, match="`flows`"):
        _ = run.streams
    assert "1 of 1 runs" in repr(run)


def test_words_that_are_no_engines_are_refused(short: tm.Scenario) -> None:
    with pytest.raises(ValueError, match="`guess` is no engine"):
        short.run(["guess"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="at least 1"):
        short.run(threads=0)


def test_an_engine_that_is_missing_leaves_the_others(
    short: tm.Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # No kernel is built in an empty folder.
    monkeypatch.setenv("TRAMMEL_KERNELS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    run = short.run(["simulate", "measure"])
    assert "simulate" in run.flows["engine"]
    assert run.lacks or "linux-vt" in run.flows["engine"]


def test_the_kernel_is_measured(short: tm.Scenario, command: Command, tmp_path: Path) -> None:
    measured = short.replace(measure=tm.Measure())
    run = measured.run()
    if run.lacks:
        pytest.skip(run.lacks)
    file = tmp_path / "mine.toml"
    file.write_text(measured.to_toml())
    out = command(file)
    assert run.flows["engine"] == ["simulate", "simulate", "linux_vt", "linux_vt"]
    assert run.flows.to_csv() == (out / "flows.csv").read_text()
    assert "kernel of this machine" in run.provenance


def test_this_host_is_measured(short: tm.Scenario) -> None:
    run = short.replace(duration="300 ms", measure=tm.Measure(kernel="host")).run(["measure"])
    if run.lacks:
        pytest.skip(run.lacks)
    assert run.failures or len(run.flows) == 2


def test_a_thousand_flows(short: tm.Scenario) -> None:
    many = short.replace(
        duration="200 ms", path=tm.Path(rate="1 Gbit/s", rtt="10 ms"), flows=[tm.Flow("cubic", count=1000)]
    )
    assert len(many.run(["simulate"]).flows) == 1000


def test_progress_is_told_and_its_errors_stop_the_run(short: tm.Scenario) -> None:
    told: list[tm.Progress] = []
    short.replace(repeat=20).run(["simulate"], progress=told.append)
    assert told[-1][:3] == (20, 20, 0) and told[-1].fraction == pytest.approx(1.0)
    with pytest.raises(ZeroDivisionError):
        short.run(progress=lambda progress: 1 // 0)


def test_progress_is_a_line(
    short: tm.Scenario, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where rich is not installed.
    monkeypatch.setitem(sys.modules, "rich.console", None)
    short.run(["simulate"], progress=True)
    assert capfd.readouterr().err.endswith("1 of 1 runs, 100%\n")


def test_progress_is_a_bar_of_rich(
    short: tm.Scenario, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    short.run(["simulate"], progress=True)
    assert "1/1 runs" in capfd.readouterr().err


def test_an_interrupt_keeps_what_is_done(short: tm.Scenario) -> None:
    long = short.replace(repeat=10_000)
    threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(tm.Interrupted) as caught:
        long.run(["simulate"], threads=2)
    assert time.monotonic() - begun < 10
    run = caught.value.run
    assert isinstance(caught.value, KeyboardInterrupt)
    assert run.runs[0] == 10_000 and 0 < run.runs[1] < 10_000
    assert len(run.flows) == 2 * run.runs[1]
    # What is kept is what the whole run would have.
    whole = short.replace(repeat=1).run(["simulate"]).flows.to_csv().splitlines()
    assert run.flows.to_csv().splitlines()[:3] == whole


def test_runs_go_on_beside_each_other(short: tm.Scenario) -> None:
    alone = short.run().flows.to_csv()
    with ThreadPoolExecutor(4) as pool:
        runs = pool.map(lambda _: short.run(threads=1).flows.to_csv(), range(8))
        assert set(runs) == {alone}


def test_python_runs_while_engines_do(short: tm.Scenario) -> None:
    """Python's lock is free: a thread of Python counts meanwhile."""
    counted, is_over = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not is_over.wait(0.001):
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    short.replace(repeat=200).run(["simulate"], threads=1)
    is_over.set()
    counter.join()
    assert counted > 20


def test_the_module_is_the_program() -> None:
    words = [sys.executable, "-m", "trammel", "--version"]
    assert subprocess.check_output(words, text=True) == f"trammel {tm.__version__}\n"
    nothing = subprocess.run([*words[:-1], "run", "nosuch.toml"], capture_output=True, text=True)
    assert nothing.returncode == 2 and "nosuch.toml" in nothing.stderr
