//! What a receiver behind a translator of addresses shows at a sender's port, so that packets find
//! the way back to it.
//!
//! ```text
//!  0                 8          24 bytes
//!  ┌─────────────────┬──────────┐
//!  │ ff ff ff TRAML  │  token   │
//!  └─────────────────┴──────────┘
//! ```
//! As the stamp of a packet it would be of flow 2²⁴ − 1, which no receiver ever opens. The token is
//! what the sender said on the signalling channel: nobody else can have the packets of a flow sent
//! to him.

use super::message::TOKEN_BYTES;

/// Its bytes.
pub(crate) const PUNCH_BYTES: usize = 24;
/// What it begins with.
const MAGIC: [u8; PUNCH_BYTES - TOKEN_BYTES] = *b"\xff\xff\xffTRAML";

/// The punch of a token.
pub(crate) fn punch(token: &[u8; TOKEN_BYTES]) -> [u8; PUNCH_BYTES] {
    let mut bytes = [0; PUNCH_BYTES];
    bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
    bytes[MAGIC.len()..].copy_from_slice(token);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::MOST_FLOWS;
    use crate::stamp::Stamp;

    #[test]
    fn its_bytes_are_no_packets_of_any_flow() {
        let bytes = punch(b"sixteen bytes it");
        assert_eq!(&bytes, b"\xff\xff\xffTRAMLsixteen bytes it");
        let stamp = Stamp::read(&bytes).expect("it is long enough");
        assert_eq!(stamp.flow, MOST_FLOWS - 1);
    }
}
