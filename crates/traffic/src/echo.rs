//! Stamps in echo requests of ICMP (RFC 792) and ICMPv6 (RFC 4443), and in the replies to them.
//!
//! ```text
//!  0      1      2          4            6          8       24
//!  ┌──────┬──────┬──────────┬────────────┬──────────┬───────┬─────────
//!  │ type │ code │ checksum │ identifier │ sequence │ stamp │ zeroes…
//!  └──────┴──────┴──────────┴────────────┴──────────┴───────┴─────────
//! ```
//! Identifier and sequence are the lowest 16 bits of the stamp's flow and place: by these, too,
//! requests of others are told apart. A peer's kernel answers every request by itself, so a packet
//! is counted where it is awaited: requests by a receiver, replies by a sender that measures round
//! trips; never both.

use crate::stamp::{STAMP_BYTES, Stamp};
use trammel_packet::headers::checksum::checksum;
use trammel_packet::headers::icmp::{self, Icmp};
use trammel_packet::headers::icmp6;
use trammel_packet::headers::ipv4::Ipv4;

/// Bytes of a message before the stamp, and with it.
pub const HEADER_BYTES: usize = Icmp::LEN;
/// See [`HEADER_BYTES`].
pub const HEAD_BYTES: usize = HEADER_BYTES + STAMP_BYTES;

/// Which of the two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// What is sent.
    Request,
    /// What comes back.
    Reply,
}

impl Echo {
    /// Its type in ICMP, or in ICMPv6.
    pub fn kind(self, is_ipv6: bool) -> u8 {
        match (self, is_ipv6) {
            (Echo::Request, false) => icmp::kind::ECHO,
            (Echo::Reply, false) => icmp::kind::ECHO_REPLY,
            (Echo::Request, true) => icmp6::kind::ECHO,
            (Echo::Reply, true) => icmp6::kind::ECHO_REPLY,
        }
    }
}

/// The head of a request whose data are a stamp and zeroes. The checksum of ICMPv6 is left to the
/// kernel.
pub fn request(stamp: &Stamp, is_ipv6: bool) -> [u8; HEAD_BYTES] {
    let mut header = Icmp {
        kind: Echo::Request.kind(is_ipv6),
        identifier: (stamp.flow as u16).into(),
        sequence: (stamp.sequence as u16).into(),
        ..Icmp::default()
    };
    let mut head = [0; HEAD_BYTES];
    head[HEADER_BYTES..].copy_from_slice(&stamp.write());
    head[..HEADER_BYTES].copy_from_slice(header.bytes());
    if !is_ipv6 {
        header.checksum = checksum(&head).into();
        head[..HEADER_BYTES].copy_from_slice(header.bytes());
    }
    head
}

/// The stamp in what a raw socket took in, and the bytes of the payload that it begins; none where
/// it is another message, or one that was changed on its way.
pub fn read(packet: &[u8], which: Echo, is_ipv6: bool) -> Option<(Stamp, usize)> {
    let header_bytes = if is_ipv6 {
        0
    } else {
        Ipv4::read(packet)?.header_len().max(Ipv4::LEN)
    };
    let message = packet.get(header_bytes..)?;
    let (header, payload) = (Icmp::read(message)?, &message[HEADER_BYTES..]);
    let stamp = Stamp::read(payload)?;
    let is_ours = header.kind == which.kind(is_ipv6)
        && header.code == 0
        && header.identifier.get() == stamp.flow as u16
        && header.sequence.get() == stamp.sequence as u16
        && (is_ipv6 || checksum(message) == 0);
    is_ours.then_some((stamp, payload.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp {
        flow: 0x01_0203,
        sequence: 0x0405_0607,
        sent_ns: 0x0809_0a0b_0c0d_0e0f,
    };

    /// What a raw socket of IPv4 would take in.
    fn packet(more: usize) -> Vec<u8> {
        let mut packet = vec![0; Ipv4::LEN];
        packet[0] = 0x45;
        packet.extend(request(&STAMP, false));
        packet.resize(packet.len() + more, 0);
        packet
    }

    #[test]
    fn its_bytes_are_those_of_the_rfc() {
        let head = request(&STAMP, true);
        assert_eq!(head[..8], [128, 0, 0, 0, 2, 3, 6, 7]);
        assert_eq!(head[8..], STAMP.write());
        let packet = packet(5);
        assert_eq!(packet[20..22], [8, 0]);
        // The sum over the whole message, as RFC 792 has it.
        assert_eq!(checksum(&packet[20..]), 0);
        assert_eq!(read(&packet, Echo::Request, false), Some((STAMP, 21)));
        assert_eq!(read(&head, Echo::Request, true), Some((STAMP, 16)));
    }

    #[test]
    fn what_is_of_others_or_was_changed_is_left() {
        assert_eq!(read(&packet(0), Echo::Reply, false), None);
        for at in 20..packet(9).len() {
            let mut packet = packet(9);
            packet[at] ^= 4;
            assert_eq!(read(&packet, Echo::Request, false), None, "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_left(packet: Vec<u8>, is_ipv6: bool) {
            let _ = read(&packet, Echo::Request, is_ipv6);
        }
    }
}
