//! A testbed that offers nothing and counts the time that it would take: how long a run will last,
//! before it starts.
//!
//! It answers as a device would that forwards a share of the line's rate and loses the rest, so
//! that searches take about as many trials as on a device.

use crate::ports::{Learned, Learning, PortFlow};
use crate::testbed::{LatencyOf, Observation, Outage, Plan, Testbed, Traffic, Unable, Variation};
use crate::transfer::{self, File, Protocol as Carrier, Transferred};
use crate::trial::{Failure, Load, TrialOutcome};
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

/// The share of the line's rate that the supposed device forwards: no rate that searches try at
/// once.
const CAPACITY: f64 = 0.637;
/// Frames that it keeps of a burst.
const BUFFER: f64 = 1000.0;
/// Addresses that it keeps.
const ADDRESSES: u64 = 4096;
/// Addresses that it learns a second.
const LEARNS_FPS: f64 = 10_000.0;
/// What a frame takes in it.
const LATENCY: Span = Span::from_us(10);
/// For how long a reset keeps it from forwarding.
const RESET: Span = Span::from_secs(10);

/// Counts what a testbed would do.
#[derive(Debug)]
pub struct Rehearsal<'a> {
    /// Its line rates and resets are this one's.
    of: &'a dyn Testbed,
    /// Trials so far.
    trials: u64,
    /// What they would have taken.
    time: Span,
}

impl<'a> Rehearsal<'a> {
    /// Of `bed`.
    pub fn new(bed: &'a dyn Testbed) -> Rehearsal<'a> {
        Rehearsal {
            of: bed,
            trials: 0,
            time: Span::ZERO,
        }
    }

    /// Trials that were asked for, and what they would have taken.
    pub fn total(&self) -> (u64, Span) {
        (self.trials, self.time)
    }

    /// Counts a trial that takes `time` besides its pauses.
    fn count(&mut self, time: Span) {
        self.trials += 1;
        self.time += time + self.of.pauses();
    }

    /// Counts a trial of flows for which the testbed has a pace of its own; whether it has.
    fn count_virtual<'p>(&mut self, flows: impl Iterator<Item = (&'p Traffic, Plan)>) -> bool {
        let each = flows.map(|(traffic, plan)| self.of.takes(traffic, &plan));
        let Some(times) = each.collect::<Option<Vec<Span>>>() else {
            return false;
        };
        self.trials += 1;
        self.time += times.into_iter().sum();
        true
    }

    /// What would be observed of `traffic`.
    fn supposed(&self, traffic: &Traffic, plan: &Plan) -> Observation {
        let line = self.line_fps(traffic);
        let capacity = CAPACITY
            * self
                .ceiling_fps(traffic)
                .map_or(line, |most| most.min(line));
        let passes = |load: &Load| {
            let kept = capacity * load.duration().as_secs_f64() + BUFFER;
            load.frames().min(kept).round() as u64
        };
        let offered: u64 = plan.loads.iter().map(|l| l.frames().round() as u64).sum();
        let mut latency = Histogram::of_times();
        latency.record_time(LATENCY);
        let outcome = TrialOutcome {
            offered,
            forwarded: plan.loads.iter().map(passes).sum::<u64>().min(offered),
            effective: plan.duration(),
            bunched: 0,
            latency: Some(latency.clone()),
        };
        let outage = plan.reset.as_ref().map(|reset| Outage {
            from: reset.at,
            to: reset.at + RESET,
            lost: (RESET.as_secs_f64() * capacity) as u64,
        });
        let first = plan.loads.first();
        let first = first.map(|load| Time::ZERO + load.duration());
        Observation {
            last_lost: first.filter(|_| outcome.lost() > 0),
            outage,
            variation: Some(Variation {
                less: latency.clone(),
                more: latency,
            }),
            tagged: vec![LATENCY; plan.tags.map_or(0, |tags| tags.frames as usize)],
            came_after: Some(0),
            ..Observation::of(outcome)
        }
    }
}

