//! Test frames: UDP to the echo port in IPv4 or IPv6, whose payload is a
//! [`signature`](super::signature) and the fill behind it.
//!
//! Sizes include the check sequence, which a device adds: a frame of 64 bytes has 60 in memory.
//! Headers are written once a flow; of a frame change the lengths, their checksums, and the
//! signature, which adds up to nothing. Differs from RFC 2544, appendix C.2.6.4: UDP has a
//! checksum, which costs nothing here, and which translators need; packets say that they are not to
//! be cut, and may pass 64 hops.

use super::signature::{FILL, SIGNATURE_BYTES, Signature};
use super::traffic::Stream;
use std::net::{IpAddr, Ipv4Addr};
use trammel_packet::headers::checksum::{Sum, for_udp};
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::ipv4::{self, Ipv4, protocol};
use trammel_packet::headers::ipv6::Ipv6;
use trammel_packet::headers::udp::Udp;
use trammel_packet::headers::vlan::Vlan;

/// Bytes of the check sequence, which are never in memory.
pub const FCS_BYTES: u16 = 4;
/// The longest frame: 9000 bytes of IP.
pub const MOST_BYTES: u16 = 9018;
/// The ports of UDP that RFC 2544's frames come from and go to (appendix C.2.6.4).
pub const SOURCE_PORT: u16 = 0xc020;
/// The echo port.
pub(crate) const ECHO_PORT: u16 = 7;
/// What routers may take away; RFC 2544's frames have ten.
const HOPS: u8 = 64;

/// Bytes of the headers of a test frame.
pub(crate) fn head_bytes(is_ipv6: bool, is_tagged: bool) -> usize {
    let ip = if is_ipv6 { Ipv6::LEN } else { Ipv4::LEN };
    Ether::LEN + usize::from(is_tagged) * Vlan::LEN + ip + Udp::LEN
}

/// The shortest test frame, check sequence included: 64 for IPv4, 84 for IPv6, 4 more with a tag.
pub(crate) fn least_bytes(is_ipv6: bool, is_tagged: bool) -> u16 {
    (head_bytes(is_ipv6, is_tagged) + SIGNATURE_BYTES) as u16 + FCS_BYTES
}

/// What the frames of a port have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The Ethernet address that they come from.
    pub(crate) from_mac: [u8; 6],
    /// The one that they go to.
    pub(crate) to_mac: [u8; 6],
    /// The control information of a tag (IEEE 802.1Q), where there is one.
    pub(crate) tag: Option<u16>,
}

impl Link {
    /// The header of a frame with `ethertype`.
    pub(crate) fn header(&self, ethertype: u16) -> Vec<u8> {
        let ether = Ether {
            dst: self.to_mac,
            src: self.from_mac,
            ethertype: self.tag.map_or(ethertype, |_| ethertype::VLAN).into(),
        };
        let mut bytes = ether.bytes().to_vec();
        if let Some(tci) = self.tag {
            let tag = Vlan {
                tci: tci.into(),
                ethertype: ethertype.into(),
            };
            bytes.extend(tag.bytes());
        }
        bytes
    }
}

/// A frame with a datagram of UDP from one address and port to another; up to 64 hops.
pub(crate) fn datagram(
    link: &Link,
    (from, sport): (Ipv4Addr, u16),
    (to, dport): (Ipv4Addr, u16),
    payload: &[u8],
) -> Vec<u8> {
    let length = (Udp::LEN + payload.len()) as u16;
    let mut udp = Udp {
        sport: sport.into(),
        dport: dport.into(),
        length: length.into(),
        ..Udp::default()
    };
    let sum = Sum::ZERO.pseudo_v4(from.octets(), to.octets(), protocol::UDP, length);
    udp.checksum = for_udp(sum.bytes(udp.bytes()).bytes(payload)).into();
    let ip = Ipv4 {
        version_ihl: 0x45,
        total_length: (Ipv4::LEN as u16 + length).into(),
        ttl: HOPS,
        protocol: protocol::UDP,
        src: from.octets(),
        dst: to.octets(),
        ..Ipv4::default()
    };
    let mut packet = [ip.bytes(), udp.bytes(), payload].concat();
    ipv4::set_checksum(&mut packet);
    [link.header(ethertype::IP), packet].concat()
}

/// The type of a frame and where its payload begins, behind tags.
#[inline]
pub(crate) fn unwrap(frame: &[u8]) -> Option<(u16, usize)> {
    let (mut kind, mut at) = (Ether::read(frame)?.ethertype.get(), Ether::LEN);
    while let ethertype::VLAN | ethertype::QINQ = kind {
        kind = Vlan::read(frame.get(at..)?)?.ethertype.get();
        at += Vlan::LEN;
    }
    Some((kind, at))
}

