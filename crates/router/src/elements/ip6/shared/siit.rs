//! IPv6 packets as IPv4 packets and back, without state (RFC 7915).
//!
//! ```text
//!   IPv6: traffic class    payload length  next header  hop limit     source and destination
//!   IPv4: type of service  total length    protocol     time to live  the last 32 bits of each
//! ```
//!
//! Extension headers for routers and hosts on the way are left out, a fragment header becomes the
//! fields of IPv4 and back, ICMP messages change their types, and within errors the packet that
//! they quote is translated too. The checksums of TCP and UDP are updated by what the addresses
//! change, so that a wrong one stays wrong. The time to live stays: elements such as `DecIPTTL`
//! count hops.
//!
//! What has no counterpart (neighbour discovery, router alerts) is refused.

use crate::headers::ip6_packet;
use trammel_packet::headers::checksum::{Sum, checksum};
use trammel_packet::headers::ipv4::{self, DF, Ipv4, MF, OFFSET_MASK, protocol};
use trammel_packet::headers::ipv6::{Fragment, Ipv6, upper};

/// Bytes of an IPv6 address before those of an IPv4 address.
pub(crate) type Prefix = [u8; 12];

/// The prefix of IPv4 addresses written as IPv6 addresses (RFC 4291, §2.5.5.2).
#[cfg(test)]
pub(crate) const MAPPED: Prefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// A packet up to this length may be cut on its way (RFC 7915, §5.1).
const MAY_BE_CUT: usize = 1260;
/// How much longer an IPv6 header is than one of IPv4.
const MORE: u16 = 20;

/// The IPv4 packet for the IPv6 packet `data`.
pub(crate) fn to_v4(data: &[u8]) -> Option<Vec<u8>> {
    to_v4_of(data, false)
}

/// The IPv6 packet for the IPv4 packet `data`, whose addresses get `prefix`.
pub(crate) fn to_v6(data: &[u8], prefix: &Prefix) -> Option<Vec<u8>> {
    to_v6_of(data, prefix, false)
}

/// The IPv4 part of an address.
fn last(address: &[u8; 16]) -> [u8; 4] {
    [address[12], address[13], address[14], address[15]]
}

fn with(prefix: &Prefix, address: [u8; 4]) -> [u8; 16] {
    let mut whole = [0; 16];
    whole[..12].copy_from_slice(prefix);
    whole[12..].copy_from_slice(&address);
    whole
}

/// `is_quoted`: within an error, where a packet may be cut short and its checksum is nobody's.
fn to_v4_of(data: &[u8], is_quoted: bool) -> Option<Vec<u8>> {
    let ip = *Ipv6::read(data).filter(|ip| ip.version() == 6)?;
    let end = Ipv6::LEN + usize::from(ip.payload_length.get());
    let data = match data.get(..end) {
        Some(whole) => whole,
        None if is_quoted => data,
        None => return None,
    };
    let found = upper(data)?;
    let payload = data.get(found.at..)?;
    let (mut identification, mut flags) = (0, 0);
    if found.is_fragment {
        // It stands right before what it is a fragment of.
        let fragment = Fragment::read(data.get(found.at.checked_sub(Fragment::LEN)?..)?)?;
        identification = fragment.identification.get() as u16;
        let more = fragment.offset_more.get() & 1 != 0;
        flags = found.fragment_offset | if more { MF } else { 0 };
    } else if payload.len() + Ipv4::LEN > MAY_BE_CUT {
        flags = DF;
    }
    let (src, dst) = (last(&ip.src), last(&ip.dst));
    let is_first = found.fragment_offset == 0;
    let mut number = found.protocol;
    let payload = match number {
        protocol::ICMP6 if is_first && !found.is_fragment => {
            number = protocol::ICMP;
            icmp_to_v4(payload, is_quoted)?
        }
        // The sum over the pieces is not known here.
        protocol::ICMP6 => return None,
        _ => {
            let mut payload = payload.to_vec();
            if is_first {
                let before = Sum::ZERO.bytes(&ip.src).bytes(&ip.dst);
                let after = Sum::ZERO.bytes(&src).bytes(&dst);
                update(number, &mut payload, before, after);
            }
            payload
        }
    };
    let wanted = end - found.at;
    // What is quoted keeps the length that it had, as far as it is there.
    let total = Ipv4::LEN + if is_quoted { wanted } else { payload.len() };
    let mut packet = vec![0; Ipv4::LEN];
    let header = Ipv4::read_mut(&mut packet)?;
    header.version_ihl = 0x45;
    header.tos = ip.traffic_class();
    header.total_length.set(u16::try_from(total).ok()?);
    header.identification.set(identification);
    header.flags_fragment.set(flags);
    header.ttl = ip.hop_limit;
    header.protocol = number;
    (header.src, header.dst) = (src, dst);
    ipv4::set_checksum(&mut packet);
    packet.extend(payload);
    Some(packet)
}

