//! A packet as rules see it: bytes at offsets from where the headers are.

use super::expr::{BASES, Base, Word};

/// A packet as the graph sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    /// All bytes, from before the first header on; what lies behind the packet's end does not
    /// matter.
    pub(crate) bytes: &'a [u8],
    /// Where the packet ends.
    pub(crate) end: u32,
    /// Where each base starts; beyond the end for one that there is not.
    pub(crate) starts: &'a [u32; BASES],
}

impl Frame<'_> {
    /// How many bytes there are from a base on.
    pub(crate) fn available(&self, base: usize) -> u32 {
        self.end.saturating_sub(self.starts[base & (BASES - 1)])
    }

    /// Whether there are that many bytes from each base.
    #[inline]
    pub(crate) fn has(&self, needs: &[(Base, u32)]) -> bool {
        let end = u64::from(self.end);
        needs.iter().all(|&(base, bytes)| {
            let start = self.starts[base as usize & (BASES - 1)];
            u64::from(start) + u64::from(bytes) <= end
        })
    }

    #[inline]
    pub(crate) fn load<const N: usize>(&self, at: Place) -> [u8; N] {
        let first = self.starts[at.base as usize & (BASES - 1)] as usize + at.offset as usize;
        match self.bytes.get(first..first + N) {
            Some(window) => window.try_into().expect("the window is N bytes long"),
            None => self.padded(first),
        }
    }

    /// Bytes of which some are not there, those being 0.
    #[cold]
    #[inline(never)]
    fn padded<const N: usize>(&self, first: usize) -> [u8; N] {
        std::array::from_fn(|i| self.bytes.get(first + i).copied().unwrap_or(0))
    }

    /// The word that a test means, in the network's order; bytes that are not there are 0.
    #[inline]
    pub(crate) fn word(&self, at: Place) -> u32 {
        if at.base as usize >= BASES {
            return self.available(at.offset as usize / 4);
        }
        u32::from_be_bytes(self.load(at))
    }
}

/// Where to load from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) base: u8,
    pub(crate) offset: u32,
}

impl Place {
    /// Where a word is, which does not start before its base.
    pub(crate) fn of(word: Word) -> Place {
        Place {
            base: word.base as u8,
            offset: word.offset.max(0) as u32,
        }
    }
}
