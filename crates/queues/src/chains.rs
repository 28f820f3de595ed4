//! Many queues over one store, and lists of queues: what the disciplines of a queue a flow share.
//!
//! They know nothing of any law. Packets of all queues lie in a [`Pool`], linked into a [`Chain`]
//! for each queue; queues are linked into [`List`]s in the order of their turns. Everything is an
//! index, so that a run's steady state allocates nothing.

use crate::aqm::{Item, LinkFacts};

/// The index of no packet and of no queue.
pub(crate) const NONE: u32 = u32::MAX;

/// The packets of one queue, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    head: u32,
    tail: u32,
}

impl Chain {
    pub(crate) const EMPTY: Chain = Chain {
        head: NONE,
        tail: NONE,
    };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NONE
    }
}

/// The packets of all queues, as a slab: it grows to the most that ever waited.
#[derive(Debug)]
pub(crate) struct Pool {
    nodes: Vec<(Item, u32)>,
    free: u32,
    waiting: u32,
    bytes: u64,
}

impl Pool {
    /// An empty store for a queue with the limits of `facts`.
    pub(crate) fn new(facts: &LinkFacts) -> Pool {
        Pool {
            nodes: Vec::with_capacity(facts.limit_packets.min(256) as usize),
            free: NONE,
            waiting: 0,
            bytes: 0,
        }
    }

    /// Packets of all queues.
    #[inline]
    pub(crate) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Bytes of all queues.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Most packets that ever waited.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.nodes.len()
    }

    /// Appends `item` to `chain`.
    pub(crate) fn push(&mut self, chain: &mut Chain, item: Item) {
        let node = if self.free == NONE {
            self.nodes.push((item, NONE));
            self.nodes.len() as u32 - 1
        } else {
            let node = self.free;
            self.free = self.nodes[node as usize].1;
            self.nodes[node as usize] = (item, NONE);
            node
        };
        match chain.tail {
            NONE => chain.head = node,
            last => self.nodes[last as usize].1 = node,
        }
        chain.tail = node;
        self.waiting += 1;
        self.bytes += u64::from(item.bytes);
    }

    /// Takes the first packet of `chain`.
    pub(crate) fn pop(&mut self, chain: &mut Chain) -> Option<Item> {
        let node = chain.head;
        let (item, next) = *self.nodes.get(node as usize)?;
        chain.head = next;
        if next == NONE {
            chain.tail = NONE;
        }
        self.release(node, &item);
        Some(item)
    }

    /// The packets of `chain` with their places, the first one first.
    pub(crate) fn iter(&self, chain: &Chain) -> impl Iterator<Item = (u32, &Item)> {
        let mut at = chain.head;
        std::iter::from_fn(move || {
            let (item, next) = self.nodes.get(at as usize)?;
            Some((std::mem::replace(&mut at, *next), item))
        })
    }

    /// Takes the packet after the one at `before` out of `chain`, or its first where that is
    /// nothing.
    pub(crate) fn remove_after(&mut self, chain: &mut Chain, before: Option<u32>) -> Option<Item> {
        let Some(before) = before else {
            return self.pop(chain);
        };
        let node = self.nodes[before as usize].1;
        let (item, next) = *self.nodes.get(node as usize)?;
        self.nodes[before as usize].1 = next;
        if next == NONE {
            chain.tail = before;
        }
        self.release(node, &item);
        Some(item)
    }

    #[inline]
    fn release(&mut self, node: u32, item: &Item) {
        self.nodes[node as usize].1 = self.free;
        self.free = node;
        self.waiting -= 1;
        self.bytes -= u64::from(item.bytes);
    }
}

/// A queue that may be in a list.
pub(crate) trait Linked {
    /// The queue after this one in its list.
    fn next(&mut self) -> &mut u32;
}

/// Queues in the order of their turns.
#[derive(Clone, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl List {
    pub(crate) const EMPTY: List = List {
        head: NONE,
        tail: NONE,
    };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// The queue whose turn it is.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    pub(crate) fn append<Q: Linked>(&mut self, queues: &mut [Q], index: u32) {
        *queues[index as usize].next() = NONE;
        match self.tail {
            NONE => self.head = index,
            tail => *queues[tail as usize].next() = index,
        }
        self.tail = index;
    }

    pub(crate) fn remove_head<Q: Linked>(&mut self, queues: &mut [Q]) {
        self.head = *queues[self.head as usize].next();
        if self.head == NONE {
            self.tail = NONE;
        }
    }
}

