//! A router on a PC that is not here, by the profile of its port, driver and graph
//! (`crates/cost/devices`).
//!
//! ```text
//! FromDevice(in) -> Counter -> Queue(1000) -> ToDevice(out)
//! ```
//! The graph is one element that costs what the profile says of the whole of it, `graph_packet`;
//! the queue is Click's own default. Virtual time: every ring, interrupt and frame is simulated one
//! by one, so a trial of a minute takes minutes.

use crate::transfer::simulated::{self, DeviceBetween};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel_bench::testbed::{
    Directions, LatencyOf, Observation, Outage, Plan, Protocol, Testbed, Traffic, Unable,
};
use trammel_bench::transfer::{File, Protocol as Carrier, Transferred};
use trammel_bench::trial::{Failure, Load};
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_cost::device_profile::DeviceProfile;
use trammel_router::MemoryHost;
use trammel_router::engine::core_clock::Cost;
use trammel_router::simulate::costs::Costs;
use trammel_workbench::simulated::{SimulatedRouter, Stream, port_of};
use trammel_workbench::{frames, samples};

/// What a frame in virtual time takes here, s, about.
const FRAME_S: f64 = 0.2e-6;
/// Profiles that know what a whole router costs.
pub(super) const NAMES: [&str; 1] = ["click-pc-2009"];

/// The way in and the way out.
const PORTS: [&str; 2] = ["in", "out"];

/// Frames of a plan, at most, of which it is noted when each came out: bursts.
const MOST_NOTED: f64 = 1e5;

/// The name of its one reset: the module is taken out of the kernel and put in again (paper 000,
/// §5.5).
const RESTART: &str = "software-process: the router is loaded again";

/// A router by a profile.
#[derive(Debug)]
pub struct Profiled {
    profile: DeviceProfile,
    interrupted: Arc<AtomicBool>,
    /// What came of the last trial: the same again gives the same.
    last: Option<(Traffic, Plan, Observation)>,
}

impl Profiled {
    /// The router that `profile` describes; its trials end when `interrupted` is set.
    pub fn new(profile: DeviceProfile, interrupted: Arc<AtomicBool>) -> Profiled {
        Profiled {
            profile,
            interrupted,
            last: None,
        }
    }

    fn value(&self, key: &str) -> f64 {
        self.profile.value(key).unwrap_or(0.0)
    }

    /// The router at rest, offered `traffic`.
    fn router(&self, traffic: &Traffic) -> Result<SimulatedRouter, Unable> {
        let unable = |what: &str| Err(Unable(format!("this model is offered {what}")));
        let Some(bytes) = traffic.sizes.only() else {
            return unable("frames of one size only");
        };
        if traffic.protocol != Protocol::Ip4
            || traffic.modifier.is_some()
            || traffic.directions == Directions::Both
        {
            return unable("plain IPv4 one way only");
        }
        let graph = Cost::per_packet(self.value("graph_packet"));
        let mut frame = samples::plain();
        // In memory a frame has no FCS.
        frame.resize(bytes as usize - 4, 0);
        frames::mend(&mut frame);
        Ok(SimulatedRouter {
            config: format!(
                "FromDevice({}) -> Counter -> Queue(1000) -> ToDevice({})",
                PORTS[0], PORTS[1]
            ),
            name: self.profile.name.clone(),
            hz: self.value("clock_hz"),
            costs: Costs {
                classes: [("Counter".to_owned(), graph)].into(),
                ..Costs::default()
            },
            look_cycles: self.value("look"),
            ports: PORTS.map(|port| port_of(&self.profile, port)).to_vec(),
            streams: vec![Stream {
                from: PORTS[0].to_owned(),
                share: 1.0,
                frames: vec![frame],
                beside: None,
                pattern: super::configuration::pattern(traffic),
            }],
            files: MemoryHost::new(),
            seed: traffic.seed,
            last: None,
            interrupted: Arc::clone(&self.interrupted),
        })
    }

    /// The router with the same graph the other way too, and the ways of a file's segments and ACKs
    /// through it.
    fn both_ways(&self) -> Result<DeviceBetween, Failure> {
        let mut router = self.router(&trammel_bench::transfer::frames())?;
        let [from, to] = PORTS;
        router.config +=
            &format!("; FromDevice({to}) -> Counter -> Queue(1000) -> ToDevice({from})");
        let way = |from, is_ack| simulated::way(&router, from, &simulated::segment(is_ack));
        let out = way(from, false)?.ok_or("no segment comes out of the model")?;
        let back = way(to, true)?;
        Ok(DeviceBetween::Router(Box::new(router), out, back))
    }

    fn observe(&self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        let mut router = self.router(traffic)?;
        match &plan.reset {
            None => offer(&mut router, &plan.loads),
            Some(reset) if reset.kind == RESTART => self.restarted(&mut router, plan, reset.at),
            Some(reset) => Err(Unable(format!("the model has no reset `{}`", reset.kind)).into()),
        }
    }

