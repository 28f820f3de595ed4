//! The frames of hosts, and what a frame is.

use std::net::Ipv4Addr;
use trammel_control::dataplane::Mac;
use trammel_control::network::Kind;
use trammel_packet::headers::checksum::checksum;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Bytes of an IP header without options.
const IP: usize = 20;
const ETHERTYPE_IP: [u8; 2] = [0x08, 0x00];
const ETHERTYPE_ARP: [u8; 2] = [0x08, 0x06];
const ICMP: u8 = 1;
const UDP: u8 = 17;
const OSPF: u8 = 89;
/// ICMP's time exceeded (RFC 792).
const TIME_EXCEEDED: u8 = 11;
/// PW-OSPF's HELLO.
const HELLO: u8 = 1;
/// Bytes of a frame without FCS, at least (IEEE 802.3).
const LEAST: usize = 60;
const TTL: u8 = 64;

/// What a frame is, to the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A control packet, and its bytes with the IP header.
    Control(Kind, u64),
    /// A probe, by its number.
    Probe(u32),
    /// Anything else.
    Unknown,
}

/// What `frame` is.
pub(crate) fn content(frame: &[u8]) -> Content {
    let Some((header, payload)) = frame.split_first_chunk::<ETHERNET>() else {
        return Content::Unknown;
    };
    match [header[12], header[13]] {
        ETHERTYPE_ARP => Content::Control(Kind::Other, 28),
        ETHERTYPE_IP => {
            let Some((ip, rest)) = payload.split_first_chunk::<IP>() else {
                return Content::Unknown;
            };
            let bytes = u64::from(u16::from_be_bytes([ip[2], ip[3]]));
            match (ip[9], rest) {
                (OSPF, [_, HELLO, ..]) => Content::Control(Kind::Hello, bytes),
                (OSPF, _) => Content::Control(Kind::Lsu, bytes),
                (UDP, [a, b, c, d, ..]) => Content::Probe(u32::from_be_bytes([*a, *b, *c, *d])),
                _ => Content::Control(Kind::Other, bytes),
            }
        }
        _ => Content::Unknown,
    }
}

/// A probe with `number`, which is in its ports so that an ICMP error quotes it.
pub(crate) fn probe(
    to: Mac,
    from: Mac,
    source: Ipv4Addr,
    target: Ipv4Addr,
    number: u32,
) -> Vec<u8> {
    let mut ip = [0; IP];
    ip[0] = 0x45;
    ip[3] = (IP + 8) as u8;
    (ip[8], ip[9]) = (TTL, UDP);
    ip[12..16].copy_from_slice(&source.octets());
    ip[16..20].copy_from_slice(&target.octets());
    let sum = checksum(&ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    // A UDP checksum of 0 is none (RFC 768).
    let length_and_sum = [0, 8, 0, 0];
    let parts = [&to[..], &from, &ETHERTYPE_IP, &ip, &number.to_be_bytes()];
    let mut frame = parts.concat();
    frame.extend(length_and_sum);
    frame.resize(LEAST, 0);
    frame
}

/// The destination of an IP packet.
pub(crate) fn destination(frame: &[u8]) -> Option<Ipv4Addr> {
    let bytes: [u8; 4] = frame.get(ETHERNET + 16..ETHERNET + 20)?.try_into().ok()?;
    (frame[12..14] == ETHERTYPE_IP).then(|| bytes.into())
}

/// The number of the probe about which `frame` says that its time is exceeded.
pub(crate) fn exceeded(frame: &[u8]) -> Option<u32> {
    let packet = frame.get(ETHERNET..)?;
    let icmp = packet.get(IP..)?;
    let is_it = frame[12..14] == ETHERTYPE_IP && packet[9] == ICMP && icmp[0] == TIME_EXCEEDED;
    let quoted = icmp.get(8..8 + IP + 4).filter(|_| is_it)?;
    let number: [u8; 4] = quoted[IP..].try_into().ok()?;
    (quoted[9] == UDP).then(|| u32::from_be_bytes(number))
}

/// The answer of the host with `mac` and `address`, where `frame` is an ARP request for it.
pub(crate) fn arp_answer(frame: &[u8], mac: Mac, address: Ipv4Addr) -> Option<Vec<u8>> {
    // Ethernet and IPv4, a request (RFC 826).
    const REQUEST: [u8; 8] = [0, 1, 8, 0, 6, 4, 0, 1];
    let arp = frame.get(ETHERNET..ETHERNET + 28)?;
    let is_for_it =
        frame[12..14] == ETHERTYPE_ARP && arp[..8] == REQUEST && arp[24..28] == address.octets();
    if !is_for_it {
        return None;
    }
    let asking = &arp[8..18];
    let reply: [u8; 8] = [0, 1, 8, 0, 6, 4, 0, 2];
    let parts = [&asking[..6], &mac, &ETHERTYPE_ARP, &reply, &mac];
    let mut answer = parts.concat();
    answer.extend(address.octets());
    answer.extend(asking);
    answer.resize(LEAST, 0);
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Mac = [2, 0, 0, 0, 0, 1];
    const B: Mac = [2, 0, 0, 0, 0, 2];

    #[test]
    fn a_probe_has_its_number_and_a_right_header() {
        let (source, target) = (Ipv4Addr::new(10, 0, 0, 254), Ipv4Addr::new(10, 0, 1, 254));
        let frame = probe(A, B, source, target, 0x1234_5678);
        assert_eq!(frame.len(), LEAST);
        assert_eq!(content(&frame), Content::Probe(0x1234_5678));
        assert_eq!(destination(&frame), Some(target));
        assert_eq!(checksum(&frame[ETHERNET..ETHERNET + IP]), 0);
    }

    #[test]
    fn an_arp_request_is_answered_by_whom_it_asks() {
        let (host, router) = ([10, 0, 0, 254], [10, 0, 0, 1]);
        let request = [0, 1, 8, 0, 6, 4, 0, 1];
        let parts = [&[0xff; 6][..], &A, &ETHERTYPE_ARP, &request, &A, &router];
        let frame = [parts.concat(), vec![0; 6], host.to_vec()].concat();
        assert_eq!(arp_answer(&frame, B, router.into()), None);
        let answer = arp_answer(&frame, B, host.into()).expect("it is for the host");
        assert_eq!(answer[..12], [A, B].concat());
        assert_eq!(answer[20..28], [&[0, 2][..], &B].concat());
        assert_eq!(answer[28..42], [&host[..], &A, &router].concat());
        assert_eq!(content(&answer), Content::Control(Kind::Other, 28));
    }

    #[test]
    fn no_frame_is_too_short() {
        let frame = probe(A, B, Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, 1);
        for end in 0..frame.len() {
            let (_, _) = (content(&frame[..end]), destination(&frame[..end]));
            let (_, _) = (
                exceeded(&frame[..end]),
                arp_answer(&frame[..end], A, Ipv4Addr::LOCALHOST),
            );
        }
    }
}
