//! The IPv4 packet within a packet: marks, checks and small changes that many elements make.

use trammel_packet::anno;
use trammel_packet::headers::checksum::{self, Sum};
use trammel_packet::headers::ipv4::{Ipv4, final_destination, set_checksum};
use trammel_packet::packet::{Packet, PacketType};

/// Marks the IPv4 header at `at`, and the transport header behind it.
#[inline]
pub(crate) fn mark(packet: &mut Packet, at: usize) {
    let first = packet.data().get(at).copied().unwrap_or(0x45);
    mark_len(packet, at, usize::from(first & 15) * 4);
}

/// Marks a network header of `len` bytes at `at`, and the transport header behind it.
#[inline]
pub(crate) fn mark_len(packet: &mut Packet, at: usize, len: usize) {
    packet.set_network_header(at as isize);
    packet.set_transport_header((at + len) as isize);
}

/// The marked header; none where it is not marked or not all there.
#[inline]
pub(crate) fn header(packet: &Packet) -> Option<&Ipv4> {
    Ipv4::read(packet.network_header())
}

/// The marked header, to write.
#[inline]
pub(crate) fn header_mut(packet: &mut Packet) -> Option<&mut Ipv4> {
    Ipv4::read_mut(packet.network_header_mut())
}

/// Sets the address that the packet is to be sent to.
#[inline]
pub(crate) fn set_destination(packet: &mut Packet, address: [u8; 4]) {
    packet.set_anno_bytes(anno::DST_IP, address);
}

/// The address that the packet is to be sent to.
#[inline]
pub(crate) fn destination(packet: &Packet) -> [u8; 4] {
    packet.anno_bytes(anno::DST_IP)
}

/// Whether the frame came to more than this host.
#[inline]
pub(crate) fn is_link_group(packet: &Packet) -> bool {
    matches!(
        packet.packet_type(),
        PacketType::Broadcast | PacketType::Multicast
    )
}

/// Replaces a word of the header at an even place below 20, and brings its checksum up to date.
#[inline]
pub(crate) fn replace_word(network: &mut [u8], at: usize, new: [u8; 2]) {
    let Some(header) = network.first_chunk_mut::<20>() else {
        return;
    };
    let old = u16::from_be_bytes([header[at], header[at + 1]]);
    let sum = u16::from_be_bytes([header[10], header[11]]);
    header[at..at + 2].copy_from_slice(&new);
    let sum = checksum::update_u16(sum, old, u16::from_be_bytes(new));
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Replaces the type of service, and brings the checksum up to date.
#[inline]
pub(crate) fn set_tos(packet: &mut Packet, tos: impl FnOnce(u8) -> u8) {
    let network = packet.network_header_mut();
    if let Some(&[first, old, ..]) = network.first_chunk::<20>() {
        replace_word(network, 0, [first, tos(old)]);
    }
}

/// Bytes of the packet from the transport header on, as far as there are any.
#[inline]
pub(crate) fn transport_len(packet: &Packet) -> usize {
    packet.transport_header().len()
}

/// The sum over the pseudo-header and all that follows the IPv4 header at the front of `data`; none
/// where the header's lengths go beyond the data.
pub(crate) fn transport_sum(data: &[u8]) -> Option<Sum> {
    let header = final_header(data)?;
    let total = usize::from(header.total_length.get());
    let transport = data.get(header.header_len()..total)?;
    Some(pseudo_sum(&header, transport))
}

/// The IPv4 header at the front of `data` as the pseudo-header of its transport has it: a source
/// route that is not used up tells the destination.
#[inline]
pub(crate) fn final_header(data: &[u8]) -> Option<Ipv4> {
    let mut header = *Ipv4::read(data)?;
    if header.header_len() > Ipv4::LEN {
        header.dst = final_destination(data).unwrap_or(header.dst);
    }
    Some(header)
}

/// The sum over the pseudo-header and `transport`; see [`final_header`].
#[inline]
pub(crate) fn pseudo_sum(header: &Ipv4, transport: &[u8]) -> Sum {
    Sum::ZERO
        .pseudo_v4(
            header.src,
            header.dst,
            header.protocol,
            transport.len() as u16,
        )
        .bytes(transport)
}

/// Gives a packet another source address, and takes the annotation back that asked for it.
pub(crate) fn fix_source(packet: &mut Packet, address: [u8; 4]) {
    if !packet.has_network_header() {
        return;
    }
    packet.set_anno_u8(anno::FIX_IP_SRC, 0);
    if let Some(header) = header_mut(packet) {
        header.src = address;
    }
    set_checksum(packet.network_header_mut());
}

/// What is wrong with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Less than a header.
    Tiny,
    /// Not version 4.
    Version,
    /// A header length of less than 20.
    HeaderLength,
    /// More bytes than there are, or fewer than the header has.
    Length,
    /// The checksum.
    Checksum,
    /// A source that no packet may have.
    Source,
}

