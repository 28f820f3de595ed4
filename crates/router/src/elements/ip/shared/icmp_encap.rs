//! Puts ICMP and IPv4 headers before packets, for the elements that do.

use crate::headers::ip_packet::{mark_len, set_destination};
use trammel_packet::headers::U16;
use trammel_packet::headers::checksum::checksum;
use trammel_packet::headers::icmp::{Icmp, kind};
use trammel_packet::headers::ipv4::{Ipv4, protocol, set_checksum};
use trammel_packet::packet::Packet;

/// What an ICMP header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The type.
    pub kind: u8,
    /// The code.
    pub code: u8,
    /// The identifier, of types that have one.
    pub identifier: u16,
    /// The number in a sequence, of types that have one.
    pub sequence: u16,
}

impl Message {
    /// Puts the headers before a packet, marks them, and notes the destination.
    pub(crate) fn put(self, packet: &mut Packet, src: [u8; 4], dst: [u8; 4], id: u16) {
        // Three times follow, which are left zero.
        if matches!(self.kind, kind::TIMESTAMP | kind::TIMESTAMP_REPLY) {
            packet.push(12).fill(0);
        }
        let numbered = matches!(
            self.kind,
            kind::ECHO
                | kind::ECHO_REPLY
                | kind::TIMESTAMP
                | kind::TIMESTAMP_REPLY
                | kind::INFORMATION
                | kind::INFORMATION_REPLY
        );
        let mut icmp = Icmp {
            kind: self.kind,
            code: self.code,
            ..Icmp::default()
        };
        if numbered {
            icmp.identifier.set(self.identifier);
            icmp.sequence.set(self.sequence);
        }
        packet.push(Icmp::LEN).copy_from_slice(icmp.bytes());
        icmp.checksum.set(checksum(packet.data()));
        packet.data_mut()[..Icmp::LEN].copy_from_slice(icmp.bytes());
        let ip = Ipv4 {
            version_ihl: 0x45,
            total_length: U16::new((packet.len() + Ipv4::LEN) as u16),
            identification: U16::new(id),
            ttl: 255,
            protocol: protocol::ICMP,
            src,
            dst,
            ..Ipv4::default()
        };
        packet.push(Ipv4::LEN).copy_from_slice(ip.bytes());
        set_checksum(packet.data_mut());
        mark_len(packet, 0, Ipv4::LEN);
        set_destination(packet, dst);
    }
}
