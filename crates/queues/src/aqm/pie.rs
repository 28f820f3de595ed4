//! PIE: a proportional–integral controller on delay that drops at the tail at random.
//!
//! # What it does
//! Every `t_update` it estimates the queueing delay d and adjusts the drop probability,
//!
//! ```text
//! p ← p + s · (alpha · (d − target) + beta · (d − d_old))
//! ```
//!
//! where d is in seconds and the scale s is below 1 while p is small (1/2048 under 10⁻⁶ … 1/2 under
//! 0.1). Arrivals are dropped with probability p, but not in the first `max_burst` after an idle
//! time, not while the delay was below half the target and p below 0.2, and not while at most two
//! full packets wait. Where `ecn` is on and p is below `mark_below`, ECN-capable packets are marked
//! instead.
//!
//! Updates are made up for when the queue is next touched. Once they no longer change anything, as
//! in a long idle time, the rest is skipped.
//!
//! Linux 6.12 differs, and `dialect = "linux"` with it: it asks whether the *present* delay is
//! below half the target, adds 2 % an update while the delay is above 250 ms, lets p fall by a
//! 64th, not by 2 %, when idle, spends the burst's allowance between departures only, and always
//! keeps drops from clustering.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "pie", dialect = "linux", limit = "1000 packets" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! `dialect`, `target`, `t_update`, `max_burst`, `alpha`, `beta`, `ecn`, `mark_below`; `estimator`:
//! the delay of the packet that left last, or bytes waiting over the measured departure rate;
//! `derandomize`: keep drops from clustering.
//!
//! # References
//! Pan et al., "PIE: A lightweight control scheme to address the bufferbloat problem", HPSR 2013;
//! RFC 8033 §4, §5 and appendices A and B; `tc-pie(8)`; Linux 6.12 as observed and as
//! `include/net/pie.h` describes it.

use super::{Discipline, Drop, Entry, Item, LinkFacts, ecn};
use crate::fifo::Fifo;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// PIE in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "pie",
        aliases: &[],
        summary: "a proportional-integral controller on delay drops at random",
        references: &["RFC 8033", "Pan et al., HPSR 2013"],
        params: &[
            Param {
                name: "dialect",
                kind: Kind::Choice(&["rfc-8033", "linux"]),
                default: "rfc-8033",
                unit: "",
                help: "the RFC to the letter, or Linux 6.12",
            },
            Param {
                name: "target",
                kind: Kind::Time,
                default: "15 ms",
                unit: "s",
                help: "queueing delay to hold",
            },
            Param {
                name: "t_update",
                kind: Kind::Time,
                default: "15 ms",
                unit: "s",
                help: "span between updates of the probability",
            },
            Param {
                name: "max_burst",
                kind: Kind::Time,
                default: "150 ms",
                unit: "s",
                help: "how long a burst after an idle time is let through",
            },
            Param {
                name: "alpha",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "0.125",
                unit: "1/s",
                help: "weight of the deviation from the target",
            },
            Param {
                name: "beta",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "1.25",
                unit: "1/s",
                help: "weight of the change of the delay",
            },
            ecn("false"),
            Param {
                name: "mark_below",
                kind: Kind::Float(0.0, 1.0),
                default: "0.1",
                unit: "",
                help: "probability from which on ECN-capable packets are dropped too",
            },
            Param {
                name: "estimator",
                kind: Kind::Choice(&["timestamp", "departure-rate"]),
                default: "timestamp",
                unit: "",
                help: "how the delay is estimated",
            },
            Param {
                name: "derandomize",
                kind: Kind::Bool,
                default: "false",
                unit: "",
                help: "let drops neither cluster nor stay away",
            },
        ],
    },
    marks: true,
    limit_pkts: Some(1000),
    build: |params, facts| Ok(Box::new(Pie::new(params, facts)?)),
};