    /// The loads before `at` and those after the restart are offered to a router at rest each; what
    /// comes between is lost.
    fn restarted(
        &self,
        router: &mut SimulatedRouter,
        plan: &Plan,
        at: Time,
    ) -> Result<Observation, Failure> {
        let length = Span::from_secs_f64(self.value("restart_ms") / 1e3);
        let up = at + length;
        let before = offer(router, &parts(&plan.loads, Time::ZERO, at))?;
        let mut after = offer(
            router,
            &parts(&plan.loads, up, Time::ZERO + plan.duration()),
        )?;
        let offered = plan.frames().round() as u64;
        let forwarded = before.outcome.forwarded + after.outcome.forwarded;
        after.outcome.offered = offered;
        after.outcome.forwarded = forwarded;
        after.outcome.effective = plan.duration();
        after.last_lost = Some(up);
        let lost = offered - forwarded;
        after.outage = Some(Outage {
            from: at,
            to: up,
            lost,
        });
        Ok(after)
    }
}

/// What is left of `loads` between two instants, counted from the beginning of the first; nothing
/// where that is nothing.
fn parts(loads: &[Load], from: Time, to: Time) -> Vec<Load> {
    let mut start = Time::ZERO;
    let mut all = Vec::new();
    for load in loads {
        let end = start + load.duration();
        let part = end.min(to).saturating_since(start.max(from));
        all.extend(Load::new(load.frames_per_second(), part));
        start = end;
    }
    all
}

fn offer(router: &mut SimulatedRouter, loads: &[Load]) -> Result<Observation, Failure> {
    let plan = Plan::of(loads);
    let is_noted = plan.frames() <= MOST_NOTED;
    let (outcome, passages) = router.offer_all(loads, is_noted)?;
    let late = passages
        .iter()
        .filter(|passage| passage.left.since_start() > plan.duration());
    let came_after = is_noted.then_some(late.count() as u64);
    let ports = router.last.iter().flat_map(|report| &report.ports);
    let last_lost = ports.filter_map(|(_, counts)| counts.last_lost).max();
    Ok(Observation {
        came_after,
        last_lost,
        ..Observation::of(outcome)
    })
}

impl Testbed for Profiled {
    fn label(&self) -> Label {
        Label::Modelled
    }

    fn device(&self) -> String {
        format!("PC model {}", self.profile.name)
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        traffic.sizes.line_fps(self.value("link_bps"))
    }

    fn latency_of(&self) -> LatencyOf {
        LatencyOf::StoreAndForward
    }

    fn resets(&self) -> Vec<String> {
        let known = self.profile.value("restart_ms").filter(|ms| *ms > 0.0);
        known.map(|_| RESTART.to_owned()).into_iter().collect()
    }

    fn takes(&self, _: &Traffic, plan: &Plan) -> Option<Span> {
        Some(Span::from_secs_f64(plan.frames() * FRAME_S))
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        if let Some((with, by, observed)) = &self.last
            && (with, by) == (traffic, plan)
        {
            return Ok(observed.clone());
        }
        let observed = self.observe(traffic, plan)?;
        self.last = Some((traffic.clone(), plan.clone(), observed.clone()));
        Ok(observed)
    }

    fn carries_files(&self, carrier: &Carrier) -> Result<(), Unable> {
        simulated::of(carrier).map(|_| ())
    }

    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        simulated::transfer(&self.both_ways()?, self.value("link_bps"), file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::testbed::Reset;

    fn bed() -> Profiled {
        Profiled::new(
            DeviceProfile::shipped("click-pc-2009").unwrap(),
            Arc::default(),
        )
    }

    fn traffic(bytes: u32) -> Traffic {
        Traffic::of(trammel_bench::frames::Sizes::of(bytes).unwrap())
    }

    #[test]
    fn small_frames_end_at_its_cycles_and_large_ones_at_the_line() {
        let mut bed = bed();
        for (bytes, passes) in [(64, false), (512, true)] {
            let traffic = traffic(bytes);
            let line = bed.line_fps(&traffic);
            let load = Load::of_line(1.0, line, Span::from_ms(50)).unwrap();
            let outcome = bed.offer(&traffic, &Plan::of(&[load])).unwrap().outcome;
            assert_eq!(outcome.lost() == 0, passes, "{bytes}");
            let capacity = 3e9 / (541.0 + 1081.0 + 541.0);
            let share = outcome.forwarded as f64 / outcome.offered as f64;
            // Ring and queue hold a few frames more than it can do.
            assert!(passes || (share - capacity / line).abs() < 0.03, "{share}");
        }
    }

    #[test]
    fn it_is_away_for_as_long_as_its_profile_says() {
        let mut bed = bed();
        let traffic = traffic(64);
        let plan = Plan {
            reset: Some(Reset {
                kind: bed.resets().remove(0),
                at: Time::from_ms(100),
            }),
            ..Plan::of(&[Load::new(1e4, Span::from_ms(2_500)).unwrap()])
        };
        let observed = bed.offer(&traffic, &plan).unwrap();
        let by_loss = observed.outcome.lost() as f64 / observed.outcome.offered_rate();
        assert!((by_loss - 1.99).abs() < 1e-3, "{by_loss}");
        assert_eq!(observed.outage.unwrap().lost, observed.outcome.lost());
    }
}
