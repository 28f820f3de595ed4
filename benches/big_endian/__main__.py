"""The experiment of the study of embedded boards, with ourselves: `python3 -m benches.big_endian`.

D-ITG's port to big-endian boards failed at first, since its messages were the memory of the machine
that sent them. Here `trammel send` and `trammel recv` are built for s390x, which is big-endian, and
run under QEMU's user mode against those of this machine, each way, UDP and TCP, one way and there
and back; each end keeps a log, and both machines decode all of them. All packets must be accounted
for and both decoders must print the same, byte for byte.

Needs (Debian): `qemu-user-static gcc-s390x-linux-gnu libc6-dev-s390x-cross`, and `rustup target add
s390x-unknown-linux-gnu`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benches.measure import ROOT, Failure, say

TARGET = "s390x-unknown-linux-gnu"
LINKER = "s390x-linux-gnu-gcc"
EMULATOR = "qemu-s390x-static"
LIBRARIES = "/usr/s390x-linux-gnu"
PACKETS = 2000
SENDS = [
    ("UDP", ["-T", "udp"]),
    (
        "UDP, sizes and gaps by chance",
        ["-T", "udp", "--gap", "exponential", "--size", "uniform:min=16,max=1400"],
    ),
    ("UDP, there and back", ["-T", "udp", "--round-trip"]),
    ("TCP", ["-T", "tcp"]),
    ("TCP, there and back", ["-T", "tcp", "--round-trip"]),
]


def build() -> tuple[Path, Path]:
    """Both programs, of the same sources."""
    for tool in (LINKER, EMULATOR):
        if shutil.which(tool) is None:
            raise Failure(
                f"`{tool}` is missing: apt install qemu-user-static gcc-s390x-linux-gnu "
                f"libc6-dev-s390x-cross"
            )
    cargo = ["cargo", "build", "--locked", "-p", "trammel", "--bin", "trammel"]
    linker = {f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_LINKER": LINKER}
    subprocess.run(cargo, cwd=ROOT, check=True)
    done = subprocess.run(
        [*cargo, "--target", TARGET], cwd=ROOT, env={**os.environ, **linker}, check=False
    )
    if done.returncode != 0:
        raise Failure(f"not built for {TARGET}: rustup target add {TARGET}")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "debug" / "trammel", target / TARGET / "debug" / "trammel"


def exchange(sender: list[str], receiver: list[str], words: list[str], folder: Path) -> list[Path]:
    """One stream; gives the logs of both ends."""
    logs = [folder / "sent.log", folder / "received.log"]
    command = [*receiver, "recv", "--port", "0", "--flows", "1", "--log", str(logs[1])]
    serving = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        line = serving.stderr.readline()
        if not line.startswith("listening on"):
            raise Failure(f"the receiver does not listen: {line}{serving.stderr.read()}")
        to = line.split()[-1]
        flow = ["--rate", "1000", "--packets", str(PACKETS), "--log", str(logs[0])]
        sent = subprocess.run(
            [*sender, "send", to, *flow, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if sent.returncode != 0:
            raise Failure(f"the sender ended with {sent.returncode}: {sent.stdout}{sent.stderr}")
        _, said = serving.communicate(timeout=30)
    finally:
        if serving.poll() is None:
            serving.terminate()
            serving.wait()
    if f"{PACKETS} of {PACKETS} packets" not in said:
        raise Failure(f"packets are missing: {said}")
    return logs


def decoded(program: list[str], log: Path) -> bytes:
    command = [*program, "decode", str(log), "--json"]
    return subprocess.run(command, capture_output=True, timeout=120, check=True).stdout


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    little, big = build()
    ours, theirs = [str(little)], [EMULATOR, "-L", LIBRARIES, str(big)]
    for what, sender, receiver in [
        ("s390x to here", theirs, ours),
        ("here to s390x", ours, theirs),
        ("s390x to s390x", theirs, theirs),
    ]:
        for name, words in SENDS:
            with tempfile.TemporaryDirectory() as folder:
                logs = exchange(sender, receiver, words, Path(folder))
                for log in logs:
                    if decoded(ours, log) != decoded(theirs, log):
                        raise Failure(f"{what}, {name}: `{log.name}` is decoded differently")
            say(f"{what:15} {name:30} {PACKETS} of {PACKETS} packets, both logs decoded alike")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"error: {failure}") from failure