/// A queue that takes turns by bytes.
pub(crate) trait Turn: Linked {
    /// Bytes that it may still send in this turn; negative when its last packet was more.
    fn credits(&mut self) -> &mut i64;
}

/// The queues that take turns: new ones before old ones, a quantum each (RFC 8290 §4.2).
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    new: List,
    old: List,
    quantum: i64,
}

impl Turns {
    /// No queue yet; a turn is `quantum` bytes.
    pub(crate) fn new(quantum: i64) -> Turns {
        Turns {
            new: List::EMPTY,
            old: List::EMPTY,
            quantum,
        }
    }

    /// Bytes of a turn.
    #[inline]
    pub(crate) fn quantum(&self) -> i64 {
        self.quantum
    }

    /// A queue that was in no list has a packet.
    pub(crate) fn join<Q: Turn>(&mut self, queues: &mut [Q], index: u32) {
        self.new.append(queues, index);
    }

    fn list(&mut self) -> &mut List {
        if self.new.is_empty() {
            &mut self.old
        } else {
            &mut self.new
        }
    }

    /// The queue whose turn it is; those before it that have sent theirs get another.
    pub(crate) fn current<Q: Turn>(&mut self, queues: &mut [Q]) -> Option<u32> {
        loop {
            let list = self.list();
            let index = list.first()?;
            let credits = queues[index as usize].credits();
            if *credits > 0 {
                return Some(index);
            }
            *credits += self.quantum;
            self.list().remove_head(queues);
            self.old.append(queues, index);
        }
    }

    /// The queue whose turn it is, `index`, has no packet. A new one goes on as an old one: else a
    /// flow of single packets could come back as new for ever and starve the old ones. Where no old
    /// ones wait, that may be left out (`is_lone_free`). Returns whether it is in no list now.
    pub(crate) fn end<Q: Turn>(
        &mut self,
        queues: &mut [Q],
        index: u32,
        is_lone_free: bool,
    ) -> bool {
        let is_new = !self.new.is_empty();
        self.list().remove_head(queues);
        let goes_on = is_new && !(is_lone_free && self.old.is_empty());
        if goes_on {
            self.old.append(queues, index);
        }
        !goes_on
    }
}

/// The queue of a flow among `count`. The hash is mixed again (by the golden ratio, Knuth 6.4), so
/// that flows that are merely numbered do not meet.
#[inline]
pub(crate) fn queue_of(flow: u32, count: usize) -> u32 {
    let mixed = flow.wrapping_mul(0x9e37_79b9);
    ((u64::from(mixed) * count as u64) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::time::Time;

    #[test]
    fn a_packet_is_taken_out_of_the_middle_and_from_the_end() {
        let facts = LinkFacts {
            rate_bps: 0,
            mtu: 1500,
            limit_packets: 10,
            limit_bytes: u64::MAX,
            overhead: 0,
        };
        let mut pool = Pool::new(&facts);
        let mut chain = Chain::EMPTY;
        for id in 0..4 {
            let item = Item {
                id,
                bytes: 100,
                enqueued: Time::ZERO,
                ..Item::default()
            };
            pool.push(&mut chain, item);
        }
        let places: Vec<u32> = pool.iter(&chain).map(|(place, _)| place).collect();
        let taken = pool.remove_after(&mut chain, Some(places[0]));
        assert_eq!(taken.map(|item| item.id), Some(1));
        let taken = pool.remove_after(&mut chain, Some(places[2]));
        assert_eq!(taken.map(|item| item.id), Some(3));
        assert!(pool.remove_after(&mut chain, Some(places[2])).is_none());
        assert_eq!((pool.waiting(), pool.bytes()), (2, 200));
        pool.push(&mut chain, Item::default());
        let left: Vec<u32> = pool.iter(&chain).map(|(_, item)| item.id).collect();
        assert_eq!(left, [0, 2, 0]);
        assert_eq!(pool.room(), 4);
    }
}
