//! The tag of IEEE 802.1Q: what follows the type `0x8100` or `0x88A8`.

use super::{U16, header};

/// Bits of the VLAN identifier.
pub const VID_MASK: u16 = 0x0FFF;
/// Drop eligible.
pub const DEI: u16 = 0x1000;
/// Where the priority begins.
pub const PCP_SHIFT: u32 = 13;

header! {
    /// A tag.
    pub struct Vlan {
        /// Priority, drop eligibility, identifier.
        pub tci: U16,
        /// What follows, as an Ethernet type.
        pub ethertype: U16,
    }
}

impl Vlan {
    /// The identifier.
    pub fn vid(&self) -> u16 {
        self.tci.get() & VID_MASK
    }

    /// The priority code point.
    pub fn pcp(&self) -> u8 {
        (self.tci.get() >> PCP_SHIFT) as u8
    }

    /// Whether the frame may be dropped first.
    pub fn is_drop_eligible(&self) -> bool {
        self.tci.get() & DEI != 0
    }
}
