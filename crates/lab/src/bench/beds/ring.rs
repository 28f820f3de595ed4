//! A Click configuration run on this machine, between rings in memory: the core that is measured makes its own load.
//!
//! A trial is offered in windows, one after the other, since every frame of a window is kept in memory. A window begins with
//! the configuration at rest, so what queues hide of an overload they hide in each.

use super::configuration::{Configuration, failure, pattern, without_reset};
use super::passages::Seen;
use crate::forwarding::paced::{Bed, UnderLoad};
use trammel_bench::testbed::{Faults, Label, Observation, Plan, Testbed, Traffic};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::Time;

/// Frames of a ring.
const RING: usize = 1024;
/// Frames of a window, at most.
const WINDOW: f64 = 1e6;
/// What a frame takes besides its passage, s: its place in the plan, and the notes that are read afterwards.
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
        let frames = self.configuration.frames(traffic)?;
        let bed = Bed::new(&self.configuration.bench, &frames, pattern(traffic), RING);
        let mut bed = bed.map_err(|refused| failure(refused.into()))?;
        bed.wait_for_residue();
        Ok(bed)
    }
}

/// The loads of a plan in windows: each as many loads as it has room for, long loads in parts.
fn windows(plan: &Plan) -> Vec<Vec<Load>> {
    let mut all = Vec::new();
    let (mut window, mut frames) = (Vec::new(), 0.0);
    for load in &plan.loads {
        let mut left = load.duration();
        while left > Time::ZERO {
            let room = Time::from_secs_f64((WINDOW - frames) / load.frames_per_second());
            let part = left.min(room.max(Time::from_ps(1)));
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

    fn sources(&self, _: &Traffic) -> u32 {
        self.configuration.sources()
    }

    fn takes(&self, _: &Traffic, plan: &Plan) -> Option<Time> {
        let laying_out = Time::from_secs_f64(plan.frames() * BESIDE_S);
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
        let mut seen = Seen::of(plan, 1);
        let (mut offered, mut forwarded, mut at) = (0, 0, Time::ZERO);
        let mut last_lost = None;
        for loads in windows(plan) {
            let was_timed = bed.is_timed();
            let mut window = bed.offer(&loads)?;
            if bed.is_timed() && !was_timed {
                window = bed.offer(&loads)?;
            }
            offered += window.offered;
            forwarded += window.offered.saturating_sub(window.lost);
            last_lost = window.last_lost.map(|lost| at + lost).or(last_lost);
            seen.later_by(at);
            seen.take(&[window.passages]);
            at += Plan::of(&loads).duration();
        }
        if seen.forwarded() == 0 {
            self.configuration.ends_all(offered - forwarded)?;
        }
        let ways_in = self.configuration.sources();
        let observed = seen.observation(offered, forwarded, at);
        Ok(Observation {
            last_lost,
            // Of several ways in it is not known by which a frame came.
            variation: observed.variation.filter(|_| ways_in == 1),
            faults: Faults::default(),
            ..observed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_all_frames_of_a_plan_and_no_more_than_fit() {
        let load = |fps, s| Load::new(fps, Time::from_secs_f64(s)).unwrap();
        let plan = Plan::of(&[load(3e5, 0.5), load(2e6, 2.0), load(1.0, 1.0)]);
        let all = windows(&plan);
        let frames = |loads: &Vec<Load>| loads.iter().map(|load| load.frames()).sum::<f64>();
        assert!(all.iter().all(|loads| frames(loads) <= WINDOW + 1.0));
        assert!((all.iter().map(frames).sum::<f64>() - plan.frames()).abs() < 1e-3);
        assert_eq!(all.len(), 5);
        let lengths: Time = all
            .iter()
            .map(|l| Plan::of(l).duration())
            .fold(Time::ZERO, Time::saturating_add);
        assert_eq!(lengths, plan.duration());
    }
}
