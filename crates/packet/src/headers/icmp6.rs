//! ICMPv6 (RFC 4443) and neighbour discovery (RFC 4861).

use super::{U16, U32, header};

/// `type`.
pub mod kind {
    /// Destination unreachable.
    pub const UNREACHABLE: u8 = 1;
    /// Packet too big.
    pub const PACKET_TOO_BIG: u8 = 2;
    /// Time exceeded.
    pub const TIME_EXCEEDED: u8 = 3;
    /// Parameter problem.
    pub const PARAMETER_PROBLEM: u8 = 4;
    /// Echo request.
    pub const ECHO: u8 = 128;
    /// Echo reply.
    pub const ECHO_REPLY: u8 = 129;
    /// Router solicitation.
    pub const ROUTER_SOLICITATION: u8 = 133;
    /// Router advertisement.
    pub const ROUTER_ADVERTISEMENT: u8 = 134;
    /// Neighbour solicitation.
    pub const NEIGHBOR_SOLICITATION: u8 = 135;
    /// Neighbour advertisement.
    pub const NEIGHBOR_ADVERTISEMENT: u8 = 136;
    /// Redirect.
    pub const REDIRECT: u8 = 137;
}

/// Options of neighbour discovery.
pub mod option {
    /// The sender's link-layer address.
    pub const SOURCE_LINK_ADDRESS: u8 = 1;
    /// The target's link-layer address.
    pub const TARGET_LINK_ADDRESS: u8 = 2;
}

/// Flags of an advertisement, in [`Neighbor::flags`].
pub mod flag {
    /// From a router.
    pub const ROUTER: u32 = 0x8000_0000;
    /// In answer to a solicitation.
    pub const SOLICITED: u32 = 0x4000_0000;
    /// Replaces what the cache has.
    pub const OVERRIDE: u32 = 0x2000_0000;
}

header! {
    /// The header: eight bytes, of which the last four mean different things.
    pub struct Icmp6 {
        /// One of [`kind`].
        pub kind: u8,
        /// Within the type.
        pub code: u8,
        /// Over pseudo-header and message.
        pub checksum: U16,
        /// MTU of [`kind::PACKET_TOO_BIG`], pointer, or identifier and sequence of echo.
        pub word: U32,
    }
}

header! {
    /// A solicitation or advertisement of a neighbour, without options.
    pub struct Neighbor {
        /// One of [`kind`].
        pub kind: u8,
        /// 0.
        pub code: u8,
        /// Over pseudo-header and message.
        pub checksum: U16,
        /// [`flag`]s of an advertisement; 0 in a solicitation.
        pub flags: U32,
        /// Of whom it asks or tells.
        pub target: [u8; 16],
    }
}

/// An option that carries an Ethernet address.
pub fn link_address_option(kind: u8, address: [u8; 6]) -> [u8; 8] {
    let mut option = [kind, 1, 0, 0, 0, 0, 0, 0];
    option[2..].copy_from_slice(&address);
    option
}
