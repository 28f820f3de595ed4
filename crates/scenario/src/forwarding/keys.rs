//! Every key of a forwarding scenario, in one table: name, kind, default, unit, help.

#![allow(clippy::enum_glob_use)] // The rows of the table would drown in prefixes.

use crate::keys::ENGINES;
use crate::keys_kind::Fallback::*;
use crate::keys_kind::Kind::*;
use crate::keys_kind::{Kind, Section, k};
use trammel_core::units::Dimension as D;

/// The words of `tests`, in the order of the model's.
pub const TESTS: &[&str] = &["throughput", "latency", "frame-loss", "recovery"];
/// The words of `distribution`.
pub(crate) const DISTRIBUTIONS: &[&str] = &["constant", "exponential", "bursts"];
/// The words of `metric`.
pub const METRICS: &[&str] = &["throughput", "cycles"];

/// The least and the largest frame, bytes with the FCS: Ethernet's, and the largest that samples
/// are made for.
pub const FRAME: (f64, f64) = (64.0, 9_216.0);
const SIZES: Kind = Numbers(
    "a frame size in bytes such as `64`",
    D::Bytes,
    FRAME.0,
    FRAME.1,
);
const LOADS: Kind = Numbers(
    "a share of the maximum such as `50 %`",
    D::Ratio,
    0.001,
    10.0,
);
/// Most flows: addresses that differ in 24 bits.
const MOST_FLOWS: i64 = 1 << 24;

/// The file itself.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static ROOT: Section = Section {
    name: "",
    help: "the file: the device, its traffic, the tests",
    extra: None,
    keys: &[
        k("title", Text, Is(""), "", "title of the scenario, in one line"),
        k("question", Text, Absent, "", "the question that it answers, for the report"),
        k(
            "subject", Word(&[crate::Subject::Forwarding.name()]), Required, "",
            "`forwarding`: the performance of a router or network function on a machine"
        ),
        k(
            "engines", Words(ENGINES),
            See("predict and simulate; also measure if the machine is this one"), "",
            "which engines answer"
        ),
        k(
            "seed", Whole(0, i64::MAX), Is("1"), "",
            "seed of the order of flows and of the elements' random numbers"
        ),
        k(
            "device", Table(&DEVICE), Absent, "",
            "the machine, its ports, and the function that runs on it, if there is one"
        ),
        k("function", Tables(&FUNCTION), Absent, "", "one of several functions to compare"),
        k("stream", Tables(&STREAM), Required, "", "what comes in"),
        k(
            "bench", Table(&BENCH), Absent, "",
            "the tests of the simulated device and, on rings in memory, of this machine"
        ),
        k("published", Tables(&PUBLISHED), Absent, "", "a published number to compare with"),
        k("sweep", Sweep, Absent, "", "dotted keys with their values"),
    ],
};

/// `[device]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static DEVICE: Section = Section {
    name: "device",
    help: "the machine, its ports, and the function that runs on it, if there is one",
    extra: None,
    keys: &[
        k("machine", Text, Is("host"), "",
            "a machine of `trammel list machines`, `NAME:PROFILE`, a file that ends in .toml, or \
             `host`: this one"),
        k("file", Text, Absent, "", "a Click file, beside this one"),
        k(
            "list", Text, Absent, "",
            "lists of operations, `FILE.toml` or `FILE.toml#NAME` for one of them"
        ),
        k("ports", Whole(1, 1024), See("as many as `from` and `to` name"), "", "its ports"),
        k(
            "rate", Quantity(&[D::Rate], 1e3, 1e13), Absent, "bit/s",
            "rate of each port, in both directions; without it links do not limit"
        ),
        k(
            "ring", Whole(1, 1 << 20), Is("1024"), "",
            "capacity of a port's ring in frames, in each direction when simulated"
        ),
        k("define", Names, Absent, "", "variables of the Click file, each `NAME=VALUE`"),
        k("vary", Text, Absent, "", "the field in which flows differ, instead of the stream's"),
        k("sample", Text, Absent, "", "a capture with the frames from devices"),
        k(
            "frames", Names, Absent, "",
            "the same as text: each frame in hexadecimal, from its Ethernet header on"
        ),
    ],
};