#[derive(Debug)]
struct Pie {
    queue: Fifo,
    control: Control,
    is_ecn: bool,
    mark_below: f64,
}

/// The law with all that it remembers of one queue, which FQ-PIE has for each of its queues.
#[derive(Clone, Debug)]
pub(super) struct Control {
    law: Law,
    mtu: u32,
    is_derandomized: bool,
    /// Probabilities summed since the last drop, for `derandomize`.
    accumulated: f64,
    last_departure: Option<Time>,
    estimator: Estimator,
}

/// Bytes of a measurement of the departure rate (`DQ_THRESHOLD`).
const MEASUREMENT_BYTES: u64 = 1 << 14;

#[derive(Clone, Debug)]
enum Estimator {
    /// The delay of the packet that left last.
    Timestamp(Span),
    DepartureRate {
        /// Seconds that a byte takes; nothing before the first measurement.
        seconds_per_byte: Option<f64>,
        /// Start of the measurement that is under way, and bytes departed since.
        measuring: Option<(Time, u64)>,
    },
}

impl Estimator {
    /// The delay now, in seconds, with `bytes` waiting.
    fn delay(&self, bytes: u64) -> f64 {
        match self {
            Estimator::Timestamp(_) if bytes == 0 => 0.0,
            Estimator::Timestamp(delay) => delay.as_secs_f64(),
            Estimator::DepartureRate {
                seconds_per_byte, ..
            } => bytes as f64 * seconds_per_byte.unwrap_or(0.0),
        }
    }

    /// `item` left at `now`, and `bytes` still wait.
    fn depart(&mut self, now: Time, item: &Item, bytes: u64) {
        match self {
            Estimator::Timestamp(delay) => *delay = now.saturating_since(item.enqueued),
            Estimator::DepartureRate {
                seconds_per_byte,
                measuring,
            } => {
                if let Some((start, departed)) = measuring {
                    *departed += u64::from(item.bytes);
                    if *departed >= MEASUREMENT_BYTES {
                        // Differs from RFC 8033: divides by the bytes that left, not by the
                        // threshold that they passed.
                        let new = (now - *start).as_secs_f64() / *departed as f64;
                        // The weight of a new measurement is 2^14 / 2^16.
                        let mean = seconds_per_byte.map_or(new, |old| old + 0.25 * (new - old));
                        *seconds_per_byte = Some(mean);
                        *measuring = None;
                    }
                }
                if measuring.is_none() && bytes >= MEASUREMENT_BYTES {
                    *measuring = Some((now, 0));
                }
            }
        }
    }
}

/// The controller.
#[derive(Clone, Debug, PartialEq)]
struct Law {
    is_linux: bool,
    target_s: f64,
    alpha: f64,
    beta: f64,
    t_update: Span,
    max_burst: Span,
    probability: f64,
    last_delay_s: f64,
    burst_left: Span,
    next_update: Time,
}

impl Law {
    /// Makes up for the updates up to `now`; the delay has been `delay_s` since the last call, and
    /// something `waits` or nothing does.
    fn catch_up(&mut self, now: Time, delay_s: f64, waits: bool) {
        while self.next_update <= now {
            let before = (self.probability, self.last_delay_s);
            self.update(delay_s, waits);
            self.next_update = self.next_update.saturating_add(self.t_update);
            if before == (self.probability, self.last_delay_s) {
                // Nothing would change any more but the burst allowance, which falls evenly.
                let behind = now.saturating_since(self.next_update).as_ps() / self.t_update.as_ps();
                let skipped = self.t_update * behind;
                self.next_update = self.next_update.saturating_add(skipped);
                self.spend(skipped);
            }
        }
    }

