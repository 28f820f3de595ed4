//! The IPv6 packet within a packet: marks and checksums (RFC 8200).

use trammel_packet::anno;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::ipv6::{self, Ipv6};
use trammel_packet::packet::Packet;

/// Marks the IPv6 header at `at`, and the transport header behind it and its extensions.
pub(crate) fn mark(packet: &mut Packet, at: usize) {
    let data = packet.data().get(at..).unwrap_or_default();
    let transport = ipv6::upper(data).map_or(Ipv6::LEN, |upper| upper.at);
    packet.set_network_header(at as isize);
    packet.set_transport_header((at + transport) as isize);
}

/// The marked header; none where it is not marked or not all there.
#[inline]
pub(crate) fn header(packet: &Packet) -> Option<&Ipv6> {
    Ipv6::read(packet.network_header())
}

/// The address that the packet is to be sent to.
#[inline]
pub(crate) fn destination(packet: &Packet) -> [u8; 16] {
    packet.anno_bytes(anno::DST_IP6)
}

/// Sets the address that the packet is to be sent to.
#[inline]
pub(crate) fn set_destination(packet: &mut Packet, address: [u8; 16]) {
    packet.set_anno_bytes(anno::DST_IP6, address);
}

/// The checksum of `payload`, in which that of its own is 0, over the pseudo-header (RFC 8200,
/// §8.1).
pub(crate) fn checksum(src: &[u8; 16], dst: &[u8; 16], protocol: u8, payload: &[u8]) -> u16 {
    Sum::ZERO
        .pseudo_v6(src, dst, protocol, payload.len() as u32)
        .bytes(payload)
        .checksum()
}
