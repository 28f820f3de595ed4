//! FQ-CoDel: a queue a flow, served in turn with priority for sparse flows, each governed by CoDel.
//!
//! # What it does
//! Hashes packets into queues by their flow. Queues that wait are in one of two lists, new or old,
//! and are served by deficit round robin (DRR++):
//!
//! ```text
//!              arrival                 credits spent, or empty
//!   inactive ─────────► new (first) ───────────────────────────► old ◄──╮
//!       ▲                                                        │ │    │ credits spent
//!       ╰────────────────────────── empty ───────────────────────╯ ╰────╯
//! ```
//!
//! A queue spends a credit a byte and is given `quantum` credits when it has spent them all. A flow
//! that sends less than a quantum a round is thus always new and passes the others. At the limit
//! the queue with the most bytes loses up to half of them, at most `drop_batch` packets, from its
//! head: finding that queue is the only work that grows with the number of queues, and the batch
//! shares it out.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "fq_codel", flows = 1024, limit = "1000 packets" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! CoDel's, with ECN on by default; `flows` (queues), `quantum` (0: the largest packet),
//! `drop_batch`.
//!
//! # References
//! RFC 8290; McKenney, "Stochastic Fairness Queueing", INFOCOM 1990; MacGregor and Shi, "Deficits
//! for bursty latency-critical flows: DRR++", ICON 2000; `tc-fq_codel(8)`.

use super::codel::{CE_THRESHOLD, INTERVAL, Law, Settings, Store, TARGET};
use super::{Discipline, Drop, Entry, Item, LinkFacts, ecn};
use crate::chains::{Chain, Linked, NONE, Pool, Turn, Turns, queue_of};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// FQ-CoDel in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "fq_codel",
        aliases: &["fq-codel"],
        summary: "a CoDel queue for each flow, sparse flows first",
        references: &["RFC 8290", "tc-fq_codel(8)"],
        params: &[
            TARGET,
            INTERVAL,
            Param {
                name: "flows",
                kind: Kind::Int(1, 65_536),
                default: "1024",
                unit: "queues",
                help: "queues that flows are hashed into",
            },
            Param {
                name: "quantum",
                kind: Kind::Bytes,
                default: "0 B",
                unit: "B",
                help: "bytes that a queue may send in its turn; 0 is the largest packet",
            },
            Param {
                name: "drop_batch",
                kind: Kind::Int(1, 1_000_000),
                default: "64",
                unit: "packets",
                help: "most packets dropped at once from the longest queue at the limit",
            },
            ecn("true"),
            CE_THRESHOLD,
        ],
    },
    marks: true,
    limit_pkts: Some(10_240),
    build: |params, facts| Ok(Box::new(FqCodel::new(params, facts))),
};

#[derive(Debug)]
struct FqCodel {
    settings: Settings,
    drop_batch: u32,
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
    bytes: u64,
    /// Bytes that it may still send in this turn; negative when its last packet was more.
    credits: i64,
    law: Law,
    is_listed: bool,
    /// The queue after this one in its list.
    next: u32,
}

/// One queue and the pool, as CoDel sees them: it judges the backlog of the whole discipline, as in
/// Linux, because the link is busy as long as any queue has packets.
struct Governed<'a> {
    queue: (&'a mut Chain, &'a mut u64),
    packets: &'a mut Pool,
}

impl Store for Governed<'_> {
    fn pop(&mut self) -> Option<Item> {
        let (chain, bytes) = &mut self.queue;
        let item = self.packets.pop(chain)?;
        **bytes -= u64::from(item.bytes);
        Some(item)
    }
    fn bytes(&self) -> u64 {
        self.packets.bytes()
    }
}

impl FqCodel {
    fn new(params: &Params, facts: &LinkFacts) -> FqCodel {
        let queue = Queue {
            chain: Chain::EMPTY,
            bytes: 0,
            credits: 0,
            law: Law::default(),
            is_listed: false,
            next: NONE,
        };
        FqCodel {
            settings: Settings::new(params, facts.mtu),
            // A queue of credits must at least be able to send something.
            turns: Turns::new(match params.bytes("quantum") {
                0 => i64::from(facts.mtu.max(1)),
                bytes => bytes as i64,
            }),
            drop_batch: params.int("drop_batch") as u32,
            limit_packets: facts.limit_packets,
            limit_bytes: facts.limit_bytes,
            queues: vec![queue; params.int("flows") as usize],
            packets: Pool::new(facts),
        }
    }

