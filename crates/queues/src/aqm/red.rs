//! RED: random early detection on an exponentially weighted average of the queue length.
//!
//! # What it does
//! Each arrival updates the average, avg ← (1 − w) avg + w q, where q is the number of packets
//! waiting. While nothing waits the average decays as in Linux (`idle = "linux"`), which is up to
//! 33 times as fast as in the paper, or by one sample of zero for each packet that the link could
//! have sent meanwhile (`idle = "packets"`). The probability of a signal grows with the average:
//!
//! ```text
//!  1 ┤                          ╭────────   gentle: from max_probability at the upper threshold
//!    │                     ╭────╯           to 1 at twice the upper threshold;
//!  P ┤            ╭────────╯                else 1 from the upper threshold on
//!  0 ┼────────────╯
//!                min      max       2·max    avg
//! ```
//!
//! Signals are spread evenly, not geometrically: the distance to the next one is uniform in 1 …
//! 1/p, drawn once a signal (the paper's efficient form of p / (1 − count · p)). A signal is a mark
//! on an ECN-capable packet where `ecn` is on, else a drop.
//!
//! DCTCP's step marking is `weight = 1`, `min_threshold = max_threshold = K`, `gentle = false`,
//! `ecn = true`; the discipline `threshold` says it shorter.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "20 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "red", min_threshold = 10, max_threshold = 30, limit = "200 packets" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # Parameters
//! `min_threshold`, `max_threshold` in packets, `weight`, `max_probability`, `gentle`, `ecn`,
//! `hard_drop`, `mean_packet`, `idle`. The defaults are Floyd's later advice: max = 3 · min,
//! P = 0.1, gentle.
//!
//! # References
//! Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! Transactions on Networking 1(4), 1993; Floyd, "Recommendation on using the gentle variant of
//! RED", 2000; RFC 3168 §7.

use super::{Discipline, Drop, Entry, Item, LinkFacts, ecn};
use crate::fifo::Fifo;
use crate::idle::IdleTable;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Rate, TxTime};

/// RED in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "red",
        aliases: &[],
        summary: "random early detection: signals with the average queue length",
        references: &[
            "Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993",
            "Floyd, Recommendation on using the gentle variant of RED, 2000",
        ],
        params: &[
            Param {
                name: "min_threshold",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "5",
                unit: "packets",
                help: "average below which nothing is signalled",
            },
            Param {
                name: "max_threshold",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "15",
                unit: "packets",
                help: "average at which the probability reaches `max_probability`",
            },
            Param {
                name: "weight",
                kind: Kind::Float(0.0, 1.0),
                default: "0.002",
                unit: "",
                help: "weight of a new sample in the average; 1 is the present length",
            },
            Param {
                name: "max_probability",
                kind: Kind::Float(0.0, 1.0),
                default: "0.1",
                unit: "",
                help: "probability of a signal at `max_threshold`",
            },
            Param {
                name: "gentle",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "go from `max_probability` to 1 over another `max_threshold`, not at once",
            },
            ecn("false"),
            Param {
                name: "hard_drop",
                kind: Kind::Bool,
                default: "false",
                unit: "",
                help: "where the probability is 1, drop ECN-capable packets too",
            },
            Param {
                name: "mean_packet",
                kind: Kind::Bytes,
                default: "0 B",
                unit: "B",
                help: "packet that an idle link is thought to send meanwhile; 0 is the largest",
            },
            Param {
                name: "idle",
                kind: Kind::Choice(&["linux", "packets"]),
                default: "linux",
                unit: "",
                help: "decay of the average while nothing waits: by the kernel's table, or a \
                       sample of zero for each packet that could have gone, as in ns-2",
            },
        ],
    },
    marks: true,
    limit_pkts: None,
    build: |params, facts| Ok(Box::new(Red::new(params, facts)?)),
};

