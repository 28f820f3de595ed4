#!/usr/bin/env python3
"""TRex as the tester of `trammel bench`: its stateless client, spoken to in lines of JSON
(docs/bench.md, "Measurers").

  trammel bench --measurer "python3 share/trex_measurer.py --server 192.0.2.1 --ports 0,1" --tests
  throughput -o out

TRex's Python client must be importable as `trex.stl.api`: put the folder
`automation/trex_control_plane/interactive` of a TRex release into PYTHONPATH. The server runs
already (`t-rex-64 -i`), and its two ports know the device's addresses (`trex_cfg.yaml`). A trial is
what TRex's counters of ports say, read after traffic has ended and late frames have come in.
Latency is that of a stream of its own in each direction, since TRex measures it in software.
"""

import argparse
import json
import sys
import time

try:
    from trex.stl import api as trex
except ImportError as missing:
    sys.exit(
        f"trex_measurer: {missing}; put `automation/trex_control_plane/interactive` of a TRex "
        f"release into PYTHONPATH"
    )

FCS = 4
# Late frames may come for so long: two seconds, RFC 2544 section 23.
RESIDUAL_MS = 2000
# TRex ends a trial by its own clock and does not tell when. What we see of it takes longer by
# messages to the server.
SLACK_S = 1.0
# The signature of a latency frame, behind Ethernet, IP and UDP.
SIGNATURE = 16
HEADERS = {"ipv4": 14 + 20 + 8, "ipv6": 14 + 40 + 8}
# RFC 2544 C.2.2 and RFC 5180 section 8: addresses of benchmarks. One for each side, and counted up
# from there.
FIRST = {"ipv4": ("198.18.0.2", "198.19.0.2"), "ipv6": ("2001:2::2", "2001:2:0:8000::2")}


class Unable(Exception):
    """TRex has no way to do it, or this program has none to ask for it."""


def addresses(protocol: str, way: int) -> tuple[str, str]:
    """Source and destination of a direction."""
    first, second = FIRST[protocol]
    return (first, second) if way == 0 else (second, first)


def packet(protocol: str, way: int, frame_bytes: int, streams: int):
    """A frame of so many bytes with its FCS, whose destination is drawn in turn from `streams`
    addresses.
    """
    source, destination = addresses(protocol, way)
    network = (
        trex.IP(src=source, dst=destination)
        if protocol == "ipv4"
        else trex.IPv6(src=source, dst=destination)
    )
    headers = trex.Ether() / network / trex.UDP(sport=49184, dport=7)
    padding = b"\0" * (frame_bytes - FCS - HEADERS[protocol])
    machine = trex.STLVM()
    if streams > 1:
        if protocol != "ipv4":
            raise Unable("several streams are made of IPv4 only")
        low = int.from_bytes(bytes(map(int, destination.split("."))), "big")
        machine.var(name="to", min_value=low, max_value=low + streams - 1, size=4, op="inc")
        machine.write(fv_name="to", pkt_offset="IP.dst")
        machine.fix_chksum()
    return trex.STLPktBuilder(pkt=headers / padding, vm=machine)


