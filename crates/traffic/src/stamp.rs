//! What each packet carries at the start of its payload: its flow, its place and when it was sent.
//!
//! ```text
//!  0      3         8                16 bytes
//!  ┌──────┬─────────┬────────────────┐
//!  │ flow │ sequence│ sent, ns       │   big-endian; nanoseconds since 1970
//!  └──────┴─────────┴────────────────┘
//! ```
//! A message of TCP has the length of its payload in place of the flow, which its connection tells.

use crate::record::{MOST_FLOWS, MOST_SEQUENCE};

/// Bytes of a stamp: the least payload.
pub const STAMP_BYTES: usize = 16;

/// A stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the flow, or the bytes of a message; 24 bits are kept.
    pub flow: u32,
    /// The place in the flow; 40 bits are kept.
    pub sequence: u64,
    /// When it was sent, in nanoseconds since 1970.
    pub sent_ns: i64,
}

impl Stamp {
    /// Its bytes.
    pub fn write(&self) -> [u8; STAMP_BYTES] {
        let mut bytes = [0; STAMP_BYTES];
        bytes[..3].copy_from_slice(&(self.flow % MOST_FLOWS).to_be_bytes()[1..]);
        bytes[3..8].copy_from_slice(&(self.sequence % MOST_SEQUENCE).to_be_bytes()[3..]);
        bytes[8..].copy_from_slice(&self.sent_ns.to_be_bytes());
        bytes
    }

    /// The stamp at the start of a payload, if that is long enough.
    pub fn read(payload: &[u8]) -> Option<Stamp> {
        let bytes: &[u8; STAMP_BYTES] = payload.first_chunk()?;
        let word = u64::from_be_bytes(*bytes.first_chunk()?);
        Some(Stamp {
            flow: (word >> 40) as u32,
            sequence: word % MOST_SEQUENCE,
            sent_ns: i64::from_be_bytes(*bytes.last_chunk()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_bytes_are_big_endian_on_every_machine() {
        let stamp = Stamp {
            flow: 0x0001_0203,
            sequence: 0x04_0506_0708,
            sent_ns: 0x090a_0b0c_0d0e_0f10,
        };
        let bytes: Vec<u8> = (1..=16).collect();
        assert_eq!(stamp.write().to_vec(), bytes);
        assert_eq!(Stamp::read(&bytes), Some(stamp));
        assert_eq!(Stamp::read(&bytes[..15]), None);
        let past = Stamp {
            sent_ns: -1,
            ..stamp
        };
        assert_eq!(Stamp::read(&past.write()), Some(past));
    }
}
