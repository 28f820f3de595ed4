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
//! 64th, not by 2 %, when idle, spends the burst's allowance between departures only, always
//! keeps drops from clustering, and updates a tick after `t_update`, every 16 ms by default.
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
use crate::pie_of_linux::{LinuxPie, MOST_STEP, Settings, period, scale};
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
    law: Dialect,
    is_ecn: bool,
    mark_below: f64,
}

/// Whose law it is.
#[derive(Clone, Debug)]
enum Dialect {
    Rfc(Control),
    Linux {
        law: LinuxPie,
        settings: Settings,
        /// Bytes of the packet that left last, while it waits for the link's tokens: to the kernel
        /// it is in the queue.
        held: u64,
        last: u32,
    },
}

/// The RFC's law with all that it remembers.
#[derive(Clone, Debug)]
struct Control {
    law: Law,
    mtu: u32,
    is_derandomized: bool,
    /// Probabilities summed since the last drop, for `derandomize`.
    accumulated: f64,
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
    /// Makes up for the updates up to `now`; the delay has been `delay_s` since the last call.
    fn catch_up(&mut self, now: Time, delay_s: f64) {
        while self.next_update <= now {
            let before = (self.probability, self.last_delay_s);
            self.update(delay_s);
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

    fn update(&mut self, delay_s: f64) {
        let mut step =
            self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - self.last_delay_s);
        step *= scale(self.probability);
        if self.probability >= 0.1 {
            step = step.min(MOST_STEP);
        }
        let mut probability = self.probability + step;
        if delay_s == 0.0 && self.last_delay_s == 0.0 {
            probability *= 0.98;
        }
        self.probability = probability.clamp(0.0, 1.0);
        self.last_delay_s = delay_s;
        self.spend(self.t_update);
    }

    /// The burst allowance falls with time.
    fn spend(&mut self, time: Span) {
        self.burst_left = self.burst_left.saturating_sub(time);
    }

    /// Renews the burst allowance of a queue without congestion.
    fn allow_burst(&mut self, delay_s: f64) {
        let half = self.target_s / 2.0;
        if self.probability == 0.0 && delay_s < half && self.last_delay_s < half {
            self.burst_left = self.max_burst;
        }
    }
}

/// Shortest time between two updates: every one is made up for, however long the last packet is
/// ago. It is 15 ms in RFC 8033.
const LEAST_T_UPDATE: Span = Span::from_us(10);

impl Control {
    /// Brings the law up to `now`, and gives the present delay in seconds, with `bytes` waiting.
    fn catch_up(&mut self, now: Time, bytes: u64) -> f64 {
        let delay_s = self.estimator.delay(bytes);
        self.law.catch_up(now, delay_s);
        delay_s
    }

