"""Trouble for a sweep, in a process of its own: some engines keep Python's lock while they wait.

`python trouble.py DISK MARK`: twenty times it kills, at random, a process that makes runs for a
store on DISK, or one whose words have MARK. Meanwhile DISK is once full and once refuses to write.
It ends when its standard input does, and says what it has done.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

KILLS = 20
REFUSES_S = 3.0

DONE: Counter[str] = Counter()
OVER = threading.Event()


def processes_of(mark: str) -> list[int]:
    """The processes of this machine whose words have `mark`."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) not in (os.getpid(), os.getppid()):
            try:
                words = Path("/proc", entry, "cmdline").read_bytes()
            except OSError:
                continue
            if mark in words.replace(b"\0", b" ").decode(errors="replace"):
                found.append(int(entry))
    return found


def is_ours(process: int) -> bool:
    """Whether the test that has begun this trouble has begun the process, or one that did."""
    while process > 1 and process != os.getppid():
        try:
            stat = Path("/proc", str(process), "stat").read_text()
        except OSError:
            return False
        process = int(stat.rpartition(")")[2].split()[1])
    return process == os.getppid()


def full(disk: Path) -> None:
    balloon = disk / "balloon"
    with balloon.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError:
            DONE["full"] += 1
    OVER.wait(REFUSES_S)
    balloon.unlink()


def read_only(disk: Path) -> None:
    words = ["mount", "-o", "remount,ro", str(disk)]
    # While a file is open for writing it cannot be.
    while subprocess.run(words, capture_output=True).returncode != 0 and not OVER.is_set():
        time.sleep(0.003)
    DONE["read-only"] += 1
    OVER.wait(REFUSES_S)
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


def make(disk: Path, mark: str) -> None:
    chance = random.Random(7)
    while DONE["kills"] < KILLS and not OVER.wait(chance.uniform(0.1, 0.9)):
        victims = processes_of(f"point - --store {disk}")
        if mark:
            # Others may have an engine here too. What a mark with the folder of a test has is ours.
            own = processes_of(mark)
            victims += own if str(disk.parent) in mark else filter(is_ours, own)
        if not victims:
            continue
        try:
            os.kill(chance.choice(victims), signal.SIGKILL)
        except ProcessLookupError:
            continue
        DONE["kills"] += 1
        if DONE["kills"] == 6:
            full(disk)
        if DONE["kills"] == 13:
            read_only(disk)


def main() -> None:
    disk, mark = Path(sys.argv[1]), sys.argv[2]
    maker = threading.Thread(target=make, args=(disk, mark))
    maker.start()
    sys.stdin.read()
    OVER.set()
    maker.join()
    print(json.dumps(DONE))


if __name__ == "__main__":
    main()
