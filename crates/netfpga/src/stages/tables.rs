//! The content-addressed memories of the lookup: 32 rows that are compared at once.
//!
//! The lowest row that matches counts, so software sorts routes by length of prefix. A row that was
//! never written is a row like any other: it matches 0.

use crate::tables::ROWS;

/// A ternary memory: a row matches where the bits of its mask do.
#[derive(Clone, Debug)]
pub(crate) struct Ternary {
    values: [u32; ROWS],
    masks: [u32; ROWS],
    masked: [u32; ROWS],
}

impl Ternary {
    pub(crate) fn new() -> Ternary {
        Ternary {
            values: [0; ROWS],
            masks: [u32::MAX; ROWS],
            masked: [0; ROWS],
        }
    }

    /// The value and the mask of `row`.
    pub(crate) fn get(&self, row: usize) -> (u32, u32) {
        (self.values[row], self.masks[row])
    }

    pub(crate) fn set(&mut self, row: usize, value: u32, mask: u32) {
        (self.values[row], self.masks[row]) = (value, mask);
        self.masked[row] = value & mask;
    }

    /// The lowest row that matches `key`.
    pub(crate) fn find(&self, key: u32) -> Option<usize> {
        let rows = self.masked.iter().zip(&self.masks);
        lowest(rows.map(|(masked, mask)| key & mask == *masked))
    }
}

/// An exact memory.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    values: [u32; ROWS],
}

impl Exact {
    pub(crate) fn new() -> Exact {
        Exact { values: [0; ROWS] }
    }

    /// The value of `row`.
    pub(crate) fn get(&self, row: usize) -> u32 {
        self.values[row]
    }

    pub(crate) fn set(&mut self, row: usize, value: u32) {
        self.values[row] = value;
    }

    /// The lowest row that has `key`.
    pub(crate) fn find(&self, key: u32) -> Option<usize> {
        lowest(self.values.iter().map(|value| *value == key))
    }
}

/// All rows are compared, without a branch on any of them.
fn lowest(matches: impl Iterator<Item = bool>) -> Option<usize> {
    let bits = matches
        .enumerate()
        .fold(0_u32, |bits, (row, is)| bits | u32::from(is) << row);
    (bits != 0).then(|| bits.trailing_zeros() as usize)
}
