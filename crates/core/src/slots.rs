//! The earliest of a fixed set of timers: a tournament tree over one time per slot.
//!
//! Where each entity of a simulation (a link, a connection) has just one next instant, a queue of
//! events is more than is needed. Setting a slot replays the matches on its way to the root: log₂ n
//! comparisons over two small arrays, no allocation, nothing to cancel. Equal times go to the lower
//! slot.

use crate::time::Time;

/// A contender: a slot's time, and which slot it is.
#[derive(Clone, Copy, Debug)]
struct Node {
    time: Time,
    slot: u32,
}

/// One time per slot, and the earliest of them at hand.
#[derive(Clone, Debug)]
pub struct Slots {
    /// Node 1 is the root and holds the winner; the children of node i are 2i and 2i + 1; the
    /// leaves, padded with [`Time::MAX`] to a power of two, come last. Winners are held by value,
    /// so that the siblings on the way up can be loaded before it is known who won below.
    nodes: Vec<Node>,
}

impl Slots {
    /// `count` slots, all at [`Time::MAX`].
    pub fn new(count: usize) -> Slots {
        let size = count.max(2).next_power_of_two();
        let mut nodes = vec![
            Node {
                time: Time::MAX,
                slot: 0
            };
            2 * size
        ];
        for node in (1..2 * size).rev() {
            nodes[node].slot = if node < size {
                nodes[2 * node].slot
            } else {
                (node - size) as u32
            };
        }
        Slots { nodes }
    }

    /// Makes room for at least `count` slots; times that are set stay.
    pub fn reserve(&mut self, count: usize) {
        let size = self.nodes.len() / 2;
        if count > size {
            let mut larger = Slots::new(count);
            for slot in 0..size {
                larger.set(slot, self.get(slot));
            }
            *self = larger;
        }
    }

    /// The time of slot `slot`.
    #[inline]
    pub fn get(&self, slot: usize) -> Time {
        self.nodes[self.nodes.len() / 2 + slot].time
    }

    /// Sets the time of slot `slot`.
    #[inline]
    pub fn set(&mut self, slot: usize, time: Time) {
        let nodes = &mut self.nodes[..];
        let mut node = nodes.len() / 2 + slot;
        let mut best = Node {
            time,
            slot: slot as u32,
        };
        nodes[node] = best;
        while node > 1 {
            let other = nodes[node ^ 1];
            // Equal times go to the left, where the lower slots are.
            let bound = best.time.as_ps().saturating_add((node & 1) as u64);
            let other_wins = other.time.as_ps() < bound;
            best = if other_wins { other } else { best };
            node /= 2;
            nodes[node] = best;
        }
    }

    /// The earliest slot and its time; [`Time::MAX`] where none is set.
    #[inline]
    pub fn earliest(&self) -> (usize, Time) {
        let Node { time, slot } = self.nodes[1];
        (slot as usize, time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_linear_search(
            count in 1_usize..70,
            changes in prop::collection::vec((0_usize..70, 0_u64..50), 1..300),
        ) {
            let mut slots = Slots::new(count);
            let mut plain = vec![Time::MAX; count];
            for (slot, time) in changes {
                let slot = slot % count;
                slots.set(slot, Time::from_ps(time));
                plain[slot] = Time::from_ps(time);
                let first = (0..count).min_by_key(|slot| (plain[*slot], *slot)).expect("not empty");
                prop_assert_eq!(slots.earliest(), (first, plain[first]));
            }
        }
    }
}
