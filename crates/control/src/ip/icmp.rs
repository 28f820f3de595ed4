//! ICMP messages (RFC 792) and the packets that may not cause one (RFC 1812 §4.3.2.7).

use super::header::payload;
use crate::address::is_host;
use trammel_packet::headers::U16;
use trammel_packet::headers::checksum::checksum;
use trammel_packet::headers::icmp::{Icmp, has_identifier, kind};
use trammel_packet::headers::ipv4::{Ipv4, protocol};

/// `icmp_code` of [`kind::UNREACHABLE`]: the network is unknown (RFC 1122 §3.2.2.1).
pub(crate) const NET_UNKNOWN: u8 = 6;

/// Bytes of an error's packet, at most (RFC 1812 §4.3.2.3).
const ERROR_BYTES: usize = 576;

/// A message: header and data, with its checksum.
fn message(mut header: Icmp, data: &[u8]) -> Vec<u8> {
    header.checksum = U16::ZERO;
    let mut message = [header.bytes(), data].concat();
    let sum = checksum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}

/// The error that quotes `packet`.
pub(crate) fn error(kind: u8, code: u8, packet: &[u8]) -> Vec<u8> {
    let most = ERROR_BYTES - Ipv4::LEN - Icmp::LEN;
    let header = Icmp {
        kind,
        code,
        ..Icmp::default()
    };
    message(header, &packet[..packet.len().min(most)])
}

/// The reply to an echo request.
pub(crate) fn echo_reply(request: Icmp, data: &[u8]) -> Vec<u8> {
    let header = Icmp {
        kind: kind::ECHO_REPLY,
        code: 0,
        ..request
    };
    message(header, data)
}

/// An echo request.
pub(crate) fn echo(identifier: u16, sequence: u16, data: &[u8]) -> Vec<u8> {
    let header = Icmp {
        kind: kind::ECHO,
        identifier: U16::new(identifier),
        sequence: U16::new(sequence),
        ..Icmp::default()
    };
    message(header, data)
}

/// The message in `payload` where it is whole and its checksum right: header and data.
pub(crate) fn read(payload: &[u8]) -> Option<(&Icmp, &[u8])> {
    let header = Icmp::read(payload).filter(|_| checksum(payload) == 0)?;
    Some((header, &payload[Icmp::LEN..]))
}

/// The identifier and sequence of the echo request that an error's data quote.
pub(crate) fn quoted_echo(data: &[u8]) -> Option<(Ipv4, u16, u16)> {
    let ip = Ipv4::read(data).filter(|ip| ip.protocol == protocol::ICMP)?;
    let icmp = Icmp::read(data.get(ip.header_len()..)?).filter(|icmp| icmp.kind == kind::ECHO)?;
    Some((*ip, icmp.identifier.get(), icmp.sequence.get()))
}

/// Whether an error may be sent about `packet`: the first fragment, from a host to a host, and no
/// error itself. Broadcast addresses of networks and frames to groups are the caller's to check.
pub(crate) fn may_cause_error(ip: &Ipv4, packet: &[u8]) -> bool {
    let is_query = || {
        let asks = [kind::ROUTER_ADVERTISEMENT, kind::ROUTER_SOLICITATION];
        Icmp::read(payload(packet))
            .is_some_and(|icmp| has_identifier(icmp.kind) || asks.contains(&icmp.kind))
    };
    ip.is_first_fragment()
        && is_host(ip.src.into())
        && is_host(ip.dst.into())
        && (ip.protocol != protocol::ICMP || is_query())
}

#[cfg(test)]
mod tests {
    use super::super::header::Make;
    use super::*;
    use trammel_packet::headers::ipv4::MF;

    fn packet(source: [u8; 4], protocol: u8, payload: &[u8]) -> Vec<u8> {
        let make = Make {
            tos: 0,
            ttl: 9,
            protocol,
            source: source.into(),
            destination: [10, 0, 0, 2].into(),
        };
        make.packet(1, payload).expect("short")
    }

    fn may(packet: &[u8]) -> bool {
        may_cause_error(Ipv4::read(packet).expect("a header"), packet)
    }

    #[test]
    fn no_error_about_errors_fragments_and_groups() {
        let host = [10, 0, 0, 1];
        assert!(may(&packet(host, protocol::UDP, &[])));
        assert!(may(&packet(host, protocol::ICMP, &echo(1, 1, &[]))));
        let quoted = packet(host, protocol::UDP, &[0; 8]);
        assert!(!may(&packet(host, protocol::ICMP, &error(11, 0, &quoted))));
        assert!(!may(&packet(host, protocol::ICMP, &[])));
        assert!(!may(&packet(host, protocol::ICMP, &[200; 8])));
        for source in [
            [0, 0, 0, 0],
            [127, 0, 0, 1],
            [224, 0, 0, 1],
            [255; 4],
            [240, 0, 0, 1],
        ] {
            assert!(!may(&packet(source, protocol::UDP, &[])), "{source:?}");
        }
        let mut fragment = packet(host, protocol::UDP, &[]);
        let flags = |value: u16| U16::new(value);
        Ipv4::read_mut(&mut fragment).unwrap().flags_fragment = flags(MF);
        assert!(may(&fragment));
        Ipv4::read_mut(&mut fragment).unwrap().flags_fragment = flags(1);
        assert!(!may(&fragment));
    }

    #[test]
    fn an_error_quotes_as_much_as_fits_and_tells_whose_echo_it_was() {
        let long = packet([10, 0, 0, 1], protocol::ICMP, &echo(3, 4, &[7; 1000]));
        let error = error(kind::UNREACHABLE, NET_UNKNOWN, &long);
        assert_eq!(error.len() + Ipv4::LEN, ERROR_BYTES);
        let (header, data) = read(&error).expect("whole");
        assert_eq!((header.kind, header.code), (3, 6));
        let (ip, identifier, sequence) = quoted_echo(data).expect("an echo");
        assert_eq!((ip.src, identifier, sequence), ([10, 0, 0, 1], 3, 4));
        assert_eq!(quoted_echo(&data[..24]), None);
        assert_eq!(read(&error[..40]), None);
    }
}