/// The payload of a datagram of UDP in a frame, to whichever port, as far as it is there. Fragments
/// have none.
#[inline]
pub(crate) fn payload(frame: &[u8]) -> Option<&[u8]> {
    let (kind, at) = unwrap(frame)?;
    let ip = frame.get(at..)?;
    let udp = match kind {
        ethertype::IP => {
            let header = Ipv4::read(ip)?;
            if header.protocol != protocol::UDP || header.is_fragment() {
                return None;
            }
            header.header_len()
        }
        ethertype::IP6 if Ipv6::read(ip)?.next_header == protocol::UDP => Ipv6::LEN,
        _ => return None,
    };
    let udp = ip.get(udp..)?;
    let end = usize::from(Udp::read(udp)?.length.get());
    udp.get(Udp::LEN..end.min(udp.len()))
}

/// The headers of a flow's frames, lengths and checksums left out, and the head of its signatures.
#[derive(Clone, Debug)]
pub(crate) struct FlowTemplate {
    bytes: Vec<u8>,
    /// Where the header of IP begins.
    ip: usize,
    is_ipv6: bool,
    ip_sum: Sum,
    udp_sum: Sum,
}

impl FlowTemplate {
    /// Flow `number` of `stream`, with signatures that begin like `signature`.
    pub(crate) fn new(
        link: &Link,
        stream: &Stream,
        number: u32,
        signature: &Signature,
    ) -> FlowTemplate {
        let (from, to) = (stream.from.nth(number), stream.to.nth(number));
        let sport = SOURCE_PORT.wrapping_add((number % u32::from(stream.source_ports)) as u16);
        let ports = u32::from(sport) << 16 | u32::from(ECHO_PORT);
        let udp_sum = Sum::ZERO.u32(ports);
        let (header, ip_sum, udp_sum) = match (from, to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let ip = Ipv4 {
                    version_ihl: 0x45,
                    tos: stream.ds,
                    flags_fragment: ipv4::DF.into(),
                    ttl: HOPS,
                    protocol: protocol::UDP,
                    src: from.octets(),
                    dst: to.octets(),
                    ..Ipv4::default()
                };
                let sum = udp_sum.pseudo_v4(ip.src, ip.dst, protocol::UDP, 0);
                (ip.bytes().to_vec(), Sum::ZERO.bytes(ip.bytes()), sum)
            }
            (from, to) => {
                let octets = |address| match address {
                    IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                    IpAddr::V6(address) => address.octets(),
                };
                let ip = Ipv6 {
                    version_class_flow: (6 << 28 | u32::from(stream.ds) << 20).into(),
                    next_header: protocol::UDP,
                    hop_limit: HOPS,
                    src: octets(from),
                    dst: octets(to),
                    ..Ipv6::default()
                };
                let sum = udp_sum.pseudo_v6(&ip.src, &ip.dst, protocol::UDP, 0);
                (ip.bytes().to_vec(), Sum::ZERO, sum)
            }
        };
        let is_ipv6 = stream.is_ipv6();
        let mut bytes = link.header(if is_ipv6 {
            ethertype::IP6
        } else {
            ethertype::IP
        });
        let ip = bytes.len();
        let udp = Udp {
            sport: sport.into(),
            dport: ECHO_PORT.into(),
            ..Udp::default()
        };
        bytes.extend(&header);
        bytes.extend(udp.bytes());
        bytes.extend(signature.head());
        FlowTemplate {
            bytes,
            ip,
            is_ipv6,
            ip_sum,
            udp_sum,
        }
    }

    /// Writes the headers of a frame of `size` bytes, its check sequence included, to the front of
    /// `into`.
    #[inline]
    pub(crate) fn write(&self, into: &mut [u8], size: u16) {
        into[..self.bytes.len()].copy_from_slice(&self.bytes);
        let bytes = size - FCS_BYTES - self.ip as u16;
        let ip = &mut into[self.ip..];
        let udp_at = if self.is_ipv6 {
            if let Some(header) = Ipv6::read_mut(ip) {
                header.payload_length = (bytes - Ipv6::LEN as u16).into();
            }
            Ipv6::LEN
        } else {
            if let Some(header) = Ipv4::read_mut(ip) {
                header.total_length = bytes.into();
                header.checksum = self.ip_sum.u16(bytes).checksum().into();
            }
            Ipv4::LEN
        };
        let length = bytes - udp_at as u16;
        if let Some(header) = Udp::read_mut(&mut ip[udp_at..]) {
            header.length = length.into();
            // Once in the pseudo-header and once in the header.
            let fill = FILL_SUMS[usize::from(length) - Udp::LEN];
            let sum = self.udp_sum.u16(length).u16(length).u16(fill);
            header.checksum = for_udp(sum).into();
        }
    }

    /// The headers of a frame of `size` bytes and the head of its signature.
    pub(crate) fn head(&self, size: u16) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        self.write(&mut bytes, size);
        bytes
    }
}