#[derive(Debug)]
struct Red {
    queue: Fifo,
    law: Law,
    weight: f64,
    is_ecn: bool,
    is_hard_drop: bool,
    mean_packet: u64,
    /// Whether an idle time counts as in Linux, and by which table.
    is_linux: bool,
    table: Option<IdleTable>,
    /// What an idle link needs for a packet; nothing where the link has no rate.
    packet_time: Option<Span>,
    /// The weighted average of the queue length, packets.
    average: f64,
    /// When the queue became empty, while it is.
    idle_since: Option<Time>,
}

/// Which packets are signalled at a given average, which a caller with a queue of its own may use
/// too.
#[derive(Clone, Debug)]
pub struct Law {
    min: f64,
    max: f64,
    max_probability: f64,
    is_gentle: bool,
    /// Packets since the last signal or since the average rose above the lower threshold; nothing
    /// below it.
    since_signal: Option<u64>,
    /// The uniform number that sets the distance to the next signal.
    spread: f64,
}

/// How strongly the average asks for a signal.
enum Pressure {
    None,
    /// With this probability.
    Some(f64),
    Full,
}

impl Red {
    fn new(params: &Params, facts: &LinkFacts) -> Result<Red, String> {
        let (min, max) = (params.float("min_threshold"), params.float("max_threshold"));
        if max < min {
            return Err(format!(
                "`max_threshold` {max} is below `min_threshold` {min}"
            ));
        }
        let mut red = Red {
            queue: Fifo::new(facts),
            law: Law::new(
                min,
                max,
                params.float("max_probability"),
                params.bool("gentle"),
            ),
            weight: params.float("weight"),
            is_ecn: params.bool("ecn"),
            is_hard_drop: params.bool("hard_drop"),
            mean_packet: match params.bytes("mean_packet") {
                0 => u64::from(facts.mtu),
                bytes => bytes,
            },
            is_linux: params.text("idle") == "linux",
            table: None,
            packet_time: None,
            average: 0.0,
            idle_since: Some(Time::ZERO),
        };
        red.set_rate(facts.rate_bps);
        Ok(red)
    }

    fn update_average(&mut self, now: Time) {
        if let (Some(since), Some(table)) = (self.idle_since, &self.table) {
            self.idle_since = None;
            // An arrival that ends an idle time is no sample.
            self.average = table.decay(self.average, now.saturating_since(since).as_us());
            return;
        }
        if let (Some(since), Some(packet_time)) = (self.idle_since, self.packet_time) {
            let missed = now.saturating_since(since).as_ps() / packet_time.as_ps().max(1);
            self.average *= power(1.0 - self.weight, missed);
        }
        // Differs from the paper: the arrival that ends an idle time is itself a sample (of zero),
        // as in ns-2. Otherwise a weight of 1 would remember the last busy period.
        self.average += self.weight * (f64::from(self.queue.packets()) - self.average);
        self.idle_since = None;
    }
}

impl Law {
    /// Signals between the thresholds `min` and `max` with a probability up to `max_probability`,
    /// beyond `max` always, or increasingly where it is gentle.
    pub fn new(min: f64, max: f64, max_probability: f64, is_gentle: bool) -> Law {
        Law {
            min,
            max,
            max_probability,
            is_gentle,
            since_signal: None,
            spread: 0.0,
        }
    }

    /// Changes thresholds and probability; the distance to the next signal remains.
    pub fn set(&mut self, min: f64, max: f64, max_probability: f64, is_gentle: bool) {
        (self.min, self.max) = (min, max);
        (self.max_probability, self.is_gentle) = (max_probability, is_gentle);
    }

    fn pressure(&self, average: f64) -> Pressure {
        if average < self.min {
            return Pressure::None;
        }
        if average < self.max {
            let above = (average - self.min) / (self.max - self.min);
            return Pressure::Some(self.max_probability * above);
        }
        if self.is_gentle && average < 2.0 * self.max {
            let above = (average - self.max) / self.max;
            let rest = 1.0 - self.max_probability;
            return Pressure::Some(self.max_probability + rest * above);
        }
        Pressure::Full
    }

