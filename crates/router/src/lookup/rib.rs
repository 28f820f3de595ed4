//! The routes in order, and the runs of addresses that share a next hop.
//!
//! The structures that answer lookups are painted from runs: the addresses of a region in order,
//! cut wherever the longest matching prefix changes its next hop. Runs are found in one pass over
//! the routes inside the region, with a stack of the prefixes that are open.

use super::{Address, NextHop, Prefix};
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};

/// Consecutive addresses with one next hop; they begin behind the run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run<A> {
    /// The last address.
    pub(super) last: A,
    /// The table's word for the next hop, 0 for none.
    pub(super) word: u32,
}

/// Routes by prefix.
#[derive(Clone, Debug)]
pub(crate) struct Rib<A> {
    routes: BTreeMap<Prefix<A>, NextHop>,
}

impl<A: Address> Rib<A> {
    /// No routes.
    pub(crate) fn new() -> Rib<A> {
        Rib {
            routes: BTreeMap::new(),
        }
    }

    /// The next hop of exactly this prefix.
    pub(crate) fn get(&self, prefix: Prefix<A>) -> Option<NextHop> {
        self.routes.get(&prefix).copied()
    }

    /// Adds or replaces a route; the next hop it had.
    pub(crate) fn set(&mut self, prefix: Prefix<A>, hop: NextHop) -> Option<NextHop> {
        self.routes.insert(prefix, hop)
    }

    /// Removes a route; the next hop it had.
    pub(crate) fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        self.routes.remove(&prefix)
    }

    /// Adds or replaces many routes; the last of equal prefixes counts.
    pub(crate) fn load(&mut self, routes: &[(Prefix<A>, NextHop)]) {
        let mut new: BTreeMap<_, _> = routes.iter().copied().collect();
        if self.routes.is_empty() {
            self.routes = new;
        } else {
            self.routes.append(&mut new);
        }
    }

    /// The routes by address, the shorter of two prefixes first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Prefix<A>, NextHop)> + '_ {
        self.routes.iter().map(|(&prefix, &hop)| (prefix, hop))
    }

    /// The number of routes.
    pub(crate) fn len(&self) -> usize {
        self.routes.len()
    }

    /// The word of the longest prefix of at least `shortest` bits that covers all of `region`.
    fn cover(&self, region: Prefix<A>, shortest: u8) -> u32 {
        let mut probe = region;
        // A prefix that covers the region stands at or before the probe. Where the route found does
        // not cover it, no covering one is longer than what both have in common: it would stand
        // between.
        while let Some((&found, &hop)) = self.routes.range(..=probe).next_back() {
            if found.covers(region) {
                return if found.len() < shortest {
                    0
                } else {
                    NextHop::word(Some(hop))
                };
            }
            let common = found.first().common(region.first());
            if common < shortest {
                break;
            }
            probe = Prefix::new(region.first(), common);
        }
        0
    }

    /// Replaces `runs` by those of `region`, counting only prefixes of at least `shortest` bits.
    pub(super) fn runs(&self, region: Prefix<A>, shortest: u8, runs: &mut Vec<Run<A>>) {
        runs.clear();
        // The next address that no run describes; none behind the last of all addresses.
        let mut next = Some(region.first());
        let mut push = |last: A, word: u32| {
            if next.is_some_and(|next| next <= last) {
                match runs.last_mut() {
                    Some(run) if run.word == word => run.last = last,
                    _ => runs.push(Run { last, word }),
                }
                next = last.next();
            }
        };
        let mut open = Vec::with_capacity(8);
        open.push((region.last(), self.cover(region, shortest)));
        let inside = Included(Prefix::new(region.last(), A::BITS));
        for (&prefix, &hop) in self.routes.range((Excluded(region), inside)) {
            if prefix.len() < shortest {
                continue;
            }
            while let Some((last, word)) = open.pop_if(|(last, _)| *last < prefix.first()) {
                push(last, word);
            }
            if let (Some(&(_, word)), Some(before)) = (open.last(), prefix.first().previous()) {
                push(before, word);
            }
            open.push((prefix.last(), NextHop::word(Some(hop))));
        }
        while let Some((last, word)) = open.pop() {
            push(last, word);
        }
    }
}

impl<A: Address> Default for Rib<A> {
    fn default() -> Self {
        Rib::new()
    }
}

/// A level of a structure: the bits `depth` … `depth + width − 1` of the addresses that begin with
/// `base`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level<A> {
    pub(super) base: A,
    pub(super) depth: u8,
    pub(super) width: u8,
}

impl<A: Address> Level<A> {
    /// The slots of this level that a region within it touches.
    pub(super) fn slots(self, region: Prefix<A>) -> std::ops::Range<usize> {
        let first = region.first().field(self.depth, self.width);
        first..region.last().field(self.depth, self.width) + 1
    }

    /// The first address of a slot.
    pub(super) fn first(self, slot: usize) -> A {
        self.base.or(A::from_field(slot, self.depth, self.width))
    }
}

/// Paints `runs`, those of the whole slots that `region` touches, into `slots`; a slot of several
/// runs gets the word that `split` makes of its first address and its runs.
pub(super) fn paint<A: Address>(
    slots: &mut [u32],
    level: Level<A>,
    region: Prefix<A>,
    mut runs: &[Run<A>],
    mut split: impl FnMut(A, &[Run<A>]) -> u32,
) {
    let range = level.slots(region);
    let mut slot = range.start;
    while slot < range.end {
        let first = level.first(slot);
        let last = first.fill(level.depth + level.width);
        runs = &runs[runs.partition_point_linear(first)..];
        let Some(run) = runs.first() else { return };
        if run.last >= last {
            let behind = match run.last.next() {
                Some(next) if run.last < region.last() => next.field(level.depth, level.width),
                _ => range.end,
            };
            for word in &mut slots[slot..behind] {
                // Most words of a large table are zero in memory that has never been touched.
                if *word != run.word {
                    *word = run.word;
                }
            }
            slot = behind;
        } else {
            let behind = 1 + runs.partition_point_linear(last);
            slots[slot] = split(first, &runs[..behind.min(runs.len())]);
            slot += 1;
        }
    }
}

/// Search from the front, since what is sought is near.
trait Ahead<A> {
    fn partition_point_linear(&self, from: A) -> usize;
}

impl<A: Address> Ahead<A> for [Run<A>] {
    /// How many runs end before `from`.
    fn partition_point_linear(&self, from: A) -> usize {
        self.iter().take_while(|run| run.last < from).count()
    }
}
