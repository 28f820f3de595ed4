//! FQ: a queue a flow, served in turn with priority for flows that begin or were idle.
//!
//! # What it does
//! Hashes packets into queues by their flow and serves them by deficit round robin, new flows
//! before old ones, as FQ-CoDel does; nothing governs the delay. A flow begins
//! with `initial_quantum` credits, so that its first burst passes at once, spends a credit a byte,
//! and is given `quantum` credits in its turn. One that was idle for 40 ms has a quantum at least.
//! A flow holds at most `flow_limit` packets, and all of them `limit`; what comes beyond is
//! dropped.
//!
//! Linux's `fq` is at home at senders, where it also paces each socket: see `sender_queue` of a
//! flow. Packets that a router forwards belong to no socket and are not paced.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "fq", flow_limit = 50 }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! `flow_limit`, `quantum` (0: two packets), `initial_quantum` (0: ten packets), `flows` (queues).
//!
//! # References
//! `tc-fq(8)`; Shreedhar and Varghese, "Efficient Fair Queueing using Deficit Round Robin",
//! SIGCOMM 1995; observed of Linux 6.12.

use super::{Discipline, Drop, Entry, Item, LinkFacts};
use crate::chains::{Chain, Linked, NONE, Pool, Turn, Turns, queue_of};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// A flow that was idle for so long has a quantum of credits at least (`refill_delay`).
const REFILL: Span = Span::from_ms(40);
/// Packets of a quantum, and of a flow's first credits.
const QUANTUM_PKTS: i64 = 2;
const INITIAL_PKTS: i64 = 10;

/// FQ in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "fq",
        aliases: &[],
        summary: "a queue for each flow, new flows first",
        references: &["tc-fq(8)", "Shreedhar and Varghese 1995"],
        params: &[
            Param {
                name: "flow_limit",
                kind: Kind::Int(1, 1_000_000),
                default: "100",
                unit: "packets",
                help: "packets that one flow may have waiting",
            },
            Param {
                name: "quantum",
                kind: Kind::Bytes,
                default: "0 B",
                unit: "B",
                help: "bytes that a flow may send in its turn; 0 is two of the largest packets",
            },
            Param {
                name: "initial_quantum",
                kind: Kind::Bytes,
                default: "0 B",
                unit: "B",
                help: "bytes that a new flow may send at once; 0 is ten of the largest packets",
            },
            Param {
                name: "flows",
                kind: Kind::Int(1, 65_536),
                default: "1024",
                unit: "queues",
                help: "queues that flows are hashed into",
            },
        ],
    },
    marks: false,
    limit_pkts: Some(10_000),
    build: |params, facts| Ok(Box::new(Fq::new(params, facts))),
};

#[derive(Debug)]
struct Fq {
    flow_limit: u32,
    limit_packets: u32,
    limit_bytes: u64,
    queues: Vec<Queue>,
    turns: Turns,
    packets: Pool,
}

/// One flow's packets, or those of several that share a hash.
#[derive(Clone, Debug)]
struct Queue {
    chain: Chain,
    waiting: u32,
    /// Bytes that it may still send in this turn; negative when its last packet was more.
    credits: i64,
    is_listed: bool,
    /// Since when it is in no list.
    idle_since: Time,
    /// The queue after this one in its list.
    next: u32,
}

impl Fq {
    fn new(params: &Params, facts: &LinkFacts) -> Fq {
        let packet = i64::from(facts.mtu.max(1));
        let of = |key: &str, packets: i64| match params.bytes(key) {
            0 => packets * packet,
            bytes => i64::try_from(bytes).unwrap_or(i64::MAX / 2),
        };
        let queue = Queue {
            chain: Chain::EMPTY,
            waiting: 0,
            credits: of("initial_quantum", INITIAL_PKTS),
            is_listed: false,
            idle_since: Time::ZERO,
            next: NONE,
        };
        Fq {
            turns: Turns::new(of("quantum", QUANTUM_PKTS)),
            flow_limit: params.int("flow_limit") as u32,
            limit_packets: facts.limit_packets,
            limit_bytes: facts.limit_bytes,
            queues: vec![queue; params.int("flows") as usize],
            packets: Pool::new(facts),
        }
    }

    fn queue_of(&self, flow: u32) -> u32 {
        queue_of(flow, self.queues.len())
    }
}

