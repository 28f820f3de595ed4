//! A packet's contents outside any pool, to be carried to the pool of another thread.

use crate::anno::SIZE;
use crate::packet::{Packet, PacketType};
use crate::pool::HEADROOM;
use crate::timestamp::Timestamp;

/// What a packet holds: its bytes with those before them, where its headers are, its annotations
/// and time. One that is filled again and again allocates nothing.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// Bytes before the data, then the data.
    bytes: Vec<u8>,
    /// How many of them stand before the data.
    before: usize,
    /// Where the link, network and transport header start, from the start of the data.
    marks: [Option<isize>; 3],
    timestamp: Timestamp,
    annotations: [u8; SIZE],
    ptype: PacketType,
}

impl Default for Parcel {
    fn default() -> Parcel {
        Parcel {
            bytes: Vec::new(),
            before: 0,
            marks: [None; 3],
            timestamp: Timestamp::ZERO,
            annotations: [0; SIZE],
            ptype: PacketType::Host,
        }
    }
}

impl Parcel {
    /// Takes a copy of `packet` in place of what it holds. What was stripped comes along, as far as
    /// a new packet's head-room has space for it.
    pub fn fill(&mut self, packet: &Packet) {
        let before = packet.before(HEADROOM);
        self.before = before.len();
        self.bytes.clear();
        self.bytes.extend_from_slice(before);
        self.bytes.extend_from_slice(packet.data());
        self.marks = [
            packet.mac_header_at(),
            packet.network_header_at(),
            packet.transport_header_at(),
        ];
        self.timestamp = packet.timestamp();
        self.annotations = *packet.annotations();
        self.ptype = packet.packet_type();
    }

    /// Makes `packet`, a new one, what was filled in.
    pub fn empty_into(&self, packet: &mut Packet) {
        packet.set_data(&self.bytes);
        packet.pull(self.before);
        let set: [fn(&mut Packet, isize); 3] = [
            Packet::set_mac_header,
            Packet::set_network_header,
            Packet::set_transport_header,
        ];
        for (set, at) in std::iter::zip(set, self.marks) {
            if let Some(at) = at {
                set(packet, at);
            }
        }
        packet.set_timestamp(self.timestamp);
        *packet.annotations_mut() = self.annotations;
        packet.set_packet_type(self.ptype);
    }

    /// The bytes of the packet.
    pub fn data(&self) -> &[u8] {
        &self.bytes[self.before..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;

    #[test]
    fn what_comes_out_is_what_went_in_even_what_was_stripped() {
        let (mut from, mut to) = (Pool::new(2, 2), Pool::new(2, 2));
        let a = from
            .alloc_with(b"ethernet.ip.payload")
            .expect("the pool has a free slot");
        from[&a].set_mac_header(0);
        from[&a].pull(9);
        from[&a].set_network_header(0);
        from[&a].set_transport_header(3);
        from[&a].set_timestamp(Timestamp(7));
        from[&a].annotations_mut()[16] = 5;
        let mut parcel = Parcel::default();
        parcel.fill(&from[&a]);
        assert_eq!(parcel.data(), b"ip.payload");
        let b = to.alloc().expect("the pool has a free slot");
        parcel.empty_into(&mut to[&b]);
        assert_eq!(to[&b].data(), b"ip.payload");
        assert_eq!(to[&b].mac_header_at(), Some(-9));
        assert_eq!(to[&b].network_header(), b"ip.payload");
        assert_eq!(to[&b].transport_header(), b"payload");
        assert_eq!(to[&b].timestamp(), Timestamp(7));
        assert_eq!(to[&b].annotations()[16], 5);
        to[&b].push(9);
        assert_eq!(to[&b].data(), b"ethernet.ip.payload");
        from.free(a);
        to.free(b);
    }

    #[test]
    fn frames_larger_than_a_slot_are_carried() {
        let (mut from, mut to) = (Pool::new(1, 1), Pool::new(1, 1));
        let large = vec![9; 60_000];
        let a = from.alloc_with(&large).expect("the pool has a free slot");
        let mut parcel = Parcel::default();
        parcel.fill(&from[&a]);
        let b = to.alloc().expect("the pool has a free slot");
        parcel.empty_into(&mut to[&b]);
        assert_eq!(to[&b].data(), large);
        from.free(a);
        to.free(b);
    }
}
