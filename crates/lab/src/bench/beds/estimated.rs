//! A Click configuration by its estimate: what it costs on a machine decides what it forwards, and nothing is run.
//!
//! It forwards what comes up to its rate and loses the rest, as a device does that has no buffers. It has no latency, since
//! an estimate knows none.

use super::configuration::{Configuration, failure, without_reset};
use crate::forwarding::estimate::Subject;
use trammel_bench::ports::Flow;
use trammel_bench::testbed::{Label, Observation, Plan, Testbed, Traffic, Unable};
use trammel_bench::trial::{Failure, Load, Outcome};
use trammel_core::time::Time;
use trammel_cost::machine::Machine;

/// A configuration on a machine whose costs are known.
#[derive(Debug)]
pub struct Estimated {
    configuration: Configuration,
    machine: Machine,
    /// Frames a second under the last traffic.
    known: Option<(Traffic, f64)>,
}

impl Estimated {
    /// The configuration on `machine`.
    pub fn new(configuration: Configuration, machine: Machine) -> Estimated {
        Estimated {
            configuration,
            machine,
            known: None,
        }
    }

    /// Frames a second that it forwards.
    fn rate(&mut self, traffic: &Traffic) -> Result<f64, Failure> {
        if let Some((_, rate)) = self.known.as_ref().filter(|(known, _)| known == traffic) {
            return Ok(*rate);
        }
        let frames = self.configuration.frames(traffic)?;
        let under = self.configuration.conditions(&frames);
        let subject = Subject::Configuration(Box::new(self.configuration.bench.clone()));
        let at = subject.at(frames.frame as f64, &self.machine, &under);
        let rate = at.map_err(failure)?.estimate.rate().pps;
        self.known = Some((traffic.clone(), rate));
        Ok(rate)
    }
}

impl Testbed for Estimated {
    fn label(&self) -> Label {
        Label::Predicted
    }

    fn device(&self) -> String {
        let machine = self.machine.full_name();
        format!("{} on {machine}", self.configuration.name())
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        self.configuration.line_fps(traffic)
    }

    fn repeats_itself(&self) -> bool {
        true
    }

    fn takes(&self, _: &Traffic, _: &Plan) -> Option<Time> {
        Some(Time::ZERO)
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        without_reset(plan)?;
        let rate = self.rate(traffic)?;
        let passing = |load: &Load| {
            let share = (rate / load.frames_per_second()).min(1.0);
            // The first of a burst finds nothing before it.
            (load.frames().round() * share).ceil() as u64
        };
        let mut last_lost = None;
        let mut end = Time::ZERO;
        for load in &plan.loads {
            end = end.saturating_add(load.duration());
            if load.frames_per_second() > rate {
                last_lost = Some(end);
            }
        }
        let outcome = Outcome {
            offered: plan
                .loads
                .iter()
                .map(|load| load.frames().round() as u64)
                .sum(),
            forwarded: plan.loads.iter().map(passing).sum(),
            effective: plan.duration(),
            latency: None,
        };
        Ok(Observation {
            last_lost,
            ..Observation::of(outcome)
        })
    }

    /// Flows share what one of them alone would have, by the time that their frames take.
    fn offer_together(&mut self, flows: &[Flow]) -> Result<Vec<Observation>, Failure> {
        if flows.iter().any(|flow| (flow.from, flow.to) != (0, 1)) {
            return Err(
                Unable("an estimate knows the router's work, not its ports".to_owned()).into(),
            );
        }
        let mut busy = 0.0;
        for flow in flows {
            busy += flow.load.frames_per_second() / self.rate(&flow.traffic)?;
        }
        let share = busy.recip().min(1.0);
        let of = |flow: &Flow| {
            let offered = flow.load.frames().round();
            Observation::of(Outcome {
                offered: offered as u64,
                forwarded: (offered * share) as u64,
                effective: flow.load.duration(),
                latency: None,
            })
        };
        Ok(flows.iter().map(of).collect())
    }
}
