//! Translates ICMP errors about packets that rewriters translated.
//!
//! # What it does
//! An error quotes the front of the packet that it is about, as it was on the other side. The
//! quoted packet is looked up in each rewriter of `MAPS` as its answer would be, and rewritten back
//! with its checksums; so is the error's destination. `REWRITER:PORT` sends errors about that
//! rewriter's mappings to output PORT and up, as the answers leave there; otherwise they leave by
//! output 0. What is no error or has no mapping goes to output 1, where there is one.
//!
//! # Example
//! ```click
//! // Errors of ICMP that answer translated packets find their way back.
//! rw :: IPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> [0] rw; rw[0] -> Discard; rw[1] -> Discard;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> c :: IPClassifier(icmp type unreachable, -);
//! c[0] -> ICMPRewriter(rw) -> Discard; c[1] -> [1] rw
//! ```
//!
//! # References
//! RFC 792, RFC 5508 §4 (NAT behavioural requirements for ICMP errors), RFC 1624.

use super::shared::rewriter::element::Rewriter;
use super::shared::rewriter::element::lookup::{Found, Want};
use super::shared::rewriter::flow::FlowId;
use crate::args::names::Names;
use crate::args::numbers::parse_int;
use crate::args::text::split_words;
use crate::args::{Args, Kind, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::PHASE_LATE;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId};
use crate::reason::Reason;
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
    mandatory(
        "MAPS",
        Kind::Raw,
        "rewriters, each perhaps with `:` and a first output",
    ),
    flag(
        "DST_ANNO",
        "true",
        "whether the annotation of the destination address is set",
    ),
    keyword(
        "REPLY_ANNO",
        Kind::Anno { size: 1 },
        "",
        "the annotation that errors get from the mapping",
    ),
])
.ops("parse(20); parse(36); 2 * checksum(44); 6 * inc_checksum(4); deparse(20); work(450)");

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

/// Overwrites what stands at the even place `at`, and puts right the checksums that cover it.
fn put(message: &mut [u8], at: usize, value: &[u8], sums: &[Option<usize>]) {
    let Some(old) = message.get_mut(at..at + value.len()) else {
        return;
    };
    let before = Sum::ZERO.bytes(old).fold();
    old.copy_from_slice(value);
    let after = Sum::ZERO.bytes(value).fold();
    for sum in sums.iter().flatten() {
        if let Some(bytes) = message.get_mut(*sum..*sum + 2) {
            let old = u16::from_be_bytes([bytes[0], bytes[1]]);
            let new = Sum::ZERO.u16(!old).u16(!before).u16(after).checksum();
            bytes.copy_from_slice(&new.to_be_bytes());
        }
    }
}

/// The checksum of the whole message.
const ICMP_SUM: usize = 2;
/// The checksum of the quoted header.
const IP_SUM: usize = Icmp::LEN + 10;

/// Rewrites the quoted packet back: it becomes the reverse of `to`.
fn restore(message: &mut [u8], quoted: &Quoted, to: FlowId) {
    let end = message.len().min(quoted.transport + 20);
    let before = Sum::ZERO.bytes(&message[4..end]).fold();
    let sum = match quoted.protocol {
        protocol::TCP => Some(quoted.transport + 16),
        protocol::UDP => Some(quoted.transport + 6),
        _ => None,
    };
    let is_there = |at: &usize| match message.get(*at..*at + 2) {
        // A checksum of UDP that is 0 says that there is none.
        Some(sum) => quoted.has_transport && (quoted.protocol == protocol::TCP || sum != [0, 0]),
        None => false,
    };
    let sum = sum.filter(is_there);
    let [src, dst] = [to.dst.to_be_bytes(), to.src.to_be_bytes()];
    for (at, address) in [(Icmp::LEN + 12, src), (Icmp::LEN + 16, dst)] {
        put(message, at, &address, &[Some(IP_SUM), sum]);
    }
    if quoted.has_transport && quoted.protocol == protocol::ICMP {
        let at = quoted.transport;
        put(message, at + 4, &to.dport.to_be_bytes(), &[Some(at + 2)]);
    } else if quoted.has_transport {
        put(message, quoted.transport, &to.dport.to_be_bytes(), &[sum]);
        put(
            message,
            quoted.transport + 2,
            &to.sport.to_be_bytes(),
            &[sum],
        );
    }
    let after = Sum::ZERO.bytes(&message[4..end]).fold();
    let old = u16::from_be_bytes([message[ICMP_SUM], message[ICMP_SUM + 1]]);
    let new = Sum::ZERO.u16(!old).u16(!before).u16(after).checksum();
    message[ICMP_SUM..ICMP_SUM + 2].copy_from_slice(&new.to_be_bytes());
}