    fn queue_of(&self, flow: u32) -> u32 {
        queue_of(flow, self.queues.len())
    }

    fn take_from(
        &mut self,
        index: u32,
        now: Time,
        dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        let queue = &mut self.queues[index as usize];
        let mut store = Governed {
            queue: (&mut queue.chain, &mut queue.bytes),
            packets: &mut self.packets,
        };
        queue.law.dequeue(now, &self.settings, &mut store, dropped)
    }

    /// Drops from the head of the queue with the most bytes: half of them, up to a batch.
    fn drop_from_longest(&mut self, dropped: &mut dyn FnMut(Item, Drop)) {
        // Packets of no bytes count too, so that something is always found to drop.
        let length = |queue: &Queue| (queue.bytes, !queue.chain.is_empty());
        let mut longest = 0;
        for at in 1..self.queues.len() {
            if length(&self.queues[at]) > length(&self.queues[longest]) {
                longest = at;
            }
        }
        let queue = &mut self.queues[longest];
        let keep = queue.bytes - queue.bytes.div_ceil(2);
        for _ in 0..self.drop_batch {
            let Some(item) = self.packets.pop(&mut queue.chain) else {
                break;
            };
            queue.bytes -= u64::from(item.bytes);
            // As in Linux, CoDel learns of these drops and goes on at a higher rate.
            queue.law.count = queue.law.count.saturating_add(1);
            dropped(item, Drop::Overflow);
            if queue.bytes <= keep {
                break;
            }
        }
    }
}

