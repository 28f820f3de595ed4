//! Where an Ethernet address stands in a packet, as arguments tell: `src`, `dst` or an offset.

use crate::args::numbers::parse_uint;
use crate::args::{Kind, Param, mandatory};

/// Bytes of an address.
pub(crate) const ETHER_BYTES: usize = 6;

/// The argument.
pub(crate) const OFFSET: Param = mandatory(
    "OFFSET",
    Kind::Word,
    "where in the packet: `src`, `dst` or the first byte",
);

/// The first byte that `text` tells.
pub(crate) fn parse(text: &str) -> Result<usize, String> {
    match text.to_ascii_lowercase().as_str() {
        "dst" => Ok(0),
        "src" => Ok(ETHER_BYTES),
        text => {
            let most = u64::from(u32::MAX) - ETHER_BYTES as u64;
            let offset = parse_uint(text, most);
            let offset = offset.map_err(|_| "type mismatch: bad OFFSET".to_owned())?;
            Ok(offset as usize)
        }
    }
}
