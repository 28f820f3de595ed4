//! A Click configuration run on this machine, between rings in memory: the core that is measured
//! makes its own load.
//!
//! A trial is offered in windows, one after the other, since every frame of a window is kept in
//! memory. A window begins with the configuration at rest, so what queues hide of an overload they
//! hide in each.

use super::configuration::{Configuration, augmented, failure, pattern, without_reset};
use super::passages::Seen;
use std::sync::Arc;
use trammel_bench::testbed::{Faults, Observation, Plan, Testbed, Traffic};
use trammel_bench::trial::{Failure, Load};
use trammel_core::label::Label;
use trammel_core::time::Span;
use trammel_workbench::paced::{Bed, UnderLoad};

/// Frames of a ring.
const RING: usize = 1024;
/// Frames of a window, at most.
const WINDOW: f64 = 1e6;
/// What a frame takes besides its passage, s: its place in the plan, and the notes that are read
/// afterwards.
const BESIDE_S: f64 = 50e-9;

/// A configuration between rings.
#[derive(Debug)]
pub struct InMemory {
    configuration: Configuration,
    /// The bed of the last traffic.
    loaded: Option<(Traffic, Bed)>,
}

impl InMemory {
    /// The configuration on this machine.
    pub fn new(configuration: Configuration) -> InMemory {
        InMemory {
            configuration,
            loaded: None,
        }
    }

    fn load(&self, traffic: &Traffic) -> Result<Bed, Failure> {
        let offered = self.configuration.offered(traffic)?;
        let bed = Bed::new(&offered.bench, &offered.frames, pattern(traffic), RING);
        let mut bed = bed.map_err(|refused| failure(refused.into()))?;
        bed.wait_for_residue();
        bed.end_when(Arc::clone(&self.configuration.interrupted));
        Ok(bed)
    }
}

/// Loads in windows: each as many loads as it has room for, long loads in parts.
fn windows(loads: &[Load]) -> Vec<Vec<Load>> {
    let mut all = Vec::new();
    let (mut window, mut frames) = (Vec::new(), 0.0);
    for load in loads {
        let mut left = load.duration();
        while left > Span::ZERO {
            let room = Span::from_secs_f64((WINDOW - frames) / load.frames_per_second());
            let part = left.min(room.max(Span::from_ps(1)));
            window.extend(Load::new(load.frames_per_second(), part));
            frames += load.frames_per_second() * part.as_secs_f64();
            left = left.saturating_sub(part);
            if frames >= WINDOW {
                all.push(std::mem::take(&mut window));
                frames = 0.0;
            }
        }
    }
    if !window.is_empty() {
        all.push(window);
    }
    all
}

impl Testbed for InMemory {
    fn label(&self) -> Label {
        Label::Measured
    }

    fn device(&self) -> String {
        format!("{} between rings in memory", self.configuration.name())
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        self.configuration.line_fps(traffic)
    }

    fn sources(&self, traffic: &Traffic) -> u32 {
        self.configuration.sources(traffic)
    }

