//! Translates ICMP errors about packets that rewriters translated.
//!
//! # What it does
//! An error quotes the front of the packet that it is about, as it was on the other side. The quoted packet
//! is looked up in each rewriter of `MAPS` as its answer would be, and rewritten back with its checksums;
//! so is the error's destination. `REWRITER:PORT` sends errors about that rewriter's mappings to output
//! PORT and up, as the answers leave there; otherwise they leave by output 0. What is no error or has no
//! mapping goes to output 1, where there is one.
//!
//! # Example
//! `rw :: IPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop); ICMPRewriter(rw)`
//!
//! # References
//! RFC 792, RFC 5508 §4 (NAT behavioural requirements for ICMP errors), RFC 1624.

use crate::args::names::Names;
use crate::args::numbers::parse_int;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, Param};
use crate::diagnostic::Diagnostics;
use crate::element::{Element, PHASE_LATE};
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, ElementId};
use crate::reason::Reason;
use crate::rewriter::element::{Found, Rewriter, Want};
use crate::rewriter::flow::FlowId;
use trammel_packet::anno;
use trammel_packet::batch::Batch;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::icmp::{Icmp, is_error, kind};
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ICMPRewriter",
    "translates ICMP errors by the mappings of rewriters",
    || Box::<IcmpRewriter>::default(),
)
.ports("1/1-", "h/h")
.flow("x/x")
.phase(PHASE_LATE)
.params(&[
    Param {
        name: "MAPS",
        need: Need::Mandatory,
        kind: Kind::Raw,
        default: "",
        help: "rewriters, each perhaps with `:` and a first output",
    },
    Param {
        name: "DST_ANNO",
        need: Need::Keyword,
        kind: Kind::Bool,
        default: "true",
        help: "whether the annotation of the destination address is set",
    },
    Param {
        name: "REPLY_ANNO",
        need: Need::Keyword,
        kind: Kind::Anno { size: 1 },
        default: "",
        help: "the annotation that errors get from the mapping",
    },
]);

#[derive(Debug, Default)]
struct IcmpRewriter {
    /// Rewriters, and the first output of each.
    maps: Vec<(ElementId, Option<usize>)>,
    dst_anno: bool,
    reply_anno: Option<u8>,
}

/// What an error quotes.
struct Quoted {
    protocol: u8,
    /// The flow of the answers to the quoted packet.
    answers: FlowId,
    /// Where its transport header begins in the message.
    transport: usize,
    /// Whether that header is there and counts.
    has_transport: bool,
}

fn quoted(message: &[u8]) -> Option<Quoted> {
    let icmp = Icmp::read(message)?;
    let ip = Ipv4::read(message.get(Icmp::LEN..)?)?;
    if !is_error(icmp.kind) || ip.version() != 4 || ip.header_len() < Ipv4::LEN {
        return None;
    }
    let transport = Icmp::LEN + ip.header_len();
    let first = message.get(transport..).filter(|_| ip.is_first_fragment());
    let mut answers = FlowId {
        src: u32::from_be_bytes(ip.dst),
        dst: u32::from_be_bytes(ip.src),
        sport: 0,
        dport: 0,
    };
    let has_transport = match (ip.protocol, first) {
        (protocol::TCP | protocol::UDP | protocol::DCCP, Some([a, b, c, d, _, _, _, _, ..])) => {
            answers.sport = u16::from_be_bytes([*c, *d]);
            answers.dport = u16::from_be_bytes([*a, *b]);
            true
        }
        (protocol::ICMP, Some([kind::ECHO, _, _, _, a, b, ..])) => {
            answers.sport = u16::from_be_bytes([*a, *b]);
            true
        }
        _ => false,
    };
    Some(Quoted {
        protocol: ip.protocol,
        answers,
        transport,
        has_transport,
    })
}

/// Overwrites `at` and puts the checksum at `sum` right, where there is one.
fn put(message: &mut [u8], at: usize, value: &[u8], sums: &[usize]) {
    let Some(old) = message.get_mut(at..at + value.len()) else {
        return;
    };
    let before = Sum::ZERO.bytes(old).fold();
    old.copy_from_slice(value);
    let after = Sum::ZERO.bytes(value).fold();
    for sum in sums {
        if let Some([a, b]) = message.get_mut(*sum..*sum + 2) {
            let old = u16::from_be_bytes([*a, *b]);
            let new = Sum::ZERO.u16(!old).u16(!before).u16(after).checksum();
            [*a, *b] = new.to_be_bytes();
        }
    }
}

/// The checksum of the whole message.
const ICMP_SUM: usize = 2;
/// The checksum of the quoted header, which is itself covered by the whole message's.
const IP_SUM: usize = Icmp::LEN + 10;

/// Rewrites the quoted packet back.
fn restore(message: &mut [u8], quoted: &Quoted, to: FlowId) {
    let ip = Icmp::LEN;
    let addresses = [to.dst.to_be_bytes(), to.src.to_be_bytes()].concat_array();
    let is_udp = quoted.protocol == protocol::UDP;
    let sum = match quoted.protocol {
        protocol::TCP => Some(quoted.transport + 16),
        protocol::UDP => Some(quoted.transport + 6),
        _ => None,
    };
    let present = |at: &usize| match message.get(*at..*at + 2) {
        // A quoted UDP checksum of 0 says that there is none.
        Some(sum) => quoted.has_transport && !(is_udp && sum == [0, 0]),
        None => false,
    };
    let sum = sum.filter(present);
    covered(message, IP_SUM, sum, |message, inner| put(message, ip + 12, &addresses, inner));
    if !quoted.has_transport {
        return;
    }
    if quoted.protocol == protocol::ICMP {
        let (at, sum) = (quoted.transport + 4, quoted.transport + 2);
        covered(message, sum, None, |message, inner| {
            put(message, at, &to.dport.to_be_bytes(), inner);
        });
    } else {
        let ports = u32::from(to.dport) << 16 | u32::from(to.sport);
        let change = |message: &mut [u8], inner: &[usize]| {
            put(message, quoted.transport, &ports.to_be_bytes(), inner);
        };
        match sum {
            Some(sum) => covered(message, sum, None, change),
            None => change(message, &[ICMP_SUM]),
        }
    }
}
