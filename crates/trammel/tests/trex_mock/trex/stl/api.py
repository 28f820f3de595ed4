"""What share/trex_measurer.py uses of TRex's stateless client, in front of a device of a known
capacity.

It knows the names and the arguments of TRex's own and no others, and the order in which they may be
called. No time passes: a trial is over when it is waited for. `TREX_MOCK` in the environment has
the device: frames a second that it forwards.
"""

import copy
import os

SPEED_GBPS = 10
CAPACITY = float(os.environ["TREX_MOCK"])
LATENCY_US = 20


class STLError(Exception):
    """Of TRex."""


class Layer:
    """A header; its length is that on the wire."""

    def __init__(self, length: int, **fields) -> None:
        self.length, self.fields = length, fields

    def __truediv__(self, other):
        more = len(other) if isinstance(other, bytes) else other.length
        return Layer(self.length + more, **self.fields)


def Ether():
    return Layer(14)


def IP(*, src: str, dst: str):
    return Layer(20, src=src, dst=dst)


def IPv6(*, src: str, dst: str):
    return Layer(40, src=src, dst=dst)


def UDP(*, sport: int, dport: int):
    return Layer(8)


class STLVM:
    def var(self, *, name: str, min_value: int, max_value: int, size: int, op: str) -> None:
        assert (size, op) == (4, "inc") and min_value <= max_value, (size, op, min_value, max_value)

    def write(self, *, fv_name: str, pkt_offset: str) -> None:
        assert (fv_name, pkt_offset) == ("to", "IP.dst")

    def fix_chksum(self) -> None:
        pass


class STLPktBuilder:
    def __init__(self, *, pkt: Layer, vm: STLVM) -> None:
        self.length = pkt.length


class STLTXCont:
    def __init__(self, *, pps: float) -> None:
        self.pps = pps


class STLFlowLatencyStats:
    def __init__(self, *, pg_id: int) -> None:
        self.pg_id = pg_id


class STLStream:
    def __init__(
        self,
        *,
        packet: STLPktBuilder,
        mode: STLTXCont,
        flow_stats: STLFlowLatencyStats | None = None,
    ) -> None:
        if packet.length < 60:
            raise STLError(f"a frame of {packet.length} bytes is none")
        self.packet, self.mode, self.flow_stats = packet, mode, flow_stats


class STLClient:
    def __init__(self, *, server: str) -> None:
        if server != "trex.test":
            raise STLError(f"no server answers at {server}")
        self.state, self.streams = "new", {}

    def expect(self, *states: str) -> None:
        if self.state not in states:
            raise STLError(f"the client is {self.state}, not {' or '.join(states)}")

    def connect(self) -> None:
        self.expect("new")
        self.state = "connected"

    def disconnect(self) -> None:
        self.state = "gone"

    def reset(self, *, ports: list[int]) -> None:
        self.expect("connected", "over")
        self.streams = {port: [] for port in ports}
        self.state = "connected"

    def get_port_info(self, *, ports: list[int]) -> list[dict]:
        return [{"speed": SPEED_GBPS} for _ in ports]

    def add_streams(self, streams: list[STLStream], *, ports: list[int]) -> None:
        self.expect("connected")
        for port in ports:
            self.streams[port] += streams

    def clear_stats(self) -> None:
        self.expect("connected")
        self.stats = {port: {"opackets": 0, "ipackets": 0} for port in self.streams}
        self.latency = {}

    def start(self, *, ports: list[int], duration: float, force: bool) -> None:
        self.expect("connected")
        both = sorted(self.streams)
        for port in ports:
            other = both[1 - both.index(port)]
            rate = sum(stream.mode.pps for stream in self.streams[port])
            sent = round(rate * duration)
            came = min(sent, int(CAPACITY / len(ports) * duration))
            self.stats[port]["opackets"] += sent
            self.stats[other]["ipackets"] += came
            for stream in self.streams[port]:
                if stream.flow_stats:
                    frames = int(stream.mode.pps * duration * came / sent)
                    self.latency[stream.flow_stats.pg_id] = {
                        "latency": {"histogram": {str(LATENCY_US): frames}},
                        "err_cntrs": {"dup": 0, "out_of_order": 0},
                    }
        self.state = "running"

    def wait_on_traffic(self, *, ports: list[int], timeout: float, rx_delay_ms: int) -> None:
        self.expect("running")
        self.state = "over"

    def get_stats(self) -> dict:
        self.expect("over")
        return copy.deepcopy(self.stats)

    def get_pgid_stats(self, pgids: list[int]) -> dict:
        self.expect("over")
        return {"latency": {pgid: self.latency[pgid] for pgid in pgids}}