    fn takes(&self, _: &Traffic, plan: &Plan) -> Option<Span> {
        let laying_out = Span::from_secs_f64(plan.frames() * BESIDE_S);
        Some(plan.duration() + laying_out)
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        without_reset(plan)?;
        let is_known = self
            .loaded
            .as_ref()
            .is_some_and(|(known, _)| known == traffic);
        if !is_known {
            self.loaded = Some((traffic.clone(), self.load(traffic)?));
        }
        let (_, bed) = self.loaded.as_mut().expect("it was just loaded");
        let mut seen = Seen::of(plan, self.configuration.sources(traffic) as usize);
        let (mut offered, mut forwarded, mut at) = (0, 0, Span::ZERO);
        let mut last_lost = None;
        for loads in windows(&augmented(traffic, &plan.loads)) {
            let was_timed = bed.is_timed();
            let mut window = bed.offer(&loads)?;
            if bed.is_timed() && !was_timed {
                window = bed.offer(&loads)?;
            }
            offered += window.offered;
            forwarded += window.offered.saturating_sub(window.lost);
            last_lost = window.last_lost.map(|lost| lost + at).or(last_lost);
            seen.later_by(at);
            seen.take(&window.comings, &[window.passages]);
            at += Plan::of(&loads).duration();
        }
        if seen.forwarded() == 0 && seen.offered() > 0 {
            self.configuration.ends_all(traffic, offered - forwarded)?;
        }
        if traffic.modifier.is_some() {
            // What was lost of the frames beside them is none of the test's.
            offered = seen.offered();
            forwarded = seen.forwarded().min(offered);
        }
        Ok(Observation {
            last_lost,
            faults: Faults::default(),
            ..seen.observation(offered, forwarded, at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::testbed::{Modifier, Protocol};
    use trammel_workbench::bench::Bench;
    use trammel_workbench::samples;

    fn bed(text: &str) -> InMemory {
        InMemory::new(Configuration {
            bench: Bench::new(text, "x.click", &[], &[samples::plain()]).unwrap(),
            rate: 1e9,
            interrupted: Arc::default(),
        })
    }

    /// What comes slowly enough for any machine.
    fn slowly(frames: f64) -> Plan {
        Plan::of(&[Load::new(2e4, Span::from_secs_f64(frames / 2e4)).unwrap()])
    }

    #[test]
    fn delays_vary_between_frames_of_one_way_in() {
        let text = "FromDevice(a) -> q :: Queue -> ToDevice(b); FromDevice(c) -> Counter -> q;";
        let traffic = Traffic::of("64".parse().unwrap());
        let observed = bed(text).offer(&traffic, &slowly(400.0)).unwrap();
        assert_eq!(
            (observed.outcome.offered, observed.outcome.lost()),
            (400, 0)
        );
        let variation = observed.variation.unwrap();
        // 200 frames came by each way, and the first of each has none before it.
        assert_eq!(variation.less.count() + variation.more.count(), 398);
    }

    #[test]
    fn mixes_networks_and_versions_of_ip_come_out_and_broadcasts_are_none_of_the_test() {
        let text = "FromDevice(a) -> Queue -> ToDevice(b);";
        for (protocol, modifier) in [
            (Protocol::Ip4, None),
            (Protocol::Ip6, None),
            (Protocol::Ip4, Some(Modifier::Broadcast)),
        ] {
            let traffic = Traffic {
                networks: 256,
                protocol,
                modifier,
                ..Traffic::of("imix:bbg".parse().unwrap())
            };
            let observed = bed(text).offer(&traffic, &slowly(990.0)).unwrap();
            let outcome = &observed.outcome;
            assert_eq!(
                (outcome.offered, outcome.forwarded),
                (990, 990),
                "{traffic:?}"
            );
            assert_eq!(outcome.latency.as_ref().unwrap().count(), 990);
            let variation = observed.variation.unwrap();
            assert_eq!(variation.less.count() + variation.more.count(), 989);
        }
    }

    #[test]
    fn a_window_ends_when_the_user_interrupts() {
        let mut bed = bed("FromDevice(a) -> Queue -> ToDevice(b);");
        bed.configuration.interrupted = Arc::new(true.into());
        let traffic = Traffic::of("64".parse().unwrap());
        let hour = Plan::of(&[Load::new(10.0, Span::from_secs(3600)).unwrap()]);
        let why = bed.offer(&traffic, &hour).unwrap_err();
        assert_eq!(why.to_string(), "interrupted");
    }

    #[test]
    fn windows_have_all_frames_of_a_plan_and_no_more_than_fit() {
        let load = |fps, s| Load::new(fps, Span::from_secs_f64(s)).unwrap();
        let plan = Plan::of(&[load(3e5, 0.5), load(2e6, 2.0), load(1.0, 1.0)]);
        let all = windows(&plan.loads);
        let frames = |loads: &Vec<Load>| loads.iter().map(|load| load.frames()).sum::<f64>();
        assert!(all.iter().all(|loads| frames(loads) <= WINDOW + 1.0));
        assert!((all.iter().map(frames).sum::<f64>() - plan.frames()).abs() < 1e-3);
        assert_eq!(all.len(), 5);
        let lengths: Span = all.iter().map(|loads| Plan::of(loads).duration()).sum();
        assert_eq!(lengths, plan.duration());
    }
}
