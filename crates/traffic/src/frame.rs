//! Frames of Ethernet that carry a stamp in UDP in IP: what a host's own sockets would have put on
//! the wire.
//!
//! Headers are written once; of each frame change the lengths, the checksums and the stamp, whose
//! sum is taken while it is written. So any device forwards the frames, and any socket of UDP
//! receives them. Source: RFC 894, 791, 8200, 768.

use crate::stamp::{STAMP_BYTES, Stamp};
use std::net::{IpAddr, SocketAddr};
use trammel_packet::headers::checksum::{Sum, for_udp};
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::ipv4::{self, Ipv4, protocol};
use trammel_packet::headers::ipv6::Ipv6;
use trammel_packet::headers::udp::Udp;

/// The shortest frame, without its check sequence; a shorter one is padded with zeroes (IEEE
/// 802.3).
pub(crate) const LEAST_BYTES: usize = 60;

/// What the headers of a flow's frames say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The Ethernet address that frames come from.
    pub from_mac: [u8; 6],
    /// The one that they go to: the next hop's.
    pub to_mac: [u8; 6],
    /// Address and port that packets come from.
    pub from: SocketAddr,
    /// Those that they go to, of the same version of IP.
    pub to: SocketAddr,
    /// The byte of differentiated services.
    pub ds: u8,
    /// The time to live or hop limit.
    pub ttl: u8,
}

/// A frame that is written anew for every packet.
#[derive(Debug)]
pub struct Template {
    bytes: Vec<u8>,
    /// Where the header of UDP begins.
    udp: usize,
    is_ipv6: bool,
    /// The sum of the header of IPv4 without its length, and of what UDP covers without lengths and
    /// stamp.
    ip_sum: Sum,
    udp_sum: Sum,
}

impl Template {
    /// Bytes of headers in a frame of this version of IP, without that of Ethernet.
    pub fn overhead(is_ipv6: bool) -> usize {
        let ip = if is_ipv6 { Ipv6::LEN } else { Ipv4::LEN };
        ip + Udp::LEN
    }

    /// Frames with `headers`, of payloads of `most_bytes` at most. None where the addresses are of
    /// different versions of IP, or a packet would be longer than IP allows.
    pub fn new(headers: &Headers, most_bytes: usize) -> Option<Template> {
        let ports = u32::from(headers.from.port()) << 16 | u32::from(headers.to.port());
        let udp_sum = Sum::ZERO.u32(ports);
        let mut ether = Ether {
            dst: headers.to_mac,
            src: headers.from_mac,
            ethertype: ethertype::IP.into(),
        };
        let (mut ip, is_ipv6) = (Vec::new(), headers.to.is_ipv6());
        let (ip_sum, udp_sum) = match (headers.from.ip(), headers.to.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let header = Ipv4 {
                    version_ihl: 0x45,
                    tos: headers.ds,
                    // Nothing cuts it, so nothing needs to tell its parts apart (RFC 6864).
                    flags_fragment: ipv4::DF.into(),
                    ttl: headers.ttl,
                    protocol: protocol::UDP,
                    src: from.octets(),
                    dst: to.octets(),
                    ..Ipv4::default()
                };
                ip.extend_from_slice(header.bytes());
                let pseudo = udp_sum.pseudo_v4(header.src, header.dst, protocol::UDP, 0);
                (Sum::ZERO.bytes(&ip), pseudo)
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                ether.ethertype = ethertype::IP6.into();
                let header = Ipv6 {
                    version_class_flow: (6 << 28 | u32::from(headers.ds) << 20).into(),
                    next_header: protocol::UDP,
                    hop_limit: headers.ttl,
                    src: from.octets(),
                    dst: to.octets(),
                    ..Ipv6::default()
                };
                ip.extend_from_slice(header.bytes());
                let pseudo = udp_sum.pseudo_v6(&header.src, &header.dst, protocol::UDP, 0);
                (Sum::ZERO, pseudo)
            }
            _ => return None,
        };
        let udp = Udp {
            sport: headers.from.port().into(),
            dport: headers.to.port().into(),
            ..Udp::default()
        };
        if Template::overhead(is_ipv6) + most_bytes > usize::from(u16::MAX) {
            return None;
        }
        let mut bytes = [ether.bytes(), &ip, udp.bytes()].concat();
        let frame_bytes = (bytes.len() + most_bytes).max(LEAST_BYTES);
        bytes.resize(frame_bytes, 0);
        Some(Template {
            bytes,
            udp: Ether::LEN + ip.len(),
            is_ipv6,
            ip_sum,
            udp_sum,
        })
    }

    /// The frame of a packet with `stamp` and a payload of `bytes`, which is as long as was said at
    /// most.
    pub fn frame(&mut self, stamp: &Stamp, bytes: usize) -> &[u8] {
        let payload = self.udp + Udp::LEN;
        let bytes = bytes.clamp(STAMP_BYTES, self.bytes.len() - payload);
        // The template is as long as IP allows at most.
        let udp_length = (Udp::LEN + bytes) as u16;
        let stamp = stamp.write();
        // Once in the pseudo-header and once in the header.
        let sum = self.udp_sum.u16(udp_length).u16(udp_length).bytes(&stamp);
        let ip = &mut self.bytes[Ether::LEN..];
        if self.is_ipv6 {
            let header = Ipv6::read_mut(ip).expect("the buffer holds a whole header");
            header.payload_length = udp_length.into();
        } else {
            let header = Ipv4::read_mut(ip).expect("the buffer holds a whole header");
            let length = Ipv4::LEN as u16 + udp_length;
            header.total_length = length.into();
            header.checksum = self.ip_sum.u16(length).checksum().into();
        }
        let udp =
            Udp::read_mut(&mut self.bytes[self.udp..]).expect("the buffer holds a whole header");
        udp.length = udp_length.into();
        udp.checksum = for_udp(sum).into();
        self.bytes[payload..payload + STAMP_BYTES].copy_from_slice(&stamp);
        &self.bytes[..(payload + bytes).max(LEAST_BYTES)]
    }
}

