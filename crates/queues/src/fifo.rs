//! The first-in, first-out store within a limit that the FIFO disciplines share.
//!
//! It knows nothing of any law: a discipline decides, then pushes or reports a drop. The ring grows
//! to the longest queue seen and is never given back, so that a run's steady state allocates
//! nothing.

use crate::aqm::{Drop, Item, LinkFacts};
use std::collections::VecDeque;
use trammel_core::time::Time;

/// Packets in the order of their arrival, within the limits of a link.
#[derive(Debug)]
pub(crate) struct Fifo {
    waiting: VecDeque<Item>,
    bytes: u64,
    limit_packets: u32,
    limit_bytes: u64,
}

impl Fifo {
    /// An empty queue with the limits of `facts`.
    pub(crate) fn new(facts: &LinkFacts) -> Fifo {
        Fifo {
            // Long queues grow when they are needed: a limit is often far above what is ever used.
            waiting: VecDeque::with_capacity(facts.limit_packets.min(256) as usize),
            bytes: 0,
            limit_packets: facts.limit_packets,
            limit_bytes: facts.limit_bytes,
        }
    }

    /// Whether a packet of `bytes` bytes fits.
    pub(crate) fn has_room(&self, bytes: u32) -> bool {
        self.packets() < self.limit_packets
            && self.bytes.saturating_add(u64::from(bytes)) <= self.limit_bytes
    }

    /// Appends `item`, stamped with `now`, or reports that it did not fit.
    pub(crate) fn push(&mut self, now: Time, item: Item, dropped: &mut dyn FnMut(Item, Drop)) {
        let item = Item {
            enqueued: now,
            ..item
        };
        if self.has_room(item.bytes) {
            self.bytes += u64::from(item.bytes);
            self.waiting.push_back(item);
        } else {
            dropped(item, Drop::Overflow);
        }
    }

    /// Carries out a law's decision on `item`: one that `is_signalled` is marked where the law
    /// `may_mark` and the packet is ECN-capable, and else dropped early; what is not dropped is
    /// appended.
    pub(crate) fn admit(
        &mut self,
        now: Time,
        mut item: Item,
        is_signalled: bool,
        may_mark: bool,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        if is_signalled && !(may_mark && item.mark()) {
            dropped(item, Drop::Early);
        } else {
            self.push(now, item, dropped);
        }
    }

    /// Takes the oldest packet.
    pub(crate) fn pop(&mut self) -> Option<Item> {
        let item = self.waiting.pop_front()?;
        self.bytes -= u64::from(item.bytes);
        Some(item)
    }

    /// Packets waiting.
    pub(crate) fn packets(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Bytes waiting.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
