//! Ethernet II (RFC 894).

use super::{U16, header};

/// `ETHERTYPE_*`: what the frame carries.
pub mod ethertype {
    /// IPv4.
    pub const IP: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// A tag of IEEE 802.1Q.
    pub const VLAN: u16 = 0x8100;
    /// A service tag of IEEE 802.1ad.
    pub const QINQ: u16 = 0x88A8;
    /// IPv6.
    pub const IP6: u16 = 0x86DD;
    /// MPLS, unicast.
    pub const MPLS: u16 = 0x8847;
    /// MPLS, multicast or upstream-assigned labels.
    pub const MPLS_MULTICAST: u16 = 0x8848;
    /// A bridged Ethernet frame within GRE.
    pub const TRANSPARENT_ETHERNET: u16 = 0x6558;
    /// Values from here on are types; smaller ones are lengths (IEEE 802.3).
    pub const MIN: u16 = 0x0600;
}

/// All stations.
pub const BROADCAST: [u8; 6] = [0xFF; 6];

header! {
    /// The header of a frame.
    pub struct Ether {
        /// To whom.
        pub dst: [u8; 6],
        /// From whom.
        pub src: [u8; 6],
        /// One of [`ethertype`], or the length of an IEEE 802.3 frame.
        pub ethertype: U16,
    }
}

impl Ether {
    /// Whether the frame goes to a group; the broadcast address is one.
    pub fn is_multicast(&self) -> bool {
        self.dst[0] & 1 != 0
    }

    /// Whether the frame goes to all stations.
    pub fn is_broadcast(&self) -> bool {
        self.dst == BROADCAST
    }
}