    /// Whether an arrival is signalled that finds `bytes` waiting.
    fn signals(&mut self, bytes: u64, rng: &mut Rng) -> bool {
        let law = &self.law;
        let is_calm = law.last_delay_s < law.target_s / 2.0 && law.probability < 0.2;
        let is_short = bytes <= 2 * u64::from(self.mtu);
        if law.burst_left > Span::ZERO || is_calm || is_short {
            return false;
        }
        if law.probability == 0.0 {
            self.accumulated = 0.0;
            return false;
        }
        if self.is_derandomized {
            self.accumulated += law.probability;
            if self.accumulated < 0.85 {
                return false;
            }
            if self.accumulated >= 8.5 {
                self.accumulated = 0.0;
                return true;
            }
        }
        let signals = rng.chance(law.probability);
        if signals {
            self.accumulated = 0.0;
        }
        signals
    }
}

/// Refuses updates too short to be made up for.
pub(super) fn refuse_short(t_update: Span) -> Result<(), String> {
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
        let law = if params.text("dialect") == "linux" {
            let settings = Settings {
                target: params.time("target"),
                weights: (params.float("alpha"), params.float("beta")),
                max_burst: params.time("max_burst"),
                period: period(t_update),
                frame: facts.mtu + facts.overhead,
            };
            Dialect::Linux {
                law: LinuxPie::new(&settings, Time::ZERO + settings.period),
                settings,
                held: 0,
                last: 0,
            }
        } else {
            Dialect::Rfc(Control {
                law: Law {
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
                is_derandomized: params.bool("derandomize"),
                accumulated: 0.0,
                estimator: if params.text("estimator") == "timestamp" {
                    Estimator::Timestamp(Span::ZERO)
                } else {
                    Estimator::DepartureRate {
                        seconds_per_byte: None,
                        measuring: None,
                    }
                },
            })
        };
        Ok(Pie {
            queue: Fifo::new(facts),
            law,
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
        let has_room = self.queue.has_room(item.bytes);
        let (signals, may_mark) = match &mut self.law {
            Dialect::Rfc(control) => {
                let delay_s = control.catch_up(now, bytes);
                control.law.allow_burst(delay_s);
                if !has_room {
                    control.accumulated = 0.0;
                }
                let may_mark = control.law.probability < self.mark_below;
                (has_room && control.signals(bytes, rng), may_mark)
            }
            Dialect::Linux {
                law,
                settings,
                held,
                ..
            } => {
                let bytes = bytes + *held;
                law.catch_up(now, bytes, settings);
                let signals = has_room && law.signals(bytes, 1.0, settings, rng);
                let may_mark = law.probability() <= self.mark_below;
                if !has_room || signals && !(self.is_ecn && may_mark && item.is_ecn_capable()) {
                    law.dropped();
                }
                (signals, may_mark)
            }
        };
        let may_mark = self.is_ecn && may_mark;
        self.queue.admit(now, item, signals, may_mark, dropped);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        _dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        let waiting = self.queue.bytes();
        let item = self.queue.pop();
        let left = self.queue.bytes();
        match &mut self.law {
            Dialect::Rfc(control) => {
                control.catch_up(now, waiting);
                if let Some(item) = &item {
                    control.estimator.depart(now, item, left);
                }
            }
            Dialect::Linux {
                law,
                settings,
                held,
                last,
            } => {
                law.catch_up(now, waiting + *held, settings);
                *held = 0;
                if let Some(item) = &item {
                    law.depart(now, item.enqueued, left);
                    *last = item.bytes;
                }
            }
        }
        item
    }

    fn line_is_idle(&mut self, since: Option<Time>) {
        if let Dialect::Linux { held, last, .. } = &mut self.law {
            *held = if since.is_none() { u64::from(*last) } else { 0 };
        }
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

    fn rfc(pie: &Pie) -> &Control {
        match &pie.law {
            Dialect::Rfc(control) => control,
            Dialect::Linux { .. } => panic!("the RFC's"),
        }
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
            rfc(&rig.pie).law.probability
        });
        assert!(rising.is_sorted_by(|a, b| a < b), "{rising:?}");
        rig.run(130, 20_000);
        // To serve 100 packets of 130, it must drop 23 % of them in the long run.
        let settled = rfc(&rig.pie).law.probability;
        assert!((0.18..0.28).contains(&settled), "{settled}");
        rig.run(50, 30_000);
        assert_eq!(rfc(&rig.pie).law.probability, 0.0);
        assert_eq!(rfc(&rig.pie).law.burst_left, Span::from_ms(150));
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
    fn linux_spreads_drops_which_are_then_rarer_than_its_probability() {
        let mut rig = Rig::new(&[("dialect", Value::Text("linux".into()))]);
        rig.run(130, 20_000);
        let Dialect::Linux { law, .. } = &rig.pie.law else {
            panic!("Linux")
        };
        // At 0.4 two arrivals always pass, and then 1 of 2.5 is dropped, 22 % of all.
        let settled = law.probability();
        assert!((0.38..0.45).contains(&settled), "{settled}");
    }

    #[test]
    fn what_waits_for_tokens_is_in_the_queue_of_linux() {
        let mut pie = pie(&[("dialect", Value::Text("linux".into()))]);
        let mut rng = Rng::new(1, "pie");
        for at in [0, 1] {
            pie.enqueue(Time::from_ms(at), item(0), &mut rng, &mut |_, _| {});
        }
        pie.dequeue(Time::from_ms(1), &mut rng, &mut |_, _| {});
        let held = |pie: &Pie| match &pie.law {
            Dialect::Linux { held, .. } => *held,
            Dialect::Rfc(_) => panic!("Linux"),
        };
        pie.line_is_idle(None);
        assert_eq!(held(&pie), 1500);
        pie.dequeue(Time::from_ms(2), &mut rng, &mut |_, _| {});
        assert_eq!(held(&pie), 0);
    }

    #[test]
    fn a_burst_after_an_idle_time_passes() {
        let mut rig = Rig::new(&[]);
        // 140 ms at twice the rate make a delay of 140 ms, almost ten times the target.
        rig.run(200, 140);
        assert!(rig.signalled == (0, 0) && rfc(&rig.pie).law.probability > 0.0);
        rig.run(200, 3000);
        assert!(rig.signalled.0 > 0);
    }

    #[test]
    fn marks_only_below_a_tenth() {
        let mut rig = Rig::new(&[("ecn", Value::Bool(true))]);
        // Marks do not slow this load down, so the probability goes on rising.
        while rfc(&rig.pie).law.probability < 0.1 {
            assert_eq!(rig.signalled.0, 0);
            rig.run(110, rig.ms + 1);
        }
        let marked = rig.signalled.1;
        assert!(marked > 0);
        rig.run(150, rig.ms + 1000);
        assert!(rfc(&rig.pie).law.probability > 0.1 && rig.signalled.0 > 0);
    }

    #[test]
    fn one_update_follows_the_equation_in_its_scale() {
        let mut law = rfc(&pie(&[])).law.clone();
        for (probability, scale) in [(0.0, 2048.0), (5e-5, 128.0), (0.05, 2.0)] {
            law.probability = probability;
            law.last_delay_s = 0.020;
            law.update(0.030);
            let step = (0.125 * 0.015 + 1.25 * 0.010) / scale;
            assert!((law.probability - probability - step).abs() < 1e-15);
        }
        // From a tenth on, no step is above 2 %.
        law.probability = 0.1;
        law.last_delay_s = 0.0;
        law.update(0.5);
        assert!((law.probability - 0.12).abs() < 1e-15);
    }

    #[test]
    fn skipped_updates_equal_those_made() {
        for delay_s in [0.0, 0.010, 0.200] {
            let mut at_once = rfc(&pie(&[])).law.clone();
            at_once.probability = 0.3;
            at_once.last_delay_s = 0.040;
            let mut one_by_one = at_once.clone();
            let end = Time::from_secs(600);
            at_once.catch_up(end, delay_s);
            while one_by_one.next_update <= end {
                one_by_one.update(delay_s);
                one_by_one.next_update += one_by_one.t_update;
            }
            assert_eq!(at_once, one_by_one);
        }
    }

    #[test]
    fn a_long_allowance_of_short_updates_is_skipped_and_not_counted_down() {
        let mut law = rfc(&pie(&[])).law.clone();
        (law.t_update, law.next_update) = (LEAST_T_UPDATE, Time::ZERO + LEAST_T_UPDATE);
        law.burst_left = Span::from_secs(900_000);
        // A hundred thousand million updates: counted down one by one they take minutes.
        law.catch_up(Time::from_secs(1_000_000), 0.0);
        assert_eq!(law.burst_left, Span::ZERO);
        let left = |until: Time| {
            let mut law = law.clone();
            (law.burst_left, law.next_update) = (Span::from_secs(10), Time::ZERO + LEAST_T_UPDATE);
            law.catch_up(until, 0.0);
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
        let Dialect::Rfc(control) = &mut pie.law else {
            panic!("the RFC's")
        };
        control.law.probability = 0.1;
        control.law.last_delay_s = 1.0;
        control.law.burst_left = Span::ZERO;
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for _ in 0..20_000 {
            gap += 1;
            if control.signals(pie.queue.bytes(), &mut rng) {
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
