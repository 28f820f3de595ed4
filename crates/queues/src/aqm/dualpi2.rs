//! DualPI2: a shallow queue for scalable flows beside a deeper one for all others, coupled.
//!
//! # What it does
//! ECT(1) and CE go to the L4S queue, everything else to the classic one. Every `tupdate` a
//! proportional-integral controller looks at how long the head of the queues has waited, d (the
//! longer of both), and adjusts the base probability
//!
//! ```text
//! p ← p + alpha · (d − target) + beta · (d − d_old),   0 ≤ p ≤ 1
//! ```
//!
//! A packet that leaves the classic queue is dropped, or marked where it is ECT(0), with
//! probability p²; one that leaves the L4S queue is marked with probability `coupling_factor`·p, so
//! that a classic and a scalable flow have about the same rate. The L4S queue also has a threshold
//! of its own, `step_thresh`, above which every packet is marked. It goes first, but for
//! `classic_protection`, the share of a backlog that is the classic queue's in any case (weighted
//! round robin with a credit). When `coupling_factor`·p exceeds 1 the queues are overloaded:
//! packets are then dropped with probability p², whatever their ECN field (`drop_overload`).
//!
//! Linux differs from the RFC's appendix, and `dialect` chooses: Linux draws each signal at random,
//! signals nothing while less than two full packets wait, and marks above a step; the RFC spreads
//! signals evenly (`recur`), marks along a ramp of 400 us about `step_thresh`, but not the only
//! packet of its queue, and takes the larger of ramp and coupled probability.
//!
//! Updates are made up for when a queue is next touched.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "40 Mbit/s"
//! rtt = "20 ms"
//! queue = { discipline = "dualpi2", target = "15 ms", step_thresh = "1 ms" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "dctcp"
//! ```
//!
//! # Parameters
//! As in Linux: `target`, `tupdate`, `alpha`, `beta`, `step_thresh` or `step_packets`,
//! `min_qlen_step`, `coupling_factor`, `drop_overload`, `drop_dequeue`, `classic_protection`,
//! `any_ect`; and `dialect`.
//!
//! # References
//! RFC 9332 §2, §4 and appendix A; De Schepper, Bondarenko, Tsang and Briscoe, "PI²: A Linearized
//! AQM for both Classic and Scalable TCP", CoNEXT 2016; `tc-dualpi2(8)`; Linux 7.1 as observed.

use super::{Band, Discipline, Drop, Entry, Head, Item, LinkFacts};
use crate::chains::{Chain, Pool};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// DualPI2 in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "dualpi2",
        aliases: &["dualq"],
        summary: "a shallow queue for L4S coupled to one for classic traffic",
        references: &["RFC 9332", "tc-dualpi2(8)"],
        params: &[
            Param {
                name: "dialect",
                kind: Kind::Choice(&["linux", "rfc-9332"]),
                default: "linux",
                unit: "",
                help: "Linux 7.1, or appendix A of the RFC",
            },
            Param::time("target", "15 ms", "delay that the classic queue is held at"),
            Param::time(
                "tupdate",
                "16 ms",
                "span between updates of the probability",
            ),
            Param::float(
                "alpha",
                0.003_906_25,
                4_000_000.0,
                "0.16",
                "1/s",
                "weight of the deviation from the target",
            ),
            Param::float(
                "beta",
                0.003_906_25,
                4_000_000.0,
                "3.2",
                "1/s",
                "weight of the change of the delay",
            ),
            Param::time(
                "step_thresh",
                "1 ms",
                "delay above which every packet of the L4S queue is marked",
            ),
            Param::int(
                "step_packets",
                0,
                1_000_000,
                "0",
                "packets",
                "the same in packets left in the L4S queue; 0: `step_thresh` counts",
            ),
            Param::int(
                "min_qlen_step",
                0,
                1_000_000,
                "0",
                "packets",
                "packets that an arrival must find in the L4S queue for the threshold to count",
            ),
            Param::int(
                "coupling_factor",
                1,
                255,
                "2",
                "",
                "coupled probability of the L4S queue over the base probability",
            ),
            switch(
                "drop_overload",
                "true",
                "drop at overload whatever the ECN field; else let the queue grow to its limit",
            ),
            switch(
                "drop_dequeue",
                "true",
                "signal packets that leave; else those that come",
            ),
            Param::int(
                "classic_protection",
                0,
                100,
                "10",
                "%",
                "share of the classic queue while both have a backlog",
            ),
            switch("any_ect", "false", "ECT(0) goes to the L4S queue too"),
        ],
    },
    marks: true,
    limit_pkts: Some(10_000),
    build: |params, facts| Ok(Box::new(DualPi2::new(params, facts)?)),
};

