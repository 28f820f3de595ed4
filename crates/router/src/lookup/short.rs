//! Prefixes of few bits, kept aside: a default route is one word here and everything elsewhere.

use super::{Address, NextHop, Prefix};
use std::hint::select_unpredictable;

/// The longest prefix that stands here, in bits.
pub(crate) const SHORT: u8 = 8;

const SLOTS: usize = 1 << SHORT;

/// What holds where no longer prefix does.
#[derive(Clone, Debug)]
pub(super) struct Short {
    /// By the first bits of an address.
    slots: [u32; SLOTS],
    /// The routes as a binary tree: the prefix of `len` bits whose value is `v` stands at 2^len +
    /// v.
    tree: [u32; 2 * SLOTS],
}

impl Short {
    pub(super) fn new() -> Short {
        Short {
            slots: [0; SLOTS],
            tree: [0; 2 * SLOTS],
        }
    }

    /// `word`, or what holds for `addr` here if that is 0.
    #[inline]
    pub(super) fn or<A: Address>(&self, word: u32, addr: A) -> Option<NextHop> {
        let here = self.slots[addr.field(0, SHORT)];
        // Whether a longer prefix is there is often anyone's guess.
        NextHop::from_word(select_unpredictable(word == 0, here, word))
    }

    /// Sets or removes the route of a prefix of at most [`SHORT`] bits.
    pub(super) fn set<A: Address>(&mut self, prefix: Prefix<A>, hop: Option<NextHop>) {
        let first = prefix.first().field(0, SHORT);
        let spare = SHORT - prefix.len();
        self.tree[(SLOTS + first) >> spare] = NextHop::word(hop);
        for slot in first..first + (1 << spare) {
            let up = (0..=SHORT).map(|up| self.tree[(SLOTS + slot) >> up]);
            self.slots[slot] = up.into_iter().find(|&word| word != 0).unwrap_or(0);
        }
    }

    /// The first addresses of the slots, as prefixes of [`SHORT`] bits.
    pub(super) fn regions<A: Address>() -> impl Iterator<Item = Prefix<A>> {
        (0..SLOTS).map(|slot| Prefix::new(A::from_field(slot, 0, SHORT), SHORT))
    }
}
