"""Scenarios of this subject: their tables as classes, one argument a key.

Made from the table of keys in `crates/scenario/src/placement/keys.rs` by a test, `python_keys.rs`:
`UPDATE_DOCS=1 cargo test -p trammel-scenario` writes it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ._described import ByProgram
from ._section import Section


class Scenario(ByProgram):
    """The file: what to place, and how to judge it.

    Args:
        title: what the file shows, in a line: a text.
        subject: `placement`: chains of network functions on servers: one of `placement`; required.
        seed: seed of the simulated cores: a whole number of at least 0; default `1`.
        cache: how chains on a node share its last-level cache: by use, in fixed parts, or not at
            all (every access goes to memory): one of `shared`, `reserved`, `ignored`; default
            `shared`.
        contention_validated: source of a measurement of co-location on these servers; it removes
            the note that there is none: a text.
        servers: a kind of server: a list of `server` tables; required.
        functions: a network function and what it costs: a list of `function` tables; required.
        chains: a chain of functions and its demand: a list of `chain` tables; required.
    """

    _subject = "placement"
    _renamed = {"servers": "server", "functions": "function", "chains": "chain"}
    _tables = {
        "server": "Server",
        "function": "Function",
        "chain": "Chain",
    }

    title: str | None
    subject: Literal["placement"] | None
    seed: int | None
    cache: Literal["shared", "reserved", "ignored"] | None
    contention_validated: str | None
    servers: Sequence[Server] | None
    functions: Sequence[Function] | None
    chains: Sequence[Chain] | None

    def __init__(
        self,
        *,
        title: str | None = None,
        subject: Literal["placement"] | None = "placement",
        seed: int | None = None,
        cache: Literal["shared", "reserved", "ignored"] | None = None,
        contention_validated: str | None = None,
        servers: Sequence[Server] | None = None,
        functions: Sequence[Function] | None = None,
        chains: Sequence[Chain] | None = None,
    ) -> None:
        self._fill(
            {
                "title": title,
                "subject": subject,
                "seed": seed,
                "cache": cache,
                "contention_validated": contention_validated,
                "servers": servers,
                "functions": functions,
                "chains": chains,
            }
        )


class Server(Section):
    """Identical servers; cores, caches and memory are those of one NUMA node that chains may use.

    Args:
        name: its name; several of a kind are numbered from 0: a text; required.
        count: how many there are: a whole number from 1 to 10000; default `1`.
        machine: the machine for estimates of functions without numbers: a text.
        clock: clock under load (Hz in results): a frequency such as `3.3 GHz`; required.
        nodes: NUMA nodes (sockets): a whole number from 1 to 16; default `1`.
        cores: cores of a node that chains may use: a whole number from 1 to 4096; required.
        llc: last-level cache of a node that chains can effectively use (bytes in results): a size
            such as `64 KB`; required.
        dram_accesses_per_s: memory accesses that a node serves (1/s in results): a number from 0 to
            1000000000000000; required.
        dram_latency: latency of one access to memory (s in results): a time such as `10 ms`;
            default `100 ns`.
        parallel_misses: concurrent misses of a core if accesses are independent: a number from 1 to
            1000; default `10`.
        memory: memory of a node for tables, in huge pages if there are any (bytes in results): a
            size such as `64 KB`; required.
        huge_pages: page size of tables; a replica takes whole pages: one of `none`, `2 MiB`, `1
            GiB`; default `2 MiB`.
        pcie_overhead: bytes on the bus per packet besides its frame (bytes in results): a size such
            as `64 KB`; default `28 B`.
        port: ports of one node: a list of `port` tables; required.
    """

    _tables = {
        "port": "Port",
    }

    name: str | None
    count: int | None
    machine: str | None
    clock: str | None
    nodes: int | None
    cores: int | None
    llc: str | None
    dram_accesses_per_s: float | None
    dram_latency: str | None
    parallel_misses: float | None
    memory: str | None
    huge_pages: Literal["none", "2 MiB", "1 GiB"] | None
    pcie_overhead: str | None
    port: Sequence[Port] | None

    def __init__(
        self,
        name: str | None = None,
        *,
        count: int | None = None,
        machine: str | None = None,
        clock: str | None = None,
        nodes: int | None = None,
        cores: int | None = None,
        llc: str | None = None,
        dram_accesses_per_s: float | None = None,
        dram_latency: str | None = None,
        parallel_misses: float | None = None,
        memory: str | None = None,
        huge_pages: Literal["none", "2 MiB", "1 GiB"] | None = None,
        pcie_overhead: str | None = None,
        port: Sequence[Port] | None = None,
    ) -> None:
        self._fill(
            {
                "name": name,
                "count": count,
                "machine": machine,
                "clock": clock,
                "nodes": nodes,
                "cores": cores,
                "llc": llc,
                "dram_accesses_per_s": dram_accesses_per_s,
                "dram_latency": dram_latency,
                "parallel_misses": parallel_misses,
                "memory": memory,
                "huge_pages": huge_pages,
                "pcie_overhead": pcie_overhead,
                "port": port,
            }
        )


class Port(Section):
    """Identical ports; the ports of a node are one bundle, over which its chains' packets are
    spread.

    Args:
        rate: rate of each, in each direction (bit/s in results): a rate such as `100 Mbit/s`;
            required.
        node: the NUMA node that they are on, from 0: a whole number from 0 to 15; default `0`.
        count: how many there are: a whole number from 1 to 64; default `1`.
        pcie: rate of the bus to each, in each direction; the default is eight lanes of PCIe 3.0
            (bit/s in results): a rate such as `100 Mbit/s`; default `63 Gbit/s`.
    """

    rate: str | None
    node: int | None
    count: int | None
    pcie: str | None

    def __init__(
        self,
        rate: str | None = None,
        *,
        node: int | None = None,
        count: int | None = None,
        pcie: str | None = None,
    ) -> None:
        self._fill(
            {
                "rate": rate,
                "node": node,
                "count": count,
                "pcie": pcie,
            }
        )


class Function(Section):
    """A network function: its costs in numbers (`cycles`), measured (`profile`), or estimated
    (`paper`, `click`).

    Args:
        name: its name, for `functions` of a chain: a text; required.
        cycles: cycles per packet with its tables in the last-level cache (cycles in results): a
            number from 0 to 1000000000, or `[low, centre, high]`.
        accesses: accesses per packet beyond the core's own caches: a number from 0 to 1000000;
            default `0`.
        hot: bytes that these accesses touch repeatedly (bytes in results): a size such as `64 KB`;
            default `0 B`.
        memory: memory of each replica (bytes in results): a size such as `64 KB`; default `0 B`.
        profile: file of a measured capacity profile, instead of `cycles`: a text.
        paper: name of a function of a paper, to be estimated: a text.
        click: Click file, to be estimated: a text.
        flows: flows that its packets belong to, for a profile or an estimate: a whole number of at
            least 1; default `1`.
        routes: routes, rules or entries that it knows, for a profile or an estimate: a whole number
            of at least 1; default `1`.
        clamp: outside its profile, use the cost at the nearest edge: `true` or `false`; default
            `false`.
    """

    name: str | None
    cycles: float | Sequence[float] | None
    accesses: float | None
    hot: str | None
    memory: str | None
    profile: str | None
    paper: str | None
    click: str | None
    flows: int | None
    routes: int | None
    clamp: bool | None

    def __init__(
        self,
        name: str | None = None,
        *,
        cycles: float | Sequence[float] | None = None,
        accesses: float | None = None,
        hot: str | None = None,
        memory: str | None = None,
        profile: str | None = None,
        paper: str | None = None,
        click: str | None = None,
        flows: int | None = None,
        routes: int | None = None,
        clamp: bool | None = None,
    ) -> None:
        self._fill(
            {
                "name": name,
                "cycles": cycles,
                "accesses": accesses,
                "hot": hot,
                "memory": memory,
                "profile": profile,
                "paper": paper,
                "click": click,
                "flows": flows,
                "routes": routes,
                "clamp": clamp,
            }
        )


class Chain(Section):
    """Functions that each packet passes on one core, and the packet rate.

    Args:
        name: its name: a text; required.
        functions: its functions, in order: a list of names; required.
        demand: packets that it must carry (packets/s in results): a packet rate such as `10 kpps`;
            required.
        frame: frame size, with the check sequence (bytes in results): a size such as `64 KB`;
            default `64 B`.
        arrivals: how its packets come: one of `smooth`, `poisson`, `bursts`; default `poisson`.
        burst: frames per burst, back to back, for `bursts` (packets in results): a whole number
            from 1 to 65536; default `32`.
        ring: descriptors of a core's receive ring: a whole number from 1 to 1048576; default `512`.
        utilisation: largest use of a core at the high end of its cost: a number or a percentage
            such as `0.1 %`; default: by arrivals and ring.
        split: it may be split into equal replicas: `true` or `false`; default `false`.
        max_replicas: how many of these at most: a whole number from 1 to 1000; default `64`.
        same_socket_as_port: its cores must be on the node of its ports: `true` or `false`; default
            `false`.
        apart: chains that may not share a server with it; its own name keeps its replicas apart: a
            list of names.
    """

    name: str | None
    functions: Sequence[str] | None
    demand: str | None
    frame: str | None
    arrivals: Literal["smooth", "poisson", "bursts"] | None
    burst: int | None
    ring: int | None
    utilisation: str | float | None
    split: bool | None
    max_replicas: int | None
    same_socket_as_port: bool | None
    apart: Sequence[str] | None

    def __init__(
        self,
        name: str | None = None,
        *,
        functions: Sequence[str] | None = None,
        demand: str | None = None,
        frame: str | None = None,
        arrivals: Literal["smooth", "poisson", "bursts"] | None = None,
        burst: int | None = None,
        ring: int | None = None,
        utilisation: str | float | None = None,
        split: bool | None = None,
        max_replicas: int | None = None,
        same_socket_as_port: bool | None = None,
        apart: Sequence[str] | None = None,
    ) -> None:
        self._fill(
            {
                "name": name,
                "functions": functions,
                "demand": demand,
                "frame": frame,
                "arrivals": arrivals,
                "burst": burst,
                "ring": ring,
                "utilisation": utilisation,
                "split": split,
                "max_replicas": max_replicas,
                "same_socket_as_port": same_socket_as_port,
                "apart": apart,
            }
        )
