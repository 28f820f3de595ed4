//! The SACK blocks that an ACK reports: those last reported, the newest first (RFC 2018 §4).
//!
//! They are what is remembered, as in Linux, and not the ranges held: a segment beside a range that
//! has fallen out of them is reported alone.

use crate::segment::SackBlock;
use crate::seq::{after, earlier, later};

/// Blocks that are remembered: as many as a header without timestamps has room for.
const REMEMBERED: usize = 4;

/// The blocks, the newest first.
#[derive(Debug)]
pub(super) struct Blocks(Vec<SackBlock>);

impl Blocks {
    pub(super) fn new() -> Blocks {
        Blocks(Vec::with_capacity(REMEMBERED))
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = SackBlock> + '_ {
        self.0.iter().copied()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `newest` has come: its block goes first.
    pub(super) fn report(&mut self, mut newest: SackBlock) {
        // First with the block it touches, then with those that are one with it now.
        if let Some(at) = self.touched(newest) {
            newest = union(self.0.remove(at), newest);
        }
        self.0.retain(|block| {
            let joins = touch(*block, newest);
            if joins {
                newest = union(*block, newest);
            }
            !joins
        });
        self.0.truncate(REMEMBERED - 1);
        self.0.insert(0, newest);
    }

    /// The place of the first block that `newest` touches.
    pub(super) fn touched(&self, newest: SackBlock) -> Option<usize> {
        self.0.iter().position(|block| touch(*block, newest))
    }

    /// What is in order up to `next` is no block any more.
    pub(super) fn forget_before(&mut self, next: u32) {
        self.0.retain(|block| after(block.start, next));
    }
}

/// Whether two blocks overlap or adjoin.
fn touch(one: SackBlock, other: SackBlock) -> bool {
    !after(one.start, other.end) && !after(other.start, one.end)
}

/// The range from the first byte of two blocks to the last.
fn union(one: SackBlock, other: SackBlock) -> SackBlock {
    SackBlock {
        start: earlier(one.start, other.start),
        end: later(one.end, other.end),
    }
}
