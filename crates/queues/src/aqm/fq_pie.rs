//! FQ-PIE: flows hashed into queues, sparse flows first, and PIE for each queue.
//!
//! # What it does
//! Packets are sorted into `flows` queues by a hash of their flow, and the queues take turns by
//! deficit round robin as in FQ-CoDel: a queue that was empty goes before those with a backlog.
//! Each queue has a PIE of its own, that of `pie` with `dialect = "linux"`: the
//! delay is that of the packet that left the queue last, and arrivals are dropped, or marked where
//! `ecn` is on and the probability is at most `ecn_prob`, at random. An arrival at the `limit` is
//! dropped, whosesoever it is.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "fq_pie", target = "15 ms" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! `flows`, `target`, `tupdate`, `alpha`, `beta`, `quantum`, `ecn`, `ecn_prob`, `bytemode`. Linux's
//! `memory_limit` is left out: its kernels count what is above it and drop nothing.
//!
//! # References
//! RFC 8033; RFC 8290 §4 for the queues; Ramakrishnan et al., "FQ-PIE Queue Discipline in the Linux
//! Kernel: Design, Implementation and Challenges", LCN Symposium 2019; `tc-fq_pie(8)`.

use super::pie::refuse_short;
use super::{Discipline, Drop, Entry, Item, LinkFacts, ecn};
use crate::chains::{Chain, Linked, NONE, Pool, Turn, Turns, queue_of};
use crate::pie_of_linux::{LinuxPie, Settings, period};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// How long a burst after an idle time is let through (RFC 8033 §4.4).
const MAX_BURST: Span = Span::from_ms(150);
/// Queues that the kernel updates in a tick; the next ones come a tick later.
const QUEUES_A_TICK: usize = 2048;
const TICK: Span = Span::from_ms(1);

/// FQ-PIE in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "fq_pie",
        aliases: &["fq-pie"],
        summary: "a PIE queue for each flow, sparse flows first",
        references: &["RFC 8033", "RFC 8290", "tc-fq_pie(8)"],
        params: &[
            Param::int(
                "flows",
                1,
                65_536,
                "1024",
                "queues",
                "queues that flows are hashed into",
            ),
            Param::time("target", "15 ms", "queueing delay to hold"),
            Param::time(
                "tupdate",
                "15 ms",
                "span between updates of the probability",
            ),
            Param::float(
                "alpha",
                0.0,
                2.0,
                "0.125",
                "1/s",
                "weight of the deviation from the target",
            ),
            Param::float(
                "beta",
                0.0,
                2.0,
                "1.25",
                "1/s",
                "weight of the change of the delay",
            ),
            Param {
                name: "quantum",
                kind: Kind::Bytes,
                default: "0 B",
                unit: "B",
                help: "bytes that a queue may send in its turn; 0 is the largest packet",
            },
            ecn("false"),
            Param::int(
                "ecn_prob",
                0,
                100,
                "10",
                "%",
                "probability above which ECN-capable packets are dropped too",
            ),
            Param {
                name: "bytemode",
                kind: Kind::Bool,
                default: "false",
                unit: "",
                help: "let small packets be dropped less often, by their size",
            },
        ],
    },
    marks: true,
    limit_pkts: Some(10_240),
    build: |params, facts| Ok(Box::new(FqPie::new(params, facts)?)),
};

#[derive(Debug)]
struct FqPie {
    is_ecn: bool,
    mark_up_to: f64,
    is_by_bytes: bool,
    settings: Settings,
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
    law: LinuxPie,
    is_listed: bool,
    /// The queue after this one in its list.
    next: u32,
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

impl FqPie {
    fn new(params: &Params, facts: &LinkFacts) -> Result<FqPie, String> {
        let tupdate = params.time("tupdate");
        refuse_short(tupdate).map_err(|why| why.replace("t_update", "tupdate"))?;
        let flows = params.int("flows") as usize;
        let rounds = flows.div_ceil(QUEUES_A_TICK) as u64;
        let settings = Settings {
            target: params.time("target"),
            weights: (params.float("alpha"), params.float("beta")),
            max_burst: MAX_BURST,
            period: period(tupdate) + TICK * (rounds - 1),
            frame: facts.mtu + facts.overhead,
        };
        let queue = |index: usize| Queue {
            chain: Chain::EMPTY,
            bytes: 0,
            credits: 0,
            law: LinuxPie::new(
                &settings,
                Time::ZERO + settings.period + TICK * (index / QUEUES_A_TICK) as u64,
            ),
            is_listed: false,
            next: NONE,
        };
        Ok(FqPie {
            // A queue of credits must at least be able to send something.
            turns: Turns::new(match params.bytes("quantum") {
                0 => i64::from(facts.mtu.max(1)) + i64::from(facts.overhead),
                bytes => bytes as i64,
            }),
            is_ecn: params.bool("ecn"),
            mark_up_to: params.int("ecn_prob") as f64 / 100.0,
            is_by_bytes: params.bool("bytemode"),
            limit_packets: facts.limit_packets,
            limit_bytes: facts.limit_bytes,
            queues: (0..flows).map(queue).collect(),
            settings,
            packets: Pool::new(facts),
        })
    }

