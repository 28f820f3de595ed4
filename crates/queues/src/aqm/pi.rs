//! PI: a proportional–integral controller that holds the queue at a target length.
//!
//! # What it does
//! Every `interval` it compares the queue length q with the target and adjusts the probability of a
//! signal; arrivals are signalled with that probability:
//!
//! ```text
//! p(k) = p(k−1) + a · (q(k) − target) − b · (q(k−1) − target),   0 ≤ p ≤ 1
//! ```
//!
//! Unlike RED it has no steady-state error: the queue settles at the target whatever the load.
//! Updates are made up for when the queue is next touched; between two touches the length is
//! constant, so however many intervals have passed, they cost two additions.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "pi", target = 50, limit = "500 packets" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! `target` in packets, `a` and `b` per packet, `interval`, `ecn`. The defaults of
//! the weights and the interval are the paper's for 3750 packets/s, 60 flows and round trips up to
//! 246 ms; the target is that of ns-2.
//!
//! # References
//! Hollot, Misra, Towsley and Gong, "On designing improved controllers for AQM routers supporting
//! TCP flows", INFOCOM 2001, §IV and §V.

use super::{Discipline, Drop, Entry, Item, ecn};
use crate::fifo::Fifo;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// PI in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "pi",
        aliases: &[],
        summary: "a proportional-integral controller holds the queue at a length",
        references: &["Hollot, Misra, Towsley and Gong, INFOCOM 2001"],
        params: &[
            Param {
                name: "target",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "50",
                unit: "packets",
                help: "queue length to hold",
            },
            Param {
                name: "a",
                kind: Kind::Float(0.0, 1.0),
                default: "1.822e-5",
                unit: "",
                help: "weight of the present deviation, per packet",
            },
            Param {
                name: "b",
                kind: Kind::Float(0.0, 1.0),
                default: "1.816e-5",
                unit: "",
                help: "weight of the deviation an interval ago, per packet; below `a`",
            },
            Param {
                name: "interval",
                kind: Kind::Time,
                default: "6.25 ms",
                unit: "s",
                help: "span between updates of the probability",
            },
            ecn("false"),
        ],
    },
    marks: true,
    limit_pkts: None,
    build: |params, facts| {
        let (a, b, interval) = (
            params.float("a"),
            params.float("b"),
            params.time("interval"),
        );
        if a <= b {
            return Err(format!(
                "`a` {a} is not above `b` {b}: the queue would never be brought to the target"
            ));
        }
        if interval == Span::ZERO {
            return Err("`interval` is 0 s".to_owned());
        }
        let target = params.float("target");
        Ok(Box::new(Pi {
            queue: Fifo::new(facts),
            law: Law::new(target, a, b, interval),
            is_ecn: params.bool("ecn"),
        }))
    },
};

#[derive(Debug)]
struct Pi {
    queue: Fifo,
    law: Law,
    is_ecn: bool,
}

/// The controller, which a caller with a queue of its own may use too.
#[derive(Clone, Debug)]
pub struct Law {
    target: f64,
    a: f64,
    b: f64,
    interval: Span,
    probability: f64,
    /// The deviation from the target at the last update, packets.
    last_error: f64,
    next_update: Time,
}

impl Law {
    /// Holds `target` packets with the weights `a` and `b`; `interval` is not zero. Time begins at
    /// zero, with an empty queue.
    pub fn new(target: f64, a: f64, b: f64, interval: Span) -> Law {
        Law {
            target,
            a,
            b,
            interval,
            probability: 0.0,
            last_error: -target,
            next_update: Time::ZERO + interval,
        }
    }

    /// The probability of a signal.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Makes up for the updates up to `now`; `packets` have waited since the last call.
    pub fn catch_up(&mut self, now: Time, packets: u32) {
        if now < self.next_update {
            return;
        }
        let error = f64::from(packets) - self.target;
        let more = (now - self.next_update).as_ps() / self.interval.as_ps();
        self.add(self.a * error - self.b * self.last_error);
        // From the second on, present and last deviation are equal. The steps have one sign, so
        // bounding their sum is bounding each.
        self.add(more as f64 * (self.a - self.b) * error);
        self.last_error = error;
        self.next_update = self
            .next_update
            .saturating_add(self.interval * more)
            .saturating_add(self.interval);
    }

    fn add(&mut self, step: f64) {
        self.probability = (self.probability + step).clamp(0.0, 1.0);
    }
}

impl Discipline for Pi {
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        self.law.catch_up(now, self.queue.packets());
        let probability = self.law.probability;
        let signals = probability > 0.0 && rng.chance(probability);
        self.queue.admit(now, item, signals, self.is_ecn, dropped);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        _dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        self.law.catch_up(now, self.queue.packets());
        self.queue.pop()
    }

    fn packets(&self) -> u32 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::{FACTS, params};
    use trammel_core::entry::Value;

    fn law() -> Law {
        let target = 50.0;
        Law {
            target,
            a: 0.002,
            b: 0.001,
            interval: Span::from_ms(10),
            probability: 0.0,
            last_error: -target,
            next_update: Time::from_ms(10),
        }
    }

    #[test]
    fn updates_follow_the_difference_equation() {
        let mut law = law();
        law.catch_up(Time::from_ms(9), 100);
        assert_eq!(law.probability, 0.0);
        law.catch_up(Time::from_ms(10), 100);
        assert!((law.probability - (0.002 * 50.0 + 0.001 * 50.0)).abs() < 1e-12);
        law.catch_up(Time::from_ms(20), 60);
        assert!((law.probability - (0.15 + 0.002 * 10.0 - 0.001 * 50.0)).abs() < 1e-12);
    }

    #[test]
    fn many_updates_at_once_equal_one_after_the_other() {
        for packets in [0, 49, 50, 51, 100, 1000] {
            let (mut at_once, mut one_by_one) = (law(), law());
            for warm in [70, 90] {
                at_once.catch_up(at_once.next_update, warm);
                one_by_one.catch_up(one_by_one.next_update, warm);
            }
            at_once.catch_up(Time::from_ms(177), packets);
            for ms in (30..=170).step_by(10) {
                one_by_one.catch_up(Time::from_ms(ms), packets);
            }
            assert!((at_once.probability - one_by_one.probability).abs() < 1e-12);
            assert_eq!(at_once.next_update, one_by_one.next_update);
            assert_eq!(at_once.next_update, Time::from_ms(180));
        }
    }

    #[test]
    fn the_probability_stays_only_at_the_target() {
        let mut law = law();
        law.catch_up(Time::from_ms(20), 80);
        let mut after = |seconds, packets| {
            let before = law.probability;
            law.catch_up(Time::from_secs(seconds), packets);
            law.catch_up(Time::from_secs(seconds + 1), packets);
            law.probability - before
        };
        assert!(after(1, 51) > 0.0);
        after(4, 50);
        assert_eq!(after(7, 50), 0.0);
        assert!(after(10, 49) < 0.0);
    }

    #[test]
    fn weights_that_cannot_settle_are_refused() {
        let build = |key, value| (ENTRY.build)(&params(&ENTRY, &[(key, value)]), &FACTS);
        assert!(build("a", Value::Float(1e-5)).unwrap_err().contains("`b`"));
        assert!(build("interval", Value::Time(Span::ZERO)).is_err());
    }
}
