//! Every key of a traffic scenario, in one table: name, kind, default, unit, help.
//!
//! A stream's keys are the words of `trammel send`; the path's are those of a `[[link]]`.

#![allow(clippy::enum_glob_use)] // The rows of the table would drown in prefixes.

use crate::keys::{
    BYTES, CHANGE, ENGINES, GRANTS, INSTANT, JITTER, LOSS, QUEUE, RANDOM, RATE, REORDER,
    SCHEDULE_FILE, SPAN, with_line_keys,
};
use crate::keys_kind::Fallback::*;
use crate::keys_kind::Kind::*;
use crate::keys_kind::{Section, k};
use trammel_core::units::Dimension as D;

/// The words of `protocol`.
pub const PROTOCOLS: &[&str] = &["udp", "tcp", "icmp"];
/// The words of `late`.
pub const LATE: &[&str] = &["burst", "skip", "stretch"];

/// The file itself.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static ROOT: Section = Section {
    name: "",
    help: "the file: the streams, the path, the duration",
    extra: None,
    keys: &[
        k("title", Text, Is(""), "", "title of the scenario, in one line"),
        k("question", Text, Absent, "", "the question that it answers, for the report"),
        k("subject", Word(&[crate::Subject::Traffic.name()]), Required, "",
            "`traffic`: streams of packets over a path"),
        k("engines", Words(ENGINES), See("predict and simulate"), "",
            "the engines; `measure` sends real packets and requires the right to create network \
             namespaces"),
        k("duration", SPAN, Is("10 s"), "s", "when the last stream ends, at the latest"),
        k("seed", Whole(0, i64::MAX), Is("1"), "",
            "seed of the path, and of streams without their own seed"),
        k("repeat", Whole(1, 100_000), Is("1"), "",
            "runs of every point, with seeds `seed`, `seed` + 1, …; a stream that has a seed of \
             its own keeps it"),
        k("path", Table(&PATH), Required, "", "the path that all streams share"),
        k("stream", Tables(&STREAM), Required, "", "a stream of packets, or several alike"),
        k("sweep", Sweep, Absent, "", "dotted keys with their values"),
    ],
};

/// `[path]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static PATH: Section = Section {
    name: "path",
    help: "the path from the sender to the receiver, and back",
    extra: None,
    keys: &with_line_keys::<5, 18>([
        k("rate", RATE, See("required without `trace`"), "bit/s", "its rate"),
        k("delay", INSTANT, Is("0 s"), "s", "its one-way delay"),
        k("ack_rate", RATE, See("`rate`"), "bit/s",
            "rate of the reverse path, used only by answers of a round trip"),
        k("queue", Table(&QUEUE), See("droptail, 1000 packets"), "",
            "queue before it; a bdp is its rate times twice its delay"),
        k("loss", Table(&LOSS), Absent, "", "losses behind it"),
    ]),
};

/// `[[stream]]`.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static STREAM: Section = Section {
    name: "stream",
    help: "a stream of packets, or several identical ones: the options of `trammel send`",
    extra: None,
    keys: &[
        k("name", Text, See("`stream-1`, `stream-2`, …"), "", "its name in the results"),
        k("count", Whole(1, 100_000), Is("1"), "",
            "number of identical streams, each with its own random numbers; `-1`, `-2`, … are \
             added to the name"),
        k("protocol", Word(PROTOCOLS), Is("udp"), "",
            "transport protocol: `icmp` sends echo requests; `tcp` is measured only"),
        k(
            "rate", Quantity(&[D::PacketRate, D::Ratio], f64::MIN_POSITIVE, 1e9), Absent, "1/s",
            "packets per second; `gap` is then only a shape"
        ),
        k("gap", Law(D::Time), See("constant, if there is a `rate`"), "s", "gaps between packets"),
        k("size", Law(D::Bytes), Is("512 B"), "bytes", "payload of a packet, at least 16 bytes"),
        k("app", Text, Absent, "",
            "an application instead of `rate`, `gap` and `size`: `voip:codec=g729.2`"),
        k("start", INSTANT, Is("0 s"), "s", "when it starts"),
        k("duration", SPAN, See("the end of the run"), "s", "how long it sends"),
        k("packets", Whole(1, i64::MAX), Absent, "", "most packets to send"),
        k("bytes", BYTES, Absent, "bytes", "most bytes of payload to send"),
        k("seed", Whole(0, i64::MAX), See("drawn from the file's seed and the name"), "",
            "seed of its gaps and sizes"),
        k("round_trip", Bool, Is("false"), "",
            "each packet is returned, and the round trip is measured"),
        k("late", Word(LATE), Is("burst"), "",
            "what a real sender does when late: catch up, leave packets out, or delay the rest"),
        k("ds", Whole(0, 255), Absent, "", "byte of differentiated services"),
        k("ttl", Whole(1, 255), Absent, "", "time to live or hop limit"),
    ],
};

/// Every section once, the file first, in the order of the reference page.
#[rustfmt::skip] // One row a key reads as the table it is.
pub static SECTIONS: &[&Section] = &[
    &ROOT, &PATH, &QUEUE, &LOSS, &JITTER, &REORDER, &CHANGE, &SCHEDULE_FILE, &GRANTS,
    &STREAM, &RANDOM,
];