    fn queue_of(&self, flow: u32) -> u32 {
        queue_of(flow, self.queues.len())
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.packets.waiting() < self.limit_packets
            && self.packets.bytes().saturating_add(u64::from(bytes)) <= self.limit_bytes
    }
}

impl Discipline for FqPie {
    fn enqueue(
        &mut self,
        now: Time,
        mut item: Item,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        let index = self.queue_of(item.flow);
        let has_room = self.has_room(item.bytes);
        let queue = &mut self.queues[index as usize];
        let settings = &self.settings;
        queue.law.catch_up(now, queue.bytes, settings);
        if !has_room {
            queue.law.dropped();
            dropped(item, Drop::Overflow);
            return;
        }
        let share = if self.is_by_bytes && item.bytes <= settings.frame {
            f64::from(item.bytes) / f64::from(settings.frame)
        } else {
            1.0
        };
        if queue.law.signals(queue.bytes, share, settings, rng) {
            let may_mark = self.is_ecn && queue.law.probability() <= self.mark_up_to;
            if !(may_mark && item.mark()) {
                queue.law.dropped();
                dropped(item, Drop::Early);
                return;
            }
        }
        queue.bytes += u64::from(item.bytes);
        item.enqueued = now;
        self.packets.push(&mut queue.chain, item);
        if !queue.is_listed {
            queue.is_listed = true;
            queue.credits = self.turns.quantum();
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
            let bytes = queue.bytes;
            if let Some(item) = self.packets.pop(&mut queue.chain) {
                queue.law.catch_up(now, bytes, &self.settings);
                queue.bytes -= u64::from(item.bytes);
                queue.credits -= i64::from(item.bytes);
                queue.law.depart(now, item.enqueued, queue.bytes);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::{FACTS, item, params};
    use trammel_core::entry::Value;

    /// A flow that fills its queue and one that sends a packet every 10 ms over a link that sends
    /// one a millisecond; gives drops and marks of each, and the longest wait of the second.
    fn crowd(given: &[(&str, Value)]) -> ([u32; 3], [u32; 3], Span) {
        let mut queue = FqPie::new(&params(&ENTRY, given), &FACTS).expect("possible");
        let mut rng = Rng::new(3, "fq_pie");
        let (mut drops, mut marks, mut longest) = ([0; 3], [0; 3], Span::ZERO);
        for ms in 0..4000 {
            let now = Time::from_ms(ms);
            for flow in [1, 1, 2] {
                if flow == 1 || ms % 10 == 0 {
                    let packet = Item { flow, ..item(0) };
                    queue.enqueue(now, packet, &mut rng, &mut |item, _| {
                        drops[item.flow as usize] += 1;
                    });
                }
            }
            let sent = queue.dequeue(now, &mut rng, &mut |_, _| panic!("drops at the tail only"));
            let sent = sent.expect("flow 1 always waits");
            marks[sent.flow as usize] += u32::from(sent.marked);
            if sent.flow == 2 {
                longest = longest.max(now - sent.enqueued);
            }
        }
        (drops, marks, longest)
    }

    #[test]
    fn each_queue_has_a_law_of_its_own() {
        let (drops, marks, longest) = crowd(&[]);
        assert!(drops[1] > 1000 && drops[2] == 0, "{drops:?}");
        assert_eq!(marks, [0; 3]);
        // Another packet may be in its turn, no more.
        assert!(longest <= Span::from_ms(1), "{longest}");
    }

    #[test]
    fn marks_end_at_the_probability_given() {
        let ecn = ("ecn", Value::Bool(true));
        let (_, many_marks, _) = crowd(&[ecn.clone(), ("ecn_prob", Value::Int(100))]);
        let (_, few_marks, _) = crowd(&[ecn, ("ecn_prob", Value::Int(0))]);
        // Marks do not slow this load down: the probability passes 1, and the rest is dropped.
        assert!(many_marks[1] > 100, "{many_marks:?}");
        assert_eq!(few_marks[1], 0);
    }

    #[test]
    fn an_arrival_at_the_limit_is_dropped_whosesoever_it_is() {
        let facts = LinkFacts {
            limit_packets: 10,
            ..FACTS
        };
        let mut queue = FqPie::new(&params(&ENTRY, &[]), &facts).expect("possible");
        let mut rng = Rng::new(1, "fq_pie");
        let mut lost = Vec::new();
        for flow in [1; 10].into_iter().chain([2]) {
            let packet = Item { flow, ..item(0) };
            queue.enqueue(Time::ZERO, packet, &mut rng, &mut |item, why| {
                lost.push((item.flow, why));
            });
        }
        assert_eq!(lost, [(2, Drop::Overflow)]);
    }

    #[test]
    fn queues_beyond_2048_are_updated_a_tick_later() {
        let updates = |flows: i64| {
            let flows = [("flows", Value::Int(flows))];
            let queue = FqPie::new(&params(&ENTRY, &flows), &FACTS).expect("possible");
            let last = queue.queues.last().expect("it has queues").law.clone();
            let mut first = queue.queues[0].law.clone();
            first.catch_up(Time::from_ms(16), 0, &queue.settings);
            (queue.settings.period, first != queue.queues[0].law, last)
        };
        let (period, is_updated, last) = updates(1024);
        assert!(is_updated && period == Span::from_ms(16), "{period}");
        let (period, is_updated, later) = updates(2049);
        assert!(!is_updated && period == Span::from_ms(17), "{period}");
        assert!(last != later);
    }

    #[test]
    fn updates_too_short_to_be_made_up_for_are_refused() {
        let short = [("tupdate", Value::Text("2 ps".to_owned()))];
        let refused = FqPie::new(&params(&ENTRY, &short), &FACTS).expect_err("too short");
        assert!(refused.starts_with("`tupdate` is 2 ps"), "{refused}");
    }
}
