"""Commands of the program as functions, one argument an option.

Made from the arguments of the command line by a test, `crates/trammel/src/cli/python.rs`:
`UPDATE_DOCS=1 cargo test -p trammel --lib python` writes it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal, Union

from ._command import Scenario, call, text
from ._result import Result

Text = Union[str, PathLike[str]]
"""A word, or the path of a file."""


def bench(
    *,
    estimate: Text | Sequence[Text] = (),
    simulate: Text | Sequence[Text] = (),
    ring: Text | Sequence[Text] = (),
    measurer: Text | Sequence[Text] = (),
    model: Text | Sequence[Text] = (),
    dut: Text | Sequence[Text] = (),
    ports: Text | None = None,
    by: Literal["af-xdp", "af-packet", "live"] | None = None,
    timed_by: Literal["auto", "hardware", "driver", "tester"] | None = None,
    bridged: bool = False,
    longest_delay: Text | None = None,
    real_time: bool = False,
    machine: Text | None = None,
    rate: Text | None = None,
    tests: Text | Sequence[Text] = (),
    set: Text | Sequence[Text] = (),
    quick: bool = False,
    frame_sizes: Text | Sequence[Text] = (),
    both_ways: bool = False,
    ipv6: bool = False,
    streams: int | Sequence[int] = (),
    networks: int | Sequence[int] = (),
    burst: int | None = None,
    modifier: Literal["broadcast", "management", "routing-updates"] | None = None,
    seed: int | None = None,
    expect: Text | Sequence[Text] = (),
    profile: Text | None = None,
    clock: Text | None = None,
    parquet: bool = False,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Test a router, switch or network function: throughput, latency, loss and more.

    Args:
        estimate: Test the estimate of a Click configuration on the machine of `machine` (several as
            a list).
        simulate: Test a Click configuration in virtual time on the machine of `machine` (several as
            a list).
        ring: Test a Click configuration on this machine, between rings in memory (several as a
            list).
        measurer: Test a device through another program that generates the load and speaks JSON
            lines (several as a list).
        model: Test the model of a device from `trammel list devices` (several as a list): a design
            of the NetFPGA router such as `reference-1g`, with changes such as
            `reference-1g:loaded=4`, or the profile of a PC, `click-pc-2009`.
        dut: Build a device in a namespace and test it: `wire`, `kernel`, `kernel:filters=25` (or 1:
            RFC 2544 §11.4), `bridge`, `netfpga` (or `netfpga:tables=FILE`), FILE.click, or a
            command with `{in}` and `{out}` for its interfaces (several as a list).
        ports: Test the device between these two interfaces of this machine; it is a router with the
            addresses of RFC 2544.
        by: How to send and receive the frames of `dut` and `ports` [default: af-packet].
        timed_by: Which clock times the tagged frames of latency tests [default: auto].
        bridged: The device of `ports`, configuration or command forwards like a bridge or wire: do
            not ask for a router.
        longest_delay: The longest delay of a frame through the device of `dut` or `ports`, such as
            an emulator of a satellite link: how long to wait for the first frames [default: 2 s].
        real_time: Run the sending and receiving threads of `dut` and `ports` before all other
            programs; requires `CAP_SYS_NICE`.
        machine: The machine for `estimate` and `simulate`: a name of `trammel list machines`, or
            `host` [default: `host` where `trammel calibrate` was run, else
            xeon-e5-2690v2:data-sheet].
        rate: The rate of each port, if the device does not define it [default: 10 Gbit/s].
        tests: The tests in order: names from `trammel list tests`, or `all` [default: throughput].
        set: A setting of a test (several as a list).
        quick: Fewer and shorter trials than the RFCs require; the results do not comply with them,
            and say so.
        frame_sizes: Frame sizes with FCS, and mixes of sizes: `imix`, `imix:aaafg`,
            `imix:AAB/A=78/B=1518` [default: RFC 2544's].
        both_ways: Offer frames in both directions, half of the load each.
        ipv6: Offer IPv6 (RFC 5180).
        streams: Pairs of addresses in each direction; several numbers are tested one after the
            other [default: 1].
        networks: Number of destination networks: 1, or RFC 2544's 256; several numbers are tested
            one after the other [default: 1].
        burst: Frames per burst, sent with the minimum gap (RFC 2544 §21: 16, 64, 256, 1024)
            [default: 1].
        modifier: Which frames to add to the test frames (RFC 2544 §11).
        seed: The seed of random numbers [default: 1].
        expect: A bound on a number of a test, such as 'throughput@64.of_line_percent >= 95'; the
            exit code is 1 if it is not met (several as a list).
        profile: Write the device's capacity over `frame_sizes`, `streams` and `networks` to FILE,
            as `trammel place` reads it.
        clock: The clock of the core that does the work, for the `profile` of a real device.
        parquet: Write every table as Parquet too.
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "estimate": estimate,
        "simulate": simulate,
        "ring": ring,
        "measurer": measurer,
        "model": model,
        "dut": dut,
        "ports": ports,
        "by": by,
        "timed_by": timed_by,
        "bridged": bridged,
        "longest_delay": longest_delay,
        "real_time": real_time,
        "machine": machine,
        "rate": rate,
        "tests": tests,
        "set": set,
        "quick": quick,
        "frame_sizes": frame_sizes,
        "both_ways": both_ways,
        "ipv6": ipv6,
        "streams": streams,
        "networks": networks,
        "burst": burst,
        "modifier": modifier,
        "seed": seed,
        "expect": expect,
        "profile": profile,
        "clock": clock,
        "parquet": parquet,
    }
    return call("bench", [], options, out, force)


def compare(
    *runs: Text | Result,
    within: Text | None = None,
    parquet: bool = False,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Compare run folders metric by metric with the first.

    Args:
        runs: Run folders, written with `-o` by `run`, `paper`, `bench`, ….
        within: Fail (exit code 1) if a metric differs from the first run's by more than this.
        parquet: Write every table as Parquet too.
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "within": within,
        "parquet": parquet,
    }
    return call("compare", [*runs], options, out, force)


def conformance(
    suite: Text,
    *,
    variant: Text | None = None,
    kernel: Text | Sequence[Text] = (),
    qlog: Text | None = None,
    case: Text | Sequence[Text] = (),
    verbose: bool = False,
    parquet: bool = False,
    threads: int | None = None,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Judge a congestion control, a kernel or a foreign stack's log by the cases of a draft or RFC.

    Args:
        suite: The suite: bbr, cubic, prague or tcp.
        variant: The congestion control to judge, with parameters as NAME:PARAM=VALUE,… [default:
            the suite's own].
        kernel: Judge this kernel instead of the simulator: `packaged`, or a Linux source tree; may
            be given several times.
        qlog: Judge what a foreign stack wrote into this qlog file.
        case: Only this case, by name or number; may be given several times.
        verbose: Show every condition, not only those that do not hold.
        parquet: Write every table as Parquet too.
        threads: Threads to use [default: one per core].
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "variant": variant,
        "kernel": kernel,
        "qlog": qlog,
        "case": case,
        "verbose": verbose,
        "parquet": parquet,
        "threads": threads,
    }
    return call("conformance", [suite], options, out, force)


def decode(
    *logs: Text,
    flow: int | Sequence[int] = (),
    host: Text | Sequence[Text] = (),
    from_: Text | None = None,
    to: Text | None = None,
    interval: Text | None = None,
    clock: Literal["proven", "always", "never"] | None = None,
    parquet: bool = False,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Decode logs: rates, delay, jitter, loss, reordering, for each flow and together.

    Args:
        logs: Logs of `trammel send` and `trammel recv`, or of ITGSend, ITGRecv, ITGLog or `ITGDec
            -l`.
        flow: Only flows of these numbers.
        host: Only flows from or to these hosts.
        from_: Only packets that arrived this long after the first, or later.
        to: Only packets that arrived less than this after the first.
        interval: Length of the intervals of series [default: 1s].
        clock: When to subtract the difference of two hosts' clocks from one-way delays [default:
            proven].
        parquet: Write every table as Parquet too.
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "flow": flow,
        "host": host,
        "from": from_,
        "to": to,
        "interval": interval,
        "clock": clock,
        "parquet": parquet,
    }
    return call("decode", [*logs], options, out, force)


def estimate(
    *files: Text | Scenario,
    chain: Literal["run-to-completion", "pipelined"] | None = None,
    machine: Text | None = None,
    frame_sizes: int | Sequence[int] = (),
    flows: int | None = None,
    vary: Text | None = None,
    locality: Text | None = None,
    sample: Text | None = None,
    cores: int | None = None,
    ports: int | None = None,
    rate: Text | None = None,
    remote: float | None = None,
    what_if: Text | Sequence[Text] = (),
    refine: Text | None = None,
    shares: bool = False,
    operations: bool = False,
    measure: bool = False,
    beside: Text | None = None,
    beside_flows: int | None = None,
    beside_vary: Text | None = None,
    processors: int | Sequence[int] = (),
    define: Text | Sequence[Text] = (),
    parquet: bool = False,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Estimate what a Click configuration, or a list of operations, will do on a machine.

    Args:
        files: Click configurations (`-`: standard input), or .toml files of operations
            (`FILE.toml#NAME`: one function of it).
        chain: Treat the functions as a chain in this order: on one core, or each on its own.
        machine: The machine: a name of `trammel list machines`, `NAME:PROFILE`, or `host` [default:
            `host` where `trammel calibrate` was run, else xeon-e5-2690v2:data-sheet].
        frame_sizes: Frame sizes in bytes, with FCS [default: 64,128,256,512,1024,1280,1518].
        flows: Flows that come [default: 1].
        vary: The field in which flows differ: ether.dst, ether.src, vlan, mpls, ip.dst, ip.src,
            port.src.
        locality: How often each flow occurs: uniform, or zipf:EXPONENT [default: uniform].
        sample: A capture with the frames from devices.
        cores: Cores that run it, each on packets of its own [default: 1].
        ports: Ports that receive [default: 1].
        rate: The rate of each port; without it links do not limit.
        remote: The share of packets that arrive at the other socket [default: 0].
        what_if: Also with one thing changed: frame=128, flows=100K, zipf=1.0, cores=4, routes=1M
            (several as a list).
        refine: Correct the estimate at the first frame size by the counters in RUN, from `trammel
            router `counters``, and show the changes.
        shares: Show the cost of each element.
        operations: Show each operation of each element.
        measure: Measure it on this machine too, on rings in memory.
        beside: Estimate the mutual slowdown when this configuration runs on the neighbouring
            processor; with `measure`, run and time both, alternately alone and together.
        beside_flows: Flows of the configuration beside [default: `flows`].
        beside_vary: The field in which these flows differ [default: `vary`].
        processors: The two processors [default: 0,1].
        define: A variable of the configuration (several as a list).
        parquet: Write every table as Parquet too.
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "chain": chain,
        "machine": machine,
        "frame_sizes": frame_sizes,
        "flows": flows,
        "vary": vary,
        "locality": locality,
        "sample": sample,
        "cores": cores,
        "ports": ports,
        "rate": rate,
        "remote": remote,
        "what_if": what_if,
        "refine": refine,
        "shares": shares,
        "operations": operations,
        "measure": measure,
        "beside": beside,
        "beside_flows": beside_flows,
        "beside_vary": beside_vary,
        "processors": processors,
        "define": define,
        "parquet": parquet,
    }
    return call("estimate", [*files], options, out, force)


def export(
    of: Text | Scenario | Result,
    *,
    format: Literal["tc", "mahimahi", "containerlab", "flent", "iperf3"],
    point: Text | None = None,
    repeat: int | None = None,
    engine: Text | None = None,
    output: Text | None = None,
) -> str:
    """Write a scenario's path as commands of an emulator, or a run as a data file of another
    program.

    Args:
        of: A scenario file with a `[path]`, for tc, mahimahi and containerlab; a run folder with
            traces of flows, for flent and iperf3.
        format: In whose words.
        point: The point, by its name in the tables [default: the first].
        repeat: The repeat of a run folder's point, from 0 [default: the first].
        engine: The engine that made the run, by its name in the tables [default: the first].
        output: The file to write [default: standard output].
    """
    options = {
        "as": format,
        "point": point,
        "repeat": repeat,
        "engine": engine,
        "output": output,
    }
    return text("export", [of], options)


def fidelity(
    *,
    quick: bool = False,
    full: bool = False,
    seed: int | None = None,
    cells: int | None = None,
    paths: Literal["steady", "changing"] | None = None,
    queues: Text | Sequence[Text] = (),
    variants: Text | Sequence[Text] = (),
    source: Text | None = None,
    patches: Text | Sequence[Text] = (),
    parquet: bool = False,
    threads: int | None = None,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Measure how close the simulator is to the real kernel, over paths of all kinds.

    Args:
        quick: 16 cells with three phases: about a minute [default].
        full: 400 cells with five phases: up to three hours on two cores.
        seed: The seed of the cells; use one that was not used during development [default: 1].
        cells: Number of cells, instead of that of `quick` or `full`.
        paths: Whether paths stay as they are, or change: delay steps, outages, handovers, jitter
            that reorders [default: steady].
        queues: Queue disciplines of the cells, one in each, instead of the usual ones.
        variants: Draw the first flow of each cell from these variants; `bbr3` needs a kernel of
            `source` whose `bbr` is version 3, `prague` one that has it; beside `dctcp` and `prague`
            all have ECN.
        source: Compare with the kernel of this Linux source tree instead of the package's.
        patches: A patch to apply to a copy of the kernel's source; several are applied in the order
            given.
        parquet: Write every table as Parquet too.
        threads: Threads to use [default: one per core].
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "quick": quick,
        "full": full,
        "seed": seed,
        "cells": cells,
        "paths": paths,
        "queues": queues,
        "variants": variants,
        "source": source,
        "patch": patches,
        "parquet": parquet,
        "threads": threads,
    }
    return call("fidelity", [], options, out, force)


def import_files(
    *files: Text,
    format: Literal["pcap", "iperf3", "flent", "qlog", "flow-monitor", "mahimahi-trace", "mahimahi-log", "trex", "csit"] | None = None,
    name: Text | Sequence[Text] = (),
    parquet: bool = False,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Import results of other programs: captures of TCP, iperf3, Flent, ….

    Args:
        files: Files to import, plain or compressed by gzip.
        format: The format of all files, where their content does not tell.
        name: Names for the flows, links and streams of each file, in the order of its tables.
        parquet: Write every table as Parquet too.
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "as": format,
        "name": name,
        "parquet": parquet,
    }
    return call("import", [*files], options, out, force)


def paper(
    *keys: Text,
    full: bool = False,
    parquet: bool = False,
    duration: Text | None = None,
    beside: Literal["d-itg", "iperf3"] | Sequence[Literal["d-itg", "iperf3"]] = (),
    kernel: Text | None = None,
    threads: int | None = None,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Recompute the tables of published papers, next to the originals.

    Args:
        keys: Keys of the papers [default: all].
        full: Run every point and repeat, not the two-minute selection.
        parquet: Write every table as Parquet too.
        duration: For measured streams: how long to send each [default: the paper's duration].
        beside: For measured streams: another generator, if installed, that alternates with Trammel.
        kernel: For experiments in a kernel of yours: a source tree, or `packaged+x.patch`, as in
            `[measure] source`.
        threads: Threads to use [default: one per core].
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "full": full,
        "parquet": parquet,
        "duration": duration,
        "beside": beside,
        "kernel": kernel,
        "threads": threads,
    }
    return call("paper", [*keys], options, out, force)


def place(
    scenario: Text | Scenario,
    *,
    format: Literal["text", "json", "kubernetes"] | None = None,
    parquet: bool = False,
    seed: int | None = None,
    out: Text | None = None,
    force: bool = False,
) -> Result:
    """Place chains of network functions on servers.

    Args:
        scenario: Placement file (`subject = "placement"`).
        format: How to show the placement [default: text].
        parquet: Write every table as Parquet too.
        seed: Seed of the simulated cores, instead of the file's.
        out: Run folder to write and keep.
        force: Replace the folder, whatever run it holds.
    """
    options = {
        "format": format,
        "parquet": parquet,
        "seed": seed,
    }
    return call("place", [scenario], options, out, force)
