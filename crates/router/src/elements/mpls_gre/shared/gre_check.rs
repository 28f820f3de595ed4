//! What is wrong with a GRE packet (RFC 2784, §2; RFC 2890, §2).

use crate::reason::Reason;
use trammel_packet::headers::checksum::checksum;
use trammel_packet::headers::gre::{CHECKSUM, Gre, ROUTING, VERSION_MASK};

/// Bits that RFC 2784 reserves: a packet with any of them among the first five is dropped unless it
/// is understood; the key and the sequence number of RFC 2890 are.
const RESERVED: u16 = ROUTING | 0x0C00;

/// The length of the header of a good packet.
pub(crate) fn check(data: &[u8], with_checksum: bool) -> Result<usize, Reason> {
    let header = Gre::read(data).ok_or(Reason::TooShort)?;
    let flags = header.flags_version.get();
    if flags & VERSION_MASK != 0 {
        return Err(Reason::BadVersion);
    }
    if flags & RESERVED != 0 {
        return Err(Reason::BadHeader);
    }
    let len = header.header_len();
    if data.len() < len {
        return Err(Reason::TooShort);
    }
    if with_checksum && flags & CHECKSUM != 0 && checksum(data) != 0 {
        return Err(Reason::BadChecksum);
    }
    Ok(len)
}