fn to_v6_of(data: &[u8], prefix: &Prefix, is_quoted: bool) -> Option<Vec<u8>> {
    let ip = *Ipv4::read(data).filter(|ip| ip.version() == 4)?;
    let (head, end) = (ip.header_len(), usize::from(ip.total_length.get()));
    let data = match data.get(..end) {
        Some(whole) => whole,
        None if is_quoted => data,
        None => return None,
    };
    if head < Ipv4::LEN || head > end {
        return None;
    }
    let payload = data.get(head..)?;
    let (src, dst) = (with(prefix, ip.src), with(prefix, ip.dst));
    let flags = ip.flags_fragment.get();
    let (is_fragment, is_first) = (flags & (MF | OFFSET_MASK) != 0, flags & OFFSET_MASK == 0);
    let mut number = ip.protocol;
    let payload = match number {
        protocol::ICMP if !is_fragment => {
            number = protocol::ICMP6;
            icmp_to_v6(payload, prefix, &src, &dst, is_quoted)?
        }
        protocol::ICMP => return None,
        _ => {
            let mut payload = payload.to_vec();
            if is_first {
                let before = Sum::ZERO.bytes(&ip.src).bytes(&ip.dst);
                let after = Sum::ZERO.bytes(&src).bytes(&dst);
                let is_unsummed = number == protocol::UDP && payload.get(6..8) == Some(&[0, 0]);
                if is_unsummed && is_fragment {
                    return None;
                }
                if is_unsummed && !is_quoted {
                    // IPv6 has no UDP without a checksum.
                    let sum = ip6_packet::checksum(&src, &dst, number, &payload);
                    let sum = if sum == 0 { 0xffff } else { sum };
                    payload.get_mut(6..8)?.copy_from_slice(&sum.to_be_bytes());
                } else {
                    update(number, &mut payload, before, after);
                }
            }
            payload
        }
    };
    let fragment_len = if is_fragment { Fragment::LEN } else { 0 };
    let quoted = if is_quoted { end - head } else { payload.len() };
    let mut packet = vec![0; Ipv6::LEN + fragment_len];
    let header = Ipv6::read_mut(&mut packet)?;
    header
        .version_class_flow
        .set(6 << 28 | u32::from(ip.tos) << 20);
    header
        .payload_length
        .set(u16::try_from(quoted + fragment_len).ok()?);
    header.next_header = if is_fragment {
        protocol::FRAGMENT
    } else {
        number
    };
    header.hop_limit = ip.ttl;
    (header.src, header.dst) = (src, dst);
    if is_fragment {
        let fragment = Fragment::read_mut(&mut packet[Ipv6::LEN..])?;
        fragment.next_header = number;
        let more = u16::from(flags & MF != 0);
        fragment.offset_more.set((flags & OFFSET_MASK) << 3 | more);
        fragment.identification.set(ip.identification.get().into());
    }
    packet.extend(payload);
    Some(packet)
}

/// Updates the checksum of a TCP or UDP packet for other addresses.
fn update(number: u8, payload: &mut [u8], before: Sum, after: Sum) {
    let at = match number {
        protocol::TCP => 16,
        protocol::UDP => 6,
        _ => return,
    };
    let Some(field) = payload.get_mut(at..at + 2) else {
        // Quoted packets may end before it.
        return;
    };
    let old = u16::from_be_bytes([field[0], field[1]]);
    if number == protocol::UDP && old == 0 {
        return;
    }
    // RFC 1624: the complement of the sum of the complement of what was, less what went, plus what
    // came.
    let sum = Sum::ZERO
        .u16(!old)
        .u16(!before.fold())
        .u16(after.fold())
        .checksum();
    let sum = if number == protocol::UDP && sum == 0 {
        0xffff
    } else {
        sum
    };
    field.copy_from_slice(&sum.to_be_bytes());
}

