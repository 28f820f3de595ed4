//! Frames of a wanted size from samples of another: lengths and checksums of all headers follow.
//!
//! Headers are walked from the outside: Ethernet, VLAN tags, MPLS labels, IPv4 and IPv6, GRE and
//! what is in it, UDP and TCP. Bytes are cut from or added to the end, as if the payload were
//! shorter or longer. A frame whose headers are not known is padded or cut as it is.

use std::net::IpAddr;
use std::ops::Range;
use trammel_packet::headers::checksum::Sum;
use trammel_traffic::addresses::Addresses;

/// Bytes of the FCS, which frames in memory lack and sizes of frames count.
pub const FCS: usize = 4;
/// Headers that are walked into one another, at most.
const DEPTH: usize = 16;

/// A place in a frame that tells flows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The destination's Ethernet address.
    EtherDestination,
    /// The source's Ethernet address.
    EtherSource,
    /// The VLAN of the innermost tag, 12 bits.
    Vlan,
    /// The topmost MPLS label, 20 bits.
    MplsLabel,
    /// The innermost IPv4 destination.
    IpDestination,
    /// The innermost IPv4 source.
    IpSource,
    /// The UDP or TCP source port, 16 bits.
    SourcePort,
    /// Both ends by their addresses, which scenario files do not name.
    Nodes(Nodes),
}

/// Who sends to whom: flow `n` goes from the `n`th of the one to the `n`th of the other, again from
/// the first behind the last. Both are of one version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Sources.
    pub from: Addresses,
    /// Destinations.
    pub to: Addresses,
}

impl Nodes {
    /// The source and the destination of a flow, as they stand in a header one after the other.
    fn octets(&self, flow: u32) -> Vec<u8> {
        let octets = |address| match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        [octets(self.from.nth(flow)), octets(self.to.nth(flow))].concat()
    }
}

/// The fields by their names in scenario files.
pub const FIELDS: &[(&str, Field)] = &[
    ("ether.dst", Field::EtherDestination),
    ("ether.src", Field::EtherSource),
    ("vlan", Field::Vlan),
    ("mpls", Field::MplsLabel),
    ("ip.dst", Field::IpDestination),
    ("ip.src", Field::IpSource),
    ("port.src", Field::SourcePort),
];

/// The name of a field.
pub fn name(field: Field) -> &'static str {
    let row = FIELDS.iter().find(|(_, known)| *known == field);
    row.map_or("addresses", |(name, _)| name)
}

/// A header of a frame and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    Ether(usize),
    Vlan(usize),
    Mpls(usize),
    Ip4(usize),
    Ip6(usize),
    Gre(usize),
    Udp(usize),
    Tcp(usize),
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    let bytes = frame.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// The headers of a frame, from the outside.
fn headers(frame: &[u8]) -> Vec<Header> {
    let mut found = vec![Header::Ether(0)];
    let mut next = word(frame, 12).map(|kind| (kind, 14));
    while let Some((kind, at)) = next.filter(|_| found.len() < DEPTH) {
        next = match kind {
            0x8100 | 0x88a8 | 0x9100 => {
                found.push(Header::Vlan(at));
                word(frame, at + 2).map(|kind| (kind, at + 4))
            }
            0x8847 | 0x8848 => {
                found.push(Header::Mpls(at));
                let is_last = frame.get(at + 2).is_some_and(|byte| byte & 1 == 1);
                match frame.get(at + 4) {
                    Some(_) if !is_last => Some((kind, at + 4)),
                    Some(byte) if byte >> 4 == 4 => Some((0x0800, at + 4)),
                    Some(byte) if byte >> 4 == 6 => Some((0x86dd, at + 4)),
                    _ => None,
                }
            }
            0x0800 if frame.len() >= at + 20 => {
                found.push(Header::Ip4(at));
                let length = usize::from(frame[at] & 15) * 4;
                inside(frame[at + 9], at + length, frame, &mut found)
            }
            0x86dd if frame.len() >= at + 40 => {
                found.push(Header::Ip6(at));
                inside(frame[at + 6], at + 40, frame, &mut found)
            }
            _ => None,
        };
    }
    found
}

/// Notes the header of an IP protocol; gives what follows it, where that is a frame or packet
/// again.
fn inside(protocol: u8, at: usize, frame: &[u8], found: &mut Vec<Header>) -> Option<(u16, usize)> {
    match protocol {
        4 => return Some((0x0800, at)),
        41 => return Some((0x86dd, at)),
        17 if frame.len() >= at + 8 => found.push(Header::Udp(at)),
        6 if frame.len() >= at + 20 => found.push(Header::Tcp(at)),
        47 if frame.len() >= at + 4 => {
            found.push(Header::Gre(at));
            let options = [0x80, 0x20, 0x10].iter();
            let length = 4 + 4 * options.filter(|bit| frame[at] & **bit != 0).count();
            return Some((word(frame, at + 2)?, at + length));
        }
        _ => {}
    }
    None
}