class Tester:
    """Two ports of a TRex server."""

    def __init__(self, server: str, ports: list[int], latency_pps: float) -> None:
        self.client = trex.STLClient(server=server)
        self.client.connect()
        self.ports = ports
        self.latency_pps = latency_pps
        self.client.reset(ports=ports)
        speeds = [info["speed"] for info in self.client.get_port_info(ports=ports)]
        self.rate_bps = min(speeds) * 1e9

    def streams(self, asked: dict, way: int, pps: float) -> tuple[list, bool]:
        """The streams of a direction, and whether one of them measures latency."""
        sizes, protocol = asked["frame_bytes"], asked["protocol"]
        smallest = min(sizes)
        room = smallest - FCS - HEADERS[protocol]
        if room < 0:
            raise Unable(f"frames of {smallest} bytes have no room for {protocol} and UDP")
        has_latency = room >= SIGNATURE and 0 < self.latency_pps < pps / 2
        rest = pps - self.latency_pps if has_latency else pps
        streams = [
            trex.STLStream(
                packet=packet(protocol, way, size, asked["streams"]),
                mode=trex.STLTXCont(pps=rest * sizes.count(size) / len(sizes)),
            )
            for size in sorted(set(sizes))
        ]
        if has_latency:
            stream = trex.STLStream(
                packet=packet(protocol, way, smallest, 1),
                mode=trex.STLTXCont(pps=self.latency_pps),
                flow_stats=trex.STLFlowLatencyStats(pg_id=way),
            )
            streams.append(stream)
        return streams, has_latency

    def trial(self, asked: dict) -> dict:
        """Makes a trial."""
        if asked["burst"] > 1 or asked["modifier"] is not None or asked["networks"] > 1:
            raise Unable("trex_measurer sends even flows to one network, without modifiers")
        ways = [0, 1] if asked["both_ways"] else [0]
        sources = [self.ports[way] for way in ways]
        self.client.reset(ports=self.ports)
        measured = []
        for way in ways:
            streams, has_latency = self.streams(asked, way, asked["load_fps"] / len(ways))
            self.client.add_streams(streams, ports=[self.ports[way]])
            measured += [way] if has_latency else []
        self.client.clear_stats()
        begun = time.monotonic()
        self.client.start(ports=sources, duration=asked["duration_s"], force=True)
        self.client.wait_on_traffic(
            ports=sources, timeout=asked["duration_s"] + 30, rx_delay_ms=RESIDUAL_MS
        )
        took = time.monotonic() - begun - RESIDUAL_MS / 1000
        stats = self.client.get_stats()
        sent = sum(stats[self.ports[way]]["opackets"] for way in ways)
        came = sum(stats[self.ports[1 - way]]["ipackets"] for way in ways)
        answer = {
            "sent": sent,
            "received": min(sent, came),
            # A port counts whatever comes to it.
            "stray": max(0, came - sent),
            "effective_duration_s": took
            if took > asked["duration_s"] + SLACK_S
            else asked["duration_s"],
        }
        if measured:
            answer.update(self.latency(measured, answer["received"]))
        return answer

    def latency(self, ways: list[int], received: int) -> dict:
        """What the latency streams of some directions say."""
        of_all = self.client.get_pgid_stats(ways)["latency"]
        histogram: dict[float, int] = {}
        duplicated = reordered = 0
        for way in ways:
            for us, frames in of_all[way]["latency"]["histogram"].items():
                histogram[float(us)] = histogram.get(float(us), 0) + frames
            duplicated += of_all[way]["err_cntrs"]["dup"]
            reordered += of_all[way]["err_cntrs"]["out_of_order"]
        pairs = sorted(histogram.items()) if sum(histogram.values()) <= received else []
        return {"latency_us": pairs, "duplicated": duplicated, "reordered": reordered}

    def close(self) -> None:
        """Leaves the ports to others."""
        self.client.disconnect()


def say(message: dict) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--server", default="127.0.0.1", help="where TRex runs (default: %(default)s)"
    )
    parser.add_argument(
        "--ports",
        default="0,1",
        help="its two ports: one sends, one receives (default: %(default)s)",
    )
    parser.add_argument(
        "--device", default="a device behind TRex", help="what is tested, for the report"
    )
    parser.add_argument(
        "--latency-pps",
        type=float,
        default=1000,
        help="frames a second of each latency stream; 0: none",
    )
    words = parser.parse_args()
    ports = [int(port) for port in words.ports.split(",")]
    if len(ports) != 2:
        parser.error("--ports takes two numbers with a comma between them")
    try:
        tester = Tester(words.server, ports, words.latency_pps)
    except trex.STLError as error:
        sys.exit(f"trex_measurer: {error}")
    try:
        say({"measurer": 1, "device": words.device, "line_rate_bps": tester.rate_bps})
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                answer = tester.trial(asked)
            except Unable as why:
                answer = {"unable": str(why)}
            except trex.STLError as error:
                answer = {"error": str(error)}
            say({"trial": asked["trial"], **answer})
    finally:
        tester.close()


if __name__ == "__main__":
    main()
