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

    /// What `data` carry, as an Ethernet type, and where that begins; tags of VLANs are skipped. Nothing
    /// where the frame is cut short or the link type or the family not known.
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
            _ => None,
        }
    }
}