/// The least size that keeps all headers of `frame`, in bytes with the FCS.
pub fn least(frame: &[u8]) -> usize {
    let end = match headers(frame).last() {
        Some(Header::Udp(at)) => at + 8,
        Some(Header::Tcp(at) | Header::Ip4(at)) => at + 20,
        Some(Header::Ip6(at)) => at + 40,
        Some(Header::Gre(at)) => at + 16,
        Some(Header::Mpls(at) | Header::Vlan(at)) => at + 4,
        _ => 14,
    };
    end + FCS
}

/// `frame` made `size` bytes long, the FCS included, which is not in it; nothing where its headers
/// do not fit.
pub fn fit(frame: &[u8], size: usize) -> Option<Vec<u8>> {
    let bytes = size.checked_sub(FCS)?;
    if size < least(frame) {
        return None;
    }
    let mut fitted = frame.to_vec();
    fitted.resize(bytes, 0);
    mend(&mut fitted);
    Some(fitted)
}

/// Makes lengths and checksums right, from the inside, since outer checksums cover inner ones.
pub fn mend(frame: &mut [u8]) {
    let found = headers(frame);
    let end = frame.len();
    let put = |frame: &mut [u8], at: usize, value: u16| {
        if let Some(place) = frame.get_mut(at..at + 2) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    };
    for header in &found {
        match *header {
            Header::Ip4(at) => put(frame, at + 2, (end - at) as u16),
            Header::Ip6(at) => put(frame, at + 4, (end - at - 40) as u16),
            Header::Udp(at) => put(frame, at + 4, (end - at) as u16),
            _ => {}
        }
    }
    for (outer, header) in found.iter().enumerate().rev() {
        match *header {
            Header::Ip4(at) => {
                let length = (usize::from(frame[at] & 15) * 4).max(20).min(end - at);
                put(frame, at + 10, 0);
                let sum = Sum::ZERO.bytes(&frame[at..at + length]).fold();
                put(frame, at + 10, !sum);
            }
            // No checksum is a right one for UDP over IPv4.
            Header::Udp(at) if matches!(carrier(&found[..outer]), Some(Header::Ip4(_))) => {
                put(frame, at + 6, 0);
            }
            Header::Udp(at) => transport(frame, at, at + 6, 17, carrier(&found[..outer])),
            Header::Tcp(at) => transport(frame, at, at + 16, 6, carrier(&found[..outer])),
            Header::Gre(at) if frame[at] & 0x80 != 0 => {
                put(frame, at + 4, 0);
                let sum = Sum::ZERO.bytes(&frame[at..end]).fold();
                put(frame, at + 4, !sum);
            }
            _ => {}
        }
    }
}

/// The IP header that carries what comes next.
fn carrier(outer: &[Header]) -> Option<Header> {
    let is_ip = |header: &&Header| matches!(header, Header::Ip4(_) | Header::Ip6(_));
    outer.iter().rev().find(is_ip).copied()
}

