//! Solicitations and advertisements of neighbours, as whole frames (RFC 4861, §4.3, §4.4, §7.1).
//!
//! Both have one shape: Ethernet, IPv6, a message that names a target, and an option with a link
//! address.

use crate::headers::ip6_packet;
use trammel_packet::headers::U16;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::icmp6::{Neighbor, kind, link_address_option, option};
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::ipv6::Ipv6;
use trammel_packet::packet::Packet;

/// Bytes of a frame that is made here.
pub(crate) const FRAME_LEN: usize = MESSAGE_AT + Neighbor::LEN + OPTION_LEN;
const MESSAGE_AT: usize = Ether::LEN + Ipv6::LEN;
const OPTION_LEN: usize = 8;
/// No router passes on what has less: it comes from this link.
const HOP_LIMIT: u8 = 255;
/// All nodes of the link.
pub(crate) const ALL_NODES: [u8; 16] = [0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

/// The link address of a group (RFC 2464, §7).
pub(crate) fn link_group(group: [u8; 16]) -> [u8; 6] {
    [0x33, 0x33, group[12], group[13], group[14], group[15]]
}

/// The group in which the owner of `address` listens (RFC 4291, §2.7.1).
pub(crate) fn solicited_node(address: [u8; 16]) -> [u8; 16] {
    let mut group = ALL_NODES;
    (group[11], group[12]) = (1, 0xFF);
    group[13..].copy_from_slice(&address[13..]);
    group
}

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The sender's link address, which the option tells.
    pub from: [u8; 6],
    /// The receiver's link address.
    pub to: [u8; 6],
    /// The source.
    pub src: [u8; 16],
    /// The destination.
    pub dst: [u8; 16],
}

/// A frame with a message of `kind` about `target`.
pub(crate) fn frame(kind: u8, ends: Ends, flags: u32, target: [u8; 16]) -> [u8; FRAME_LEN] {
    let mut frame = [0; FRAME_LEN];
    let ether = Ether {
        dst: ends.to,
        src: ends.from,
        ethertype: U16::new(ethertype::IP6),
    };
    let ip = Ipv6 {
        version_class_flow: (6 << 28).into(),
        payload_length: U16::new((FRAME_LEN - MESSAGE_AT) as u16),
        next_header: protocol::ICMP6,
        hop_limit: HOP_LIMIT,
        src: ends.src,
        dst: ends.dst,
    };
    let message = Neighbor {
        kind,
        flags: flags.into(),
        target,
        ..Neighbor::default()
    };
    let which = if kind == kind::NEIGHBOR_SOLICITATION {
        option::SOURCE_LINK_ADDRESS
    } else {
        option::TARGET_LINK_ADDRESS
    };
    frame[..Ether::LEN].copy_from_slice(ether.bytes());
    frame[Ether::LEN..MESSAGE_AT].copy_from_slice(ip.bytes());
    frame[MESSAGE_AT..MESSAGE_AT + Neighbor::LEN].copy_from_slice(message.bytes());
    frame[MESSAGE_AT + Neighbor::LEN..].copy_from_slice(&link_address_option(which, ends.from));
    let sum = ip6_packet::checksum(&ip.src, &ip.dst, protocol::ICMP6, &frame[MESSAGE_AT..]);
    frame[MESSAGE_AT + 2..MESSAGE_AT + 4].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// Marks the headers of a frame that was just made.
pub(crate) fn mark(packet: &mut Packet) {
    packet.set_mac_header(0);
    packet.set_network_header(Ether::LEN as isize);
    packet.set_transport_header(MESSAGE_AT as isize);
}

/// What a message tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The frame's sender.
    pub from: [u8; 6],
    /// The packet's source.
    pub src: [u8; 16],
    /// Flags of an advertisement.
    pub flags: u32,
    /// Of whom it asks or tells.
    pub target: [u8; 16],
    /// The link address of the option for it, where there is one.
    pub address: Option<[u8; 6]>,
}

/// Reads a frame with a message of `wanted`, where it is one and valid.
pub(crate) fn read(frame: &[u8], wanted: u8) -> Option<Told> {
    let ether = Ether::read(frame).filter(|ether| ether.ethertype.get() == ethertype::IP6)?;
    let ip = Ipv6::read(&frame[Ether::LEN..])?;
    //= rfc4861 §7.1.1
    //# The IP Hop Limit field has a value of 255, i.e., the packet could not possibly have been
    //# forwarded by a router.
    if ip.version() != 6 || ip.next_header != protocol::ICMP6 || ip.hop_limit != HOP_LIMIT {
        return None;
    }
    let message = frame[MESSAGE_AT..].get(..usize::from(ip.payload_length.get()))?;
    let told = Neighbor::read(message)?;
    let is_one = told.kind == wanted && told.code == 0 && told.target[0] != 0xFF;
    if !is_one || ip6_packet::checksum(&ip.src, &ip.dst, protocol::ICMP6, message) != 0 {
        return None;
    }
    let is_question = wanted == kind::NEIGHBOR_SOLICITATION;
    let which = if is_question {
        option::SOURCE_LINK_ADDRESS
    } else {
        option::TARGET_LINK_ADDRESS
    };
    let (mut options, mut address) = (&message[Neighbor::LEN..], None);
    //# All included options have a length that is greater than zero.
    while let [kind, units, ..] = *options {
        let option = options
            .get(..usize::from(units) * 8)
            .filter(|o| !o.is_empty())?;
        if kind == which && address.is_none() {
            address = option[2..].first_chunk().copied();
        }
        options = &options[option.len()..];
    }
    if !options.is_empty() || (is_question && ip.src == [0; 16] && address.is_some()) {
        return None;
    }
    Some(Told {
        from: ether.src,
        src: ip.src,
        flags: told.flags.get(),
        target: told.target,
        address,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: Ends = Ends {
        from: [2, 0, 0, 0, 0, 1],
        to: [2, 0, 0, 0, 0, 2],
        src: [1; 16],
        dst: [2; 16],
    };

    #[test]
    fn what_is_made_is_read() {
        let frame = frame(kind::NEIGHBOR_ADVERTISEMENT, ENDS, 0x4000_0000, [3; 16]);
        let told = Told {
            from: ENDS.from,
            src: ENDS.src,
            flags: 0x4000_0000,
            target: [3; 16],
            address: Some(ENDS.from),
        };
        assert_eq!(read(&frame, kind::NEIGHBOR_ADVERTISEMENT), Some(told));
        assert_eq!(read(&frame, kind::NEIGHBOR_SOLICITATION), None);
    }

    #[test]
    fn no_frame_with_a_wrong_byte_or_end_is_read() {
        let right = frame(kind::NEIGHBOR_SOLICITATION, ENDS, 0, [3; 16]);
        for len in 0..right.len() {
            assert_eq!(read(&right[..len], kind::NEIGHBOR_SOLICITATION), None);
        }
        // What the checksum covers not: link addresses, traffic class, flow label.
        for at in (12..15).chain(18..right.len()) {
            let mut wrong = right;
            wrong[at] ^= 0x10;
            assert_eq!(read(&wrong, kind::NEIGHBOR_SOLICITATION), None, "{at}");
        }
    }

    #[test]
    fn a_target_listens_in_the_group_of_its_last_bytes() {
        let group = solicited_node([9; 16]);
        assert_eq!(
            group,
            [0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 9, 9, 9]
        );
        assert_eq!(link_group(group), [0x33, 0x33, 0xFF, 9, 9, 9]);
    }
}