/// What the fill adds up to in a payload of so many bytes.
static FILL_SUMS: [u16; MOST_BYTES as usize] = {
    let mut sums = [0; MOST_BYTES as usize];
    let mut bytes = SIGNATURE_BYTES + 1;
    while bytes < sums.len() {
        let last = FILL[bytes - 1] as u32;
        // An odd last byte is the upper half of a word, of which the next byte makes a whole one.
        let sum = if bytes % 2 == 1 {
            sums[bytes - 1] as u32 + (last << 8)
        } else {
            sums[bytes - 1] as u32 + last
        };
        sums[bytes] = ((sum & 0xffff) + (sum >> 16)) as u16;
        bytes += 1;
    }
    sums
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::Side;
    use trammel_packet::headers::checksum::checksum;

    const LINK: Link = Link {
        from_mac: [2, 0, 0, 0, 0, 1],
        to_mac: [2, 0, 0, 0, 0, 2],
        tag: None,
    };

    fn whole(link: &Link, is_ipv6: bool, size: u16) -> Vec<u8> {
        let stream = Stream::of_rfc2544(Side::Input, is_ipv6, 256, &[size]);
        let signature = Signature {
            run: 9,
            port: 0,
            stream: 0,
            sequence: 77,
            sent_ns: 1 << 40,
        };
        let flow = FlowTemplate::new(link, &stream, 3, &signature);
        let mut frame = vec![0; usize::from(size - FCS_BYTES)];
        let head = head_bytes(is_ipv6, link.tag.is_some());
        let (at, payload_bytes) = (head, frame.len() - head);
        flow.write(&mut frame, size);
        frame[at..at + SIGNATURE_BYTES].copy_from_slice(&signature.write());
        frame[at + SIGNATURE_BYTES..].copy_from_slice(&FILL[SIGNATURE_BYTES..payload_bytes]);
        frame
    }

    #[test]
    fn its_bytes_are_those_of_rfc_2544() {
        let frame = whole(&LINK, false, 64);
        assert_eq!(frame.len(), 60);
        assert_eq!(frame[..14], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
        // Version, service, total length 00 2E; then the addresses and the ports, and the length 00
        // 1A.
        assert_eq!(frame[14..18], [0x45, 0, 0, 0x2e]);
        assert_eq!(
            frame[26..40],
            [198, 18, 1, 2, 198, 19, 3, 2, 0xc0, 0x20, 0, 7, 0, 0x1a]
        );
        let long = whole(&LINK, false, 1518);
        assert_eq!(
            (long.len(), &long[16..18], &long[38..40]),
            (1514, &[5, 0xdc][..], &[5, 0xc8][..])
        );
        assert_eq!(long[60..64], [18, 19, 20, 21]);
    }

    #[test]
    fn checksums_are_right_of_every_size_and_version() {
        for (is_ipv6, tag) in [
            (false, None),
            (true, None),
            (false, Some(5)),
            (true, Some(5)),
        ] {
            let link = Link { tag, ..LINK };
            let least = least_bytes(is_ipv6, tag.is_some());
            assert_eq!(
                least,
                64 + u16::from(is_ipv6) * 20 + u16::from(tag.is_some()) * 4
            );
            for size in [least, least + 1, 300, 1518, MOST_BYTES] {
                let frame = whole(&link, is_ipv6, size);
                let (kind, at) = unwrap(&frame).expect("it is one of ours");
                assert_eq!(kind == ethertype::IP6, is_ipv6);
                let ip = &frame[at..];
                let udp_at = if is_ipv6 { Ipv6::LEN } else { Ipv4::LEN };
                let udp = &ip[udp_at..];
                let sum = Sum::ZERO.bytes(udp);
                let sum = if is_ipv6 {
                    let header = Ipv6::read(ip).expect("it is there");
                    sum.pseudo_v6(&header.src, &header.dst, protocol::UDP, udp.len() as u32)
                } else {
                    let header = Ipv4::read(ip).expect("it is there");
                    assert_eq!(checksum(&ip[..20]), 0);
                    sum.pseudo_v4(header.src, header.dst, protocol::UDP, udp.len() as u16)
                };
                assert_eq!(sum.checksum(), 0, "{size} bytes");
                let payload = payload(&frame).expect("it is one of ours");
                assert_eq!(payload.len(), udp.len() - 8);
                assert_eq!(Signature::read(payload).map(|one| one.sequence), Some(77));
            }
        }
    }
}