    /// Whether a packet that comes at this average is signalled, and whether the probability was 1.
    pub fn signals(&mut self, average: f64, rng: &mut Rng) -> (bool, bool) {
        match self.pressure(average) {
            Pressure::None => {
                self.since_signal = None;
                (false, false)
            }
            Pressure::Full => {
                self.restart(rng);
                (true, true)
            }
            Pressure::Some(probability) => {
                let Some(since_signal) = &mut self.since_signal else {
                    self.restart(rng);
                    return (false, false);
                };
                *since_signal += 1;
                let signals = *since_signal as f64 * probability >= self.spread;
                if signals {
                    self.restart(rng);
                }
                (signals, false)
            }
        }
    }

    /// Begins a new distance.
    fn restart(&mut self, rng: &mut Rng) {
        self.since_signal = Some(0);
        // In (0, 1]: with zero, a probability of zero would signal.
        self.spread = 1.0 - rng.unit();
    }
}

/// `base` to the power `exponent`, by squaring: the same bits on every platform.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

impl Discipline for Red {
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        self.update_average(now);
        let (signals, is_full) = self.law.signals(self.average, rng);
        let is_markable = self.is_ecn && !(is_full && self.is_hard_drop);
        self.queue.admit(now, item, signals, is_markable, dropped);
        if self.queue.packets() == 0 {
            self.idle_since = Some(now);
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        _dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        let item = self.queue.pop()?;
        if self.queue.packets() == 0 {
            self.idle_since = Some(now);
        }
        Some(item)
    }

    fn packets(&self) -> u32 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn set_rate(&mut self, rate_bps: u64) {
        self.packet_time =
            (rate_bps > 0).then(|| TxTime::new(Rate::from_bps(rate_bps)).of(self.mean_packet));
        self.table = self
            .packet_time
            .filter(|_| self.is_linux)
            .map(|time| IdleTable::new(self.weight, time.as_ps() as f64 / 1e6));
    }