/// `[[function]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static FUNCTION: Section = Section {
    name: "function",
    help: "one of several functions: a Click file (`file`), lists of operations (`list`) or a \
           NetFPGA card (`design`)",
    extra: None,
    keys: &[
        k("name", Text, See("the file's or the list's"), "", "its name in tables and figures"),
        k("file", Text, Absent, "", "a Click file, beside this one"),
        k(
            "list", Text, Absent, "",
            "lists of operations, `FILE.toml` or `FILE.toml#NAME` for one of them"
        ),
        k(
            "design", Text, Absent, "",
            "a NetFPGA design instead of a file: `reference-router`, between its ports 0 and 1"
        ),
        k(
            "model", Text, Is("reference-1g"), "",
            "the timing of the design: a NetFPGA model of `trammel list devices`"
        ),
        k(
            "tables", Text, See("routes for RFC 2544's networks"), "",
            "the design's tables: a file with rows as `trammel netfpga table set` takes them"
        ),
        k("define", Names, Absent, "", "variables of the Click file, each `NAME=VALUE`"),
        k("vary", Text, Absent, "", "the field in which flows differ, instead of the stream's"),
        k("sample", Text, Absent, "", "a capture with the frames from devices"),
        k(
            "frames", Names, Absent, "",
            "the same as text: each frame in hexadecimal, from its Ethernet header on"
        ),
    ],
};

/// `[[stream]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static STREAM: Section = Section {
    name: "stream",
    help: "the traffic at one port; all streams have the same size and gap",
    extra: None,
    keys: &[
        k(
            "from", Whole(0, 1023), See("every port"), "",
            "the port: 0 is the first FromDevice or source of the Click file"
        ),
        k(
            "to", Whole(0, 1023), Absent, "",
            "the output port: 0 is the first ToDevice; a note counts frames that leave elsewhere"
        ),
        k("size", SIZES, Required, "bytes", "frame size with FCS; each value of a list is tested"),
        k("gap", Table(&GAP), Absent, "", "how frames come under a load"),
        k("flows", Whole(1, MOST_FLOWS), Is("1"), "", "flows that frames belong to"),
        k(
            "vary", Text, Absent, "",
            "what flows differ in: ether.dst, ether.src, vlan, mpls, ip.dst, ip.src, port.src"
        ),
        k(
            "locality", WordOr(&["uniform"], &LOCALITY), Is("uniform"), "",
            "how often which flow comes"
        ),
        k(
            "sample", Text, Absent, "",
            "a capture with the frames of this port, instead of the function's"
        ),
        k(
            "frames", Names, Absent, "",
            "the same as text: each frame in hexadecimal, from its Ethernet header on"
        ),
    ],
};

/// `gap` of a stream.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static GAP: Section = Section {
    name: "gap",
    help: "how frames arrive; `bench` gives their number",
    extra: None,
    keys: &[
        k(
            "distribution", Word(DISTRIBUTIONS), Is("constant"), "",
            "equal gaps, random gaps, or bursts at line rate"
        ),
        k("rate", Word(&["line"]), Is("line"), "", "up to what the line carries"),
        k("burst", Whole(1, 65_536), Is("32"), "", "frames of a burst"),
    ],
};

/// `locality` of a stream.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static LOCALITY: Section = Section {
    name: "locality",
    help: "how often which flow comes",
    extra: None,
    keys: &[
        k(
            "zipf", Number(0.0, 10.0), Required, "",
            "the n-th flow occurs in proportion to n to the power of minus this"
        ),
    ],
};

/// `[bench]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static BENCH: Section = Section {
    name: "bench",
    help: "the tests of the simulated device and, on rings in memory, of this machine",
    extra: None,
    keys: &[
        k("tests", Words(TESTS), See("throughput"), "",
            "throughput is always searched; the other tests run at shares of it, recovery from 110 \
             % of it"),
        k("latency_at", LOADS, See("10, 50 and 90 %"), "", "loads of the latency test"),
        k("loss_at", LOADS, See("90, 100, 110 and 150 %"), "", "loads of the frame-loss test"),
        k("frames", Whole(1_000, 100_000_000), Is("100000"), "", "frames of a trial"),
        k(
            "resolution", Number(0.0001, 0.5), Is("0.005"), "",
            "final width of the search, as a share of the rate"
        ),
    ],
};

/// `[[published]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub(crate) static PUBLISHED: Section = Section {
    name: "published",
    help: "a published number to compare with",
    extra: None,
    keys: &[
        k("function", Text, Absent, "", "the function's name, if there are several"),
        k("size", SIZES, Required, "bytes", "frame size"),
        k("metric", Word(METRICS), Is("throughput"), "", "Mpps or cycles a packet"),
        k("value", Number(0.0, 1e12), Required, "", "the number, in Mpps or cycles"),
        k("source", Text, Required, "", "where it was printed"),
    ],
};

/// Every table of a forwarding scenario.
pub static SECTIONS: &[&Section] = &[
    &ROOT, &DEVICE, &FUNCTION, &STREAM, &GAP, &LOCALITY, &BENCH, &PUBLISHED,
];