const fn switch(name: &'static str, default: &'static str, help: &'static str) -> Param {
    Param {
        name,
        kind: Kind::Bool,
        default,
        unit: "",
        help,
    }
}

/// Width of the RFC's ramp, about the threshold (RFC 9332, appendix A.1, figure 2).
const RAMP: Span = Span::from_us(400);
/// Shortest time between two updates: every one is made up for.
const LEAST_TUPDATE: Span = Span::from_us(10);

/// The two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    L4s,
    Classic,
}

#[derive(Debug)]
struct DualPi2 {
    law: Law,
    step: Step,
    /// Packets of both queues.
    packets: Pool,
    queues: [Queue; 2],
    bands: [Band; 2],
    limit_packets: u32,
    limit_bytes: u64,
    /// Bytes of a full packet on the link.
    full: u64,
    /// Parts of a hundred of the classic queue.
    protection: i64,
    /// Below or at zero, the L4S queue is next.
    credit: i64,
    credit_at_rest: i64,
    is_linux: bool,
    drops_at_overload: bool,
    is_early: bool,
    takes_any_ect: bool,
}

/// One of the queues.
#[derive(Debug)]
struct Queue {
    chain: Chain,
    waiting: u32,
    /// When its head came; nothing while it is empty.
    head: Option<Time>,
    /// What is summed up of probabilities, for signals spread evenly.
    sum: f64,
}

/// The controller.
#[derive(Clone, Debug, PartialEq)]
struct Law {
    target_s: f64,
    alpha: f64,
    beta: f64,
    tupdate: Span,
    coupling: f64,
    most: f64,
    probability: f64,
    last_delay_s: f64,
    next_update: Time,
}

/// The threshold of the L4S queue.
#[derive(Clone, Copy, Debug)]
struct Step {
    delay: Span,
    packets: u32,
    least: u32,
}

impl Law {
    /// Makes up for the updates up to `now`; since the last call the oldest packet has been the one
    /// that came at `head`.
    fn catch_up(&mut self, now: Time, head: Option<Time>) {
        while self.next_update <= now {
            let delay = head.map_or(Span::ZERO, |came| self.next_update.saturating_since(came));
            let before = self.probability;
            self.update(delay.as_secs_f64());
            self.next_update = self.next_update.saturating_add(self.tupdate);
            if before == self.probability && self.next_update <= now {
                self.skip(now, head);
            }
        }
    }

    /// Skips the updates up to the last before `now` where the probability is at an end of its
    /// range and would be pushed there by each of them: a delay does not shrink between two
    /// touches.
    fn skip(&mut self, now: Time, head: Option<Time>) {
        let delay_at = |at: Time| head.map_or(Span::ZERO, |came| at.saturating_since(came));
        let behind = (now - self.next_update).as_ps() / self.tupdate.as_ps();
        let last = self.next_update.saturating_add(self.tupdate * behind);
        let rise = head.map_or(0.0, |_| self.beta * self.tupdate.as_secs_f64());
        let push = |at: Time| self.alpha * (delay_at(at).as_secs_f64() - self.target_s) + rise;
        let is_low = self.probability == 0.0 && push(last) <= 0.0;
        let is_high = self.probability >= self.most && push(self.next_update) >= 0.0;
        if behind > 0 && (is_low || is_high) {
            self.last_delay_s = delay_at(last.saturating_sub(self.tupdate)).as_secs_f64();
            self.next_update = last;
        }
    }