    fn update(&mut self, delay_s: f64, waits: bool) {
        let mut step =
            self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - self.last_delay_s);
        step *= scale(self.probability);
        if self.probability >= 0.1 {
            step = step.min(MOST_STEP);
        }
        let mut idle = 0.98;
        if self.is_linux {
            step += if delay_s > LONG_S { MOST_STEP } else { 0.0 };
            // A delay that was not seen yet says nothing.
            idle = if waits { 1.0 } else { 1.0 - 1.0 / 64.0 };
        }
        let mut probability = self.probability + step;
        if delay_s == 0.0 && self.last_delay_s == 0.0 {
            probability *= idle;
        }
        self.probability = probability.clamp(0.0, 1.0);
        if self.is_linux {
            self.allow_burst(delay_s);
        }
        self.last_delay_s = delay_s;
        self.spend(self.t_update);
    }

    /// The RFC's burst allowance falls with time.
    fn spend(&mut self, time: Span) {
        if !self.is_linux {
            self.burst_left = self.burst_left.saturating_sub(time);
        }
    }

    /// Renews the burst allowance of a queue without congestion.
    fn allow_burst(&mut self, delay_s: f64) {
        let half = self.target_s / 2.0;
        if self.probability == 0.0 && delay_s < half && self.last_delay_s < half {
            self.burst_left = self.max_burst;
        }
    }
}

/// The largest step of a probability that is not small, and the delay above which Linux goes so
/// much further.
const MOST_STEP: f64 = 0.02;
const LONG_S: f64 = 0.25;

/// How long a burst after an idle time is let through (RFC 8033 §4.4).
const MAX_BURST: Span = Span::from_ms(150);

/// Shortest time between two updates: every one is made up for, however long the last packet is
/// ago. It is 15 ms in RFC 8033.
const LEAST_T_UPDATE: Span = Span::from_us(10);

