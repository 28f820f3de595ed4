"""Counts the instructions that classes of elements cost a packet: `python3 -m benches.elements
[CLASS …]`.

Each line of `cases.csv` puts an element, and then `Null` in its place, between a source and a sink.
Valgrind counts both routers at two lengths, so that what is done once drops out; the difference is
what the element does to a packet of 60 bytes, in batches of 32. From these numbers come the
`work(…)` of the operations that classes declare (`trammel doc element CLASS` shows them;
crates/router/src/estimate.rs says how). Build first: `cargo build --release -p trammel`.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from benches.measure import ROOT, Failure, say

CASES = Path(__file__).resolve().parent / "cases.csv"
PROGRAM = ROOT / "target" / "release" / "trammel"
# Packets of the shorter run, and of those that the longer one has more.
PACKETS = 20_000
ADDRESSES = bytes.fromhex("020000000002020000000001")


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of an even number of bytes."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip4(protocol: int, segment: bytes, sum_at: int, *, has_pseudo: bool = True) -> bytes:
    """An IPv4 packet with both checksums right."""
    length = 20 + len(segment)
    ends = bytes([10, 0, 0, 1, 10, 1, 0, 2])
    header = struct.pack(">BBHHHBBH", 0x45, 0, length, 1, 0, 64, protocol, 0) + ends
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    pseudo = ends + struct.pack(">BBH", 0, protocol, len(segment)) if has_pseudo else b""
    right = struct.pack(">H", checksum(pseudo + segment))
    return header + segment[:sum_at] + right + segment[sum_at + 2 :]


def frames() -> dict[str, bytes]:
    """The packets by name."""
    ports = struct.pack(">HH", 1000, 2000)
    udp = ip4(17, ports + struct.pack(">HH", 26, 0) + b"a" * 18, 6)
    tcp = ip4(6, ports + struct.pack(">IIBBHHH", 1, 1, 0x50, 0x10, 1000, 0, 0) + b"a" * 6, 16)
    icmp = ip4(1, struct.pack(">BBHHH", 8, 0, 0, 1, 1) + b"a" * 18, 2, has_pseudo=False)
    six = bytes.fromhex(
        "60000000001a1140" + "20010db8" + "0" * 23 + "1" + "20010db8" + "0" * 23 + "2"
    )
    arp = "08060001080006040001" + "0200000000010a000001" + "0000000000000a010002"
    return {
        "udp": ADDRESSES + b"\x08\x00" + udp,
        "tcp": ADDRESSES + b"\x08\x00" + tcp,
        "icmp": ADDRESSES + b"\x08\x00" + icmp,
        "vlan": ADDRESSES + bytes.fromhex("810000050800") + udp,
        "arp": ADDRESSES + bytes.fromhex(arp) + bytes(18),
        "ip6": ADDRESSES + b"\x86\xdd" + six + ports + struct.pack(">HH", 26, 0x1234) + b"a" * 18,
        "mpls": bytes.fromhex("00010140") + udp,
        "gre": bytes.fromhex("00000800") + udp,
    }


def count(text: str) -> int:
    """Instructions of a run of a configuration."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "count.click"
        config.write_text(text)
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        command = [*tool, str(PROGRAM), "router", str(config)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise Failure(f"{text}\n{done.stderr[-600:].strip()}")
    return int(found[1])


def per_packet(case: dict[str, str], element: str, outputs: int, frame: bytes) -> float:
    """Instructions a packet of a chain with this element in it."""

    def of(packets: int) -> int:
        source = rf"InfiniteSource(DATA \<{frame.hex()}>, LIMIT {packets}, STOP true, BURST 32)"
        ends = " ".join(f"x[{port}] -> Discard;" for port in range(outputs))
        return count(f"x :: {element}; {source} -> {case['before']} -> x; {ends}")

    return (of(2 * PACKETS) - of(PACKETS)) / PACKETS


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benches.elements",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("classes", nargs="*", metavar="CLASS", help="only these")
    args = parser.parse_args()
    if shutil.which("valgrind") is None or not PROGRAM.exists():
        say("error: valgrind and target/release/trammel are needed")
        return 3
    known = frames()
    base: dict[tuple[str, str], float] = {}
    with CASES.open(newline="") as file:
        cases = list(csv.DictReader(file))
    say("class,instructions_per_packet")
    for case in cases:
        name = case["element"].split("(")[0]
        if args.classes and name not in args.classes:
            continue
        frame, key = known[case["frame"]], (case["frame"], case["before"])
        try:
            if key not in base:
                base[key] = per_packet(case, "Null", 1, frame)
            own = per_packet(case, case["element"], int(case["outputs"]), frame)
        except Failure as failure:
            say(f"error: {name}: {failure}")
            return 3
        say(f"{name},{own - base[key]:.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
