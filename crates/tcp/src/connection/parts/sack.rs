//! What the receiver has reported out of order (RFC 2018).

use crate::segment::SackBlock;

/// Selective acknowledgements of the outstanding segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sack {
    /// SACK blocks of the previous ACK.
    blocks: [SackBlock; 4],
    count: usize,
    /// Index after the highest SACKed segment.
    pub(crate) highest: u64,
}

impl Sack {
    /// SACK blocks of the previous ACK: the segments inside them are marked already.
    #[inline]
    pub(crate) fn previous(&self) -> &[SackBlock] {
        &self.blocks[..self.count]
    }

    /// Keeps the first `count` of `blocks` for the next ACK.
    #[inline]
    pub(crate) fn keep(&mut self, blocks: [SackBlock; 4], count: usize) {
        self.blocks = blocks;
        self.count = count;
    }

    /// Forgets the blocks of the previous ACK.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.count = 0;
    }
}
