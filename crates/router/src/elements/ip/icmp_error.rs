//! Turns packets into the ICMP errors that answer them.
//!
//! # What it does
//! No error answers an error, a fragment but the first, a packet to a broadcast or group, or one
//! whose source cannot be answered; such packets end here. A source route is reversed. An
//! annotation asks FixIPSrc for the address of the interface.
//!
//! # Example
//! ```click
//! rt :: RadixIPLookup(10.0.0.0/8 0, 0.0.0.0/0 1);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> rt; rt[0] -> Discard;
//! rt[1] -> ICMPError(10.0.0.1, unreachable, net) -> rt
//! ```
//!
//! # References
//! RFC 792; RFC 1812, §4.3.2.

use super::shared::ip_options::places;
use crate::args::addresses::parse_ip;
use crate::args::kinds::UINT;
use crate::args::names::parse_icmp_code;
use crate::args::numbers::parse_uint;
use crate::args::packet_length::{MOST, within_most};
use crate::args::{Args, Kind, flag, keyword, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::answer::become_answer;
use crate::headers::ip_packet::{destination, header, is_link_group, mark, set_destination};
use crate::reason::Reason;
use std::net::Ipv4Addr;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum;
use trammel_packet::headers::icmp::{self, kind, unreachable};
use trammel_packet::headers::ipv4::{self, Ipv4, option, protocol};
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("ICMPError", "answers packets with ICMP errors", || {
    Box::<IcmpError>::default()
})
.references(&["RFC 792", "RFC 1812, §4.3.2"])
.live()
.params(&[
    mandatory("SRC", Kind::Ip, "the source of the errors"),
    mandatory("TYPE", Kind::IcmpType, "the type, a number or a name"),
    positional("CODE", Kind::Word, "0", "the code, a number or a name"),
    positional(
        "BADADDRS",
        Kind::IpList,
        "",
        "addresses that are broadcasts",
    ),
    keyword("MTU", UINT, "576", "the most bytes of an error"),
    keyword("PMTU", UINT, "0", "the MTU that an error tells of"),
    flag(
        "SET_FIX_ANNO",
        "true",
        "whether FixIPSrc is asked for the source",
    ),
])
.ops(
    "parse(20); copy(2 * frame - 36); checksum(frame - 10) by 4; checksum(20) by 4; \
     deparse(28); work(500)",
);

#[derive(Debug, Default)]
struct IcmpError {
    src: [u8; 4],
    kind: u8,
    code: u8,
    bad: Vec<[u8; 4]>,
    mtu: usize,
    pmtu: u16,
    asks: bool,
    id: u16,
    /// The error that is made.
    made: Vec<u8>,
}

/// Bytes of the header of an error.
const ICMP_BYTES: usize = 8;

impl IcmpError {
    fn is_unicast(&self, address: [u8; 4]) -> bool {
        address != [255; 4] && address[0] >> 4 != 14 && !self.bad.contains(&address)
    }

    /// Whether `address` can be a source (RFC 1812, §5.3.7).
    fn is_source(&self, address: [u8; 4]) -> bool {
        self.is_unicast(address) && !matches!(address[0], 0 | 127 | 240..)
    }

    /// Makes the error for `packet`; whether there is to be one.
    fn make(&mut self, packet: &Packet) -> bool {
        let network = packet.network_header();
        let Some(ip) = Ipv4::read(network) else {
            return false;
        };
        let len = ip.header_len();
        let Some(head) = network.get(..len).filter(|_| len >= Ipv4::LEN) else {
            return false;
        };
        if ip.protocol == protocol::ICMP
            && network.get(len).is_none_or(|kind| icmp::is_error(*kind))
        {
            return false;
        }
        if !self.is_unicast(ip.dst)
            || is_link_group(packet)
            || !self.is_source(ip.src)
            || !ip.is_first_fragment()
        {
            return false;
        }
        let pointer = packet.anno_u8(anno::ICMP_PARAMPROB);
        let tells_place = self.kind == kind::PARAMETER_PROBLEM && self.code == 0;
        let mut route = source_route(head);
        if let Some(place) = &route {
            if self.kind == kind::REDIRECT {
                return false;
            }
            if tells_place && place.contains(&usize::from(pointer)) {
                route = None;
            }
        }
        self.made.clear();
        self.made.extend_from_slice(&[0; Ipv4::LEN]);
        if let Some(place) = route {
            reverse_route(&head[place], &mut self.made);
        }
        let header_len = self.made.len();
        let parameters = match self.kind {
            kind::PARAMETER_PROBLEM if tells_place => [pointer, 0, 0, 0],
            kind::REDIRECT => destination(packet),
            kind::UNREACHABLE if self.code == unreachable::NEEDFRAG => {
                let [high, low] = self.pmtu.to_be_bytes();
                [0, 0, high, low]
            }
            _ => [0; 4],
        };
        self.made.extend_from_slice(&[self.kind, self.code, 0, 0]);
        self.made.extend_from_slice(&parameters);
        let room = self.mtu.saturating_sub(header_len + ICMP_BYTES);
        self.made
            .extend_from_slice(&network[..network.len().min(room)]);
        let sum = checksum::checksum(&self.made[header_len..]);
        self.made[header_len + 2..header_len + 4].copy_from_slice(&sum.to_be_bytes());
        self.id = self.id.wrapping_add(1);
        let total = self.made.len() as u16;
        if let Some(header) = Ipv4::read_mut(&mut self.made) {
            header.version_ihl = 0x40 | (header_len / 4) as u8;
            header.total_length.set(total);
            header.identification.set(self.id);
            header.ttl = 200;
            header.protocol = protocol::ICMP;
            (header.src, header.dst) = (self.src, ip.src);
        }
        ipv4::set_checksum(&mut self.made);
        true
    }
}

/// The place of a source route with something behind it among the options of a header.
fn source_route(head: &[u8]) -> Option<std::ops::Range<usize>> {
    places(head).map_while(Result::ok).find(|place| {
        let option = &head[place.clone()];
        let is_route = matches!(option[0], option::LSRR | option::SSRR);
        is_route
            && option.get(2).is_some_and(|pointer| {
                *pointer >= 4 && pointer % 4 == 0 && usize::from(*pointer) <= option.len() + 1
            })
    })
}

/// Appends the part of a route that has been gone, backwards, and what pads it to whole words.
fn reverse_route(option: &[u8], into: &mut Vec<u8>) {
    let gone = usize::from(option[2]) - 1;
    into.extend_from_slice(&[option[0], gone as u8, 4]);
    for address in option[3..gone].rchunks_exact(4) {
        into.extend_from_slice(address);
    }
    into.push(option::EOL);
}

impl Element for IcmpError {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        self.src = args.ip("SRC").octets();
        self.kind = args.uint("TYPE") as u8;
        if !icmp::is_error(self.kind) {
            said.error(
                None,
                format!("ICMP type {} is not an error type", self.kind),
            );
        }
        match parse_icmp_code(args.text("CODE"), self.kind, &setup.names()) {
            Ok(code) => self.code = code,
            Err(_) => said.error(
                None,
                "argument 2 takes ICMP code (integer between 0 and 255)",
            ),
        }
        self.bad = args
            .ip_list("BADADDRS")
            .iter()
            .map(std::net::Ipv4Addr::octets)
            .collect();
        self.mtu = within_most("MTU", args.uint("MTU"))?;
        self.pmtu = within_most("PMTU", args.uint("PMTU"))? as u16;
        self.asks = args.bool("SET_FIX_ANNO");
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let now = ctx.now();
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            if !self.make(packet) {
                ctx.drop(handle, Reason::Discarded);
                return None;
            }
            become_answer(packet, &self.made, now);
            mark(packet, 0);
            let to = header(packet).map_or([0; 4], |header| header.dst);
            set_destination(packet, to);
            packet.set_anno_u8(anno::FIX_IP_SRC, u8::from(self.asks));
            Some(handle)
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        ["src", "mtu", "pmtu"]
            .map(|name| Handler::new(name, "rw"))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "src" => Ipv4Addr::from(self.src).to_string(),
            "mtu" => self.mtu.to_string(),
            _ => self.pmtu.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let number = || parse_uint(value, MOST as u64).map_err(|why| why.to_string());
        match name {
            "src" => {
                let address = parse_ip(value, &ctx.names()).map_err(|why| why.to_string())?;
                self.src = address.octets();
            }
            "mtu" => self.mtu = number()? as usize,
            _ => self.pmtu = number()? as u16,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::checksum::checksum;
    use trammel_packet::packet::PacketType;

    #[test]
    fn an_error_quotes_the_packet_and_goes_back() {
        let mut probe = Probe::new("ICMPError(10.9.9.9, timeexceeded)", 1);
        let left = probe.send_ip(&udp(1, b"data"));
        let error = &left[0].1;
        assert_eq!(error[9..10], [1]);
        assert_eq!(error[12..20], [10, 9, 9, 9, 10, 0, 0, 1]);
        assert_eq!(error[20..22], [11, 0]);
        assert_eq!(error[28..], udp(1, b"data"));
        assert_eq!((checksum(&error[..20]), checksum(&error[20..])), (0, 0));
    }

    #[test]
    fn an_error_is_no_longer_than_it_may_be() {
        let mut probe = Probe::new("ICMPError(10.9.9.9, unreachable, needfrag, PMTU 1400)", 1);
        let error = &probe.send_ip(&udp(9, &[0; 1400]))[0].1;
        assert_eq!(error.len(), 576);
        assert_eq!(error[20..22], [3, 4]);
        assert_eq!(error[26..28], 1400_u16.to_be_bytes());
    }

    #[test]
    fn what_must_not_be_answered_is_not() {
        let cases: [(usize, &[u8]); 6] = [
            (16, &[224, 0, 0, 1]),
            (16, &[255, 255, 255, 255]),
            (12, &[0, 0, 0, 1]),
            (12, &[127, 0, 0, 1]),
            (12, &[10, 0, 0, 255]),
            (6, &[0, 1]),
        ];
        let mut probe = Probe::new("ICMPError(10.9.9.9, unreachable, host, 10.0.0.255)", 1);
        for (at, bytes) in cases {
            let mut packet = udp(9, b"");
            packet[at..at + bytes.len()].copy_from_slice(bytes);
            assert_eq!(probe.send_ip(&packet), [], "{at} {bytes:?}");
        }
        let mut error = udp(9, b"");
        (error[9], error[20]) = (1, 11);
        assert_eq!(probe.send_ip(&error), []);
        let left = probe.send_with(&udp(9, b""), |packet| {
            crate::headers::ip_packet::mark(packet, 0);
            packet.set_packet_type(PacketType::Broadcast);
        });
        assert_eq!(left, []);
        assert_eq!(probe.send(b"no header"), []);
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn a_source_route_is_gone_backwards() {
        let mut packet = udp(1, &[0; 16]);
        packet[0] = 0x49;
        packet[20..36].copy_from_slice(&[131, 15, 12, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0]);
        let mut probe = Probe::new("ICMPError(10.9.9.9, timeexceeded)", 1);
        let error = &probe.send_ip(&packet)[0].1;
        assert_eq!(error[0], 0x48);
        assert_eq!(error[20..32], [131, 11, 4, 2, 2, 2, 2, 1, 1, 1, 1, 0]);
        let mut probe = Probe::new("ICMPError(10.9.9.9, redirect, host)", 1);
        assert_eq!(probe.send_ip(&packet), []);
    }

    #[test]
    fn only_errors_are_sent() {
        assert!(
            errors("Idle -> ICMPError(1.2.3.4, echo) -> Idle")
                .contains("ICMP type 8 is not an error type")
        );
        assert!(
            errors("Idle -> ICMPError(1.2.3.4, redirect, x) -> Idle")
                .contains("argument 2 takes ICMP code")
        );
    }
}
