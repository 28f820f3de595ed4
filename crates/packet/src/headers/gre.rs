//! GRE (RFC 2784) with key and sequence number (RFC 2890).

use super::{U16, header};

/// `flags_version`: a checksum and a reserved field follow.
pub const CHECKSUM: u16 = 0x8000;
/// `flags_version`: a key follows.
pub const KEY: u16 = 0x2000;
/// `flags_version`: a sequence number follows.
pub const SEQUENCE: u16 = 0x1000;
/// `flags_version`: where the version stands; 0 for GRE.
pub const VERSION_MASK: u16 = 0x0007;
/// `flags_version`: routing of RFC 1701, which RFC 2784 withdrew.
pub const ROUTING: u16 = 0x4000;

header! {
    /// The header without its optional fields.
    pub struct Gre {
        /// Which fields follow, and the version.
        pub flags_version: U16,
        /// What it carries, as an Ethernet type.
        pub protocol: U16,
    }
}

impl Gre {
    /// Bytes of the header with the optional fields that it announces.
    pub fn header_len(&self) -> usize {
        let flags = self.flags_version.get();
        let fields = [CHECKSUM, KEY, SEQUENCE];
        Gre::LEN + 4 * fields.iter().filter(|field| flags & *field != 0).count()
    }

    /// The key of the GRE packet `data`, where it has one.
    pub fn key(data: &[u8]) -> Option<u32> {
        let flags = Gre::read(data)?.flags_version.get();
        let at = if flags & CHECKSUM != 0 { 8 } else { 4 };
        let bytes = data.get(at..at + 4).filter(|_| flags & KEY != 0)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    }
}
