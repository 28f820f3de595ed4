"""How true senders are to the rate they were asked for: `python3 -m benches.traffic
[rates|gaps|receiver] [--peers NAME,…]`.

Streams of UDP, 16 bytes of payload, from one namespace to another over a veth pair. Every sender is
judged alike, from outside: by `tcpdump` on the receiving device, whose times are the kernel's at
the moment at which the packet comes there, which on veth is the moment at which the sender's call
hands it over.

rates imposed 100 to 80,000 packets a second: what came, by its first and last packet, for Trammel,
for Trammel with a
          neighbour on each core that takes all the time it gets, and for the peers that are
          installed (D-ITG with and without its busy wait, iperf3, iperf 2, mgen, nuttcp), which all
          run in real time.
gaps at 10,000 and 100,000: how late Trammel's packets were when it gave them to the kernel, in real
time and at usual
          priority, and how far the gaps between packets that came are from those that were asked
          for.
receiver  500,000 a second offered by UDP_SEGMENT: what came and what the receiver says it lost.

Needs root; the programs are those of `cargo build --release`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benches.measure import ROOT, Failure, say, table

PROGRAM = Path(os.environ.get("TRAMMEL", ROOT / "target" / "release" / "trammel"))
RATES = [100, 1_000, 10_000, 20_000, 50_000, 80_000]
PAYLOAD = 16
# tcpdump takes packets in blocks that the kernel gives it once a second, and loses one that it has
# not been given.
BLOCK_S = 1.5
# Who is silent for longer has begun anew: some peers greet by the port that their stream goes to.
SILENCE_NS = 500_000_000
# Peers run before all programs of usual priority, which is to their advantage.
REAL_TIME = ["chrt", "-f", "50"]
PORT = 10_001
OTHER_PORTS = (5001, 5101, 5201)
SOURCE, SINK = "10.87.0.1", "10.87.0.2"


@dataclass(frozen=True)
class Wire:
    """Two namespaces and the veth pair between them."""

    source: str
    sink: str

    def at(self, namespace: str, *command: str | Path) -> list[str]:
        return ["ip", "netns", "exec", namespace, *map(str, command)]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def wire() -> Iterator[Wire]:
    """Namespaces of this process, which are gone afterwards."""
    names = [f"tr{os.getpid()}{end}" for end in "ab"]
    try:
        for name in names:
            ip("netns", "add", name)
        ip(
            "link",
            "add",
            "v0",
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "name",
            "v0",
            "netns",
            names[1],
        )
        for name, address in zip(names, (SOURCE, SINK), strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "v0")
            for device in ("lo", "v0"):
                ip("-n", name, "link", "set", device, "up")
        yield Wire(*names)
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


@contextlib.contextmanager
def running(
    command: list[str], ready: str | None = None, stream: str = "stderr"
) -> Iterator[subprocess.Popen]:
    """A program that runs until the end of the block; where it says when it is ready, that is
    waited for.
    """
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if ready is not None:
        pipes[stream] = subprocess.PIPE
    process = subprocess.Popen(command, text=True, **pipes)
    try:
        if ready is not None:
            said = getattr(process, stream)
            line = ""
            while ready not in line:
                line = said.readline()
                if not line:
                    raise Failure(f"`{command[4]}` did not become ready")
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()


def listening(wire: Wire, port: int, protocol: str) -> None:
    """Waits until somebody listens there: programs that do not say so are asked by their socket."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        shown = subprocess.run(
            wire.at(wire.sink, "ss", "-Hln", f"--{protocol}"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        if f":{port} " in shown:
            return
        time.sleep(0.02)
    raise Failure(f"nobody listens on {protocol} {port}")


def times_of(capture: Path) -> list[int]:
    """When each packet came, in nanoseconds."""
    data = capture.read_bytes()
    if len(data) < 24 or struct.unpack_from("<I", data)[0] != 0xA1B23C4D:
        raise Failure("tcpdump wrote no capture with nanoseconds")
    times, at = [], 24
    while at + 16 <= len(data):
        seconds, ns, kept, _ = struct.unpack_from("<IIII", data, at)
        times.append(seconds * 1_000_000_000 + ns)
        at += 16 + kept
    return times


def watched(wire: Wire, folder: Path, send) -> list[int]:
    """Sends and gives when packets came."""
    capture = folder / "capture.pcap"
    ports = " or ".join(f"dst port {port}" for port in (PORT, *OTHER_PORTS))
    command = wire.at(
        wire.sink,
        "tcpdump",
        "-i",
        "v0",
        "-w",
        capture,
        "-s",
        "48",
        "-B",
        "65536",
        "--time-stamp-precision=nano",
        "-U",
        f"udp and ({ports})",
    )
    with running(command, ready="listening on") as dump:
        send()
        time.sleep(BLOCK_S)
        dump.terminate()
        dump.wait()
    return longest(times_of(capture))


def longest(times: list[int]) -> list[int]:
    """The most packets in a row without a silence."""
    starts = [0, *(at for at in range(1, len(times)) if times[at] - times[at - 1] > SILENCE_NS)]
    return max(
        (times[start:end] for start, end in zip(starts, [*starts[1:], len(times)], strict=True)),
        key=len,
    )


# How each program is asked for `rate` packets a second for `secs` seconds: its receiver, where it
# listens, its sender.
def trammel(rate: int, secs: int, *more: str) -> tuple[list, tuple[int, str] | None, list]:
    receiver = [PROGRAM, "recv", "--listen", SINK, "--no-key", "--flows", "1"]
    sender = [
        PROGRAM,
        "send",
        SINK,
        "--port",
        PORT,
        "--rate",
        rate,
        "--size",
        PAYLOAD,
        "--duration",
        f"{secs}s",
        "--json",
        *more,
    ]
    return receiver, (9310, "tcp"), sender


def itg(rate: int, secs: int, *more: str) -> tuple[list, tuple[int, str] | None, list]:
    words = ["-a", SINK, "-rp", PORT, "-C", rate, "-c", PAYLOAD, "-T", "UDP", "-t", secs * 1000]
    return ["ITGRecv"], (9000, "tcp"), ["ITGSend", *more, *words]


def iperf3(rate: int, secs: int) -> tuple[list, tuple[int, str] | None, list]:
    bits = rate * PAYLOAD * 8
    return (
        ["iperf3", "-s", "-1"],
        (5201, "tcp"),
        ["iperf3", "-u", "-c", SINK, "-l", PAYLOAD, "-b", bits, "-t", secs],
    )


def iperf2(rate: int, secs: int) -> tuple[list, tuple[int, str] | None, list]:
    return (
        ["iperf", "-s", "-u"],
        (5001, "udp"),
        ["iperf", "-u", "-c", SINK, "-l", PAYLOAD, "-b", f"{rate}pps", "-t", secs],
    )


def mgen(rate: int, secs: int) -> tuple[list, tuple[int, str] | None, list]:
    flow = f"0.0 ON 1 UDP DST {SINK}/{PORT} PERIODIC [{rate} 28]"
    return (
        ["mgen", "event", f"LISTEN UDP {PORT}"],
        (PORT, "udp"),
        ["mgen", "event", flow, "event", f"{secs}.0 OFF 1"],
    )


def nuttcp(rate: int, secs: int) -> tuple[list, tuple[int, str] | None, list]:
    sender = [
        "nuttcp",
        "-u",
        f"-l{PAYLOAD}",
        f"-R{rate}p",
        f"-T{secs}",
        f"-p{OTHER_PORTS[1]}",
        SINK,
    ]
    return (
        ["nuttcp", "-S", "--nofork", f"-P{OTHER_PORTS[1] - 101}", f"-p{OTHER_PORTS[1]}"],
        (OTHER_PORTS[1] - 101, "tcp"),
        [sender[0], f"-P{OTHER_PORTS[1] - 101}", *sender[1:]],
    )


SENDERS = {
    "trammel": ("trammel", trammel),
    "trammel-real-time": ("trammel", lambda rate, secs: trammel(rate, secs, "--real-time")),
    "itg": ("ITGSend", itg),
    "itg-poll": ("ITGSend", lambda rate, secs: itg(rate, secs, "-poll")),
    "iperf3": ("iperf3", iperf3),
    "iperf2": ("iperf", iperf2),
    "mgen": ("mgen", mgen),
    "nuttcp": ("nuttcp", nuttcp),
}


@dataclass(frozen=True)
class Seen:
    """What came of a stream, and what its sender printed."""

    times: list[int]
    printed: str

    def rate(self) -> float:
        secs = (self.times[-1] - self.times[0]) / 1e9 if len(self.times) > 1 else 0.0
        return (len(self.times) - 1) / secs if secs > 0 else 0.0

    def gap_errors_us(self, rate: int) -> list[float]:
        """By how much each gap differs from the one that was asked for."""
        wanted = 1e9 / rate
        return sorted(
            abs(after - before - wanted) / 1000
            for before, after in zip(self.times, self.times[1:], strict=False)
        )


def stream(wire: Wire, name: str, rate: int, secs: int) -> Seen:
    """One stream of one sender."""
    receiver, (port, protocol), sender = SENDERS[name][1](rate, secs)
    printed = ""
    with tempfile.TemporaryDirectory() as folder:

        def send() -> None:
            nonlocal printed
            first = [] if name.startswith("trammel") else REAL_TIME
            done = subprocess.run(
                wire.at(wire.source, *first, *sender),
                capture_output=True,
                text=True,
                timeout=secs + 60,
                check=False,
            )
            printed = done.stdout

        with running(wire.at(wire.sink, *receiver)):
            listening(wire, port, protocol)
            times = watched(wire, Path(folder), send)
    return Seen(times, printed)


@contextlib.contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Programs that do nothing but take time, one a core."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(running(["sh", "-c", "while :; do :; done"]))
        yield


def streams(printed: str) -> dict:
    """What `trammel send --json` says of its stream."""
    return json.loads(printed)["tables"]["streams"][0]


def percentile(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def rates(names: list[str], secs: int) -> None:
    rows = []
    with wire() as pair:
        for name in names:
            for what, busy in [("", 0), (", busy neighbours", os.cpu_count() or 1)]:
                if busy and not name.startswith("trammel"):
                    continue
                cells = [name + what]
                for rate in RATES:
                    with neighbours(busy):
                        seen = stream(pair, name, rate, secs)
                    off = 100 * (seen.rate() / rate - 1)
                    cells.append(f"{seen.rate():.1f} ({off:+.3f} %)")
                    say(f"{cells[0]:35} {rate:7} imposed: {len(seen.times)} packets, {cells[-1]}")
                rows.append(cells)
    print(table(["sender", *(str(rate) for rate in RATES)], rows))


def gaps(names: list[str], secs: int) -> None:
    rows = []
    with wire() as pair:
        for rate in (10_000, 100_000):
            for name in names:
                seen = stream(pair, name, rate, secs)
                errors = seen.gap_errors_us(rate)
                own = ["", "", ""]
                if name.startswith("trammel"):
                    row = streams(seen.printed)
                    own = [
                        f"{row[key]:.3f}" for key in ("late_p50_us", "late_p99_us", "late_p999_us")
                    ]
                outside = [f"{percentile(errors, share):.3f}" for share in (0.5, 0.99, 0.999)]
                rows.append([name, str(rate), f"{seen.rate():.1f}", *own, *outside])
                say(" ".join(rows[-1]))
    print(
        table(
            [
                "sender",
                "imposed",
                "came a second",
                "late p50, us",
                "p99",
                "p99.9",
                "gap's error p50, us",
                "p99",
                "p99.9",
            ],
            rows,
        )
    )


def receiver(secs: int) -> None:
    rows = []
    with wire() as pair:
        for _ in range(3):
            command = pair.at(
                pair.sink, PROGRAM, "recv", "--listen", SINK, "--no-key", "--flows", "1", "--json"
            )
            words = [
                "--rate",
                "500000",
                "--size",
                PAYLOAD,
                "--duration",
                f"{secs}s",
                "--by",
                "segments",
                "--json",
            ]
            with running(command, ready="listening on"):
                sent = subprocess.run(
                    pair.at(pair.source, PROGRAM, "send", SINK, *words),
                    capture_output=True,
                    text=True,
                    timeout=secs + 60,
                    check=False,
                )
            row = streams(sent.stdout)
            rows.append(
                [
                    f"{row[key]}"
                    for key in (
                        "packet_rate_pps",
                        "sent_pkts",
                        "received_pkts",
                        "receiver_lost_pkts",
                    )
                ]
            )
            say(" ".join(rows[-1]))
    print(table(["sent a second", "sent", "received", "lost by the receiver"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", nargs="*", choices=["rates", "gaps", "receiver", []], help="default: all"
    )
    parser.add_argument(
        "--peers", default=",".join(SENDERS), help="senders, with commas between them"
    )
    parser.add_argument("--secs", type=int, default=10, help="seconds of each stream")
    words = parser.parse_args()
    if os.geteuid() != 0:
        raise Failure("namespaces need root: run it as root")
    for tool in ("tcpdump", "ip", "ss", "chrt"):
        if shutil.which(tool) is None:
            raise Failure(f"`{tool}` is missing; install it")
    if not PROGRAM.exists():
        raise Failure(f"`{PROGRAM.name}` is not built: cargo build --release -p trammel")
    names = []
    for name in words.peers.split(","):
        if name not in SENDERS:
            raise Failure(f"`{name}` is no sender; one of {', '.join(SENDERS)}")
        if name.startswith("trammel") or shutil.which(SENDERS[name][0]):
            names.append(name)
        else:
            say(f"{name}: left out, `{SENDERS[name][0]}` is not installed")
    what = words.what or ["rates", "gaps", "receiver"]
    if "rates" in what:
        rates(names, words.secs)
    if "gaps" in what:
        gaps(names, words.secs)
    if "receiver" in what:
        receiver(words.secs)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"error: {failure}") from failure