    fn line_is_idle(&mut self, since: Option<Time>) {
        self.idle_since = since;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::{FACTS, item, params};
    use trammel_core::entry::Value;

    fn red(given: &[(&str, Value)]) -> Red {
        Red::new(&params(&ENTRY, given), &FACTS).unwrap()
    }

    fn fill(red: &mut Red, packets: u32) {
        while red.queue.packets() < packets {
            red.queue
                .push(Time::ZERO, item(0), &mut |_, _| panic!("the limit is high"));
        }
    }

    #[test]
    fn the_average_follows_the_queue_with_its_weight() {
        let mut red = red(&[("weight", Value::Float(0.25))]);
        fill(&mut red, 8);
        red.idle_since = None;
        let averages: Vec<f64> = (0..3)
            .map(|_| {
                red.update_average(Time::ZERO);
                red.average
            })
            .collect();
        assert_eq!(averages, [2.0, 3.5, 4.625]);
    }

    #[test]
    fn the_average_decays_while_the_link_idles() {
        let mut red = red(&[
            ("weight", Value::Float(0.5)),
            ("idle", Value::Text("packets".to_owned())),
        ]);
        red.average = 64.0;
        red.idle_since = Some(Time::ZERO);
        let packet_time = TxTime::new(Rate::from_bps(FACTS.rate_bps)).of(u64::from(FACTS.mtu));
        // Four packets could have gone, and the arrival is a fifth sample of an empty queue.
        red.update_average(Time::ZERO + packet_time * 4);
        assert_eq!(red.average, 2.0);
    }

    #[test]
    fn linux_takes_no_sample_where_an_idle_time_ends() {
        let mut red = red(&[("weight", Value::Float(0.5))]);
        (red.average, red.idle_since) = (64.0, Some(Time::ZERO));
        red.update_average(Time::ZERO);
        assert_eq!(red.average, 64.0);
        // A packet that waits for the link's tokens: the queue is empty and not idle.
        red.line_is_idle(None);
        red.update_average(Time::from_ms(1));
        assert_eq!(red.average, 32.0);
        // Where it has left, the idle time begins.
        red.line_is_idle(Some(Time::from_ms(1)));
        red.update_average(Time::from_secs(1000));
        assert!(red.average < 1e-6, "{}", red.average);
    }

    #[test]
    fn without_a_rate_an_idle_time_does_not_count() {
        let mut red = red(&[("weight", Value::Float(0.5))]);
        red.set_rate(0);
        red.average = 64.0;
        red.update_average(Time::from_secs(1000));
        assert_eq!(red.average, 32.0);
    }

    #[test]
    fn the_probability_rises_gently_to_one() {
        let mut red = red(&[]);
        let mut at = |average| {
            red.average = average;
            match red.law.pressure(red.average) {
                Pressure::None => 0.0,
                Pressure::Some(probability) => probability,
                Pressure::Full => 1.0,
            }
        };
        let seen = [4.9, 5.0, 10.0, 15.0, 22.5, 29.999, 30.0].map(&mut at);
        let expected = [0.0, 0.0, 0.05, 0.1, 0.55, 0.99994, 1.0];
        for (seen, expected) in seen.iter().zip(expected) {
            assert!((seen - expected).abs() < 1e-9, "{seen} {expected}");
        }
    }

    #[test]
    fn distances_between_signals_are_uniform() {
        let mut red = red(&[]);
        // A probability of 0.05, so distances are uniform in 1 … 20.
        red.average = 10.0;
        let mut rng = Rng::new(4, "red");
        let (mut distances, mut distance) = (Vec::new(), 0);
        for _ in 0..200_000 {
            distance += 1;
            if red.law.signals(red.average, &mut rng).0 {
                distances.push(distance);
                distance = 0;
            }
        }
        // The very first packet only begins a distance.
        distances.remove(0);
        let n = distances.len() as f64;
        assert!(distances.iter().all(|d| (1..=20).contains(d)));
        let mean = f64::from(distances.iter().sum::<i32>()) / n;
        assert!((mean - 10.5).abs() < 0.2, "{mean}");
        let ones = distances.iter().filter(|d| **d == 1).count() as f64 / n;
        assert!((ones - 0.05).abs() < 0.007, "{ones}");
    }

    #[test]
    fn marks_at_a_step_as_dctcp_wants_it() {
        let k = 10;
        let mut red = red(&[
            ("weight", Value::Float(1.0)),
            ("min_threshold", Value::Int(k)),
            ("max_threshold", Value::Int(k)),
            ("gentle", Value::Bool(false)),
            ("ecn", Value::Bool(true)),
        ]);
        let mut rng = Rng::new(1, "red");
        for id in 0..15 {
            red.enqueue(Time::ZERO, item(id), &mut rng, &mut |_, _| panic!("marks"));
        }
        let marked: Vec<_> = std::iter::from_fn(|| red.queue.pop())
            .filter(|item| item.marked)
            .map(|item| item.id)
            .collect();
        assert_eq!(marked, [10, 11, 12, 13, 14]);
    }

    #[test]
    fn hard_drop_drops_where_the_probability_is_one() {
        for hard_drop in [false, true] {
            let mut red = red(&[
                ("ecn", Value::Bool(true)),
                ("hard_drop", Value::Bool(hard_drop)),
                ("weight", Value::Float(0.0)),
            ]);
            red.average = 1000.0;
            let mut lost = 0;
            red.enqueue(Time::ZERO, item(0), &mut Rng::new(1, ""), &mut |_, why| {
                assert_eq!(why, Drop::Early);
                lost += 1;
            });
            assert_eq!(lost, u32::from(hard_drop));
        }
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let params = params(&ENTRY, &[("max_threshold", Value::Int(4))]);
        assert!(Red::new(&params, &FACTS).unwrap_err().contains("below"));
    }
}