/// RFC 7915, §5.2.
fn icmp_to_v4(message: &[u8], is_quoted: bool) -> Option<Vec<u8>> {
    let head = message.get(..8)?;
    let (kind, code) = (head[0], head[1]);
    let word = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let (kind, code, word) = match (kind, code) {
        (128, _) => (8, 0, word),
        (129, _) => (0, 0, word),
        // Errors within errors are none.
        _ if is_quoted => return None,
        (1, 1) => (3, 10, 0),
        (1, 4) => (3, 3, 0),
        (1, 0 | 2 | 3) => (3, 1, 0),
        (2, _) => (3, 4, word.saturating_sub(MORE.into()).min(0xffff)),
        (3, code) => (11, code, 0),
        (4, 0) => (12, 0, pointer(&TO_V4, word)? << 24),
        (4, 1) => (3, 2, 0),
        _ => return None,
    };
    let mut all = vec![kind, code, 0, 0];
    all.extend(word.to_be_bytes());
    if matches!(kind, 0 | 8) {
        all.extend(&message[8..]);
    } else {
        all.extend(to_v4_of(&message[8..], true)?);
    }
    let sum = checksum(&all);
    all[2..4].copy_from_slice(&sum.to_be_bytes());
    Some(all)
}

/// RFC 7915, §4.2.
fn icmp_to_v6(
    message: &[u8],
    prefix: &Prefix,
    src: &[u8; 16],
    dst: &[u8; 16],
    is_quoted: bool,
) -> Option<Vec<u8>> {
    let head = message.get(..8)?;
    let (kind, code) = (head[0], head[1]);
    let (kind, code, word) = match (kind, code) {
        (8 | 0, _) => {
            let word = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
            (if kind == 8 { 128 } else { 129 }, 0, word)
        }
        _ if is_quoted => return None,
        // Protocol unreachable: the next header is what is wrong.
        (3, 2) => (4, 1, 6),
        (3, 3) => (1, 4, 0),
        (3, 4) => {
            let mtu = u16::from_be_bytes([head[6], head[7]]);
            // A router that tells no length (RFC 1191) leaves the least that IPv6 has.
            (2, 0, u32::from(mtu.saturating_add(MORE)).max(1280))
        }
        (3, 9 | 10 | 13 | 15) => (1, 1, 0),
        (3, 0 | 1 | 5 | 6 | 7 | 8 | 11 | 12) => (1, 0, 0),
        (11, code) => (3, code, 0),
        (12, 0 | 2) => (4, 0, pointer(&TO_V6, head[4].into())?),
        _ => return None,
    };
    let mut all = vec![kind, code, 0, 0];
    all.extend(word.to_be_bytes());
    if matches!(kind, 128 | 129) {
        all.extend(&message[8..]);
    } else {
        all.extend(to_v6_of(&message[8..], prefix, true)?);
    }
    let sum = ip6_packet::checksum(src, dst, protocol::ICMP6, &all);
    all[2..4].copy_from_slice(&sum.to_be_bytes());
    Some(all)
}

/// Fields of one header by their first and last bytes, each with its place in the other (RFC 7915,
/// figures 6 and 3).
type Pointers = [(u32, u32, u32)];
const TO_V4: [(u32, u32, u32); 7] = [
    (0, 0, 0),
    (1, 1, 1),
    (4, 5, 2),
    (6, 6, 9),
    (7, 7, 8),
    (8, 23, 12),
    (24, 39, 16),
];
const TO_V6: [(u32, u32, u32); 7] = [
    (0, 0, 0),
    (1, 1, 1),
    (2, 3, 4),
    (8, 8, 7),
    (9, 9, 6),
    (12, 15, 8),
    (16, 19, 24),
];

