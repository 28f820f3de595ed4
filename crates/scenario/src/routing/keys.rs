//! Every key of a routing scenario, in one table: name, kind, default, unit, help.

#![allow(clippy::enum_glob_use)] // The rows of the table would drown in prefixes.

use crate::keys::{ENGINES, INSTANT, RATE, SPAN};
use crate::keys_kind::Fallback::*;
use crate::keys_kind::Kind::*;
use crate::keys_kind::{Kind, Section, k};
use trammel_core::units::Dimension as D;

/// The words of `topology`.
pub const TOPOLOGIES: &[&str] = &["ring", "campus", "random"];
/// The words of `data_plane`.
pub(crate) const DATA_PLANES: &[&str] = &["auto", "tables", "devices"];
/// The words of `router.kind`.
pub const KINDS: &[&str] = &["router", "gateway"];
/// The words of `event.action`.
pub(crate) const ACTIONS: &[&str] = &["fail", "repair"];

/// Routers, at most: each knows 1,023 others.
pub(super) const MOST_ROUTERS: i64 = 1_024;

/// HELLOINT, as a HELLO carries it.
const HELLO: Kind = Quantity(&[D::Time], 1.0, 65_535.0);
const AREA: Kind = Whole(0, u32::MAX as i64);

/// The file itself.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static ROOT: Section = Section {
    name: "",
    help: "the file: the routers, what joins them, what fails when",
    extra: None,
    keys: &[
        k("title", Text, Is(""), "", "title of the scenario, in one line"),
        k("question", Text, Absent, "", "the question that it answers, for the report"),
        k("subject", Word(&[crate::Subject::Routing.name()]), Required, "",
            "`forwarding`; a file with `topology` or `[[router]]` is of routers on a topology"),
        k("engines", Words(ENGINES), See("`predict` and `simulate`"), "",
            "the engines; `measure` runs the routers on this machine, by the clock"),
        k("duration", SPAN, Is("10 min"), "s", "length of a run, in virtual time"),
        k("seed", Whole(0, i64::MAX), Is("1"), "", "seed of a random topology"),
        k("data_plane", Word(DATA_PLANES), Is("auto"), "",
            "how packets are forwarded: `devices` are reference routers with real frames, `tables` \
             follows the routes; `auto` takes devices for up to 8 routers that fit them"),
        k("carrier", Bool, Is("false"), "",
            "whether routers notice at once that a link fails; if not, by silence"),
        k("hello_interval", HELLO, Is("5 s"), "s", "HELLOINT of all routers, whole seconds"),
        k("lsu_interval", SPAN, Is("30 s"), "s", "LSUINT of all routers"),
        k("area", AREA, Is("0"), "", "area of all routers"),
        k("delay", INSTANT, Is("50 us"), "s", "one-way delay of every link"),
        k("rate", RATE, See("no limit"), "bit/s", "rate of every link"),
        k("topology", WordOr(TOPOLOGIES, &TOPOLOGY), Absent, "",
            "a topology that is made; `[[router]]` and `[[link]]` add to it"),
        k("router", Tables(&ROUTER), See("required without `topology`"), "",
            "a router, or settings of one that the topology has"),
        k("link", Tables(&LINK), Absent, "", "a link, a LAN, or a subnet of hosts"),
        k("event", Tables(&EVENT), Absent, "", "a failure or a repair"),
        k("sweep", Sweep, Absent, "", "dotted keys with their values"),
    ],
};

/// `[topology]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static TOPOLOGY: Section = Section {
    name: "topology",
    help: "a topology that is made; its routers `r0`, `r1`, … have a subnet of hosts each",
    extra: None,
    keys: &[
        k("kind", Word(TOPOLOGIES), Required, "",
            "`ring`; `campus`: eight routers as in exercises of CS344, one of them a gateway; \
             `random`: a tree, then random pairs"),
        k("routers", Whole(1, MOST_ROUTERS), See("3; 100 of `random`"), "",
            "number of routers; a ring has at least 3"),
        k("links", Whole(0, 10_000), See("three times the routers"), "",
            "links between routers, of `random`; as many as make sense, at least a tree"),
        k("seed", Whole(0, i64::MAX), See("the file's"), "", "seed of `random`"),
    ],
};

/// `[[router]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static ROUTER: Section = Section {
    name: "router",
    help: "a router with its control software",
    extra: None,
    keys: &[
        k("name", Text, Required, "", "its name"),
        k("kind", Word(KINDS), Is("router"), "",
            "a `gateway` leads to the world outside and advertises the default route"),
        k("hosts", Bool, See("`true`, unless an interface is at no link"), "",
            "whether it has a subnet of hosts without an `interface` for it"),
        k("interface", Tables(&INTERFACE), Absent, "",
            "an interface with a given address; others get theirs automatically"),
        k("hello_interval", HELLO, See("the file's"), "s", "its HELLOINT, whole seconds"),
        k("lsu_interval", SPAN, See("the file's"), "s", "its LSUINT"),
        k("area", AREA, See("the file's"), "", "its area"),
    ],
};

/// `[[router.interface]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static INTERFACE: Section = Section {
    name: "interface",
    help: "an interface with a given address; one that no link names has a subnet of hosts",
    extra: None,
    keys: &[
        k("name", Text, Required, "", "its name, unique in the router"),
        k("address", Text, Required, "", "its address with the prefix, such as `10.1.0.1/24`"),
    ],
};

/// `[[link]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static LINK: Section = Section {
    name: "link",
    help: "a link between two routers, a LAN of several, or a subnet of hosts behind one",
    extra: None,
    keys: &[
        k("between", Names, Required, "",
            "the routers; `r1:eth0` names an interface of `r1`"),
        k("name", Text, See("the routers' names, joined by `-`"), "", "its name, for events"),
        k("delay", INSTANT, See("the file's"), "s", "its one-way delay"),
        k("rate", RATE, See("the file's"), "bit/s", "its rate"),
    ],
};

/// `[[event]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static EVENT: Section = Section {
    name: "event",
    help: "a link or a router that fails or is repaired",
    extra: None,
    keys: &[
        k("at", INSTANT, Required, "s", "when"),
        k("link", Text, See("this or `router`"), "",
            "the link: its name, such as `r0-r1` or `r0-hosts`"),
        k("router", Text, See("this or `link`"), "",
            "the router; one that fails forgets all that it learned"),
        k("action", Word(ACTIONS), Is("fail"), "", "what happens"),
        k("lasts", SPAN, Absent, "s", "time after which a failure is repaired"),
    ],
};

/// Every section once, the file first, in the order of the reference page.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static SECTIONS: &[&Section] = &[
    &ROOT, &TOPOLOGY, &ROUTER, &INTERFACE, &LINK, &EVENT,
];