impl Discipline for FqCodel {
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        let index = self.queue_of(item.flow);
        let queue = &mut self.queues[index as usize];
        queue.bytes += u64::from(item.bytes);
        let item = Item {
            enqueued: now,
            ..item
        };
        self.packets.push(&mut queue.chain, item);
        if !queue.is_listed {
            queue.is_listed = true;
            queue.credits = self.turns.quantum();
            self.turns.join(&mut self.queues, index);
        }
        while self.packets.waiting() > self.limit_packets || self.packets.bytes() > self.limit_bytes
        {
            self.drop_from_longest(dropped);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        loop {
            let index = self.turns.current(&mut self.queues)?;
            if let Some(item) = self.take_from(index, now, dropped) {
                self.queues[index as usize].credits -= i64::from(item.bytes);
                return Some(item);
            }
            if self.turns.end(&mut self.queues, index, false) {
                self.queues[index as usize].is_listed = false;
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
    use trammel_core::time::Span;

    fn fq(given: &[(&str, Value)], limit_packets: u32) -> FqCodel {
        let facts = LinkFacts {
            limit_packets,
            ..FACTS
        };
        FqCodel::new(&params(&ENTRY, given), &facts)
    }

    /// Enqueues `count` packets of `flow` at `now` and gives the flows of those dropped.
    fn offer(fq: &mut FqCodel, now: Time, flow: u32, count: u32) -> Vec<u32> {
        let mut lost = Vec::new();
        for _ in 0..count {
            let packet = Item { flow, ..item(0) };
            fq.enqueue(now, packet, &mut Rng::new(1, ""), &mut |item, why| {
                assert_eq!(why, Drop::Overflow);
                lost.push(item.flow);
            });
        }
        lost
    }

    fn serve(fq: &mut FqCodel, now: Time, count: usize) -> Vec<u32> {
        std::iter::from_fn(|| fq.dequeue(now, &mut Rng::new(1, ""), &mut |_, _| {}))
            .take(count)
            .map(|item| item.flow)
            .collect()
    }

    #[test]
    fn numbered_flows_have_queues_of_their_own() {
        let fq = fq(&[], 1000);
        let mut queues: Vec<_> = (0..100).map(|flow| fq.queue_of(flow)).collect();
        queues.sort_unstable();
        queues.dedup();
        assert_eq!(queues.len(), 100);
        assert!(queues.iter().all(|queue| *queue < 1024));
    }

    #[test]
    fn flows_take_turns() {
        let mut fq = fq(&[], 1000);
        offer(&mut fq, Time::ZERO, 1, 10);
        offer(&mut fq, Time::ZERO, 2, 10);
        assert_eq!(serve(&mut fq, Time::ZERO, 6), [1, 2, 1, 2, 1, 2]);
    }

    #[test]
    fn turns_are_fair_in_bytes_not_packets() {
        let mut fq = fq(&[], 10_000);
        let mut rng = Rng::new(1, "");
        for (flow, bytes, count) in [(1, 1500, 200), (2, 100, 3000)] {
            for _ in 0..count {
                let packet = Item {
                    bytes,
                    flow,
                    ..item(0)
                };
                fq.enqueue(Time::ZERO, packet, &mut rng, &mut |_, _| {});
            }
        }
        let served = serve(&mut fq, Time::ZERO, 1600);
        let large = served.iter().filter(|flow| **flow == 1).count();
        assert!(large.abs_diff(100) <= 1, "{large}");
    }

    #[test]
    fn a_sparse_flow_passes_the_backlog_but_cannot_starve_it() {
        let mut fq = fq(&[], 1000);
        offer(&mut fq, Time::ZERO, 1, 50);
        assert_eq!(serve(&mut fq, Time::ZERO, 3), [1, 1, 1]);
        offer(&mut fq, Time::ZERO, 2, 1);
        assert_eq!(serve(&mut fq, Time::ZERO, 1), [2]);
        // It comes again whenever it was served: it is old now, and they take turns.
        let mut backlog = 0;
        for _ in 0..40 {
            if fq.queues[fq.queue_of(2) as usize].bytes == 0 {
                offer(&mut fq, Time::ZERO, 2, 1);
            }
            backlog += u32::from(serve(&mut fq, Time::ZERO, 1) == [1]);
        }
        assert_eq!(backlog, 20);
    }

    #[test]
    fn the_longest_queue_pays_for_the_overflow_from_its_head() {
        let mut fq = fq(&[("drop_batch", Value::Int(64))], 100);
        assert_eq!(offer(&mut fq, Time::ZERO, 1, 90), Vec::<u32>::new());
        assert_eq!(offer(&mut fq, Time::ZERO, 2, 10), Vec::<u32>::new());
        // Half of the 90 go at once.
        assert_eq!(offer(&mut fq, Time::ZERO, 2, 1), vec![1; 45]);
        assert_eq!(fq.packets(), 56);
        let small = &[("drop_batch", Value::Int(4))];
        let mut fq = self::fq(small, 100);
        offer(&mut fq, Time::ZERO, 1, 100);
        assert_eq!(offer(&mut fq, Time::ZERO, 2, 1), vec![1; 4]);
    }

    #[test]
    fn the_law_judges_each_queue_for_itself() {
        let mut fq = fq(&[("ecn", Value::Bool(false))], 10_000);
        let mut lost = [0_u32; 3];
        for ms in 0..3000 {
            let now = Time::from_ms(ms);
            while fq.packets() < 60 {
                offer(&mut fq, now, 1, 1);
            }
            if ms % 10 == 0 {
                offer(&mut fq, now, 2, 1);
            }
            let sent = fq.dequeue(now, &mut Rng::new(1, ""), &mut |item, _| {
                lost[item.flow as usize] += 1;
            });
            let sent = sent.expect("flow 1 always waits");
            // Another packet may be in its turn, no more.
            let waited = now - sent.enqueued;
            assert!(sent.flow == 1 || waited <= Span::from_ms(1), "{waited}");
        }
        assert!(lost[1] > 20 && lost[2] == 0, "{lost:?}");
    }

    #[test]
    fn the_slab_grows_to_the_most_that_ever_waited() {
        let mut fq = fq(&[], 10_000);
        for _ in 0..50 {
            offer(&mut fq, Time::ZERO, 1, 30);
            offer(&mut fq, Time::ZERO, 2, 30);
            assert_eq!(serve(&mut fq, Time::ZERO, 100).len(), 60);
        }
        assert_eq!(fq.packets.room(), 60);
    }
}