impl IcmpRewriter {
    /// By which output a packet leaves that was rewritten; nothing where none has a mapping for it.
    fn handle(&self, ctx: &mut Ctx, packet: &trammel_packet::pool::Handle) -> Option<usize> {
        let quoted = quoted(ctx.pool()[packet].transport_header())?;
        let (found, first) = self.maps.iter().find_map(|(rewriter, first)| {
            let found = ctx.with_element(*rewriter, |one: &mut Rewriter, ctx| {
                one.lookup(ctx, quoted.protocol, quoted.answers, Want::Reply)
            });
            Some((found??, *first))
        })?;
        let packet = &mut ctx.pool()[packet];
        self.rewrite(packet, &quoted, &found);
        Some(first.map_or(0, |first| first + found.output as usize))
    }

    fn rewrite(&self, packet: &mut Packet, quoted: &Quoted, found: &Found) {
        let to = found.rewritten.dst.to_be_bytes();
        let header = packet.network_header_mut();
        // An error to someone on the way, not to the one who sent the packet, keeps its
        // destination.
        if header.get(16..20) == Some(&quoted.answers.dst.to_be_bytes()) {
            put(header, 16, &to, &[Some(10)]);
            if self.dst_anno {
                packet.set_anno_bytes(anno::DST_IP, to);
            }
        }
        if let Some(at) = self.reply_anno.filter(|_| found.is_reply) {
            packet.annotations_mut()[usize::from(at)] = found.reply_anno;
        }
        restore(packet.transport_header_mut(), quoted, found.rewritten);
    }
}

impl Element for IcmpRewriter {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.dst_anno = args.bool("DST_ANNO");
        self.reply_anno = args.opt_anno("REPLY_ANNO").map(|anno| anno.offset);
        let mut errors = Diagnostics::new();
        let outputs = setup.outputs.len();
        for word in split_words(args.text("MAPS")) {
            let (name, first) = match word.split_once(':') {
                Some((name, first)) => (name, parse_int(first, 0, i32::MAX.into()).ok()),
                None => (word.as_str(), None),
            };
            let rewriter = setup
                .names()
                .element(name)
                .filter(|_| first.is_some() == word.contains(':'));
            match (rewriter, first) {
                (Some(id), Some(first)) if first as usize + setup.ports_of(id).1 > outputs => {
                    let ending = if outputs == 1 { "" } else { "s" };
                    let text =
                        format!("{word} port offset requires more than {outputs} output{ending}");
                    errors.error(None, text);
                }
                (Some(id), first) if setup.is::<Rewriter>(id) => {
                    self.maps.push((id, first.map(|first| first as usize)));
                }
                _ => errors.error(None, format!("{name} not an IP rewriter")),
            }
        }
        if self.maps.is_empty() {
            errors.error(None, "no IP rewriters supplied");
        }
        if errors.has_errors() {
            Err(errors)
        } else {
            Ok(())
        }
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for packet in batch.drain() {
            let ip = Ipv4::read(ctx.pool()[&packet].network_header());
            match ip {
                Some(ip) if ip.protocol == protocol::ICMP => {}
                _ => {
                    ctx.drop(packet, Reason::BadHeader);
                    continue;
                }
            }
            match self.handle(ctx, &packet) {
                Some(output) => ctx.emit(output, packet),
                None => ctx.reject(1, packet, Reason::NoMapping),
            }
        }
        ctx.recycle(batch);
    }
}
