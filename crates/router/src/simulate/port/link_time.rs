//! How long frames are on a link: with checksum, preamble and gap, and 84 bytes at least.

use trammel_core::time::Span;
use trammel_core::units::{Rate, TxTime};

/// Bytes of the checksum that a frame has on the link, of its preamble and of the gap behind it.
const OVERHEAD: u64 = 4 + 8 + 12;
/// The shortest frame with these.
const LEAST: u64 = 84;

/// Times on a link of one rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkTime(TxTime);

impl LinkTime {
    /// Of a link of this rate.
    pub(super) fn new(rate: Rate) -> LinkTime {
        LinkTime(TxTime::new(rate))
    }

    /// The time of a frame of so many bytes, without its checksum.
    pub(super) fn of(self, bytes: usize) -> Span {
        self.0.of((bytes as u64 + OVERHEAD).max(LEAST))
    }
}