    fn update(&mut self, delay_s: f64) {
        let step =
            self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - self.last_delay_s);
        self.probability = (self.probability + step).clamp(0.0, self.most);
        self.last_delay_s = delay_s;
    }

    /// The probability coupled to the L4S queue; above one it is overload.
    fn coupled(&self) -> f64 {
        self.probability * self.coupling
    }
}

impl Queue {
    const EMPTY: Queue = Queue {
        chain: Chain::EMPTY,
        waiting: 0,
        head: None,
        sum: 0.0,
    };

    /// Whether this packet is the next of those that `probability` spreads evenly.
    fn recurs(&mut self, probability: f64) -> bool {
        self.sum += probability;
        if self.sum > 1.0 {
            self.sum -= 1.0;
            return true;
        }
        false
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    None,
    Mark,
    Drop,
}

impl DualPi2 {
    fn new(params: &Params, facts: &LinkFacts) -> Result<DualPi2, String> {
        let tupdate = params.time("tupdate");
        if tupdate < LEAST_TUPDATE {
            return Err(format!(
                "`tupdate` is {tupdate}; it takes at least {LEAST_TUPDATE}"
            ));
        }
        let is_linux = params.text("dialect") == "linux";
        let drops_at_overload = params.bool("drop_overload");
        let coupling = params.int("coupling_factor") as f64;
        // Linux has its weights in parts of 256.
        let weight = |key| match params.float(key) {
            weight if is_linux => (weight * 256.0).round() / 256.0,
            weight => weight,
        };
        let full = u64::from(facts.mtu) + u64::from(facts.overhead);
        let protection = params.int("classic_protection");
        let credit = (2 * protection - 100) * full as i64;
        Ok(DualPi2 {
            law: Law {
                target_s: params.time("target").as_secs_f64(),
                alpha: weight("alpha"),
                beta: weight("beta"),
                tupdate,
                coupling,
                most: if drops_at_overload {
                    1.0
                } else {
                    1.0 / coupling
                },
                probability: 0.0,
                last_delay_s: 0.0,
                next_update: Time::ZERO + tupdate,
            },
            step: Step {
                delay: params.time("step_thresh"),
                packets: params.int("step_packets") as u32,
                least: params.int("min_qlen_step") as u32,
            },
            packets: Pool::new(facts),
            queues: [Queue::EMPTY, Queue::EMPTY],
            bands: ["l4s", "classic"].map(|name| Band {
                head: Head::None,
                ..Band::new(name)
            }),
            limit_packets: facts.limit_packets,
            limit_bytes: facts.limit_bytes,
            full,
            protection,
            credit,
            credit_at_rest: credit,
            is_linux,
            drops_at_overload,
            is_early: !params.bool("drop_dequeue"),
            takes_any_ect: params.bool("any_ect"),
        })
    }

    fn side_of(&self, item: &Item) -> Side {
        if item.ecn.is_l4s() || (self.takes_any_ect && item.is_ecn_capable()) {
            Side::L4s
        } else {
            Side::Classic
        }
    }

    fn catch_up(&mut self, now: Time) {
        let [l4s, classic] = &self.queues;
        let oldest = match (l4s.head, classic.head) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.law.catch_up(now, oldest);
    }

    /// What the coupled law says of a packet of `side`.
    fn signal(&mut self, side: Side, item: &Item, rng: &mut Rng) -> Signal {
        if self.is_linux {
            self.drawn(side, item, rng)
        } else {
            self.spread(side, item)
        }
    }