/// The texts for the faults, in their order.
pub(crate) const FAULTS: &[&str] = &[
    "tiny packet",
    "bad IP version",
    "bad IP header length",
    "bad IP length",
    "bad IP checksum",
    "bad source address",
];

/// Sources that are refused, unless the destination is one of the exempted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// Refused.
    pub bad: Vec<[u8; 4]>,
    /// Destinations that are exempted.
    pub good_destinations: Vec<[u8; 4]>,
}

impl Sources {
    #[inline]
    fn refuses(&self, header: &Ipv4) -> bool {
        self.bad.contains(&header.src) && !self.good_destinations.contains(&header.dst)
    }
}

/// Whether the checksum of a header without options is right.
#[inline]
fn is_sum_right(header: &[u8; 20]) -> bool {
    let [a, b, c, d, e]: [u32; 5] = std::array::from_fn(|word| {
        let at = word * 4;
        // A sum in one's complement is the same in any byte order (RFC 1071, §2).
        u32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    });
    let sum = u64::from(a) + u64::from(b) + u64::from(c) + u64::from(d) + u64::from(e);
    sum % 0xFFFF == 0
}

/// Checks the header at `offset`. A good one is marked, its destination noted, and what follows the
/// packet (an Ethernet frame's padding) cut off.
#[inline]
pub(crate) fn check(
    packet: &mut Packet,
    offset: usize,
    with_checksum: bool,
    sources: &Sources,
) -> Result<(), Fault> {
    let data = packet.data().get(offset..).unwrap_or_default();
    let Some(front) = data.first_chunk::<20>() else {
        return Err(Fault::Tiny);
    };
    let Some(header) = Ipv4::read(front) else {
        return Err(Fault::Tiny);
    };
    let length = usize::from(header.total_length.get());
    let spare = data.len().wrapping_sub(length);
    if header.version_ihl == 0x45 {
        if length > data.len() || length < 20 {
            return Err(Fault::Length);
        }
        if with_checksum && !is_sum_right(front) {
            return Err(Fault::Checksum);
        }
    } else {
        check_uncommon(data, header, with_checksum)?;
    }
    if !sources.bad.is_empty() && sources.refuses(header) {
        return Err(Fault::Source);
    }
    let (len, dst) = (header.header_len(), header.dst);
    mark_len(packet, offset, len);
    packet.take(spare);
    set_destination(packet, dst);
    Ok(())
}

#[cold]
fn check_uncommon(data: &[u8], header: &Ipv4, with_checksum: bool) -> Result<(), Fault> {
    let (len, length) = (header.header_len(), usize::from(header.total_length.get()));
    if header.version() != 4 {
        return Err(Fault::Version);
    }
    if len < Ipv4::LEN {
        return Err(Fault::HeaderLength);
    }
    if length > data.len() || length < len {
        return Err(Fault::Length);
    }
    if with_checksum && checksum::checksum(&data[..len]) != 0 {
        return Err(Fault::Checksum);
    }
    Ok(())
}

/// What time to live and checksum become when a router passes a packet on (RFC 1624); `false` where
/// the packet has come to its end and is left as it was.
#[inline]
pub(crate) fn decrement_ttl(network: &mut [u8]) -> bool {
    let Some(header) = network.first_chunk_mut::<12>() else {
        return false;
    };
    if header[8] <= 1 {
        return false;
    }
    header[8] -= 1;
    let sum = u32::from(!u16::from_be_bytes([header[10], header[11]])) + 0xFEFF;
    let sum = !((sum + (sum >> 16)) as u16);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::udp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_quick_checksum_agrees_with_the_general_one(mut header: [u8; 20], right: bool) {
            header[0] = 0x45;
            if right {
                trammel_packet::headers::ipv4::set_checksum(&mut header);
            }
            prop_assert_eq!(is_sum_right(&header), checksum::checksum(&header) == 0);
        }

        #[test]
        fn a_decrement_keeps_the_checksum_right(ttl in 2_u8.., payload: [u8; 4]) {
            let mut packet = udp(ttl, &payload);
            prop_assert!(decrement_ttl(&mut packet));
            prop_assert_eq!(packet[8], ttl - 1);
            prop_assert_eq!(checksum::checksum(&packet[..20]), 0);
        }
    }
}
