//! Turns packets into the ICMPv6 errors that answer them.
//!
//! # What it does
//! No error answers an error or a redirect, a packet to a group (but for packet too big), or one
//! whose source cannot be answered; such packets end here. As much of the packet is quoted as the
//! least MTU has room for. Type 137 makes redirects to the destination annotation (RFC 4861, §4.5).
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> d :: DecIP6HLIM -> Discard;
//! d[1] -> ICMP6Error(fe80::1, 3, 0) -> EtherEncap(0x86dd, 2:0:0:0:0:1, 2:0:0:0:0:2) -> Queue
//!     -> ToDevice(eth0)
//! ```
//!
//! # References
//! RFC 4443, §2.4; RFC 4861, §4.5.

use crate::args::kinds::{INT, UINT};
use crate::args::{Args, Kind, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::answer::become_answer;
use crate::headers::ip6_packet;
use crate::reason::Reason;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::headers::icmp6::{Icmp6, kind};
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::ipv6::{self, Ipv6};
use trammel_packet::packet::{Packet, PacketType};

/// The class.
pub static ENTRY: Entry = Entry::new("ICMP6Error", "answers packets with ICMPv6 errors", || {
    Box::<Icmp6Error>::default()
})
.references(&["RFC 4443, §2.4", "RFC 4861, §4.5"])
.params(&[
    mandatory("SRC", Kind::Ip6, "the source of the errors"),
    mandatory("TYPE", INT, "the type: 1 to 4, or 137 for redirects"),
    mandatory("CODE", INT, "the code"),
    keyword("MTU", UINT, "1500", "the MTU that packet too big tells of"),
])
.ops("parse(40); copy(2 * frame - 36); checksum(frame + 30) by 4; deparse(48); work(275)");

/// What every link takes, and so the most bytes of an error (RFC 4443, §2.4 (c)).
const LEAST_MTU: usize = 1280;
/// Bytes of a redirect before its options.
const REDIRECT_BYTES: usize = 40;
/// The option of a redirect that quotes the packet.
const REDIRECTED_HEADER: u8 = 4;
/// The code of a parameter problem that answers even a packet to a group.
const UNKNOWN_OPTION: u8 = 2;

#[derive(Debug)]
struct Icmp6Error {
    src: [u8; 16],
    kind: i64,
    code: i64,
    mtu: u32,
    /// The error that is made.
    made: Vec<u8>,
}

impl Default for Icmp6Error {
    fn default() -> Icmp6Error {
        Icmp6Error {
            src: [0; 16],
            kind: -1,
            code: -1,
            mtu: 0,
            // Room for the longest, as the data path makes none.
            made: Vec::with_capacity(LEAST_MTU),
        }
    }
}

fn is_error(kind: u8) -> bool {
    matches!(
        kind,
        kind::UNREACHABLE | kind::PACKET_TOO_BIG | kind::TIME_EXCEEDED | kind::PARAMETER_PROBLEM
    )
}

/// Whether `address` is one that can be answered.
fn is_source(address: &[u8; 16]) -> bool {
    let is_low = address[..15] == [0; 15] && address[15] <= 1;
    address[0] != 0xFF && !is_low
}

impl Icmp6Error {
    /// Makes the error for `packet`; whether there is to be one.
    fn make(&mut self, packet: &Packet) -> bool {
        let network = packet.network_header();
        let Some(ip) = Ipv6::read(network).filter(|ip| ip.version() == 6) else {
            return false;
        };
        let (kind, code) = (self.kind as u8, self.code as u8);
        //= rfc4443 §2.4
        //# An ICMPv6 error message MUST NOT be originated as a result of receiving …
        //# an ICMPv6 error message
        if let Some(upper) = ipv6::upper(network)
            && upper.protocol == protocol::ICMP6
            && upper.fragment_offset == 0
            && network
                .get(upper.at)
                .is_none_or(|kind| is_error(*kind) || *kind == kind::REDIRECT)
        {
            return false;
        }
        let is_group = ip.dst[0] == 0xFF
            || matches!(
                packet.packet_type(),
                PacketType::Broadcast | PacketType::Multicast
            );
        let answers_groups = kind == kind::PACKET_TOO_BIG
            || (kind == kind::PARAMETER_PROBLEM && code == UNKNOWN_OPTION);
        if (is_group && !answers_groups) || !is_source(&ip.src) {
            return false;
        }
        let word = match kind {
            kind::PACKET_TOO_BIG => self.mtu,
            kind::PARAMETER_PROBLEM => u32::from(packet.anno_u8(anno::ICMP_PARAMPROB)),
            _ => 0,
        };
        let made = &mut self.made;
        made.clear();
        made.extend_from_slice(&[0; Ipv6::LEN]);
        made.extend_from_slice(&[kind, code, 0, 0]);
        made.extend_from_slice(&word.to_be_bytes());
        let most = LEAST_MTU - Ipv6::LEN;
        if kind == kind::REDIRECT {
            made.extend_from_slice(&ip6_packet::destination(packet));
            made.extend_from_slice(&ip.dst);
            // The option's length counts units of eight bytes, its own header among them.
            let quoted = network.len().min(most - REDIRECT_BYTES - 8) / 8 * 8;
            let units = (quoted / 8 + 1) as u8;
            made.extend_from_slice(&[REDIRECTED_HEADER, units, 0, 0, 0, 0, 0, 0]);
            made.extend_from_slice(&network[..quoted]);
        } else {
            made.extend_from_slice(&network[..network.len().min(most - Icmp6::LEN)]);
        }
        let sum = ip6_packet::checksum(&self.src, &ip.src, protocol::ICMP6, &made[Ipv6::LEN..]);
        made[Ipv6::LEN + 2..Ipv6::LEN + 4].copy_from_slice(&sum.to_be_bytes());
        let header = Ipv6 {
            version_class_flow: (6 << 28).into(),
            payload_length: ((made.len() - Ipv6::LEN) as u16).into(),
            next_header: protocol::ICMP6,
            hop_limit: 255,
            src: self.src,
            dst: ip.src,
        };
        made[..Ipv6::LEN].copy_from_slice(header.bytes());
        true
    }
}

impl Element for Icmp6Error {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.src = args.ip6("SRC").octets();
        (self.kind, self.code) = (args.int("TYPE"), args.int("CODE"));
        self.mtu = args.uint("MTU") as u32;
        Ok(())
    }

    fn initialize(&mut self, _: &mut Ctx) -> Result<(), String> {
        if self.kind < 0 || self.code < 0 || self.src == [0; 16] {
            return Err("not configured -a".to_owned());
        }
        match u8::try_from(self.kind) {
            Ok(kind) if is_error(kind) || kind == kind::REDIRECT => Ok(()),
            _ => Err(format!(
                "ICMP6 type {} is not an error or redirect type",
                self.kind
            )),
        }
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
            ip6_packet::mark(packet, 0);
            let to = ip6_packet::header(packet).map_or([0; 16], |header| header.dst);
            ip6_packet::set_destination(packet, to);
            packet.set_anno_u8(anno::FIX_IP_SRC, 1);
            Some(handle)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::load::testing::errors;
    use crate::probe::{Left, Probe};

    /// A packet from 2001::1 to 2001::2 of `next` with `payload`.
    fn packet(next: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, payload.len() as u8, next, 1];
        for last in [1, 2] {
            packet.extend([0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        }
        packet.extend(payload);
        packet
    }

    fn send(probe: &mut Probe, data: &[u8]) -> Vec<Left> {
        probe.send_with(data, |packet| {
            ip6_packet::mark(packet, 0);
            ip6_packet::set_destination(packet, [7; 16]);
        })
    }

    fn sum(error: &[u8]) -> u16 {
        let address = |at: usize| error[at..at + 16].try_into().expect("16 bytes");
        ip6_packet::checksum(&address(8), &address(24), 58, &error[40..])
    }

    #[test]
    fn an_error_quotes_the_packet_and_goes_back() {
        let mut probe = Probe::new("ICMP6Error(2001::9, 2, 0, MTU 1400)", 1);
        let cause = packet(17, b"datadata");
        let error = send(&mut probe, &cause).remove(0).1;
        assert_eq!(error[4..8], [0, 56, 58, 255]);
        assert_eq!((error[23], error[39]), (9, 1));
        assert_eq!(error[40..42], [2, 0]);
        assert_eq!(error[44..48], 1400_u32.to_be_bytes());
        assert_eq!((&error[48..], sum(&error)), (&cause[..], 0));
    }

    #[test]
    fn an_error_is_no_longer_than_every_link_takes() {
        let mut probe = Probe::new("ICMP6Error(2001::9, 3, 0)", 1);
        let error = send(&mut probe, &packet(17, &[0; 2000])).remove(0).1;
        assert_eq!((error.len(), sum(&error)), (1280, 0));
    }

    #[test]
    fn a_redirect_names_target_and_destination() {
        let mut probe = Probe::new("ICMP6Error(fe80::9, 137, 0)", 1);
        let cause = packet(17, b"0123456789");
        let redirect = send(&mut probe, &cause).remove(0).1;
        assert_eq!(redirect[48..64], [7; 16]);
        assert_eq!(redirect[64..80], cause[24..40]);
        assert_eq!(redirect[80..82], [4, 7]);
        assert_eq!((&redirect[88..], sum(&redirect)), (&cause[..48], 0));
    }

    #[test]
    fn what_must_not_be_answered_is_not() {
        let mut to_group = packet(17, b"12345678");
        to_group[24] = 0xFF;
        let mut from_nobody = packet(17, b"12345678");
        from_nobody[8..24].fill(0);
        let mut probe = Probe::new("ICMP6Error(2001::9, 3, 0)", 1);
        let errors = [
            packet(58, &[1, 0, 0, 0]),
            packet(58, &[137]),
            packet(58, &[]),
        ];
        for silent in [&to_group, &from_nobody].into_iter().chain(&errors) {
            assert_eq!(send(&mut probe, silent), []);
        }
        assert_eq!(send(&mut probe, &packet(58, &[128, 0, 0, 0])).len(), 1);
        assert_eq!(probe.send(b"no header"), []);
        assert_eq!(probe.held(), 0);
        let mut probe = Probe::new("ICMP6Error(2001::9, 2, 0)", 1);
        assert_eq!(send(&mut probe, &to_group).len(), 1);
    }

    #[test]
    fn only_errors_are_sent() {
        assert!(
            errors("Idle -> ICMP6Error(::5, 128, 0) -> Idle")
                .contains("ICMP6 type 128 is not an error or redirect type")
        );
    }
}