    /// As Linux: each packet for itself, at random, and none while less than two full ones wait.
    fn drawn(&self, side: Side, item: &Item, rng: &mut Rng) -> Signal {
        if self.packets.bytes() < 2 * self.full {
            return Signal::None;
        }
        let (base, coupled) = (self.law.probability, self.law.coupled());
        let is_overload = coupled > 1.0;
        let mut twice = || rng.chance(base) && rng.chance(base);
        match side {
            Side::Classic if !twice() => Signal::None,
            Side::Classic if is_overload || !item.is_ecn_capable() => Signal::Drop,
            Side::L4s if is_overload && self.drops_at_overload && twice() => Signal::Drop,
            Side::L4s if !is_overload && !rng.chance(coupled) => Signal::None,
            Side::Classic | Side::L4s => Signal::Mark,
        }
    }

    /// As the RFC's appendix A.2: signals at even distances.
    fn spread(&mut self, side: Side, item: &Item) -> Signal {
        let (base, coupled) = (self.law.probability, self.law.coupled());
        let squared = base * base;
        let is_overload = coupled >= 1.0 && self.drops_at_overload;
        let queue = &mut self.queues[side as usize];
        match side {
            Side::Classic if !queue.recurs(squared) => Signal::None,
            Side::Classic if is_overload || !item.is_ecn_capable() => Signal::Drop,
            Side::Classic => Signal::Mark,
            Side::L4s if is_overload && queue.recurs(squared) => Signal::Drop,
            Side::L4s if is_overload => Signal::Mark,
            // The ramp counts too: it is taken into account where the delay is known.
            Side::L4s => Signal::None,
        }
    }

    /// Whether the L4S queue's own threshold signals a packet that has waited for `delay`.
    fn is_stepped(&mut self, item: &Item, delay: Span) -> bool {
        let waiting = self.queues[Side::L4s as usize].waiting;
        if self.is_linux {
            let is_above = if self.step.packets > 0 {
                waiting > self.step.packets
            } else {
                delay > self.step.delay
            };
            return is_above && item.ack & FOUND_ENOUGH != 0;
        }
        if self.law.coupled() >= 1.0 && self.drops_at_overload {
            return false;
        }
        let low = self.step.delay.saturating_sub(RAMP / 2);
        let above = delay.saturating_sub(low).as_secs_f64() / RAMP.as_secs_f64();
        // The RFC's `Th_len`: the only packet of a slow link's queue is not marked.
        let ramp = if waiting > 0 { above.min(1.0) } else { 0.0 };
        let probability = ramp.max(self.law.coupled()).min(1.0);
        self.queues[Side::L4s as usize].recurs(probability)
    }

    /// Which queue the next packet comes from, and what the credit then changes by for each of its
    /// bytes.
    fn next(&self) -> Option<(Side, i64)> {
        let [l4s, classic] = &self.queues;
        match (l4s.waiting > 0, classic.waiting > 0) {
            (true, false) => Some((Side::L4s, 0)),
            (false, true) => Some((Side::Classic, 0)),
            (true, true) if self.credit <= 0 => Some((Side::L4s, self.protection)),
            (true, true) => Some((Side::Classic, self.protection - 100)),
            (false, false) => None,
        }
    }

    fn take(&mut self, side: Side) -> Option<Item> {
        let queue = &mut self.queues[side as usize];
        let item = self.packets.pop(&mut queue.chain)?;
        queue.waiting -= 1;
        queue.head = self
            .packets
            .iter(&queue.chain)
            .next()
            .map(|(_, head)| head.enqueued);
        self.bands[side as usize].head = queue.head.map_or(Head::None, Head::Came);
        Some(item)
    }

