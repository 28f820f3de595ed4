//! ARP for IPv4 over Ethernet (RFC 826).

use super::{U16, header};

/// `ar_hrd`: Ethernet.
pub const HRD_ETHERNET: u16 = 1;
/// `ar_op`: who has this address?
pub const OP_REQUEST: u16 = 1;
/// `ar_op`: I have it.
pub const OP_REPLY: u16 = 2;

header! {
    /// A packet of ARP whose addresses are Ethernet's and IPv4's.
    pub struct Arp {
        /// Hardware space.
        pub hrd: U16,
        /// Protocol space, as an Ethernet type.
        pub pro: U16,
        /// Bytes of a hardware address.
        pub hln: u8,
        /// Bytes of a protocol address.
        pub pln: u8,
        /// What it asks or tells.
        pub op: U16,
        /// The sender's hardware address.
        pub sha: [u8; 6],
        /// The sender's protocol address.
        pub spa: [u8; 4],
        /// The target's hardware address.
        pub tha: [u8; 6],
        /// The target's protocol address.
        pub tpa: [u8; 4],
    }
}

impl Arp {
    /// Whether its addresses are Ethernet's and IPv4's.
    pub fn is_ethernet_ipv4(&self) -> bool {
        self.hrd.get() == HRD_ETHERNET
            && self.pro.get() == super::ether::ethertype::IP
            && (self.hln, self.pln) == (6, 4)
    }
}