fn pointer(table: &Pointers, at: u32) -> Option<u32> {
    let field = table
        .iter()
        .find(|(first, last, _)| (*first..=*last).contains(&at));
    field.map(|(.., there)| *there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::ip_packet::transport_sum;
    use crate::probe::udp;
    use proptest::prelude::*;
    use trammel_packet::headers::icmp::kind;

    /// Whether the checksum of what an IPv6 packet carries is right.
    fn is_right_six(packet: &[u8]) -> bool {
        let ip = Ipv6::read(packet).expect("a header");
        let sum = ip6_packet::checksum(&ip.src, &ip.dst, ip.next_header, &packet[Ipv6::LEN..]);
        sum == 0
    }

    fn icmp(kind: u8, code: u8, word: u32, rest: &[u8]) -> Vec<u8> {
        let mut packet = udp(9, b"")[..20].to_vec();
        let mut message = vec![kind, code, 0, 0];
        message.extend(word.to_be_bytes());
        message.extend(rest);
        let sum = checksum(&message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        packet[2..4].copy_from_slice(&(20 + message.len() as u16).to_be_bytes());
        packet[9] = protocol::ICMP;
        ipv4::set_checksum(&mut packet);
        packet.extend(message);
        packet
    }

    #[test]
    fn a_packet_goes_there_and_back() {
        let mut four = udp(9, b"some bytes");
        // The second header of IPv6 has no identification.
        four[4..6].fill(0);
        ipv4::set_checksum(&mut four);
        let six = to_v6(&four, &MAPPED).expect("it has a counterpart");
        assert!(is_right_six(&six));
        assert_eq!(six[7], 9);
        assert_eq!(
            six[8..24],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1]
        );
        assert_eq!(to_v4(&six), Some(four.clone()));
        // Padding behind the packet does not count.
        let mut padded = four.clone();
        padded.extend([0; 9]);
        assert_eq!(to_v6(&padded, &MAPPED), Some(six));
        four[26..28].fill(0);
        let summed = to_v6(&four, &MAPPED).expect("it has a counterpart");
        assert!(is_right_six(&summed));
    }

    #[test]
    fn echoes_and_errors_change_their_types() {
        let echo = icmp(8, 0, 0x1234_0001, b"ping");
        let six = to_v6(&echo, &MAPPED).expect("it has a counterpart");
        assert_eq!((six[6], six[40]), (58, 128));
        assert!(is_right_six(&six));
        let mut back = to_v4(&six).expect("it has a counterpart");
        back[4..6].copy_from_slice(&echo[4..6]);
        ipv4::set_checksum(&mut back);
        assert_eq!(back, echo);
        let quoted = udp(9, b"12345678");
        for (kind, code, word, expected) in [
            (kind::UNREACHABLE, 3, 0, [1, 4, 0]),
            (kind::UNREACHABLE, 1, 0, [1, 0, 0]),
            (kind::UNREACHABLE, 4, 1480, [2, 0, 1500]),
            (kind::UNREACHABLE, 4, 500, [2, 0, 1280]),
            (kind::UNREACHABLE, 2, 0, [4, 1, 6]),
            (kind::TIME_EXCEEDED, 1, 0, [3, 1, 0]),
            (kind::PARAMETER_PROBLEM, 0, 9 << 24, [4, 0, 6]),
        ] {
            let six = to_v6(&icmp(kind, code, word, &quoted), &MAPPED).expect("it has one");
            assert!(is_right_six(&six));
            let word = u32::from_be_bytes([six[44], six[45], six[46], six[47]]);
            assert_eq!([u32::from(six[40]), six[41].into(), word], expected);
            assert_eq!(Ipv6::read(&six[48..]).map(Ipv6::version), Some(6));
            assert_eq!(to_v4(&six).map(|four| checksum(&four[20..])), Some(0));
        }
        // A quoted packet may be cut short.
        assert!(to_v6(&icmp(11, 0, 0, &quoted[..28]), &MAPPED).is_some());
        assert_eq!(to_v6(&icmp(13, 0, 0, &[0; 12]), &MAPPED), None);
    }

    #[test]
    fn fragments_stay_fragments() {
        let mut four = udp(9, &[7; 24]);
        four[6..8].copy_from_slice(&(MF | 5).to_be_bytes());
        four[4..6].copy_from_slice(&[0x12, 0x34]);
        ipv4::set_checksum(&mut four);
        let six = to_v6(&four, &MAPPED).expect("it has a counterpart");
        assert_eq!((six[6], six[40]), (protocol::FRAGMENT, protocol::UDP));
        assert_eq!(six[42..48], [0, 41, 0, 0, 0x12, 0x34]);
        assert_eq!(to_v4(&six), Some(four));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), six: bool) {
            if let Some(first) = bytes.first_mut() {
                *first = if six { 0x60 } else { 0x45 };
            }
            let _ = (to_v4(&bytes), to_v6(&bytes, &MAPPED));
        }

        #[test]
        fn a_right_checksum_stays_right(
            payload in proptest::collection::vec(any::<u8>(), 0..64),
            a: [u8; 4],
            b: [u8; 4],
        ) {
            let mut four = udp(9, &payload);
            four[12..16].copy_from_slice(&a);
            four[16..20].copy_from_slice(&b);
            ipv4::set_checksum(&mut four);
            four[26..28].fill(0);
            let sum = transport_sum(&four).expect("whole");
            let sum = trammel_packet::headers::checksum::for_udp(sum);
            four[26..28].copy_from_slice(&sum.to_be_bytes());
            let six = to_v6(&four, &MAPPED).expect("it has a counterpart");
            prop_assert!(is_right_six(&six));
            let back = to_v4(&six).expect("it has a counterpart");
            prop_assert_eq!(transport_sum(&back).expect("whole").checksum(), 0);
        }
    }
}
