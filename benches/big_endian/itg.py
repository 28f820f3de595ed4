"""A big-endian D-ITG beside ours: `python3 -m benches.big_endian.itg`.

Debian's `d-itg` for s390x, fetched by apt and unpacked without being installed, runs under QEMU's
user mode: its ITGSend sends to `trammel recv --itg`, and `trammel send --itg` to its ITGRecv, over
UDP and TCP, one way and there and back. Both ends' logs in D-ITG's form must hold every packet,
each in the order of bytes of its machine.

The receiver's port of a flow is the one field of D-ITG's signalling that is in the memory of the
machine that sent it: between machines of different orders a receiver listens on the port with its
two bytes swapped. It answers with that number, the sender sends there, and packets arrive.

Needs (Debian): `qemu-user-static`, and a mirror with the architecture s390x.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from benches.measure import ROOT, Failure, say

EMULATOR = "qemu-s390x-static"
PACKAGES = ["d-itg", "libc6", "libstdc++6", "libgcc-s1", "libsctp1"]
PACKETS = 200
RECORD_BYTES = 144
FLOWS = [
    ("UDP", []),
    ("UDP, there and back", ["-m", "rttm"]),
    ("TCP", ["-T", "TCP"]),
    ("TCP, there and back", ["-T", "TCP", "-m", "rttm"]),
]
PATIENCE_S = 60


def fetch(folder: Path) -> Path:
    """D-ITG for s390x and its libraries, beneath `folder`; what is there already is used."""
    root = folder / "root"
    if (root / "usr/bin/ITGSend").exists():
        return root
    for part in ("state/lists/partial", "cache/archives/partial", "root"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    options = ["APT::Architecture=s390x", "APT::Architectures=s390x", "APT::Sandbox::User=root"]
    options += [
        f"Dir::State={folder}/state",
        f"Dir::State::status={folder}/status",
        f"Dir::Cache={folder}/cache",
    ]
    apt = ["apt-get", "-q", *(word for option in options for word in ("-o", option))]
    for words in (["update"], ["download", *(f"{name}:s390x" for name in PACKAGES)]):
        done = subprocess.run(
            [*apt, *words], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Failure(f"apt-get {words[0]} for s390x: {done.stderr.strip()}")
    for package in sorted(folder.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)
    return root


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def records(log: Path, order: str) -> int:
    """Records of a log in D-ITG's form, all of which must be of flow 1 in this order of bytes."""
    content = log.read_bytes() if log.exists() else b""
    for at in range(0, len(content), RECORD_BYTES):
        flow = int.from_bytes(content[at : at + 4], "big" if order == "big" else "little")
        if flow != 1:
            raise Failure(f"`{log.name}` has a record of flow {flow}: it is not {order}-endian")
    return len(content) // RECORD_BYTES


def wait_for(what: str, is_so: object) -> None:
    until = time.monotonic() + PATIENCE_S
    while not is_so():  # type: ignore[operator]
        if time.monotonic() > until:
            raise Failure(f"{what} after {PATIENCE_S} s")
        time.sleep(0.1)


def stop(running: subprocess.Popen[str]) -> None:
    if running.poll() is None:
        running.terminate()
    running.wait()


def to_ours(trammel: str, theirs: list[str], words: list[str], folder: Path) -> None:
    """Their sender, our receiver."""
    command = [trammel, "recv", "--itg=-l received.log", "--port", "0", "--flows", "1"]
    serving = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        line = serving.stderr.readline() if serving.stderr else ""
        port = line.strip().rsplit(":", 1)[-1]
        flow = [
            "-a",
            "127.0.0.1",
            "-Sdp",
            port,
            "-rp",
            str(free_port()),
            "-C",
            "500",
            "-c",
            "100",
            "-z",
            str(PACKETS),
        ]
        sending = [*theirs[:-1], theirs[-1] + "/ITGSend", *flow, *words, "-l", "sent.log"]
        subprocess.run(sending, cwd=folder, capture_output=True, timeout=PATIENCE_S, check=False)
        serving.communicate(timeout=PATIENCE_S)
    finally:
        stop(serving)
    found = records(folder / "sent.log", "big"), records(folder / "received.log", "little")
    if found != (PACKETS, PACKETS):
        raise Failure(f"s390x to here: {found} of {PACKETS} packets are in the logs")


def to_theirs(trammel: str, theirs: list[str], words: list[str], folder: Path) -> None:
    """Our sender, their receiver."""
    port = free_port()
    command = [*theirs[:-1], theirs[-1] + "/ITGRecv", "-Sp", str(port), "-l", "received.log"]
    serving = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    )
    try:
        with socket.socket() as asking:
            wait_for("ITGRecv does not listen", lambda: asking.connect_ex(("127.0.0.1", port)) == 0)
        flow = (
            f"-a 127.0.0.1 -Sdp {port} -rp {free_port()} -C 500 -c 100 -z {PACKETS} -l sent.log "
            f"{' '.join(words)}"
        )
        sending = [trammel, "send", "--itg", flow]
        sent = subprocess.run(
            sending, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        if sent.returncode != 0:
            raise Failure(f"here to s390x: the sender ended with {sent.returncode}: {sent.stderr}")
        wait_for(
            "here to s390x: packets are missing",
            lambda: records(folder / "received.log", "big") >= PACKETS,
        )
    finally:
        stop(serving)
    found = records(folder / "sent.log", "little"), records(folder / "received.log", "big")
    if found != (PACKETS, PACKETS):
        raise Failure(f"here to s390x: {found} of {PACKETS} packets are in the logs")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--keep", type=Path, help="folder for what apt fetches, used again next time"
    )
    keep = parser.parse_args().keep
    if shutil.which(EMULATOR) is None:
        raise Failure(f"`{EMULATOR}` is missing: apt install qemu-user-static")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    trammel = str(target / "debug" / "trammel")
    if not Path(trammel).exists():
        subprocess.run(
            ["cargo", "build", "--locked", "-p", "trammel", "--bin", "trammel"],
            cwd=ROOT,
            check=True,
        )
    with tempfile.TemporaryDirectory() as fetched:
        root = fetch(keep.resolve() if keep else Path(fetched))
        theirs = [EMULATOR, "-L", str(root), str(root / "usr/bin")]
        for what, exchange in (("s390x to here", to_ours), ("here to s390x", to_theirs)):
            for name, words in FLOWS:
                with tempfile.TemporaryDirectory() as folder:
                    exchange(trammel, theirs, words, Path(folder))
                say(f"{what:15} {name:22} {PACKETS} of {PACKETS} packets in the logs of both ends")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"error: {failure}") from failure
