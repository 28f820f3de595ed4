//! Drop-tail: first in, first out, and what does not fit is dropped.
//!
//! # What it does
//! Keeps packets in the order of their arrival up to the queue's limits, in packets and in bytes.
//! It has no law: it drops at the limit only and marks nothing.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "droptail", limit = "1 bdp" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # References
//! RFC 7567 §2; `tc-pfifo(8)`, `tc-bfifo(8)`.

use super::{Discipline, Drop, Entry, Item};
use crate::fifo::Fifo;
use trammel_core::entry::About;
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// Drop-tail in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "droptail",
        aliases: &["drop-tail", "fifo", "pfifo"],
        summary: "first in, first out; packets that do not fit are dropped",
        references: &["RFC 7567 §2"],
        params: &[],
    },
    marks: false,
    limit_pkts: None,
    build: |_, facts| Ok(Box::new(DropTail(Fifo::new(facts)))),
};

#[derive(Debug)]
struct DropTail(Fifo);

impl Discipline for DropTail {
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        self.0.push(now, item, dropped);
    }

    fn dequeue(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        _dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        self.0.pop()
    }

    fn packets(&self) -> u32 {
        self.0.packets()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::LinkFacts;
    use crate::aqm::tests::{FACTS, item};
    use trammel_core::entry::Params;

    fn accepted(facts: &LinkFacts, sizes: &[u32]) -> Vec<u32> {
        let mut queue = (ENTRY.build)(&Params::default(), facts).unwrap();
        let mut rng = Rng::new(1, "queue");
        let mut refused = Vec::new();
        for (id, bytes) in sizes.iter().enumerate() {
            let packet = Item {
                bytes: *bytes,
                ..item(id as u32)
            };
            queue.enqueue(Time::ZERO, packet, &mut rng, &mut |item, why| {
                assert_eq!(why, Drop::Overflow);
                refused.push(item.id);
            });
        }
        let taken: Vec<_> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut rng, &mut |_, _| {}))
                .map(|item| item.id)
                .collect();
        assert_eq!(taken.len() + refused.len(), sizes.len());
        taken
    }

    #[test]
    fn holds_as_many_packets_as_its_limit() {
        let facts = LinkFacts {
            limit_packets: 2,
            ..FACTS
        };
        assert_eq!(accepted(&facts, &[1500, 1500, 40, 40]), [0, 1]);
    }

    #[test]
    fn holds_as_many_bytes_as_its_limit_and_lets_small_packets_into_the_rest() {
        let facts = LinkFacts {
            limit_bytes: 3040,
            ..FACTS
        };
        assert_eq!(accepted(&facts, &[1500, 1500, 1500, 40, 1]), [0, 1, 3]);
    }
}