    fn drop(&mut self, side: Side, item: Item, why: Drop, dropped: &mut dyn FnMut(Item, Drop)) {
        self.bands[side as usize].dropped(why);
        dropped(item, why);
    }
}

/// A bit of an item's number of acknowledgement, which is of no use here: the packet found as many
/// in the L4S queue as the threshold asks for.
const FOUND_ENOUGH: u32 = 1;

impl Discipline for DualPi2 {
    fn enqueue(
        &mut self,
        now: Time,
        mut item: Item,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        self.catch_up(now);
        let side = self.side_of(&item);
        let bytes = self.packets.bytes().saturating_add(u64::from(item.bytes));
        if self.packets.waiting() >= self.limit_packets || bytes > self.limit_bytes {
            return self.drop(side, item, Drop::Overflow, dropped);
        }
        if self.is_early {
            match self.signal(side, &item, rng) {
                Signal::Drop => return self.drop(side, item, Drop::Early, dropped),
                Signal::Mark => item.mark(),
                Signal::None => false,
            };
        }
        let queue = &mut self.queues[side as usize];
        item.enqueued = now;
        item.ack = u32::from(queue.waiting >= self.step.least) * FOUND_ENOUGH;
        if queue.head.is_none() {
            queue.head = Some(now);
            self.bands[side as usize].head = Head::Came(now);
        }
        queue.waiting += 1;
        self.packets.push(&mut queue.chain, item);
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        self.catch_up(now);
        loop {
            let Some((side, change)) = self.next() else {
                self.credit = self.credit_at_rest;
                return None;
            };
            let mut item = self.take(side)?;
            if !self.is_early {
                match self.signal(side, &item, rng) {
                    Signal::Drop => {
                        self.drop(side, item, Drop::Early, dropped);
                        continue;
                    }
                    Signal::Mark => item.mark(),
                    Signal::None => false,
                };
            }
            let delay = now.saturating_since(item.enqueued);
            if side == Side::L4s && self.is_stepped(&item, delay) {
                item.mark();
            }
            self.credit += change * i64::from(item.bytes);
            self.bands[side as usize].sent(now, &item);
            return Some(item);
        }
    }

    fn packets(&self) -> u32 {
        self.packets.waiting()
    }

    fn bytes(&self) -> u64 {
        self.packets.bytes()
    }

