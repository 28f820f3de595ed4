//! Translates addresses and ports of IPv6 packets, and back for their answers.
//!
//! # What it does
//! Packets at input 0 go outwards: their source is an inner address, which becomes a mapped one,
//! and they leave by output 0. Packets at input 1 come inwards: their destination is a mapped
//! address, which becomes the inner one, and they leave by output 1. What has no mapping is
//! dropped. TCP, UDP and ICMPv6 checksums are updated, so that a wrong one stays wrong; fragments
//! but the first have none to update.
//!
//! ```text
//!   AddressTranslator(n, by_port, INNER MAPPED, ...,
//!                     dynamic, with_ports, inwards, MAPPED [FIRST LAST])
//! ```
//!
//! The first argument is the number of static mappings, the second whether these are of ports too
//! (`INNER PORT MAPPED PORT`); so many mappings follow. Then come whether mappings are made for new
//! flows, whether with ports, whether packets that come inwards make them (with
//! `ProtocolTranslator64` behind it outwards is what makes a NAT64: 0), and what they map to:
//! addresses, or one address and a range of ports. Where these are used up, the mapping goes that
//! was used least recently, once it has been idle for five minutes.
//!
//! # Handlers
//! - `table`: the mappings, one a line
//! - `size`: how many mappings there are
//!
//! # Example
//! ```click
//! // A NAT64: hosts of IPv6 reach those of IPv4 by ten ports of one address.
//! at :: AddressTranslator(0, 1, 1, 0, ::1.0.0.1 6000 6010);
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> [0] at;
//! at[0] -> ProtocolTranslator64 -> Discard;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> ProtocolTranslator46 -> [1] at;
//! at[1] -> Discard
//! ```
//!
//! # References
//! RFC 6146, §3.5 and §4; RFC 4787, REQ-5, for the five minutes.

use crate::args::addresses::parse_ip6;
use crate::args::names::Names;
use crate::args::numbers::{parse_bool, parse_uint};
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::{About, Diagnostics};
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip6_packet;
use crate::reason::Reason;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::Ipv6Addr;
use trammel_packet::batch::Batch;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::ipv6::{Ipv6, upper};
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AddressTranslator",
    "translates addresses and ports of IPv6 packets",
    || Box::<AddressTranslator>::default(),
)
.references(&["RFC 6146, §3.5", "RFC 4787"])
.ports("2/2", "h/h")
.flow("#/#")
.params(&[param(
    "MAPPINGS",
    Need::Rest,
    Kind::Raw,
    "",
    "how many static mappings, \
     whether of ports, these; whether dynamic ones, with ports, from outside; to what",
)])
.ops("parse(44); work(220); deparse(20)");

/// How long a mapping is kept for a flow that is silent.
const IDLE: Timestamp = Timestamp(300 * 1_000_000_000);
/// The most mappings.
const MOST: usize = 1 << 16;

/// An address, and a port where mappings are of ports: of ICMP the identifier.
type End = ([u8; 16], u16);

#[derive(Clone, Copy, Debug)]
struct Mapping {
    inner: End,
    mapped: End,
    protocol: u8,
    is_static: bool,
    used: Timestamp,
}

#[derive(Debug, Default)]
struct AddressTranslator {
    static_ports: bool,
    dynamic: bool,
    ports: bool,
    inwards: bool,
    /// What new mappings map to.
    pool: Vec<End>,
    next: usize,
    all: Vec<Mapping>,
    by_inner: BTreeMap<(End, u8), usize>,
    by_mapped: BTreeMap<(End, u8), usize>,
}

/// Where an address of a packet stands: the source or the destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Source,
    Destination,
}

/// What is changed of a packet.
struct TranslatedFlow {
    address: [u8; 16],
    other: [u8; 16],
    protocol: u8,
    /// Where the port stands, and the checksum; nothing where there is none.
    port_at: Option<usize>,
    checksum_at: Option<usize>,
    port: u16,
}