impl Testbed for Rehearsal<'_> {
    fn label(&self) -> Label {
        self.of.label()
    }

    fn device(&self) -> String {
        self.of.device()
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        self.of.line_fps(traffic)
    }

    fn ceiling_fps(&self, traffic: &Traffic) -> Option<f64> {
        self.of.ceiling_fps(traffic)
    }

    fn pauses(&self) -> Span {
        self.of.pauses()
    }

    fn sources(&self, traffic: &Traffic) -> u32 {
        self.of.sources(traffic)
    }

    fn latency_of(&self) -> LatencyOf {
        self.of.latency_of()
    }

    fn resets(&self) -> Vec<String> {
        self.of.resets()
    }

    fn repeats_itself(&self) -> bool {
        self.of.repeats_itself()
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        if !self.count_virtual([(traffic, plan.clone())].into_iter()) {
            self.count(plan.duration());
        }
        Ok(self.supposed(traffic, plan))
    }

    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        let plans = flows
            .iter()
            .map(|flow| (&flow.traffic, Plan::of(&[flow.load])));
        if !self.count_virtual(plans) {
            let longest = flows.iter().map(|flow| flow.load.duration()).max();
            self.count(longest.unwrap_or_default());
        }
        let of = |flow: &PortFlow| self.supposed(&flow.traffic, &Plan::of(&[flow.load]));
        Ok(flows.iter().map(of).collect())
    }

    fn learn(&mut self, traffic: &Traffic, learning: &Learning) -> Result<Learned, Failure> {
        let asked = Load::new(learning.test_fps, learning.duration());
        let plan = asked.map(|load| (traffic, Plan::of(&[load])));
        if !self.count_virtual(plan.into_iter()) {
            self.count(learning.age.saturating_add(learning.duration()));
        }
        let is_known = learning.addresses <= ADDRESSES && learning.learning_fps <= LEARNS_FPS;
        Ok(Learned {
            offered: learning.addresses,
            forwarded: learning.addresses,
            flooded_monitor: u64::from(!is_known),
            ..Learned::default()
        })
    }

    fn carries_files(&self, carrier: &Carrier) -> Result<(), Unable> {
        self.of.carries_files(carrier)
    }

    /// At the line's rate: what holds a transfer up is what is to be found.
    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        let frames = transfer::frames();
        let count = file.bytes as f64 / frames.sizes.mean();
        let time = Span::from_secs_f64(count / self.line_fps(&frames));
        self.trials += 1;
        self.time += time;
        Ok(Transferred {
            time,
            retransmissions: 0,
            hosts: String::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{ETHERNET, Sizes};
    use crate::procedures::{Bench, Search, find};
    use trammel_core::entry::Params;

    /// A line that nothing is offered to, with a reset of each kind that matters and pauses of so
    /// many seconds.
    #[derive(Debug)]
    struct Line(u64);

    impl Testbed for Line {
        fn label(&self) -> Label {
            Label::Simulated
        }
        fn device(&self) -> String {
            "a line".to_owned()
        }
        fn line_fps(&self, traffic: &Traffic) -> f64 {
            traffic.sizes.line_fps(1e9)
        }
        fn pauses(&self) -> Span {
            Span::from_secs(self.0)
        }
        fn resets(&self) -> Vec<String> {
            vec!["power".to_owned(), "software-os".to_owned()]
        }
        fn offer(&mut self, _: &Traffic, _: &Plan) -> Result<Observation, Failure> {
            unreachable!("a rehearsal offers nothing")
        }
        fn carries_files(&self, _: &Carrier) -> Result<(), Unable> {
            Ok(())
        }
    }

    /// What a test takes at the seven sizes with its defaults, s, and trials: beyond the search for
    /// the throughput.
    fn length(test: &str) -> (f64, u64) {
        let traffics: Vec<_> = ETHERNET
            .map(|bytes| Traffic::of(Sizes::of(bytes).unwrap()))
            .to_vec();
        let search = Search {
            final_duration: Span::from_secs(60),
            ..Search::binary(Span::from_secs(10))
        };
        let total = |tests: &[&str]| {
            // RFC 2544 §23: 2 s after the routing update, 2 s after learning, 2 s for residual
            // frames, 5 s before the next but for 2 s that the note counts once.
            let line = Line(9);
            let mut rehearsal = Rehearsal::new(&line);
            let mut bench = Bench::new(&mut rehearsal, traffics.clone(), search);
            for test in tests {
                let entry = find(test).unwrap();
                bench.run(entry, &Params::defaults(&entry.about)).unwrap();
            }
            rehearsal.total()
        };
        let ((before, searched), (all, both)) =
            (total(&["throughput"]), total(&["throughput", test]));
        ((both - searched).as_secs_f64(), all - before)
    }

    #[test]
    fn a_full_run_is_as_long_as_the_texts_make_it() {
        // Sizes times repetitions times the stream and the waits of §23.
        let cases = [
            ("latency", 7.0 * 20.0 * (120.0 + 9.0)),
            // It forwards 64 % of the line: 100 to 70 % lose, 60 and 50 % do not.
            ("frame-loss", 7.0 * 6.0 * (60.0 + 9.0)),
            ("system-recovery", 7.0 * 10.0 * (60.0 + 30.0 + 9.0)),
            // The smallest frames, two resets.
            ("reset", 2.0 * 5.0 * (15.0 + 180.0 + 9.0)),
            ("restart", 2.0 * 1000.0 * (1.0 + 10.0 + 9.0)),
            ("constant-load", 7.0 * 4.0 * (120.0 + 9.0)),
            ("overload", 7.0 * 6.0 * (60.0 + 9.0)),
            ("single-frame", 7.0 * (1000.0 * 9.0 + 10.0 + 9.0)),
            // From 64 % to the line in steps of 2 %.
            ("forwarding", 7.0 * 20.0 * (30.0 + 9.0)),
            ("congestion-control", 7.0 * (30.0 + 9.0)),
            ("latency-rfc8219", 7.0 * 20.0 * (120.0 + 9.0)),
            ("pdv", 7.0 * 20.0 * (60.0 + 9.0)),
            ("ipdv", 7.0 * 20.0 * (60.0 + 9.0)),
            // Four steps and the overshoot.
            ("service-configuration", 7.0 * 5.0 * (10.0 + 9.0)),
            ("service-performance", 900.0 + 9.0),
            // Ten of 1.8 GB in frames of 1518 bytes, with and without the device, at 81,274
            // frames/s; no pauses.
            (
                "ftp-transfer",
                2.0 * 10.0 * 1.8e9 / 1518.0 / (1e9 / (1538.0 * 8.0)),
            ),
        ];
        for (test, seconds) in cases {
            let (found, _) = length(test);
            assert!(
                (found - seconds).abs() < 0.5,
                "{test}: {found} s, {seconds} s by the text"
            );
        }
        // The note: latency takes 5 h.
        assert_eq!((length("latency").0 / 3600.0).round(), 5.0);
    }

    #[test]
    fn searches_are_rehearsed_with_about_as_many_trials_as_they_make() {
        // A burst of up to two seconds, found to the frame: 22 halvings at 64 bytes and 17 at 1518,
        // about half of which lose and are verified twice.
        let (seconds, trials) = length("back-to-back");
        assert!((7 * 50 * 17..7 * 50 * 22 * 3).contains(&trials), "{trials}");
        assert!(seconds > trials as f64 * 9.0);
        // 16,384 addresses: the most, the least and 14 halvings, each after the age of what was
        // learned before.
        let (seconds, trials) = length("address-caching");
        assert_eq!(trials, 16);
        assert!(seconds > 16.0 * (300.0 + 9.0), "{seconds}");
        let (_, trials) = length("address-learning");
        assert!((7..11).contains(&trials), "{trials}");
    }

    #[test]
    fn a_search_is_as_long_as_its_trials_and_pauses() {
        let line = Line(7);
        let mut rehearsal = Rehearsal::new(&line);
        let traffic = Traffic::of(Sizes::of(64).unwrap());
        let search = Search {
            width: 0.5,
            final_duration: Span::from_secs(60),
            ..Search::binary(Span::from_secs(1))
        };
        let entry = find("throughput").unwrap();
        let mut bench = Bench::new(&mut rehearsal, vec![traffic], search);
        let table = bench.run(entry, &Params::defaults(&entry.about)).unwrap();
        // The line, the least, one halving; then the long trial of the lower end.
        let found = table.floats("throughput_fps").unwrap();
        assert_eq!(found.len(), 1);
        assert!((found[0] * 672.0 / 1e9 - 0.5005).abs() < 1e-8);
        assert_eq!(rehearsal.total(), (4, Span::from_secs(3 + 60 + 4 * 7)));
    }
}