    fn bands(&self) -> &[Band] {
        &self.bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::{FACTS, item, params};
    use trammel_core::ecn::Ecn;
    use trammel_core::entry::Value;

    fn dual(given: &[(&str, Value)]) -> DualPi2 {
        DualPi2::new(&params(&ENTRY, given), &FACTS).expect("possible")
    }

    fn rfc() -> (&'static str, Value) {
        ("dialect", Value::Text("rfc-9332".to_owned()))
    }

    fn offer(queue: &mut DualPi2, now: Time, ecn: Ecn, count: u32) {
        let mut rng = Rng::new(1, "");
        for _ in 0..count {
            let packet = Item { ecn, ..item(0) };
            queue.enqueue(now, packet, &mut rng, &mut |_, _| panic!("there is room"));
        }
    }

    fn serve(queue: &mut DualPi2, now: Time, count: usize) -> Vec<Item> {
        let mut rng = Rng::new(1, "");
        std::iter::from_fn(|| queue.dequeue(now, &mut rng, &mut |_, _| {}))
            .take(count)
            .collect()
    }

    #[test]
    fn codepoints_choose_the_queue() {
        for (any, ecn, side) in [
            (false, Ecn::NotEct, Side::Classic),
            (false, Ecn::Ect0, Side::Classic),
            (true, Ecn::Ect0, Side::L4s),
            (true, Ecn::NotEct, Side::Classic),
            (false, Ecn::Ect1, Side::L4s),
            (false, Ecn::Ce, Side::L4s),
        ] {
            let queue = dual(&[("any_ect", Value::Bool(any))]);
            assert_eq!(queue.side_of(&Item { ecn, ..item(0) }), side);
        }
    }

    #[test]
    fn the_classic_queue_has_its_share_of_a_backlog() {
        for (protection, classic) in [(10, 10), (25, 25), (0, 0), (100, 100)] {
            let mut queue = dual(&[("classic_protection", Value::Int(protection))]);
            offer(&mut queue, Time::ZERO, Ecn::NotEct, 300);
            offer(&mut queue, Time::ZERO, Ecn::Ect1, 300);
            let sent = serve(&mut queue, Time::ZERO, 200);
            let sent = sent.iter().filter(|item| !item.ecn.is_l4s()).count();
            // The credit at rest is worth a packet of each.
            assert!(sent.abs_diff(2 * classic) <= 2, "{protection} %: {sent}");
        }
    }

    #[test]
    fn a_lone_queue_is_served_whatever_the_protection() {
        let mut queue = dual(&[("classic_protection", Value::Int(0))]);
        offer(&mut queue, Time::ZERO, Ecn::NotEct, 3);
        assert_eq!(serve(&mut queue, Time::ZERO, 9).len(), 3);
    }

    #[test]
    fn one_update_follows_the_equation() {
        let mut queue = dual(&[]);
        offer(&mut queue, Time::from_ms(1), Ecn::NotEct, 1);
        queue.catch_up(Time::from_ms(35));
        // Linux's weights are 41 and 819 of 256.
        let (alpha, beta) = (41.0 / 256.0, 819.0 / 256.0);
        // At 16 ms the head has waited 15 ms, at 32 ms 31 ms.
        let first = beta * 0.015;
        let second = alpha * 0.016 + beta * 0.016;
        let law = &queue.law;
        assert!((law.probability - first - second).abs() < 1e-12, "{law:?}");
        assert_eq!(law.next_update, Time::from_ms(48));
    }

    #[test]
    fn skipped_updates_equal_those_made() {
        let cases = [
            (None, 0.5, 0.015),
            (None, 0.0, 0.015),
            (Some(Time::ZERO), 0.999, 0.015),
            (Some(Time::ZERO), 0.0, 29.0),
            (Some(Time::ZERO), 0.0, 40.0),
        ];
        for (head, start, target_s) in cases {
            let law = Law {
                probability: start,
                target_s,
                ..dual(&[]).law
            };
            let (mut at_once, mut one_by_one) = (law.clone(), law);
            let end = Time::from_secs(30);
            at_once.catch_up(end, head);
            while one_by_one.next_update <= end {
                let at = one_by_one.next_update;
                let delay = head.map_or(Span::ZERO, |came| at - came);
                one_by_one.update(delay.as_secs_f64());
                one_by_one.next_update += one_by_one.tupdate;
            }
            assert_eq!(at_once, one_by_one);
        }
    }

    #[test]
    fn the_step_marks_what_waited_longer() {
        let mut queue = dual(&[]);
        offer(&mut queue, Time::ZERO, Ecn::Ect1, 4);
        let mut marked = Vec::new();
        for us in [500, 1000, 1001, 2000] {
            marked.extend(serve(&mut queue, Time::from_us(us), 1));
        }
        let marked: Vec<bool> = marked.iter().map(|item| item.marked).collect();
        assert_eq!(marked, [false, false, true, true]);
    }

    #[test]
    fn the_step_counts_in_packets_and_from_a_length_on() {
        let given = [
            ("step_packets", Value::Int(2)),
            ("min_qlen_step", Value::Int(1)),
        ];
        let mut queue = dual(&given);
        offer(&mut queue, Time::ZERO, Ecn::Ect1, 5);
        let marked = serve(&mut queue, Time::ZERO, 5);
        let marked: Vec<bool> = marked.iter().map(|item| item.marked).collect();
        // The first found none before it; behind the third two are left.
        assert_eq!(marked, [false, true, false, false, false]);
    }

    /// Marks and drops of each queue in 20 000 packets, with this base probability kept.
    fn signals(given: &[(&str, Value)], probability: f64, ecn: Ecn) -> (u64, u64) {
        let mut queue = dual(given);
        let mut rng = Rng::new(5, "dualpi2");
        let (mut marks, mut drops) = (0, 0);
        for _ in 0..20_000 {
            let packet = Item { ecn, ..item(0) };
            while queue.packets() < 60 {
                queue.enqueue(Time::ZERO, packet, &mut rng, &mut |_, _| {});
            }
            queue.law.probability = probability;
            let sent = queue.dequeue(Time::ZERO, &mut rng, &mut |_, _| drops += 1);
            marks += u64::from(sent.expect("sixty wait").marked);
        }
        (marks, drops)
    }

    #[test]
    fn classic_signals_are_the_square_and_l4s_ones_the_coupled_probability() {
        for given in [vec![], vec![rfc()]] {
            let near = |count: u64, expected: f64| {
                let expected = expected * 20_000.0;
                assert!(
                    (count as f64 - expected).abs() <= 0.1 * expected + 1.0,
                    "{count} and not {expected}: {given:?}"
                );
            };
            let (marks, drops) = signals(&given, 0.2, Ecn::Ect0);
            near(marks, 0.04);
            assert_eq!(drops, 0);
            let (marks, drops) = signals(&given, 0.2, Ecn::NotEct);
            assert_eq!(marks, 0);
            near(drops, 0.04 / 0.96);
            let (marks, drops) = signals(&given, 0.2, Ecn::Ect1);
            near(marks, 0.4);
            assert_eq!(drops, 0);
        }
    }

    #[test]
    fn overload_drops_what_is_capable_too() {
        for given in [vec![], vec![rfc()]] {
            for ecn in [Ecn::Ect0, Ecn::Ect1] {
                let (marks, drops) = signals(&given, 0.6, ecn);
                let drops = drops as f64 / (20_000.0 + drops as f64);
                assert!((drops - 0.36).abs() < 0.02, "{drops}: {ecn:?} {given:?}");
                let marked = if ecn == Ecn::Ect1 { 20_000 } else { 0 };
                assert_eq!(marks, marked, "{ecn:?} {given:?}");
            }
        }
        // Without drops at overload, everything scalable is marked and nothing dropped.
        let (marks, drops) = signals(&[("drop_overload", Value::Bool(false))], 0.6, Ecn::Ect1);
        assert_eq!((marks, drops), (20_000, 0));
    }

    #[test]
    fn the_rfc_spreads_signals_and_spares_the_only_packet() {
        let mut queue = dual(&[rfc()]);
        offer(&mut queue, Time::ZERO, Ecn::Ect1, 4);
        // The ramp goes from 800 us to 1200 us: one, a half, and the half before makes one; the
        // last is alone.
        let sent: Vec<bool> = [1300, 1000, 1001, 5000]
            .into_iter()
            .flat_map(|us| serve(&mut queue, Time::from_us(us), 1))
            .map(|item| item.marked)
            .collect();
        assert_eq!(sent, [false, true, true, false]);
    }

    #[test]
    fn a_classic_flood_is_held_at_the_target() {
        let mut queue = dual(&[]);
        let mut rng = Rng::new(2, "dualpi2");
        let mut sum = 0;
        for ms in 0..60_000_u64 {
            let now = Time::from_ms(ms);
            for _ in 0..=u32::from(ms % 10 == 0) {
                let packet = Item {
                    ecn: Ecn::NotEct,
                    ..item(0)
                };
                queue.enqueue(now, packet, &mut rng, &mut |_, _| {});
            }
            queue.dequeue(now, &mut rng, &mut |_, _| {});
            sum += if ms >= 30_000 { queue.packets() } else { 0 };
        }
        // A packet is a millisecond, and the target 15 ms.
        let mean = f64::from(sum) / 30_000.0;
        assert!((13.0..17.5).contains(&mean), "{mean}");
    }

    #[test]
    fn bands_count_each_queue() {
        let mut queue = dual(&[]);
        offer(&mut queue, Time::ZERO, Ecn::Ect1, 2);
        offer(&mut queue, Time::ZERO, Ecn::Ect0, 1);
        assert_eq!(serve(&mut queue, Time::from_ms(2), 3).len(), 3);
        let [l4s, classic] = queue.bands() else {
            panic!("two queues")
        };
        assert_eq!((l4s.sent_pkts, l4s.marked_pkts), (2, 2));
        assert_eq!((classic.sent_pkts, classic.marked_pkts), (1, 0));
        assert_eq!(l4s.wait_ns, 4_000_000);
    }
}
