//! Puts UDP and IPv4 headers before packets, for the elements that do.

use crate::headers::ip_packet::{mark_len, pseudo_sum, set_destination};
use trammel_packet::headers::U16;
use trammel_packet::headers::checksum::for_udp;
use trammel_packet::headers::ipv4::{Ipv4, protocol, set_checksum};
use trammel_packet::headers::udp::Udp;
use trammel_packet::packet::Packet;

/// The ends of a flow, and the number of its next packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Encap {
    /// The source.
    pub src: [u8; 4],
    /// The destination.
    pub dst: [u8; 4],
    /// The source's port.
    pub sport: u16,
    /// The destination's port.
    pub dport: u16,
    /// Whether UDP's checksum is computed.
    pub sums: bool,
    id: u16,
}

impl Encap {
    /// Puts the headers before a packet, marks them, and notes the destination.
    pub(crate) fn put(&mut self, packet: &mut Packet) {
        let len = packet.len() + Udp::LEN;
        let ip = Ipv4 {
            version_ihl: 0x45,
            total_length: U16::new((len + Ipv4::LEN) as u16),
            identification: U16::new(self.id),
            ttl: 250,
            protocol: protocol::UDP,
            src: self.src,
            dst: self.dst,
            ..Ipv4::default()
        };
        self.id = self.id.wrapping_add(1);
        let mut udp = Udp {
            sport: U16::new(self.sport),
            dport: U16::new(self.dport),
            length: U16::new(len as u16),
            checksum: U16::new(0),
        };
        packet.push(Udp::LEN).copy_from_slice(udp.bytes());
        if self.sums {
            udp.checksum.set(for_udp(pseudo_sum(&ip, packet.data())));
            packet.data_mut()[..Udp::LEN].copy_from_slice(udp.bytes());
        }
        packet.push(Ipv4::LEN).copy_from_slice(ip.bytes());
        set_checksum(packet.data_mut());
        mark_len(packet, 0, Ipv4::LEN);
        set_destination(packet, self.dst);
    }
}
