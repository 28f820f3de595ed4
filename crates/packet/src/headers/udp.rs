//! UDP (RFC 768).

use super::{U16, header};

header! {
    /// The header.
    pub struct Udp {
        /// From which port.
        pub sport: U16,
        /// To which port.
        pub dport: U16,
        /// Bytes of header and data.
        pub length: U16,
        /// Over pseudo-header, header and data; 0 where it was not computed.
        pub checksum: U16,
    }
}