/// Where a whole datagram of UDP in a frame comes from, and its payload. IPv4 with options, IPv6
/// with extension headers and tagged frames are left; so are checksums, which a peer on the same
/// machine leaves to a device that there is not.
pub fn read(frame: &[u8]) -> Option<(SocketAddr, &[u8])> {
    let ip = frame.get(Ether::LEN..)?;
    let (from, udp): (IpAddr, &[u8]) = match Ether::read(frame)?.ethertype.get() {
        ethertype::IP => {
            let header = Ipv4::read(ip).filter(|header| {
                header.version_ihl == 0x45
                    && header.protocol == protocol::UDP
                    && !header.is_fragment()
            })?;
            let end = usize::from(header.total_length.get());
            (header.src.into(), ip.get(Ipv4::LEN..end)?)
        }
        ethertype::IP6 => {
            let header = Ipv6::read(ip).filter(|header| header.next_header == protocol::UDP)?;
            let end = Ipv6::LEN + usize::from(header.payload_length.get());
            (header.src.into(), ip.get(Ipv6::LEN..end)?)
        }
        _ => return None,
    };
    let header = Udp::read(udp)?;
    let payload = udp.get(Udp::LEN..usize::from(header.length.get()))?;
    Some(((from, header.sport.get()).into(), payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trammel_packet::headers::checksum::checksum;

    fn headers(is_ipv6: bool) -> Headers {
        let of = |v4: &str, v6: &str| {
            let text = if is_ipv6 { v6 } else { v4 };
            text.parse().expect("the address is well formed")
        };
        Headers {
            from_mac: [2, 0, 0, 0, 0, 1],
            to_mac: [2, 0, 0, 0, 0, 2],
            from: of("10.0.0.1:1024", "[fd00::1]:1024"),
            to: of("10.0.0.2:9311", "[fd00::2]:9311"),
            ds: 0xb8,
            ttl: 17,
        }
    }

    #[test]
    fn its_bytes_are_those_of_the_rfcs() {
        let stamp = Stamp {
            flow: 1,
            sequence: 2,
            sent_ns: 3,
        };
        let mut template = Template::new(&headers(false), 1472).expect("it fits");
        let frame = template.frame(&stamp, 16).to_vec();
        let expected = [
            &[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0][..],
            &[0x45, 0xb8, 0, 44, 0, 0, 0x40, 0, 17, 17],
        ];
        assert_eq!(frame[..24], expected.concat());
        assert_eq!(frame[26..34], [10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(frame[34..40], [4, 0, 0x24, 0x5f, 0, 24]);
        assert_eq!((frame.len(), &frame[42..58]), (60, &stamp.write()[..]));
        let mut template = Template::new(&headers(true), 1452).expect("it fits");
        let frame = template.frame(&stamp, 20);
        assert_eq!(frame[12..22], [0x86, 0xdd, 0x6b, 0x80, 0, 0, 0, 28, 17, 17]);
        assert_eq!(frame.len(), 14 + 40 + 8 + 20);
        assert!(Template::new(&headers(true), 65_500).is_none());
        let mixed = Headers {
            from: headers(true).from,
            ..headers(false)
        };
        assert!(Template::new(&mixed, 100).is_none());
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_left(
            more: Vec<u8>, at in 0..60_usize, byte: u8, is_ipv6: bool
        ) {
            let _ = read(&more);
            let stamp = Stamp { flow: 1, sequence: 2, sent_ns: 3 };
            let mut template = Template::new(&headers(is_ipv6), 100).expect("it fits");
            let mut frame = template.frame(&stamp, 40).to_vec();
            frame[at] = byte;
            let _ = read(&frame);
        }

        #[test]
        fn checksums_are_right_of_every_frame(
            flow in 0..1_u32 << 24, sequence: u32, sent_ns: i64,
            all in prop::collection::vec(0..1500_usize, 1..5),
            is_ipv6: bool,
        ) {
            let mut template = Template::new(&headers(is_ipv6), 1400).expect("it fits");
            for bytes in all {
                let stamp = Stamp { flow, sequence: u64::from(sequence), sent_ns };
                let frame = template.frame(&stamp, bytes);
                let bytes = bytes.clamp(16, 1400);
                let (ip, udp) = if is_ipv6 { (40, 54) } else { (20, 34) };
                let length = (8 + bytes) as u16;
                prop_assert_eq!(frame.len(), (udp + 8 + bytes).max(60));
                let transport = &frame[udp..udp + 8 + bytes];
                let sum = Sum::ZERO.bytes(transport);
                let sum = if is_ipv6 {
                    let of = |at| <&[u8; 16]>::try_from(&frame[at..at + 16]).expect("16 bytes");
                    sum.pseudo_v6(of(22), of(38), 17, u32::from(length))
                } else {
                    prop_assert_eq!(checksum(&frame[14..14 + ip]), 0);
                    let of = |at| <[u8; 4]>::try_from(&frame[at..at + 4]).expect("4 bytes");
                    sum.pseudo_v4(of(26), of(30), 17, length)
                };
                prop_assert_eq!(sum.checksum(), 0);
                prop_assert_eq!(Stamp::read(&frame[udp + 8..]), Some(stamp));
                let (from, payload) = read(frame).expect("it is one of ours");
                prop_assert_eq!((from, payload.len()), (headers(is_ipv6).from, bytes));
            }
        }
    }
}
