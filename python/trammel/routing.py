"""Scenarios of this subject: their tables as classes, one argument a key.

Made from the table of keys in `crates/scenario/src/routing/keys.rs` by a test, `python_keys.rs`:
`UPDATE_DOCS=1 cargo test -p trammel-scenario` writes it anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ._described import ByProgram
from ._section import Section


class Scenario(ByProgram):
    """The file: the routers, what joins them, what fails when.

    Args:
        title: title of the scenario, in one line: a text.
        question: the question that it answers, for the report: a text.
        subject: `forwarding`; a file with `topology` or `[[router]]` is of routers on a topology:
            one of `forwarding`; required.
        engines: the engines; `measure` runs the routers on this machine, by the clock: a list of
            `predict`, `simulate`, `measure`; default: `predict` and `simulate`.
        duration: length of a run, in virtual time (s in results): a time such as `10 ms`; default
            `10 min`.
        seed: seed of a random topology: a whole number of at least 0; default `1`.
        data_plane: how packets are forwarded: `devices` are reference routers with real frames,
            `tables` follows the routes; `auto` takes devices for up to 8 routers that fit them: one
            of `auto`, `tables`, `devices`; default `auto`.
        carrier: whether routers notice at once that a link fails; if not, by silence: `true` or
            `false`; default `false`.
        hello_interval: HELLOINT of all routers, whole seconds (s in results): a time such as `10
            ms`; default `5 s`.
        lsu_interval: LSUINT of all routers (s in results): a time such as `10 ms`; default `30 s`.
        area: area of all routers: a whole number from 0 to 4294967295; default `0`.
        delay: one-way delay of every link (s in results): a time such as `10 ms`; default `50 us`.
        rate: rate of every link (bit/s in results): a rate such as `100 Mbit/s`; default: no limit.
        topology: a topology that is made; `[[router]]` and `[[link]]` add to it: `ring`, `campus`,
            `random` or a `topology` table.
        routers: a router, or settings of one that the topology has: a list of `router` tables;
            default: required without `topology`.
        links: a link, a LAN, or a subnet of hosts: a list of `link` tables.
        events: a failure or a repair: a list of `event` tables.
        sweeps: dotted keys with their values: a table of dotted keys and lists.
    """

    _subject = "routing"
    _renamed = {"routers": "router", "links": "link", "events": "event", "sweeps": "sweep"}
    _tables = {
        "topology": "Topology",
        "router": "Router",
        "link": "Link",
        "event": "Event",
    }

    title: str | None
    question: str | None
    subject: Literal["forwarding"] | None
    engines: Sequence[Literal["predict", "simulate", "measure"]] | None
    duration: str | None
    seed: int | None
    data_plane: Literal["auto", "tables", "devices"] | None
    carrier: bool | None
    hello_interval: str | None
    lsu_interval: str | None
    area: int | None
    delay: str | None
    rate: str | None
    topology: Literal["ring", "campus", "random"] | Topology | None
    routers: Sequence[Router] | None
    links: Sequence[Link] | None
    events: Sequence[Event] | None
    sweeps: Mapping[str, object] | None

    def __init__(
        self,
        *,
        title: str | None = None,
        question: str | None = None,
        subject: Literal["forwarding"] | None = "forwarding",
        engines: Sequence[Literal["predict", "simulate", "measure"]] | None = None,
        duration: str | None = None,
        seed: int | None = None,
        data_plane: Literal["auto", "tables", "devices"] | None = None,
        carrier: bool | None = None,
        hello_interval: str | None = None,
        lsu_interval: str | None = None,
        area: int | None = None,
        delay: str | None = None,
        rate: str | None = None,
        topology: Literal["ring", "campus", "random"] | Topology | None = None,
        routers: Sequence[Router] | None = None,
        links: Sequence[Link] | None = None,
        events: Sequence[Event] | None = None,
        sweeps: Mapping[str, object] | None = None,
    ) -> None:
        self._fill(
            {
                "title": title,
                "question": question,
                "subject": subject,
                "engines": engines,
                "duration": duration,
                "seed": seed,
                "data_plane": data_plane,
                "carrier": carrier,
                "hello_interval": hello_interval,
                "lsu_interval": lsu_interval,
                "area": area,
                "delay": delay,
                "rate": rate,
                "topology": topology,
                "routers": routers,
                "links": links,
                "events": events,
                "sweeps": sweeps,
            }
        )


class Topology(Section):
    """A topology that is made; its routers `r0`, `r1`, … have a subnet of hosts each.

    Args:
        kind: `ring`; `campus`: eight routers as in exercises of CS344, one of them a gateway;
            `random`: a tree, then random pairs: one of `ring`, `campus`, `random`; required.
        routers: number of routers; a ring has at least 3: a whole number from 1 to 1024; default:
            3; 100 of `random`.
        links: links between routers, of `random`; as many as make sense, at least a tree: a whole
            number from 0 to 10000; default: three times the routers.
        seed: seed of `random`: a whole number of at least 0; default: the file's.
    """

    kind: Literal["ring", "campus", "random"] | None
    routers: int | None
    links: int | None
    seed: int | None

    def __init__(
        self,
        kind: Literal["ring", "campus", "random"] | None = None,
        *,
        routers: int | None = None,
        links: int | None = None,
        seed: int | None = None,
    ) -> None:
        self._fill(
            {
                "kind": kind,
                "routers": routers,
                "links": links,
                "seed": seed,
            }
        )


class Router(Section):
    """A router with its control software.

    Args:
        name: its name: a text; required.
        kind: a `gateway` leads to the world outside and advertises the default route: one of
            `router`, `gateway`; default `router`.
        hosts: whether it has a subnet of hosts without an `interface` for it: `true` or `false`;
            default: `true`, unless an interface is at no link.
        interface: an interface with a given address; others get theirs automatically: a list of
            `interface` tables.
        hello_interval: its HELLOINT, whole seconds (s in results): a time such as `10 ms`; default:
            the file's.
        lsu_interval: its LSUINT (s in results): a time such as `10 ms`; default: the file's.
        area: its area: a whole number from 0 to 4294967295; default: the file's.
    """

    _tables = {
        "interface": "Interface",
    }

    name: str | None
    kind: Literal["router", "gateway"] | None
    hosts: bool | None
    interface: Sequence[Interface] | None
    hello_interval: str | None
    lsu_interval: str | None
    area: int | None

    def __init__(
        self,
        name: str | None = None,
        *,
        kind: Literal["router", "gateway"] | None = None,
        hosts: bool | None = None,
        interface: Sequence[Interface] | None = None,
        hello_interval: str | None = None,
        lsu_interval: str | None = None,
        area: int | None = None,
    ) -> None:
        self._fill(
            {
                "name": name,
                "kind": kind,
                "hosts": hosts,
                "interface": interface,
                "hello_interval": hello_interval,
                "lsu_interval": lsu_interval,
                "area": area,
            }
        )


class Interface(Section):
    """An interface with a given address; one that no link names has a subnet of hosts.

    Args:
        name: its name, unique in the router: a text; required.
        address: its address with the prefix, such as `10.1.0.1/24`: a text; required.
    """

    name: str | None
    address: str | None

    def __init__(
        self,
        name: str | None = None,
        *,
        address: str | None = None,
    ) -> None:
        self._fill(
            {
                "name": name,
                "address": address,
            }
        )


class Link(Section):
    """A link between two routers, a LAN of several, or a subnet of hosts behind one.

    Args:
        between: the routers; `r1:eth0` names an interface of `r1`: a list of names; required.
        name: its name, for events: a text; default: the routers' names, joined by `-`.
        delay: its one-way delay (s in results): a time such as `10 ms`; default: the file's.
        rate: its rate (bit/s in results): a rate such as `100 Mbit/s`; default: the file's.
    """

    between: Sequence[str] | None
    name: str | None
    delay: str | None
    rate: str | None

    def __init__(
        self,
        between: Sequence[str] | None = None,
        *,
        name: str | None = None,
        delay: str | None = None,
        rate: str | None = None,
    ) -> None:
        self._fill(
            {
                "between": between,
                "name": name,
                "delay": delay,
                "rate": rate,
            }
        )


class Event(Section):
    """A link or a router that fails or is repaired.

    Args:
        at: when (s in results): a time such as `10 ms`; required.
        link: the link: its name, such as `r0-r1` or `r0-hosts`: a text; default: this or `router`.
        router: the router; one that fails forgets all that it learned: a text; default: this or
            `link`.
        action: what happens: one of `fail`, `repair`; default `fail`.
        lasts: time after which a failure is repaired (s in results): a time such as `10 ms`.
    """

    at: str | None
    link: str | None
    router: str | None
    action: Literal["fail", "repair"] | None
    lasts: str | None

    def __init__(
        self,
        at: str | None = None,
        *,
        link: str | None = None,
        router: str | None = None,
        action: Literal["fail", "repair"] | None = None,
        lasts: str | None = None,
    ) -> None:
        self._fill(
            {
                "at": at,
                "link": link,
                "router": router,
                "action": action,
                "lasts": lasts,
            }
        )