fn flow(data: &[u8], side: Side) -> Option<TranslatedFlow> {
    let ip = *Ipv6::read(data).filter(|ip| ip.version() == 6)?;
    let found = upper(data)?;
    let is_first = found.fragment_offset == 0;
    let (port, checksum) = match (found.protocol, is_first) {
        (protocol::TCP, true) => (Some(if side == Side::Source { 0 } else { 2 }), Some(16)),
        (protocol::UDP, true) => (Some(if side == Side::Source { 0 } else { 2 }), Some(6)),
        (protocol::ICMP6, true) => {
            let is_echo = data
                .get(found.at)
                .is_some_and(|kind| matches!(kind, 128 | 129));
            (is_echo.then_some(4), Some(2))
        }
        _ => (None, None),
    };
    let port_at = port.map(|at| found.at + at);
    let value =
        port_at.and_then(|at| Some(u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?])));
    let (address, other) = match side {
        Side::Source => (ip.src, ip.dst),
        Side::Destination => (ip.dst, ip.src),
    };
    Some(TranslatedFlow {
        address,
        other,
        protocol: found.protocol,
        port_at: port_at.filter(|_| value.is_some()),
        checksum_at: checksum.map(|at| found.at + at),
        port: value.unwrap_or(0),
    })
}

/// Puts another end in the place of one, and updates the checksum.
fn change(data: &mut [u8], side: Side, flow: &TranslatedFlow, to: End, with_port: bool) {
    let at = if side == Side::Source { 8 } else { 24 };
    data[at..at + 16].copy_from_slice(&to.0);
    let (mut before, mut after) = (Sum::ZERO.bytes(&flow.address), Sum::ZERO.bytes(&to.0));
    if let Some(at) = flow.port_at.filter(|_| with_port) {
        data[at..at + 2].copy_from_slice(&to.1.to_be_bytes());
        (before, after) = (before.u16(flow.port), after.u16(to.1));
    }
    let field = flow.checksum_at.and_then(|at| data.get_mut(at..at + 2));
    if let Some(field) = field {
        let old = u16::from_be_bytes([field[0], field[1]]);
        if flow.protocol == protocol::UDP && old == 0 {
            return;
        }
        // RFC 1624, as for IPv4.
        let sum = Sum::ZERO
            .u16(!old)
            .u16(!before.fold())
            .u16(after.fold())
            .checksum();
        let sum = if flow.protocol == protocol::UDP && sum == 0 {
            0xffff
        } else {
            sum
        };
        field.copy_from_slice(&sum.to_be_bytes());
    }
}

impl AddressTranslator {
    /// The key of an end: where mappings are of addresses only, ports and protocols do not count.
    fn key(end: End, protocol: u8, with_ports: bool) -> (End, u8) {
        if with_ports {
            (end, protocol)
        } else {
            ((end.0, 0), 0)
        }
    }

    fn find(&mut self, side: Side, flow: &TranslatedFlow, now: Timestamp) -> Option<(End, bool)> {
        let end = (flow.address, flow.port);
        for with_ports in [true, false] {
            let key = AddressTranslator::key(end, flow.protocol, with_ports);
            let map = match side {
                Side::Source => &self.by_inner,
                Side::Destination => &self.by_mapped,
            };
            if let Some(at) = map.get(&key).copied() {
                let mapping = &mut self.all[at];
                mapping.used = now;
                let to = match side {
                    Side::Source => mapping.mapped,
                    Side::Destination => mapping.inner,
                };
                return Some((to, with_ports));
            }
        }
        None
    }

    fn add(&mut self, mapping: Mapping, with_ports: bool) {
        let at = self.all.len();
        self.all.push(mapping);
        let key = |end| AddressTranslator::key(end, mapping.protocol, with_ports);
        self.by_inner.insert(key(mapping.inner), at);
        self.by_mapped.insert(key(mapping.mapped), at);
    }

    /// Forgets the mapping that was used least recently, if it is idle.
    fn make_room(&mut self, now: Timestamp) -> Option<()> {
        let free = self
            .all
            .iter()
            .enumerate()
            .filter(|(_, one)| !one.is_static);
        let (at, oldest) = free.min_by_key(|(_, one)| one.used)?;
        if now - oldest.used < IDLE {
            return None;
        }
        self.all.swap_remove(at);
        let moved = self.all.len();
        for map in [&mut self.by_inner, &mut self.by_mapped] {
            map.retain(|_, place| *place != at);
            if let Some(place) = map.values_mut().find(|place| **place == moved) {
                *place = at;
            }
        }
        Some(())
    }

