//! Link types of captures: what a frame begins with, and where its network header is.
//!
//! Source: the list of link-layer header types of tcpdump.org.

use crate::headers::ether::{Ether, ethertype};
use crate::headers::vlan::Vlan;

/// What the frames of a capture begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Four bytes of an address family, in the order of the machine that captured.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet.
    pub const EN10MB: LinkType = LinkType(1);
    /// PPP, with or without address and control.
    pub const PPP: LinkType = LinkType(9);
    /// FDDI: 13 bytes, then LLC.
    pub const FDDI: LinkType = LinkType(10);
    /// PPP in frames as HDLC has them, or Cisco's.
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// LLC or SNAP over ATM (RFC 1483).
    pub const ATM_RFC1483: LinkType = LinkType(100);
    /// Cisco's framing of PPP.
    pub const C_HDLC: LinkType = LinkType(104);
    /// An IPv4 or IPv6 packet.
    pub const RAW: LinkType = LinkType(101);
    /// Four bytes of an address family, in the network's order.
    pub const LOOP: LinkType = LinkType(108);
    /// Linux's cooked capture: 16 bytes.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// An IPv4 packet.
    pub const IPV4: LinkType = LinkType(228);
    /// An IPv6 packet.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux's cooked capture, version 2: 20 bytes.
    pub const LINUX_SLL2: LinkType = LinkType(276);

    /// The type that a file calls by a number: those of raw IP of some systems (`DLT_RAW`, 12, and
    /// of OpenBSD 14) are `RAW`.
    pub fn in_file(number: u16) -> LinkType {
        match number {
            12 | 14 => LinkType::RAW,
            other => LinkType(other),
        }
    }

    /// What `data` carry, as an Ethernet type, and where that begins; tags of VLANs are skipped.
    /// Nothing where the frame is cut short or the link type or the family not known.
    pub fn network(self, data: &[u8]) -> Option<(u16, usize)> {
        match self {
            LinkType::EN10MB => {
                let ether = Ether::read(data)?;
                let (mut kind, mut at) = (ether.ethertype.get(), Ether::LEN);
                while matches!(kind, ethertype::VLAN | ethertype::QINQ) {
                    kind = Vlan::read(data.get(at..)?)?.ethertype.get();
                    at += Vlan::LEN;
                }
                Some((kind, at))
            }
            // 12 and 14 are what RAW is called within files of some systems.
            LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 | LinkType(12 | 14) => {
                let kind = match data.first()? >> 4 {
                    4 => ethertype::IP,
                    6 => ethertype::IP6,
                    _ => return None,
                };
                Some((kind, 0))
            }
            LinkType::NULL | LinkType::LOOP => {
                let family = match data.get(..4)? {
                    [0, 0, 0, family] => *family,
                    [family, 0, 0, 0] if self == LinkType::NULL => *family,
                    _ => return None,
                };
                let kind = match family {
                    2 => ethertype::IP,
                    // Linux; the BSDs and macOS.
                    10 | 24 | 28 | 30 => ethertype::IP6,
                    _ => return None,
                };
                Some((kind, 4))
            }
            LinkType::LINUX_SLL => {
                let kind = data.get(14..16)?;
                Some((u16::from_be_bytes([kind[0], kind[1]]), 16))
            }
            LinkType::LINUX_SLL2 => {
                let kind = data.get(..20)?;
                Some((u16::from_be_bytes([kind[0], kind[1]]), 20))
            }
            LinkType::PPP => ppp(data),
            LinkType::PPP_HDLC if data.first() == Some(&PPP_ADDRESS[0]) => ppp(data),
            // Cisco's framing: address, control, Ethernet's type.
            LinkType::PPP_HDLC | LinkType::C_HDLC => {
                let kind = data.get(2..4)?;
                Some((u16::from_be_bytes([kind[0], kind[1]]), 4))
            }
            LinkType::FDDI => snap(data, 13),
            LinkType::ATM_RFC1483 => snap(data, 0),
            _ => None,
        }
    }
}

/// PPP's address and control, which need not be there.
const PPP_ADDRESS: [u8; 2] = [0xFF, 0x03];

/// The packet in a frame of PPP (RFC 1332, RFC 5072).
fn ppp(data: &[u8]) -> Option<(u16, usize)> {
    let at = if data.starts_with(&PPP_ADDRESS) { 2 } else { 0 };
    let kind = match data.get(at..at + 2)? {
        [0x00, 0x21] => ethertype::IP,
        [0x00, 0x57] => ethertype::IP6,
        _ => return None,
    };
    Some((kind, at + 2))
}

/// The packet behind a SNAP header at `at` (RFC 1042).
fn snap(data: &[u8], at: usize) -> Option<(u16, usize)> {
    match data.get(at..at + 8)? {
        [0xAA, 0xAA, 0x03, 0, 0, 0, high, low] => Some((u16::from_be_bytes([*high, *low]), at + 8)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame, and what is found in it.
    type Case<'a> = (LinkType, &'a [u8], Option<(u16, usize)>);

    #[test]
    fn the_network_header_of_each_link_type_is_found() {
        let ip = (ethertype::IP, ethertype::IP6);
        let snap_of_ip6 = [0xAA, 0xAA, 3, 0, 0, 0, 0x86, 0xDD];
        let fddi = [&[0; 13][..], &snap_of_ip6].concat();
        let frames: [Case; 10] = [
            (LinkType::PPP, &[0xFF, 3, 0, 0x21], Some((ip.0, 4))),
            (LinkType::PPP, &[0, 0x57], Some((ip.1, 2))),
            (LinkType::PPP, &[0xC0, 0x21], None),
            (LinkType::PPP_HDLC, &[0xFF, 3, 0, 0x21], Some((ip.0, 4))),
            (LinkType::PPP_HDLC, &[0x0F, 0, 8, 0], Some((ip.0, 4))),
            (LinkType::C_HDLC, &[0x0F, 0, 0x86, 0xDD], Some((ip.1, 4))),
            (LinkType::ATM_RFC1483, &snap_of_ip6, Some((ip.1, 8))),
            (LinkType::ATM_RFC1483, &[0xAA, 0xAA, 3, 0, 0, 1, 8, 0], None),
            (LinkType::FDDI, &fddi, Some((ip.1, 21))),
            (LinkType(8), &[0x45; 20], None),
        ];
        for (link, frame, wanted) in frames {
            assert_eq!(link.network(frame), wanted, "{link:?} {frame:?}");
            for cut in 0..frame.len() {
                assert_eq!(link.network(&frame[..cut]), None, "{link:?} cut to {cut}");
            }
        }
    }
}