/// The checksum of a segment from `at` to the end, put at `place`.
fn transport(frame: &mut [u8], at: usize, place: usize, protocol: u8, carrier: Option<Header>) {
    let bytes = |from: usize, to: usize| -> &[u8] { &frame[from..to] };
    let length = (frame.len() - at) as u32;
    let pseudo = match carrier {
        Some(Header::Ip4(ip)) => Sum::ZERO.bytes(bytes(ip + 12, ip + 20)),
        Some(Header::Ip6(ip)) => Sum::ZERO.bytes(bytes(ip + 8, ip + 40)),
        _ => return,
    };
    frame[place..place + 2].fill(0);
    let pseudo = pseudo.u32(length).u16(u16::from(protocol));
    let sum = !pseudo.bytes(&frame[at..]).fold();
    frame[place..place + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Where a field is in `frame`, and the bits of it that tell flows apart.
pub fn place(frame: &[u8], field: Field) -> Option<(Range<usize>, u32)> {
    let found = headers(frame);
    let last = |wanted: &dyn Fn(&Header) -> Option<usize>| found.iter().rev().find_map(wanted);
    let (at, bytes, bits) = match field {
        Field::EtherDestination => (2, 4, 32),
        Field::EtherSource => (8, 4, 32),
        Field::Vlan => {
            let at = last(&|h| match h {
                Header::Vlan(at) => Some(*at),
                _ => None,
            })?;
            (at, 2, 12)
        }
        Field::MplsLabel => {
            let at = found.iter().find_map(|h| match h {
                Header::Mpls(at) => Some(*at),
                _ => None,
            })?;
            (at, 3, 20)
        }
        Field::IpDestination | Field::IpSource => {
            let at = last(&|h| match h {
                Header::Ip4(at) => Some(*at),
                _ => None,
            })?;
            let offset = if field == Field::IpSource { 12 } else { 16 };
            (at + offset, 4, 32)
        }
        Field::SourcePort => {
            let at = last(&|h| match h {
                Header::Udp(at) | Header::Tcp(at) => Some(*at),
                _ => None,
            })?;
            (at, 2, 16)
        }
        Field::Nodes(nodes) => {
            let at = last(&|h| match (h, nodes.from.first) {
                (Header::Ip4(at), IpAddr::V4(_)) => Some(*at + 12),
                (Header::Ip6(at), IpAddr::V6(_)) => Some(*at + 8),
                _ => None,
            })?;
            (at, nodes.octets(0).len(), 32)
        }
    };
    (at + bytes <= frame.len()).then_some((at..at + bytes, bits))
}

/// Adds `by` to a field in its width, without mending checksums. Nodes are those of flow `by`,
/// whatever stands in the frame.
pub fn add(frame: &mut [u8], field: Field, by: u32) {
    let Some((range, bits)) = place(frame, field) else {
        return;
    };
    if let Field::Nodes(nodes) = field {
        frame[range].copy_from_slice(&nodes.octets(by));
        return;
    }
    let old = frame[range.clone()]
        .iter()
        .fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
    // A label stands in the upper 20 of 24 bits; all others in the lower bits of their bytes.
    let shift = if field == Field::MplsLabel { 4 } else { 0 };
    let mask = (u32::MAX >> (32 - bits)) << shift;
    let new = old & !mask | old.wrapping_add(by << shift) & mask;
    let bytes = new.to_be_bytes();
    frame[range.clone()].copy_from_slice(&bytes[4 - range.len()..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_packet::headers::checksum::Sum;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text
            .bytes()
            .filter_map(|b| char::from(b).to_digit(16).map(|d| d as u8))
            .collect();
        digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect()
    }

    /// Ethernet, two tags, IPv4, UDP.
    fn tagged() -> Vec<u8> {
        let mut frame = hex("020000000001 020000000002 88a8 0064 8100 0007 0800
             45000000 00000000 40110000 0a000001 0a000002 1388 1389 0000 0000");
        mend(&mut frame);
        frame
    }

    #[test]
    fn a_frame_grows_and_stays_right() {
        for size in [tagged().len() + 4, 64, 128, 1518] {
            let frame = fit(&tagged(), size).expect("it fits");
            assert_eq!(frame.len(), size - FCS);
            assert_eq!(Sum::ZERO.bytes(&frame[22..42]).fold(), 0xffff);
            assert_eq!(word(&frame, 24).map(usize::from), Some(frame.len() - 22));
            assert_eq!(word(&frame, 46).map(usize::from), Some(frame.len() - 42));
        }
        assert_eq!(least(&tagged()), 54);
        assert_eq!(fit(&tagged(), 53), None);
    }

    #[test]
    fn inner_and_outer_headers_of_a_tunnel_are_mended() {
        // Ethernet, label, IPv4, GRE with checksum and key, IPv4, TCP.
        let mut frame = hex("020000000001 020000000002 8847 00064140
             45000000 00000000 402f0000 c0000201 c0000202
             a0000800 00000000 00000007
             45000000 00000000 40060000 0a000001 0a000002
             1388 1389 00000001 00000002 50100000 0000 0000");
        frame.resize(100, 0xaa);
        mend(&mut frame);
        let (outer, gre, inner) = (18, 38, 50);
        assert_eq!(Sum::ZERO.bytes(&frame[outer..outer + 20]).fold(), 0xffff);
        assert_eq!(Sum::ZERO.bytes(&frame[gre..]).fold(), 0xffff);
        assert_eq!(Sum::ZERO.bytes(&frame[inner..inner + 20]).fold(), 0xffff);
        let segment = &frame[inner + 20..];
        let pseudo = Sum::ZERO
            .bytes(&frame[inner + 12..inner + 20])
            .u16(6)
            .u32(segment.len() as u32);
        assert_eq!(pseudo.bytes(segment).fold(), 0xffff);
    }

    #[test]
    fn fields_are_changed_in_their_width() {
        let mut frame = tagged();
        add(&mut frame, Field::Vlan, 5);
        assert_eq!(word(&frame, 18), Some(12));
        add(&mut frame, Field::Vlan, 4095);
        assert_eq!(word(&frame, 18), Some(11));
        add(&mut frame, Field::IpDestination, 256);
        assert_eq!(frame[38..42], [10, 0, 1, 2]);
        add(&mut frame, Field::EtherDestination, 3);
        assert_eq!(frame[..6], [2, 0, 0, 0, 0, 4]);
        let mut label = hex("020000000001 020000000002 8847 00064140 45");
        add(&mut label, Field::MplsLabel, 1);
        assert_eq!(label[14..18], [0, 6, 0x51, 0x40]);
        assert_eq!(place(&label, Field::SourcePort), None);
    }
}