    /// A mapping for the inner end of a new flow.
    fn allocate(&mut self, flow: &TranslatedFlow, now: Timestamp) -> Option<(End, bool)> {
        let inner = (flow.address, flow.port);
        if self.ports && flow.port_at.is_none() || self.pool.is_empty() {
            return None;
        }
        if self.all.len() >= MOST {
            self.make_room(now)?;
        }
        let mapped = match self.free(flow.protocol) {
            Some(mapped) => mapped,
            None => {
                self.make_room(now)?;
                self.free(flow.protocol)?
            }
        };
        let mapping = Mapping {
            inner,
            mapped,
            protocol: flow.protocol,
            is_static: false,
            used: now,
        };
        let with_ports = self.ports;
        self.add(mapping, with_ports);
        Some((mapped, with_ports))
    }

    /// The next of the pool that no mapping has.
    fn free(&mut self, protocol: u8) -> Option<End> {
        for _ in 0..self.pool.len() {
            let end = self.pool[self.next];
            self.next = (self.next + 1) % self.pool.len();
            let key = AddressTranslator::key(end, protocol, self.ports);
            if !self.by_mapped.contains_key(&key) {
                return Some(end);
            }
        }
        None
    }

    fn translate(&mut self, packet: &mut Packet, side: Side, now: Timestamp) -> Option<()> {
        let flow = flow(packet.network_header(), side)?;
        let found = match self.find(side, &flow, now) {
            Some(found) => found,
            None if self.dynamic && side == Side::Source && !self.inwards => {
                self.allocate(&flow, now)?
            }
            None => return None,
        };
        change(packet.network_header_mut(), side, &flow, found.0, found.1);
        let destination = if side == Side::Source {
            flow.other
        } else {
            found.0.0
        };
        ip6_packet::set_destination(packet, destination);
        Some(())
    }
}

impl Element for AddressTranslator {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut reader = Reader {
            rest: args.rest(),
            at: 0,
        };
        let names = setup.names();
        let count = reader.next("number of static mappings", |text| {
            parse_uint(text, MOST as u64).ok()
        })?;
        if count > 0 {
            self.static_ports = reader.next("whether static mappings are of ports", flag)?;
        }
        for _ in 0..count {
            let of_ports = self.static_ports;
            let form = "static mapping: INNER MAPPED, or INNER PORT MAPPED PORT";
            let (inner, mapped) = reader.next(form, |text| mapping(text, of_ports, &names))?;
            for protocol in if of_ports {
                vec![protocol::TCP, protocol::UDP, protocol::ICMP6]
            } else {
                vec![0]
            } {
                let mapping = Mapping {
                    inner,
                    mapped,
                    protocol,
                    is_static: true,
                    used: Timestamp::ZERO,
                };
                self.add(mapping, of_ports);
            }
        }
        self.dynamic = reader.next("whether there are dynamic mappings", flag)?;
        if self.dynamic {
            self.ports = reader.next("whether dynamic mappings are of ports", flag)?;
            self.inwards = reader.next("whether packets from outside make mappings", flag)?;
            while reader.at < reader.rest.len() {
                let ports = self.ports;
                let form = if ports {
                    "ADDRESS FIRST LAST"
                } else {
                    "ADDRESS"
                };
                let ends = reader.next(form, |text| ends(text, ports, &names))?;
                self.pool.extend(ends);
            }
            if self.pool.is_empty() {
                return Err(Diagnostics::of("no address to map to"));
            }
            if self.inwards {
                let text = "packets from outside make no mappings: they have no inner address";
                setup.warnings.push(text.to_owned());
            }
        }
        if reader.at < reader.rest.len() {
            let mut said = Diagnostics::new();
            said.error_about(About::Rest(reader.at), "too many arguments", None);
            return Err(said);
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        let now = ctx.now();
        let side = if port == 0 {
            Side::Source
        } else {
            Side::Destination
        };
        batch.filter(|handle| {
            if self
                .translate(&mut ctx.pool()[&handle], side, now)
                .is_some()
            {
                return Some(handle);
            }
            ctx.drop(handle, Reason::NoMapping);
            None
        });
        ctx.emit_all(port, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("table", "r"), Handler::new("size", "r")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        if name == "size" {
            return Ok(self.all.len().to_string());
        }
        let mut text = String::new();
        for one in &self.all {
            let show = |(address, port): End| format!("{} {port}", Ipv6Addr::from(address));
            let (inner, mapped) = (show(one.inner), show(one.mapped));
            let kind = if one.is_static { "static" } else { "dynamic" };
            writeln!(text, "{inner} => {mapped} {} {kind}", one.protocol)
                .expect("a string takes any text");
        }
        Ok(text)
    }
}

/// Reads arguments one after the other.
struct Reader<'a> {
    rest: &'a [String],
    at: usize,
}

