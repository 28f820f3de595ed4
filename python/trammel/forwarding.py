"""Scenarios of this subject: their tables as classes, one argument a key.

Made from the table of keys in `crates/scenario/src/forwarding/keys.rs` by a test, `python_keys.rs`:
`UPDATE_DOCS=1 cargo test -p trammel-scenario` writes it anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ._described import ByProgram
from ._section import Section


class Scenario(ByProgram):
    """The file: the device, its traffic, the tests.

    Args:
        title: title of the scenario, in one line: a text.
        question: the question that it answers, for the report: a text.
        subject: `forwarding`: the performance of a router or network function on a machine: one of
            `forwarding`; required.
        engines: which engines answer: a list of `predict`, `simulate`, `measure`; default: predict
            and simulate; also measure if the machine is this one.
        seed: seed of the order of flows and of the elements' random numbers: a whole number of at
            least 0; default `1`.
        device: the machine, its ports, and the function that runs on it, if there is one: a
            `device` table.
        functions: one of several functions to compare: a list of `function` tables.
        streams: what comes in: a list of `stream` tables; required.
        bench: the tests of the simulated device and, on rings in memory, of this machine: a `bench`
            table.
        publisheds: a published number to compare with: a list of `published` tables.
        sweeps: dotted keys with their values: a table of dotted keys and lists.
    """

    _subject = "forwarding"
    _renamed = {"functions": "function", "streams": "stream", "publisheds": "published", "sweeps": "sweep"}
    _tables = {
        "device": "Device",
        "function": "Function",
        "stream": "Stream",
        "bench": "Bench",
        "published": "Published",
    }

    title: str | None
    question: str | None
    subject: Literal["forwarding"] | None
    engines: Sequence[Literal["predict", "simulate", "measure"]] | None
    seed: int | None
    device: Device | None
    functions: Sequence[Function] | None
    streams: Sequence[Stream] | None
    bench: Bench | None
    publisheds: Sequence[Published] | None
    sweeps: Mapping[str, object] | None

    def __init__(
        self,
        *,
        title: str | None = None,
        question: str | None = None,
        subject: Literal["forwarding"] | None = "forwarding",
        engines: Sequence[Literal["predict", "simulate", "measure"]] | None = None,
        seed: int | None = None,
        device: Device | None = None,
        functions: Sequence[Function] | None = None,
        streams: Sequence[Stream] | None = None,
        bench: Bench | None = None,
        publisheds: Sequence[Published] | None = None,
        sweeps: Mapping[str, object] | None = None,
    ) -> None:
        self._fill(
            {
                "title": title,
                "question": question,
                "subject": subject,
                "engines": engines,
                "seed": seed,
                "device": device,
                "functions": functions,
                "streams": streams,
                "bench": bench,
                "publisheds": publisheds,
                "sweeps": sweeps,
            }
        )


class Device(Section):
    """The machine, its ports, and the function that runs on it, if there is one.

    Args:
        machine: a machine of `trammel list machines`, `NAME:PROFILE`, a file that ends in .toml, or
            `host`: this one: a text; default `host`.
        file: a Click file, beside this one: a text.
        list: lists of operations, `FILE.toml` or `FILE.toml#NAME` for one of them: a text.
        ports: its ports: a whole number from 1 to 1024; default: as many as `from` and `to` name.
        rate: rate of each port, in both directions; without it links do not limit (bit/s in
            results): a rate such as `100 Mbit/s`.
        ring: capacity of a port's ring in frames, in each direction when simulated: a whole number
            from 1 to 1048576; default `1024`.
        define: variables of the Click file, each `NAME=VALUE`: a list of names.
        vary: the field in which flows differ, instead of the stream's: a text.
        sample: a capture with the frames from devices: a text.
        frames: the same as text: each frame in hexadecimal, from its Ethernet header on: a list of
            names.
    """

    machine: str | None
    file: str | None
    list: str | None
    ports: int | None
    rate: str | None
    ring: int | None
    define: Sequence[str] | None
    vary: str | None
    sample: str | None
    frames: Sequence[str] | None

    def __init__(
        self,
        *,
        machine: str | None = None,
        file: str | None = None,
        list: str | None = None,
        ports: int | None = None,
        rate: str | None = None,
        ring: int | None = None,
        define: Sequence[str] | None = None,
        vary: str | None = None,
        sample: str | None = None,
        frames: Sequence[str] | None = None,
    ) -> None:
        self._fill(
            {
                "machine": machine,
                "file": file,
                "list": list,
                "ports": ports,
                "rate": rate,
                "ring": ring,
                "define": define,
                "vary": vary,
                "sample": sample,
                "frames": frames,
            }
        )


class Function(Section):
    """One of several functions: a Click file (`file`), lists of operations (`list`) or a NetFPGA
    card (`design`).

    Args:
        name: its name in tables and figures: a text; default: the file's or the list's.
        file: a Click file, beside this one: a text.
        list: lists of operations, `FILE.toml` or `FILE.toml#NAME` for one of them: a text.
        design: a NetFPGA design instead of a file: `reference-router`, between its ports 0 and 1: a
            text.
        model: the timing of the design: a NetFPGA model of `trammel list devices`: a text; default
            `reference-1g`.
        tables: the design's tables: a file with rows as `trammel netfpga table set` takes them: a
            text; default: routes for RFC 2544's networks.
        define: variables of the Click file, each `NAME=VALUE`: a list of names.
        vary: the field in which flows differ, instead of the stream's: a text.
        sample: a capture with the frames from devices: a text.
        frames: the same as text: each frame in hexadecimal, from its Ethernet header on: a list of
            names.
    """

    name: str | None
    file: str | None
    list: str | None
    design: str | None
    model: str | None
    tables: str | None
    define: Sequence[str] | None
    vary: str | None
    sample: str | None
    frames: Sequence[str] | None

    def __init__(
        self,
        *,
        name: str | None = None,
        file: str | None = None,
        list: str | None = None,
        design: str | None = None,
        model: str | None = None,
        tables: str | None = None,
        define: Sequence[str] | None = None,
        vary: str | None = None,
        sample: str | None = None,
        frames: Sequence[str] | None = None,
    ) -> None:
        self._fill(
            {
                "name": name,
                "file": file,
                "list": list,
                "design": design,
                "model": model,
                "tables": tables,
                "define": define,
                "vary": vary,
                "sample": sample,
                "frames": frames,
            }
        )


class Stream(Section):
    """The traffic at one port; all streams have the same size and gap.

    Args:
        size: frame size with FCS; each value of a list is tested (bytes in results): a frame size
            in bytes such as `64`, or a list of them; required.
        from_: the port: 0 is the first FromDevice or source of the Click file: a whole number from
            0 to 1023; default: every port.
        to: the output port: 0 is the first ToDevice; a note counts frames that leave elsewhere: a
            whole number from 0 to 1023.
        gap: how frames come under a load: a `gap` table.
        flows: flows that frames belong to: a whole number from 1 to 16777216; default `1`.
        vary: what flows differ in: ether.dst, ether.src, vlan, mpls, ip.dst, ip.src, port.src: a
            text.
        locality: how often which flow comes: `uniform` or a `locality` table; default `uniform`.
        sample: a capture with the frames of this port, instead of the function's: a text.
        frames: the same as text: each frame in hexadecimal, from its Ethernet header on: a list of
            names.
    """

    _renamed = {"from_": "from"}
    _tables = {
        "gap": "Gap",
        "locality": "Locality",
    }

    size: str | float | Sequence[str | float] | None
    from_: int | None
    to: int | None
    gap: Gap | None
    flows: int | None
    vary: str | None
    locality: Literal["uniform"] | Locality | None
    sample: str | None
    frames: Sequence[str] | None

    def __init__(
        self,
        size: str | float | Sequence[str | float] | None = None,
        *,
        from_: int | None = None,
        to: int | None = None,
        gap: Gap | None = None,
        flows: int | None = None,
        vary: str | None = None,
        locality: Literal["uniform"] | Locality | None = None,
        sample: str | None = None,
        frames: Sequence[str] | None = None,
    ) -> None:
        self._fill(
            {
                "size": size,
                "from_": from_,
                "to": to,
                "gap": gap,
                "flows": flows,
                "vary": vary,
                "locality": locality,
                "sample": sample,
                "frames": frames,
            }
        )


class Gap(Section):
    """How frames arrive; `bench` gives their number.

    Args:
        distribution: equal gaps, random gaps, or bursts at line rate: one of `constant`,
            `exponential`, `bursts`; default `constant`.
        rate: up to what the line carries: one of `line`; default `line`.
        burst: frames of a burst: a whole number from 1 to 65536; default `32`.
    """

    distribution: Literal["constant", "exponential", "bursts"] | None
    rate: Literal["line"] | None
    burst: int | None

    def __init__(
        self,
        *,
        distribution: Literal["constant", "exponential", "bursts"] | None = None,
        rate: Literal["line"] | None = None,
        burst: int | None = None,
    ) -> None:
        self._fill(
            {
                "distribution": distribution,
                "rate": rate,
                "burst": burst,
            }
        )


class Locality(Section):
    """How often which flow comes.

    Args:
        zipf: the n-th flow occurs in proportion to n to the power of minus this: a number from 0 to
            10; required.
    """

    zipf: float | None

    def __init__(
        self,
        zipf: float | None = None,
    ) -> None:
        self._fill(
            {
                "zipf": zipf,
            }
        )


class Bench(Section):
    """The tests of the simulated device and, on rings in memory, of this machine.

    Args:
        tests: throughput is always searched; the other tests run at shares of it, recovery from 110
            % of it: a list of `throughput`, `latency`, `frame-loss`, `recovery`; default:
            throughput.
        latency_at: loads of the latency test: a share of the maximum such as `50 %`, or a list of
            them; default: 10, 50 and 90 %.
        loss_at: loads of the frame-loss test: a share of the maximum such as `50 %`, or a list of
            them; default: 90, 100, 110 and 150 %.
        frames: frames of a trial: a whole number from 1000 to 100000000; default `100000`.
        resolution: final width of the search, as a share of the rate: a number from 0.0001 to 0.5;
            default `0.005`.
    """

    tests: Sequence[Literal["throughput", "latency", "frame-loss", "recovery"]] | None
    latency_at: str | float | Sequence[str | float] | None
    loss_at: str | float | Sequence[str | float] | None
    frames: int | None
    resolution: float | None

    def __init__(
        self,
        *,
        tests: Sequence[Literal["throughput", "latency", "frame-loss", "recovery"]] | None = None,
        latency_at: str | float | Sequence[str | float] | None = None,
        loss_at: str | float | Sequence[str | float] | None = None,
        frames: int | None = None,
        resolution: float | None = None,
    ) -> None:
        self._fill(
            {
                "tests": tests,
                "latency_at": latency_at,
                "loss_at": loss_at,
                "frames": frames,
                "resolution": resolution,
            }
        )


class Published(Section):
    """A published number to compare with.

    Args:
        size: frame size (bytes in results): a frame size in bytes such as `64`, or a list of them;
            required.
        function: the function's name, if there are several: a text.
        metric: Mpps or cycles a packet: one of `throughput`, `cycles`; default `throughput`.
        value: the number, in Mpps or cycles: a number from 0 to 1000000000000; required.
        source: where it was printed: a text; required.
    """

    size: str | float | Sequence[str | float] | None
    function: str | None
    metric: Literal["throughput", "cycles"] | None
    value: float | None
    source: str | None

    def __init__(
        self,
        size: str | float | Sequence[str | float] | None = None,
        *,
        function: str | None = None,
        metric: Literal["throughput", "cycles"] | None = None,
        value: float | None = None,
        source: str | None = None,
    ) -> None:
        self._fill(
            {
                "size": size,
                "function": function,
                "metric": metric,
                "value": value,
                "source": source,
            }
        )
