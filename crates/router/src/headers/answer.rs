//! A packet becomes the answer to itself.

use trammel_packet::packet::{Packet, PacketType};
use trammel_packet::timestamp::Timestamp;

/// Makes `packet` one of `data` that this router sends `now`: nothing noted of it, no link header.
pub(crate) fn become_answer(packet: &mut Packet, data: &[u8], now: Timestamp) {
    packet.annotations_mut().fill(0);
    packet.clear_mac_header();
    packet.set_packet_type(PacketType::Host);
    packet.set_timestamp(now);
    packet.set_data(data);
}
