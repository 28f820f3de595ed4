"""Executors: the same tables however a run is handed out, and what becomes of lost work."""

from __future__ import annotations

import doctest
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import ROOT

import trammel as tm
from trammel.executors import Ended, Executor, Incomplete, Task
from trammel.executors import _hand_out
from trammel.executors._executor import Tell, carry_out, start
from trammel.executors._hand_out import Missing, batches


@pytest.fixture
def sweep(short: tm.Scenario) -> tm.Scenario:
    """Eight runs of some milliseconds."""
    return short.replace(repeat=2).sweep({"path.queue.limit": ["1 bdp", "4 bdp", "9 bdp", "20 bdp"]})


def tables(run: tm.Run) -> dict[str, str]:
    return {name: table.to_csv() for name, table in run.tables.items()}


class Counting(Executor):
    """Carries tasks out here, and counts how often each run is begun."""

    def __init__(self) -> None:
        self.begun: Counter[str] = Counter()
        self.rounds = 0

    def run(self, tasks: Sequence[Task], tell: Tell) -> None:
        self.rounds += 1
        for at, task in enumerate(tasks):
            self.begun.update(keys(task))
            tell(at, self.carry_out(at, task))

    def carry_out(self, at: int, task: Task) -> Ended:
        return carry_out(task)


def keys(task: Task) -> list[str]:
    return task.words[task.words.index("--key") + 1].split(",")


def test_processes_make_what_threads_make(sweep: tm.Scenario, tmp_path: Path) -> None:
    told: list[tm.Progress] = []
    run = sweep.run(store=tmp_path, executor=tm.executors.local(2), progress=told.append)
    whole = sweep.run()
    assert tables(run) == tables(whole) and run.answer == whole.answer
    assert run.runs == (8, 8) and told[-1] == (8, 8, 0, 1.0)
    # All is there now, and nobody is asked.
    again = Counting()
    assert tables(sweep.run(store=tmp_path, executor=again)) == tables(whole)
    assert again.rounds == 0


def test_engines_and_seeds_go_along(sweep: tm.Scenario, tmp_path: Path) -> None:
    run = sweep.run(["predict", "simulate"], seed=7, store=tmp_path, threads=1)
    assert tables(run) == tables(sweep.run(["predict", "simulate"], seed=7))
    assert set(run.flows["seed"]) == {7, 8}


def test_files_that_a_scenario_names_are_found(short: tm.Scenario, tmp_path: Path) -> None:
    (tmp_path / "opportunities").write_text("".join(f"{at}\n" for at in range(100)))
    text = short.to_toml().replace('rate = "10 Mbit/s"', 'trace = "opportunities"')
    (tmp_path / "mine.toml").write_text(text)
    scenario = tm.Scenario.from_file(tmp_path / "mine.toml")
    run = scenario.run(store=tmp_path / "store", threads=1)
    assert tables(run) == tables(scenario.run())


def test_a_killed_process_is_begun_anew(sweep: tm.Scenario, tmp_path: Path) -> None:
    class Killing(Counting):
        def carry_out(self, at: int, task: Task) -> Ended:
            if self.rounds > 2:
                return carry_out(task)
            process = start(task)
            process.kill()
            process.communicate()
            return Ended(process.returncode, "")

    executor = Killing()
    run = sweep.run(store=tmp_path, executor=executor)
    assert tables(run) == tables(sweep.run())
    assert max(executor.begun.values()) == 3


def test_a_run_is_begun_three_times_at_most(
    sweep: tm.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_hand_out, "_LEAST_S", 0.0)

    class Deadly(Counting):
        def carry_out(self, at: int, task: Task) -> Ended:
            return Ended(-signal.SIGKILL, "")

    executor = Deadly()
    with pytest.raises(Incomplete, match="ended by signal 9") as caught:
        sweep.run(store=tmp_path, executor=executor)
    run, missing = caught.value.run, caught.value.missing
    assert run.runs == (8, 0) and len(missing) == 8
    assert set(executor.begun.values()) == {3}
    # The others are kept, and the same call goes on.
    assert sweep.run(store=tmp_path).runs == (8, 8)


