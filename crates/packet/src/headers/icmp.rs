//! ICMP (RFC 792).

use super::{U16, header};

/// `icmp_type`.
pub mod kind {
    /// Echo reply.
    pub const ECHO_REPLY: u8 = 0;
    /// Destination unreachable.
    pub const UNREACHABLE: u8 = 3;
    /// Source quench.
    pub const SOURCE_QUENCH: u8 = 4;
    /// Redirect.
    pub const REDIRECT: u8 = 5;
    /// Echo request.
    pub const ECHO: u8 = 8;
    /// Router advertisement (RFC 1256).
    pub const ROUTER_ADVERTISEMENT: u8 = 9;
    /// Router solicitation (RFC 1256).
    pub const ROUTER_SOLICITATION: u8 = 10;
    /// Time exceeded.
    pub const TIME_EXCEEDED: u8 = 11;
    /// Parameter problem.
    pub const PARAMETER_PROBLEM: u8 = 12;
    /// Timestamp.
    pub const TIMESTAMP: u8 = 13;
    /// Timestamp reply.
    pub const TIMESTAMP_REPLY: u8 = 14;
    /// Information request.
    pub const INFORMATION: u8 = 15;
    /// Information reply.
    pub const INFORMATION_REPLY: u8 = 16;
    /// Address mask request (RFC 950).
    pub const MASK: u8 = 17;
    /// Address mask reply (RFC 950).
    pub const MASK_REPLY: u8 = 18;
}

/// Codes of [`kind::UNREACHABLE`] that routers send.
pub mod unreachable {
    /// Network.
    pub const NET: u8 = 0;
    /// Host.
    pub const HOST: u8 = 1;
    /// Protocol.
    pub const PROTOCOL: u8 = 2;
    /// Port.
    pub const PORT: u8 = 3;
    /// Fragmentation needed, and not allowed.
    pub const NEEDFRAG: u8 = 4;
    /// Forbidden (RFC 1812).
    pub const ADMIN_PROHIBITED: u8 = 13;
}

header! {
    /// The header: eight bytes, of which the last four mean different things.
    pub struct Icmp {
        /// One of [`kind`].
        pub kind: u8,
        /// Within the type.
        pub code: u8,
        /// Over the message.
        pub checksum: U16,
        /// Identifier of echo, timestamp, information, mask; unused or pointer elsewhere.
        pub identifier: U16,
        /// Sequence of the same; the next hop's MTU of [`unreachable::NEEDFRAG`] (RFC 1191).
        pub sequence: U16,
    }
}

/// Whether messages of this type have identifier and sequence.
pub fn has_identifier(kind: u8) -> bool {
    use kind::{
        ECHO, ECHO_REPLY, INFORMATION, INFORMATION_REPLY, MASK, MASK_REPLY, TIMESTAMP,
        TIMESTAMP_REPLY,
    };
    matches!(
        kind,
        ECHO | ECHO_REPLY
            | INFORMATION
            | INFORMATION_REPLY
            | MASK
            | MASK_REPLY
            | TIMESTAMP
            | TIMESTAMP_REPLY
    )
}

/// Whether messages of this type tell of another packet, whose front they quote.
pub fn is_error(kind: u8) -> bool {
    use kind::{PARAMETER_PROBLEM, REDIRECT, SOURCE_QUENCH, TIME_EXCEEDED, UNREACHABLE};
    matches!(
        kind,
        UNREACHABLE | SOURCE_QUENCH | REDIRECT | TIME_EXCEEDED | PARAMETER_PROBLEM
    )
}
