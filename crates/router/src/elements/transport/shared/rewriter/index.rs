//! Which entry of the table a flow is: open addressing with linear probing.
//!
//! A slot holds 32 bits of the hash and the number of an entry, so a probe that fails does not
//! touch the flows, and growing needs no keys. At most half of the slots are in use. Removal shifts
//! back what follows, so there are no tombstones and the time of a look-up does not grow with the
//! table's age.

use super::flow::FlowId;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u32,
    /// The entry's number plus one; 0 in an empty slot.
    entry: u32,
}

/// The index. Its keys lie with the flows; callers compare them.
#[derive(Debug)]
pub(crate) struct Index {
    slots: Vec<Slot>,
    used: usize,
    seed: u64,
}

/// Slots at first.
const FEWEST: usize = 64;

impl Index {
    /// An empty one. Who does not know `seed` cannot choose flows that collide.
    pub(crate) fn new(seed: u64) -> Index {
        Index {
            slots: vec![Slot::default(); FEWEST],
            used: 0,
            seed,
        }
    }

    /// The hash of a flow in a map.
    #[inline]
    pub(crate) fn hash(&self, map: u32, flow: FlowId) -> u32 {
        let addresses = u64::from(flow.src) << 32 | u64::from(flow.dst);
        let rest = u64::from(flow.sport) << 48 | u64::from(flow.dport) << 32 | u64::from(map);
        let first = fold(addresses ^ self.seed, 0x9E37_79B9_7F4A_7C15);
        fold(first ^ rest, 0xD6E8_FEB8_6659_FD93 ^ self.seed) as u32
    }

    /// The entry with this hash that `is` the one.
    #[inline]
    pub(crate) fn find(&self, hash: u32, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.entry == 0 {
                return None;
            }
            if slot.hash == hash && is(slot.entry - 1) {
                return Some(slot.entry - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds an entry that is not there.
    pub(crate) fn insert(&mut self, hash: u32, entry: u32) {
        if (self.used + 1) * 2 > self.slots.len() {
            let larger = vec![Slot::default(); self.slots.len() * 2];
            let old = std::mem::replace(&mut self.slots, larger);
            for slot in old.into_iter().filter(|slot| slot.entry != 0) {
                self.place(slot);
            }
        }
        self.used += 1;
        self.place(Slot {
            hash,
            entry: entry + 1,
        });
    }

    fn place(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = slot.hash as usize & mask;
        while self.slots[at].entry != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    /// Removes an entry, where it is there.
    pub(crate) fn remove(&mut self, hash: u32, entry: u32) {
        let mask = self.slots.len() - 1;
        let mut hole = hash as usize & mask;
        while self.slots[hole].entry != entry + 1 {
            if self.slots[hole].entry == 0 {
                return;
            }
            hole = (hole + 1) & mask;
        }
        self.used -= 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let slot = self.slots[at];
            if slot.entry == 0 {
                break;
            }
            // What stands between its home and here may not move to a hole before its home.
            let (from_home, from_hole) = (
                at.wrapping_sub(slot.hash as usize) & mask,
                at.wrapping_sub(hole) & mask,
            );
            if from_home >= from_hole {
                self.slots[hole] = slot;
                hole = at;
            }
        }
        self.slots[hole] = Slot::default();
    }

    /// Has the processor fetch where a search would begin.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u32) {
        trammel_packet::cpu::prefetch(&self.slots[hash as usize & (self.slots.len() - 1)]);
    }
}

/// Both halves of the product together: each bit depends on all.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_map_whatever_comes_and_goes(
            steps in prop::collection::vec((any::<bool>(), 0_u32..200), 0..600), few: bool,
        ) {
            let mut index = Index::new(7);
            let mut model = BTreeSet::new();
            // Few different hashes make long runs.
            let hash = |entry: u32| {
                if few { entry % 5 + 60 } else { entry.wrapping_mul(0x9E37_79B9) }
            };
            for (add, entry) in steps {
                if add && !model.contains(&entry) {
                    index.insert(hash(entry), entry);
                    model.insert(entry);
                } else if !add {
                    index.remove(hash(entry), entry);
                    model.remove(&entry);
                }
                prop_assert_eq!(index.used, model.len());
            }
            for entry in 0..200 {
                let found = index.find(hash(entry), |one| one == entry);
                prop_assert_eq!(found.is_some(), model.contains(&entry));
            }
        }
    }
}