def test_one_run_that_kills_takes_no_other_with_it(
    sweep: tm.Scenario, tmp_path: Path
) -> None:
    class Deadly(Counting):
        """The third run of the scenario kills whoever makes it."""

        deadly = ""

        def carry_out(self, at: int, task: Task) -> Ended:
            words, made = list(task.words), keys(task)
            self.deadly = self.deadly or made[2]
            if self.deadly not in made:
                return carry_out(task)
            before = made[: made.index(self.deadly)]
            words[words.index("--key") + 1] = ",".join(before)
            if before:
                assert carry_out(task._replace(words=words)).code == 0
            return Ended(-signal.SIGKILL, "")

    executor = Deadly()
    with pytest.raises(Incomplete) as caught:
        sweep.run(store=tmp_path, executor=executor)
    assert caught.value.missing == [executor.deadly] and caught.value.run.runs == (8, 7)
    assert executor.begun[executor.deadly] == 3


def test_what_a_machine_lacks_is_made_elsewhere(sweep: tm.Scenario, tmp_path: Path) -> None:
    class Lacking(Counting):
        def carry_out(self, at: int, task: Task) -> Ended:
            return Ended(3, "no kernel") if self.rounds <= 4 else carry_out(task)

    executor = Lacking()
    assert sweep.run(store=tmp_path, executor=executor).runs == (8, 8)
    assert executor.rounds == 5


def test_another_build_of_the_program_is_refused(short: tm.Scenario, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "trammel", "point", "-", "--store", str(tmp_path), "--key", "k"]
    done = subprocess.run(
        [*words, "--build", "0123"], input=short.to_toml(), capture_output=True, text=True
    )
    assert done.returncode == 3 and "`0123` is wanted" in done.stderr


def test_an_interrupt_keeps_what_is_stored(
    short: tm.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_hand_out, "_LEAST_S", 0.1)
    many = short.replace(repeat=10_000)
    with pytest.raises(tm.Interrupted) as caught:
        # At the first news.
        many.run(store=tmp_path, threads=2, progress=lambda _: signal.raise_signal(signal.SIGINT))
    run = caught.value.run
    assert run.runs[0] == 10_000 and 0 < run.runs[1] < 10_000
    assert len(run.flows) == 2 * run.runs[1]


def test_faults_are_told_before_anything_begins(short: tm.Scenario, tmp_path: Path) -> None:
    executor = Counting()
    with pytest.raises(tm.ScenarioError, match="cubik"):
        short.replace(flows=[tm.Flow("cubik")]).run(store=tmp_path, executor=executor)
    with pytest.raises(ValueError, match="needs `store`"):
        short.run(executor=executor)
    with pytest.raises(ValueError, match="leave out `threads`"):
        short.run(store=tmp_path, executor=executor, threads=2)
    with pytest.raises(ValueError, match="at least 1"):
        tm.executors.local(0)
    assert executor.rounds == 0


def test_batches_have_one_engine_and_about_one_length() -> None:
    runs = [Missing(str(at), "simulate", 0.01) for at in range(1000)]
    runs += [Missing("k", "linux_vt", 0.6), Missing("long", "simulate", 99.0)]
    cut = batches(runs, cores=2)
    assert sorted(run.key for batch in cut for run in batch) == sorted(run.key for run in runs)
    assert all(len({run.engine for run in batch}) == 1 for batch in cut)
    # The longest first: it would be late else.
    assert [run.key for run in cut[0]] == ["long"]
    assert 3 <= len(cut) <= 10
    # A thousand of a second each for as many cores go one by one.
    assert len(batches([Missing(str(at), "simulate", 1.0) for at in range(1000)], 1000)) == 1000
    assert batches([], None) == []


def test_the_page_shows_what_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "cluster.md"
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries >= 4 and runner.failures == 0
