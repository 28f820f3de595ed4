//! The header of IPv4 (RFC 791): checked on the way in, made on the way out.

use crate::counters::Counter;
use core::net::Ipv4Addr;
use trammel_packet::headers::checksum::{checksum, update_u16};
use trammel_packet::headers::ipv4::{Ipv4, set_checksum};
use trammel_packet::headers::{U16, ipv4};

/// Bytes of a packet, at most: Ethernet's MTU.
pub(crate) const MTU: usize = 1500;

/// The packet that `data` begin with, without the padding of its frame.
///
/// # Errors
///
/// The fate of a packet that RFC 1812 §5.2.2 has dropped, or that has options.
pub(crate) fn checked(data: &[u8]) -> Result<(&Ipv4, &[u8]), Counter> {
    let header = Ipv4::read(data).ok_or(Counter::IpLength)?;
    if header.version() != 4 {
        return Err(Counter::Version);
    }
    let length = header.header_len();
    if length < Ipv4::LEN {
        return Err(Counter::IpLength);
    }
    let bytes = data.get(..length).ok_or(Counter::IpLength)?;
    if checksum(bytes) != 0 {
        return Err(Counter::Checksum);
    }
    if length > Ipv4::LEN {
        return Err(Counter::Options);
    }
    let total = usize::from(header.total_length.get());
    if total < length {
        return Err(Counter::IpLength);
    }
    let packet = data.get(..total).ok_or(Counter::IpLength)?;
    Ok((header, packet))
}

/// What stands behind the header of a packet without options.
pub(crate) fn payload(packet: &[u8]) -> &[u8] {
    packet.get(Ipv4::LEN..).unwrap_or_default()
}

/// A packet that is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Make {
    pub(crate) tos: u8,
    pub(crate) ttl: u8,
    pub(crate) protocol: u8,
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
}

impl Make {
    /// The packet with `payload`, or nothing where it would be longer than the MTU.
    pub(crate) fn packet(self, identification: u16, payload: &[u8]) -> Option<Vec<u8>> {
        let total = Ipv4::LEN + payload.len();
        if total > MTU {
            return None;
        }
        let header = Ipv4 {
            version_ihl: 0x45,
            tos: self.tos,
            total_length: U16::new(total as u16),
            identification: U16::new(identification),
            flags_fragment: U16::ZERO,
            ttl: self.ttl,
            protocol: self.protocol,
            checksum: U16::ZERO,
            src: self.source.octets(),
            dst: self.destination.octets(),
        };
        let mut packet = [header.bytes(), payload].concat();
        set_checksum(&mut packet);
        Some(packet)
    }
}

/// `packet` with its time to live one lower; it has at least 1.
pub(crate) fn hop(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if let Some(header) = ipv4::Ipv4::read_mut(&mut packet) {
        let word = |ttl: u8, protocol: u8| u16::from_be_bytes([ttl, protocol]);
        let old = word(header.ttl, header.protocol);
        header.ttl = header.ttl.saturating_sub(1);
        let new = word(header.ttl, header.protocol);
        header.checksum = U16::new(update_u16(header.checksum.get(), old, new));
    }
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Vec<u8> {
        let make = Make {
            tos: 0,
            ttl: 64,
            protocol: 17,
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, 2),
        };
        make.packet(7, &[1, 2, 3]).expect("short")
    }

    fn fate(change: impl Fn(&mut Vec<u8>)) -> Option<Counter> {
        let mut packet = packet();
        change(&mut packet);
        checked(&packet).err()
    }

    #[test]
    fn what_is_made_is_right_and_stays_so_after_a_hop() {
        let padded = [packet(), vec![0; 30]].concat();
        let (header, packet) = checked(&padded).expect("right");
        assert_eq!((header.ttl, payload(packet)), (64, &[1, 2, 3][..]));
        let hopped = hop(packet);
        let (header, _) = checked(&hopped).expect("right");
        assert_eq!(header.ttl, 63);
    }

    #[test]
    fn each_fault_has_its_fate() {
        let seal = |packet: &mut Vec<u8>| set_checksum(packet);
        assert_eq!(fate(|p| p.truncate(19)), Some(Counter::IpLength));
        assert_eq!(fate(|p| p[0] = 0x65), Some(Counter::Version));
        assert_eq!(fate(|p| p[0] = 0x44), Some(Counter::IpLength));
        assert_eq!(fate(|p| p[0] = 0x4f), Some(Counter::IpLength));
        assert_eq!(fate(|p| p[8] = 1), Some(Counter::Checksum));
        let long = fate(|p| {
            p[3] = 24;
            seal(p);
        });
        assert_eq!(long, Some(Counter::IpLength));
        let short = fate(|p| {
            p[3] = 19;
            seal(p);
        });
        assert_eq!(short, Some(Counter::IpLength));
        let options = fate(|p| {
            p[0] = 0x46;
            p.extend([1, 1, 1, 1]);
            seal(p);
        });
        assert_eq!(options, Some(Counter::Options));
    }

    #[test]
    fn a_packet_longer_than_the_mtu_is_not_made() {
        let make = Make {
            tos: 0,
            ttl: 1,
            protocol: 89,
            source: Ipv4Addr::LOCALHOST,
            destination: Ipv4Addr::LOCALHOST,
        };
        assert!(make.packet(0, &[0; MTU - Ipv4::LEN]).is_some());
        assert!(make.packet(0, &[0; MTU - Ipv4::LEN + 1]).is_none());
    }
}
