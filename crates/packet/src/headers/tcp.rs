//! TCP (RFC 9293).

use super::{U16, U32, header};

/// Flags in [`Tcp::flags`].
pub mod flag {
    /// No more data.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement counts.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer counts.
    pub const URG: u8 = 0x20;
    /// ECN echo (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u8 = 0x80;
}

/// Kinds of options (RFC 9293, 7323, 2018).
pub mod option {
    /// End of the options.
    pub const EOL: u8 = 0;
    /// One byte of nothing.
    pub const NOP: u8 = 1;
    /// Maximum segment size.
    pub const MSS: u8 = 2;
    /// Window scale.
    pub const WSCALE: u8 = 3;
    /// Selective acknowledgement permitted.
    pub const SACK_PERMITTED: u8 = 4;
    /// Selective acknowledgement.
    pub const SACK: u8 = 5;
    /// Timestamp.
    pub const TIMESTAMP: u8 = 8;
}

header! {
    /// The header without options.
    pub struct Tcp {
        /// From which port.
        pub sport: U16,
        /// To which port.
        pub dport: U16,
        /// The sequence number.
        pub seq: U32,
        /// The acknowledgement.
        pub ack: U32,
        /// Header length in words of 4 bytes in the upper four bits; below it three reserved bits
        /// and AE.
        pub offset_reserved: u8,
        /// [`flag`]s.
        pub flags: u8,
        /// The window, not scaled.
        pub window: U16,
        /// Over pseudo-header, header and data.
        pub checksum: U16,
        /// The urgent pointer.
        pub urgent: U16,
    }
}

impl Tcp {
    /// Bytes of the header as it says, options included: 0 to 60.
    pub fn header_len(&self) -> usize {
        usize::from(self.offset_reserved >> 4) * 4
    }
}