impl Discipline for Fq {
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        let index = self.queue_of(item.flow);
        let queue = &mut self.queues[index as usize];
        let is_full = self.packets.waiting() >= self.limit_packets
            || self.packets.bytes() + u64::from(item.bytes) > self.limit_bytes;
        if is_full || queue.waiting >= self.flow_limit {
            dropped(item, Drop::Overflow);
            return;
        }
        queue.waiting += 1;
        let item = Item {
            enqueued: now,
            ..item
        };
        self.packets.push(&mut queue.chain, item);
        if !queue.is_listed {
            queue.is_listed = true;
            if now.saturating_since(queue.idle_since) > REFILL {
                queue.credits = queue.credits.max(self.turns.quantum());
            }
            self.turns.join(&mut self.queues, index);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        _dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        loop {
            let index = self.turns.current(&mut self.queues)?;
            let queue = &mut self.queues[index as usize];
            if let Some(item) = self.packets.pop(&mut queue.chain) {
                queue.waiting -= 1;
                queue.credits -= i64::from(item.bytes);
                return Some(item);
            }
            if self.turns.end(&mut self.queues, index, true) {
                let queue = &mut self.queues[index as usize];
                queue.is_listed = false;
                queue.idle_since = now;
            }
        }
    }

    fn packets(&self) -> u32 {
        self.packets.waiting()
    }

    fn bytes(&self) -> u64 {
        self.packets.bytes()
    }
}

impl Linked for Queue {
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }
}

impl Turn for Queue {
    fn credits(&mut self) -> &mut i64 {
        &mut self.credits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::{FACTS, item, params};
    use trammel_core::entry::Value;

    fn fq(given: &[(&str, Value)]) -> Fq {
        let facts = LinkFacts {
            limit_packets: 150,
            ..FACTS
        };
        Fq::new(&params(&ENTRY, given), &facts)
    }

    /// Enqueues `count` packets of `flow` at `now` and says how many were dropped.
    fn offer(fq: &mut Fq, now: Time, flow: u32, count: u32) -> usize {
        let mut lost = 0;
        for _ in 0..count {
            let packet = Item { flow, ..item(0) };
            fq.enqueue(now, packet, &mut Rng::new(1, ""), &mut |_, why| {
                assert_eq!(why, Drop::Overflow);
                lost += 1;
            });
        }
        lost
    }

    fn serve(fq: &mut Fq, now: Time, count: usize) -> Vec<u32> {
        std::iter::from_fn(|| fq.dequeue(now, &mut Rng::new(1, ""), &mut |_, _| {}))
            .take(count)
            .map(|item| item.flow)
            .collect()
    }

    fn packets(count: u64) -> Value {
        Value::Bytes(count * u64::from(item(0).bytes))
    }

    #[test]
    fn a_new_flow_sends_its_first_burst_and_then_takes_turns() {
        let sizes = [("initial_quantum", packets(3)), ("quantum", packets(2))];
        let mut fq = fq(&sizes);
        offer(&mut fq, Time::ZERO, 1, 6);
        offer(&mut fq, Time::ZERO, 2, 6);
        assert_eq!(
            serve(&mut fq, Time::ZERO, 99),
            [1, 1, 1, 2, 2, 2, 1, 1, 2, 2, 1, 2]
        );
    }

    #[test]
    fn a_flow_has_a_limit_of_its_own_below_that_of_all() {
        let mut fq = fq(&[]);
        assert_eq!(offer(&mut fq, Time::ZERO, 1, 101), 1);
        assert_eq!(offer(&mut fq, Time::ZERO, 2, 51), 1);
        assert_eq!(
            (fq.packets(), serve(&mut fq, Time::ZERO, 999).len()),
            (150, 150)
        );
        assert_eq!((fq.packets(), fq.bytes()), (0, 0));
    }

    #[test]
    fn a_flow_that_was_idle_goes_before_those_that_wait() {
        let sizes = [("initial_quantum", packets(1)), ("quantum", packets(1))];
        let mut fq = fq(&sizes);
        offer(&mut fq, Time::ZERO, 2, 1);
        assert_eq!(serve(&mut fq, Time::ZERO, 9), [2]);
        offer(&mut fq, Time::ZERO, 1, 3);
        assert_eq!(serve(&mut fq, Time::ZERO, 1), [1]);
        let later = Time::from_ms(41);
        offer(&mut fq, later, 2, 1);
        assert_eq!(serve(&mut fq, later, 9), [2, 1, 1]);
    }
}
