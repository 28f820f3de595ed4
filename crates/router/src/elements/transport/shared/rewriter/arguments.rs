//! The arguments of the rewriters' classes: tables that share their rows.

use crate::args::{Kind, Need, Param, flag, keyword, param};

/// An argument that is a length of time in whole seconds.
const fn seconds(name: &'static str, default: &'static str, help: &'static str) -> Param {
    keyword(name, Kind::SecondsIn(0), default, help)
}

const SPECS: Param = param(
    "INPUTSPEC",
    Need::Rest,
    Kind::Raw,
    "",
    "what becomes of packets without a mapping, for each input",
);
const CAPACITY_ALIAS: Param = keyword("CAPACITY", Kind::Raw, "", "the same as MAPPING_CAPACITY");
const MAPPING_CAPACITY: Param = keyword(
    "MAPPING_CAPACITY",
    Kind::Raw,
    "",
    "the most mappings, or a rewriter whose capacity is shared",
);
const REAP: Param = seconds(
    "REAP_INTERVAL",
    "15m",
    "how often mappings whose time is over end",
);
const REAP_OLD: Param = seconds("REAP_TIME", "", "the old name of REAP_INTERVAL");
const GUARANTEE: Param = seconds("GUARANTEE", "5", "how long a mapping is kept at any rate");
const DST_ANNO: Param = flag(
    "DST_ANNO",
    "true",
    "whether the annotation of the destination address is set",
);
const REPLY_ANNO: Param = keyword(
    "REPLY_ANNO",
    Kind::Anno { size: 1 },
    "",
    "the annotation of a flow's first packet that its answers get",
);

/// The arguments of `IPRewriter`.
pub(crate) const IP: &[Param] = &[
    seconds(
        "TCP_NODATA_TIMEOUT",
        "300",
        "of TCP without data in both directions",
    ),
    seconds("TCP_GUARANTEE", "5", "the same as GUARANTEE"),
    seconds("TIMEOUT", "24h", "the same as TCP_TIMEOUT"),
    seconds("TCP_TIMEOUT", "24h", "of TCP with data in both directions"),
    seconds("TCP_DONE_TIMEOUT", "240", "of TCP that has ended"),
    seconds("UDP_TIMEOUT", "300", "of UDP"),
    seconds(
        "UDP_STREAMING_TIMEOUT",
        "",
        "of UDP with three packets and an answer; UDP_TIMEOUT",
    ),
    seconds(
        "UDP_GUARANTEE",
        "5",
        "how long a mapping of UDP is kept at any rate",
    ),
    GUARANTEE,
    CAPACITY_ALIAS,
    MAPPING_CAPACITY,
    REAP,
    REAP_OLD,
    DST_ANNO,
    REPLY_ANNO,
    SPECS,
];
/// The arguments of `TCPRewriter`.
pub(crate) const TCP_ONLY: &[Param] = &[
    IP[0],
    IP[1],
    IP[2],
    IP[3],
    IP[4],
    GUARANTEE,
    CAPACITY_ALIAS,
    MAPPING_CAPACITY,
    REAP,
    REAP_OLD,
    DST_ANNO,
    REPLY_ANNO,
    SPECS,
];
/// The arguments of `UDPRewriter`.
pub(crate) const UDP_ONLY: &[Param] = &[
    IP[5],
    seconds("TIMEOUT", "300", "of any flow"),
    IP[6],
    seconds(
        "STREAMING_TIMEOUT",
        "",
        "of flows with three packets and an answer; TIMEOUT",
    ),
    IP[7],
    GUARANTEE,
    CAPACITY_ALIAS,
    MAPPING_CAPACITY,
    REAP,
    REAP_OLD,
    DST_ANNO,
    REPLY_ANNO,
    SPECS,
];
/// The arguments of `IPAddrRewriter` and `IPAddrPairRewriter`.
pub(crate) const ADDRESSES: &[Param] = &[
    seconds("TIMEOUT", "2h", "of any mapping"),
    GUARANTEE,
    CAPACITY_ALIAS,
    MAPPING_CAPACITY,
    REAP,
    REAP_OLD,
    REPLY_ANNO,
    SPECS,
];
/// The arguments of `ICMPPingRewriter`.
pub(crate) const PING: &[Param] = &[
    seconds("TIMEOUT", "300", "of any mapping"),
    GUARANTEE,
    CAPACITY_ALIAS,
    MAPPING_CAPACITY,
    REAP,
    REAP_OLD,
    DST_ANNO,
    REPLY_ANNO,
    SPECS,
];
