"""Sweeps under the engines themselves, while processes and workers are killed, the store's file
system refuses to write, and its disk is full. Long: with `TRAMMEL_LONG=1`, as root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import trammel as tm
from trammel.executors import Executor, Task
from trammel.executors._executor import Tell

if "TRAMMEL_LONG" not in os.environ:
    pytest.skip("long: set TRAMMEL_LONG=1", allow_module_level=True)

DISK_MB = 96

SWEEP = tm.Scenario(
    duration="4 s",
    repeat=5,
    path=tm.Path(rate="20 Mbit/s", rtt="20 ms"),
    flows=[tm.Flow("cubic"), tm.Flow("reno")],
).sweep(
    {
        "path.rtt": [f"{at} ms" for at in range(10, 30)],
        "path.queue.limit": [f"{at} packets" for at in range(20, 40)],
    }
)
"""Two thousand runs."""


@pytest.fixture(scope="module")
def whole() -> dict[str, str]:
    """The tables of an undisturbed run."""
    return tables(SWEEP.run())


def tables(run: tm.Run) -> dict[str, str]:
    return {name: table.to_csv() for name, table in run.tables.items()}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


class Watched(Executor):
    """Another executor whose processes leave a note of what they were begun for."""

    def __init__(self, inner: Executor, notes: Path) -> None:
        self.inner = inner
        notes.mkdir()
        self.notes, self.script = notes, notes / "begin"
        self.program = ""

    @property
    def cores(self) -> int | None:
        return self.inner.cores

    def run(self, tasks: Sequence[Task], tell: Tell) -> None:
        program = tasks[0].words[0]
        self.script.write_text(
            f"#!/bin/sh\nprintf '%s\\n' \"$*\" > {self.notes}/$(date +%s%N)-$$\nexec {program} \"$@\"\n"
        )
        self.script.chmod(0o755)
        self.inner.run(
            [task._replace(words=[str(self.script), *task.words[1:]]) for task in tasks], tell
        )

    def most_begun(self, store: Path) -> int:
        """How often any run was begun at most.

        A process makes its runs in order. So it has not begun one whose predecessor was not
        stored when the next process for it was begun.
        """
        stored = {file.stem: file.stat().st_mtime_ns for file in store.glob("*/*/*.json")}
        processes = []
        for note in self.notes.glob("*-*"):
            words = note.read_text().split()
            if "--key" in words:
                keys = words[words.index("--key") + 1].split(",")
                processes.append((int(note.name.split("-")[0]), keys))
        processes.sort()
        begun: Counter[str] = Counter()
        next_begun: dict[str, int] = {}
        for at, keys in reversed(processes):
            before: str | None = None
            for key in keys:
                is_last = key not in next_begun
                if is_last or before is None or stored[before] < next_begun[key]:
                    begun[key] += 1
                before = key
            next_begun.update((key, at) for key in keys)
        return max(begun.values())


@contextmanager
def trouble(disk: Path, mark: str) -> Iterator[dict[str, int]]:
    """Meanwhile: kills at random, a full disk, a file system that refuses to write."""
    words = [sys.executable, str(Path(__file__).with_name("trouble.py")), str(disk), mark]
    done: dict[str, int] = {}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as maker:
        try:
            yield done
        finally:
            said, _ = maker.communicate()
            done.update(json.loads(said))


def sweep_in_trouble(
    name: str,
    executor: Executor,
    whole: dict[str, str],
    disk: Path,
    notes: Path,
    mark: str = "",
) -> None:
    """`mark` is in the words of the engine's own processes, which are killed too."""
    watched = Watched(executor, notes)
    store = disk / "runs"
    begun = time.monotonic()
    with trouble(disk, mark) as done:
        run = SWEEP.run(store=store, executor=watched)
    took_s = time.monotonic() - begun
    most = watched.most_begun(store)
    print(f"\n{name}: {done}, {took_s:.0f} s, a run was begun {most} times at most")
    assert done == {"kills": 20, "full": 1, "read-only": 1}
    assert run.runs == (2000, 2000) and run.failures == []
    assert tables(run) == whole
    assert most <= 3


def test_processes(whole: dict[str, str], disk: Path, tmp_path: Path) -> None:
    sweep_in_trouble("local", tm.executors.local(2), whole, disk, tmp_path / "notes")


def test_dask(whole: dict[str, str], disk: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = tm.executors.dask(client)
        # Its workers, which it starts anew.
        mark = "spawn_main(tracker_fd="
        sweep_in_trouble("Dask", executor, whole, disk, tmp_path / "notes", mark)


def test_ray(whole: dict[str, str], disk: Path, tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        executor, mark = tm.executors.ray(), "ray::carry_out"
        sweep_in_trouble("Ray", executor, whole, disk, tmp_path / "notes", mark)
    finally:
        ray.shutdown()


def test_hyperqueue(whole: dict[str, str], disk: Path, tmp_path: Path) -> None:
    pytest.importorskip("hyperqueue")
    from hyperqueue.cluster import LocalCluster, WorkerConfig

    # The server and its workers are threads of this process, so tasks are what can be killed.
    with LocalCluster(worker_config=WorkerConfig(cores=2)) as cluster:
        executor = tm.executors.hyperqueue(cluster.client(), cores=2)
        sweep_in_trouble("HyperQueue", executor, whole, disk, tmp_path / "notes")


def test_slurm(whole: dict[str, str], disk: Path, tmp_path: Path) -> None:
    pytest.importorskip("submitit")
    try:
        subprocess.run(["sinfo"], check=True, capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("no Slurm answers")
    settings: dict[str, Any] = {"timeout_min": 30}
    executor = tm.executors.slurm(tmp_path / "jobs", cores=2, most_jobs=16, **settings)
    mark = f"submitit.core._submit {tmp_path}"
    sweep_in_trouble("Slurm", executor, whole, disk, tmp_path / "notes", mark)