/// Small probabilities move in small steps (RFC 8033 §4.2).
fn scale(probability: f64) -> f64 {
    const STEPS: [(f64, f64); 6] = [
        (0.000_001, 2048.0),
        (0.000_01, 512.0),
        (0.000_1, 128.0),
        (0.001, 32.0),
        (0.01, 8.0),
        (0.1, 2.0),
    ];
    let step = STEPS.iter().find(|(below, _)| probability < *below);
    step.map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

impl Control {
    /// The law of Linux with these parameters, over packets of up to `mtu` bytes.
    pub(super) fn linux(
        target: Span,
        t_update: Span,
        (alpha, beta): (f64, f64),
        mtu: u32,
    ) -> Result<Control, String> {
        refuse_short(t_update)?;
        Ok(Control {
            law: Law {
                is_linux: true,
                target_s: target.as_secs_f64(),
                alpha,
                beta,
                t_update,
                max_burst: MAX_BURST,
                probability: 0.0,
                last_delay_s: 0.0,
                burst_left: MAX_BURST,
                next_update: Time::ZERO + t_update,
            },
            mtu,
            is_derandomized: true,
            accumulated: 0.0,
            last_departure: None,
            estimator: Estimator::Timestamp(Span::ZERO),
        })
    }

    /// The probability of a signal.
    pub(super) fn probability(&self) -> f64 {
        self.law.probability
    }

    /// The queue had no room for an arrival.
    pub(super) fn overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// Brings the law up to `now`, and gives the present delay in seconds, with `bytes` waiting.
    pub(super) fn catch_up(&mut self, now: Time, bytes: u64) -> f64 {
        let delay_s = self.estimator.delay(bytes);
        self.law.catch_up(now, delay_s, bytes > 0);
        delay_s
    }

    /// `item` left at `now`, and `bytes` still wait.
    pub(super) fn depart(&mut self, now: Time, item: &Item, bytes: u64) {
        self.estimator.depart(now, item, bytes);
        if self.law.is_linux {
            let since = self
                .last_departure
                .map_or(Span::ZERO, |last| now.saturating_since(last));
            self.law.burst_left = self.law.burst_left.saturating_sub(since);
            self.last_departure = Some(now);
        }
    }

    /// Whether this arrival is signalled.
    ///
    /// It finds `bytes` waiting, and `share` scales the probability.
    pub(super) fn signals(&mut self, delay_s: f64, bytes: u64, share: f64, rng: &mut Rng) -> bool {
        let law = &self.law;
        let delay_s = if law.is_linux {
            delay_s
        } else {
            law.last_delay_s
        };
        let is_calm = delay_s < law.target_s / 2.0 && law.probability < 0.2;
        let is_short = bytes <= 2 * u64::from(self.mtu);
        if law.burst_left > Span::ZERO || is_calm || is_short {
            return false;
        }
        if law.probability == 0.0 {
            self.accumulated = 0.0;
            return false;
        }
        if self.is_derandomized {
            self.accumulated += law.probability * share;
            if self.accumulated < 0.85 {
                return false;
            }
            if self.accumulated >= 8.5 {
                self.accumulated = 0.0;
                return true;
            }
        }
        let signals = rng.chance(law.probability * share);
        if signals {
            self.accumulated = 0.0;
        }
        signals
    }
}

/// Refuses updates too short to be made up for.
fn refuse_short(t_update: Span) -> Result<(), String> {
    if t_update < LEAST_T_UPDATE {
        return Err(format!(
            "`t_update` is {t_update}; it takes at least {LEAST_T_UPDATE}"
        ));
    }
    Ok(())
}

impl Pie {
    fn new(params: &Params, facts: &LinkFacts) -> Result<Pie, String> {
        let t_update = params.time("t_update");
        refuse_short(t_update)?;
        Ok(Pie {
            queue: Fifo::new(facts),
            control: Control {
                law: Law {
                    is_linux: params.text("dialect") == "linux",
                    target_s: params.time("target").as_secs_f64(),
                    alpha: params.float("alpha"),
                    beta: params.float("beta"),
                    t_update,
                    max_burst: params.time("max_burst"),
                    probability: 0.0,
                    last_delay_s: 0.0,
                    burst_left: params.time("max_burst"),
                    next_update: Time::ZERO + t_update,
                },
                mtu: facts.mtu,
                is_derandomized: params.bool("derandomize") || params.text("dialect") == "linux",
                last_departure: None,
                accumulated: 0.0,
                estimator: if params.text("estimator") == "timestamp" {
                    Estimator::Timestamp(Span::ZERO)
                } else {
                    Estimator::DepartureRate {
                        seconds_per_byte: None,
                        measuring: None,
                    }
                },
            },
            is_ecn: params.bool("ecn"),
            mark_below: params.float("mark_below"),
        })
    }
}

impl Discipline for Pie {
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        let bytes = self.queue.bytes();
        let delay_s = self.control.catch_up(now, bytes);
        if !self.control.law.is_linux {
            self.control.law.allow_burst(delay_s);
        }
        if !self.queue.has_room(item.bytes) {
            self.control.overflow();
            dropped(item, Drop::Overflow);
            return;
        }
        let may_mark = self.is_ecn && self.control.probability() < self.mark_below;
        let signals = self.control.signals(delay_s, bytes, 1.0, rng);
        self.queue.admit(now, item, signals, may_mark, dropped);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        _dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        self.control.catch_up(now, self.queue.bytes());
        let item = self.queue.pop()?;
        self.control.depart(now, &item, self.queue.bytes());
        Some(item)
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
    use crate::aqm::tests::{FACTS, item, params};
    use trammel_core::entry::Value;

    fn pie(given: &[(&str, Value)]) -> Pie {
        Pie::new(&params(&ENTRY, given), &FACTS).unwrap()
    }

    /// A queue on a link that sends a packet each millisecond.
    struct Rig {
        pie: Pie,
        rng: Rng,
        ms: u64,
        /// Dropped early, and marked.
        signalled: (u32, u32),
    }

    impl Rig {
        fn new(given: &[(&str, Value)]) -> Rig {
            Rig {
                pie: pie(given),
                rng: Rng::new(8, "pie"),
                ms: 0,
                signalled: (0, 0),
            }
        }

        /// Offers `percent` packets in a hundred milliseconds until `end`.
        fn run(&mut self, percent: u64, end: u64) {
            let Rig {
                pie,
                rng,
                ms,
                signalled,
            } = self;
            while *ms < end {
                let now = Time::from_ms(*ms);
                for _ in *ms * percent / 100..(*ms + 1) * percent / 100 {
                    pie.enqueue(now, item(0), rng, &mut |_, why| {
                        signalled.0 += u32::from(why == Drop::Early);
                    });
                }
                let sent = pie.dequeue(now, rng, &mut |_, _| {});
                signalled.1 += u32::from(sent.is_some_and(|item| item.marked));
                *ms += 1;
            }
        }
    }

    #[test]
    fn the_probability_rises_under_load_and_falls_after_it() {
        let mut rig = Rig::new(&[]);
        let rising = [100, 200, 300, 400].map(|end| {
            rig.run(130, end);
            rig.pie.control.law.probability
        });
        assert!(rising.is_sorted_by(|a, b| a < b), "{rising:?}");
        rig.run(130, 20_000);
        // To serve 100 packets of 130, it must drop 23 % of them in the long run.
        let settled = rig.pie.control.law.probability;
        assert!((0.18..0.28).contains(&settled), "{settled}");
        rig.run(50, 30_000);
        assert_eq!(rig.pie.control.law.probability, 0.0);
        assert_eq!(rig.pie.control.law.burst_left, Span::from_ms(150));
    }

    #[test]
    fn both_estimators_hold_the_target() {
        for estimator in ["timestamp", "departure-rate"] {
            let mut rig = Rig::new(&[("estimator", Value::Text(estimator.into()))]);
            rig.run(140, 20_000);
            let mut sum = 0;
            for n in 1..=1000 {
                rig.run(140, 20_000 + 10 * n);
                sum += rig.pie.queue.packets();
            }
            // A packet is a millisecond, and the target 15 ms.
            assert!((13_000..=17_000).contains(&sum), "{estimator}: {sum} us");
        }
    }

    #[test]
    fn linux_looks_at_the_present_delay_and_hurries_when_it_is_long() {
        let mut law = pie(&[("dialect", Value::Text("linux".into()))]).control.law;
        (law.probability, law.last_delay_s) = (0.3, 0.3);
        law.update(0.3, true);
        // 0.125 · 285 ms is above 2 %, and the delay above 250 ms.
        assert!(
            (law.probability - 0.34).abs() < 1e-12,
            "{}",
            law.probability
        );
        (law.probability, law.last_delay_s) = (0.3, 0.0);
        let burst = law.burst_left;
        law.update(0.0, false);
        let fallen = (0.3 - 0.125 * 0.015) * 63.0 / 64.0;
        assert!((law.probability - fallen).abs() < 1e-12);
        assert_eq!(law.burst_left, burst, "nothing has left");
        let mut rig = Rig::new(&[("dialect", Value::Text("linux".into()))]);
        rig.run(130, 20_000);
        // Spread drops are rarer than p: at 0.4 two arrivals always pass, and then 1 of 2.5 is
        // dropped, 22 % of all.
        let settled = rig.pie.control.law.probability;
        assert!((0.38..0.45).contains(&settled), "{settled}");
    }

    #[test]
    fn a_burst_after_an_idle_time_passes() {
        let mut rig = Rig::new(&[]);
        // 140 ms at twice the rate make a delay of 140 ms, almost ten times the target.
        rig.run(200, 140);
        assert!(rig.signalled == (0, 0) && rig.pie.control.law.probability > 0.0);
        rig.run(200, 3000);
        assert!(rig.signalled.0 > 0);
    }

    #[test]
    fn marks_only_below_a_tenth() {
        let mut rig = Rig::new(&[("ecn", Value::Bool(true))]);
        // Marks do not slow this load down, so the probability goes on rising.
        while rig.pie.control.law.probability < 0.1 {
            assert_eq!(rig.signalled.0, 0);
            rig.run(110, rig.ms + 1);
        }
        let marked = rig.signalled.1;
        assert!(marked > 0);
        rig.run(150, rig.ms + 1000);
        assert!(rig.pie.control.law.probability > 0.1 && rig.signalled.0 > 0);
    }

    #[test]
    fn one_update_follows_the_equation_in_its_scale() {
        let mut law = pie(&[]).control.law;
        for (probability, scale) in [(0.0, 2048.0), (5e-5, 128.0), (0.05, 2.0)] {
            law.probability = probability;
            law.last_delay_s = 0.020;
            law.update(0.030, true);
            let step = (0.125 * 0.015 + 1.25 * 0.010) / scale;
            assert!((law.probability - probability - step).abs() < 1e-15);
        }
        // From a tenth on, no step is above 2 %.
        law.probability = 0.1;
        law.last_delay_s = 0.0;
        law.update(0.5, true);
        assert!((law.probability - 0.12).abs() < 1e-15);
    }

    #[test]
    fn skipped_updates_equal_those_made() {
        for delay_s in [0.0, 0.010, 0.200] {
            let mut at_once = pie(&[]).control.law;
            at_once.probability = 0.3;
            at_once.last_delay_s = 0.040;
            let mut one_by_one = at_once.clone();
            let end = Time::from_secs(600);
            at_once.catch_up(end, delay_s, false);
            while one_by_one.next_update <= end {
                one_by_one.update(delay_s, false);
                one_by_one.next_update += one_by_one.t_update;
            }
            assert_eq!(at_once, one_by_one);
        }
    }

    #[test]
    fn a_long_allowance_of_short_updates_is_skipped_and_not_counted_down() {
        let mut law = pie(&[]).control.law;
        (law.t_update, law.next_update) = (LEAST_T_UPDATE, Time::ZERO + LEAST_T_UPDATE);
        law.burst_left = Span::from_secs(900_000);
        // A hundred thousand million updates: counted down one by one they take minutes.
        law.catch_up(Time::from_secs(1_000_000), 0.0, false);
        assert_eq!(law.burst_left, Span::ZERO);
        let left = |until: Time| {
            let mut law = law.clone();
            (law.burst_left, law.next_update) = (Span::from_secs(10), Time::ZERO + LEAST_T_UPDATE);
            law.catch_up(until, 0.0, false);
            law.burst_left
        };
        assert_eq!(left(Time::from_secs(4)), Span::from_secs(6));
    }

    #[test]
    fn updates_too_short_to_be_made_up_for_are_refused() {
        let two_ps = [("t_update", Value::Text("2 ps".to_owned()))];
        let refused = Pie::new(&params(&ENTRY, &two_ps), &FACTS).unwrap_err();
        assert!(refused.contains("at least 10 us"), "{refused}");
    }

    #[test]
    fn derandomized_drops_do_not_cluster() {
        let mut pie = pie(&[("derandomize", Value::Bool(true))]);
        let mut rng = Rng::new(1, "pie");
        for _ in 0..10 {
            pie.queue.push(Time::ZERO, item(0), &mut |_, _| {});
        }
        pie.control.law.probability = 0.1;
        pie.control.law.last_delay_s = 1.0;
        pie.control.law.burst_left = Span::ZERO;
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for _ in 0..20_000 {
            gap += 1;
            if pie.control.signals(1.0, pie.queue.bytes(), 1.0, &mut rng) {
                gaps.push(gap);
                gap = 0;
            }
        }
        // The sum reaches 0.85 with the ninth packet, and 8.5 with the 85th (86th, as a tenth is
        // rounded).
        assert!(gaps.iter().all(|gap| (9..=86).contains(gap)), "{gaps:?}");
        assert!(gaps.contains(&9) && gaps.len() > 500);
    }
}