impl Reader<'_> {
    fn next<T>(&mut self, what: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Diagnostics> {
        let mut said = Diagnostics::new();
        let Some(text) = self.rest.get(self.at) else {
            said.error(None, format!("too few arguments: expected {what}"));
            return Err(said);
        };
        self.at += 1;
        read(text).ok_or_else(|| {
            said.error_about(About::Rest(self.at - 1), format!("expected {what}"), None);
            said
        })
    }
}

fn flag(text: &str) -> Option<bool> {
    parse_bool(text).ok()
}

fn address(text: &str, names: &dyn Names) -> Option<[u8; 16]> {
    parse_ip6(text, names).ok().map(|address| address.octets())
}

fn mapping(text: &str, with_ports: bool, names: &dyn Names) -> Option<(End, End)> {
    let words = split_words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let port = |text: &str| parse_uint(text, 65535).ok().map(|port| port as u16);
    match (&words[..], with_ports) {
        ([inner, mapped], false) => {
            Some(((address(inner, names)?, 0), (address(mapped, names)?, 0)))
        }
        ([inner, one, mapped, other], true) => Some((
            (address(inner, names)?, port(one)?),
            (address(mapped, names)?, port(other)?),
        )),
        _ => None,
    }
}

fn ends(text: &str, with_ports: bool, names: &dyn Names) -> Option<Vec<End>> {
    let words = split_words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match (&words[..], with_ports) {
        ([one], false) => Some(vec![(address(one, names)?, 0)]),
        ([one, first, last], true) => {
            let port = |text: &str| parse_uint(text, 65535).ok().map(|port| port as u16);
            let (one, first, last) = (address(one, names)?, port(first)?, port(last)?);
            (first <= last).then(|| (first..=last).map(|port| (one, port)).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{Run, errors, loaded};
    use trammel_packet::headers::ipv4::protocol;

    const INNER: &str = "::ffff:1.2.3.4";
    const OUTER: &str = "::5.6.7.8";
    const MAPPED: &str = "::1.0.0.1";

    /// A UDP packet with its checksum right.
    fn udp(src: (&str, u16), dst: (&str, u16)) -> Vec<u8> {
        let six = |text: &str| {
            text.parse::<std::net::Ipv6Addr>()
                .expect("an address")
                .octets()
        };
        let (a, b) = (six(src.0), six(dst.0));
        let mut payload = [src.1.to_be_bytes(), dst.1.to_be_bytes(), [0, 12], [0, 0]].concat();
        payload.extend(b"abcd");
        let sum = crate::headers::ip6_packet::checksum(&a, &b, protocol::UDP, &payload);
        payload[6..8].copy_from_slice(&sum.to_be_bytes());
        let mut packet = vec![0x60, 0, 0, 0, 0, 12, protocol::UDP, 9];
        packet.extend(a);
        packet.extend(b);
        packet.extend(payload);
        packet
    }

    fn translator(arguments: &str) -> Run {
        loaded(&format!(
            "x :: AddressTranslator({arguments}); Idle -> x -> Discard; Idle -> [1] x [1] \
             -> Discard; \
             TimedSource(100) -> Discard"
        ))
    }

    fn send(run: &mut Run, input: usize, packet: &[u8]) -> Option<Vec<u8>> {
        let x = run.ctx.find("x", None).expect("it is declared");
        let handle = run.ctx.pool().alloc_with(packet).expect("room");
        crate::headers::ip6_packet::mark(&mut run.ctx.pool()[&handle], 0);
        let left = run.ctx.pass_to(x, input, vec![handle]);
        let mut all = left.into_iter().map(|(port, handle)| {
            assert_eq!(port, input);
            let bytes = run.ctx.pool()[&handle].data().to_vec();
            run.ctx.pool().free(handle);
            bytes
        });
        all.next()
    }

    #[test]
    fn static_mappings_go_both_ways() {
        let mut run = translator("1, 0, ::ffff:1.2.3.4 ::1.0.0.1, 0");
        let there = send(&mut run, 0, &udp((INNER, 1000), (OUTER, 80)));
        assert_eq!(there, Some(udp((MAPPED, 1000), (OUTER, 80))));
        let back = send(&mut run, 1, &udp((OUTER, 80), (MAPPED, 1000)));
        assert_eq!(back, Some(udp((OUTER, 80), (INNER, 1000))));
        assert_eq!(send(&mut run, 0, &udp((OUTER, 80), (INNER, 1))), None);
        let mut run = translator("1, 1, ::ffff:1.2.3.4 80 ::1.0.0.1 8080, 0");
        let back = send(&mut run, 1, &udp((OUTER, 9), (MAPPED, 8080)));
        assert_eq!(back, Some(udp((OUTER, 9), (INNER, 80))));
    }

    #[test]
    fn flows_get_ports_of_the_range_until_there_are_none() {
        let mut run = translator("0, 1, 1, 0, ::1.0.0.1 6000 6001");
        let there = send(&mut run, 0, &udp((INNER, 1000), (OUTER, 80)));
        assert_eq!(there, Some(udp((MAPPED, 6000), (OUTER, 80))));
        let again = send(&mut run, 0, &udp((INNER, 1000), (OUTER, 81)));
        assert_eq!(again, Some(udp((MAPPED, 6000), (OUTER, 81))));
        let other = send(&mut run, 0, &udp((INNER, 1001), (OUTER, 80)));
        assert_eq!(other, Some(udp((MAPPED, 6001), (OUTER, 80))));
        assert_eq!(send(&mut run, 0, &udp((INNER, 1002), (OUTER, 80))), None);
        let back = send(&mut run, 1, &udp((OUTER, 80), (MAPPED, 6001)));
        assert_eq!(back, Some(udp((OUTER, 80), (INNER, 1001))));
        assert_eq!(run.read("x.size"), "2");
        // What has been idle for long makes room.
        run.run(400.0);
        let late = send(&mut run, 0, &udp((INNER, 1002), (OUTER, 80)));
        assert_eq!(late, Some(udp((MAPPED, 6000), (OUTER, 80))));
    }

    #[test]
    fn addresses_are_given_whole() {
        let mut run = translator("0, 1, 0, 0, ::1.0.0.1");
        let there = send(&mut run, 0, &udp((INNER, 1000), (OUTER, 80)));
        assert_eq!(there, Some(udp((MAPPED, 1000), (OUTER, 80))));
        assert_eq!(send(&mut run, 0, &udp(("::9", 1000), (OUTER, 80))), None);
        assert_eq!(send(&mut run, 0, b"\x60short"), None);
    }

    #[test]
    fn wrong_arguments_are_told() {
        for (arguments, said) in [
            ("", "too few arguments: expected number of static mappings"),
            ("1, 0, ::1, 0", "expected static mapping"),
            ("0, 1, 1, 0, ::1 9 3", "expected ADDRESS FIRST LAST"),
            ("0, 1, 0, 0", "no address to map to"),
        ] {
            let text = format!(
                "x :: AddressTranslator({arguments}); Idle -> x -> Discard; Idle -> [1] x [1] \
                 -> Discard"
            );
            assert!(
                errors(&text).contains(said),
                "{arguments}: {}",
                errors(&text)
            );
        }
    }
}
