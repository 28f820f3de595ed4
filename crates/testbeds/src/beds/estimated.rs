//! A Click configuration by its estimate: what it costs on a machine decides what it forwards, and
//! nothing is run.
//!
//! It forwards what comes up to its rate and loses the rest, as a device does that has no buffers.
//! It has no latency, since an estimate knows none.

use super::configuration::{Configuration, failure, test_share, without_reset};
use std::collections::BTreeMap;
use trammel_bench::ports::PortFlow;
use trammel_bench::testbed::{Observation, Plan, Testbed, Traffic, Unable};
use trammel_bench::trial::{Failure, Load, TrialOutcome};
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_cost::machine::Machine;
use trammel_workbench::estimate::Subject;

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

    /// Test frames a second that it forwards. Of a mix of sizes each takes of whatever limits as
    /// much as the model has it take.
    fn rate(&mut self, traffic: &Traffic) -> Result<f64, Failure> {
        if let Some((_, rate)) = self.known.as_ref().filter(|(known, _)| known == traffic) {
            return Ok(*rate);
        }
        let offered = self.configuration.offered(traffic)?;
        let mut seconds: BTreeMap<&'static str, f64> = BTreeMap::new();
        let mut under = offered.conditions(self.configuration.rate);
        let subject = Subject::Configuration(Box::new(offered.bench));
        for (size, share) in offered.frames.shares() {
            under.traffic = offered.frames.of_size(size);
            if !subject.forwards(&under).map_err(failure)? {
                self.configuration.ends_all(traffic, 0)?;
            }
            let at = subject.at(size as f64, &self.machine, &under);
            for limit in at.map_err(failure)?.estimate.limits {
                *seconds.entry(limit.what).or_default() += share / limit.pps;
            }
        }
        let slowest = seconds.into_values().fold(0.0, f64::max);
        let rate = slowest.recip() * test_share(traffic);
        self.known = Some((traffic.clone(), rate));
        Ok(rate)
    }
}

impl Testbed for Estimated {
    fn label(&self) -> Label {
        Label::Predicted
    }

    fn device(&self) -> String {
        let machine = self.machine.name_and_origin();
        format!("{} on {machine}", self.configuration.name())
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        self.configuration.line_fps(traffic)
    }

    fn repeats_itself(&self) -> bool {
        true
    }

    fn takes(&self, _: &Traffic, _: &Plan) -> Option<Span> {
        Some(Span::ZERO)
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
        let outcome = TrialOutcome {
            offered: plan
                .loads
                .iter()
                .map(|load| load.frames().round() as u64)
                .sum(),
            forwarded: plan.loads.iter().map(passing).sum(),
            effective: plan.duration(),
            bunched: 0,
            latency: None,
        };
        Ok(Observation {
            last_lost,
            ..Observation::of(outcome)
        })
    }

    /// Flows share what one of them alone would have, by the time that their frames take.
    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
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
        let of = |flow: &PortFlow| {
            let offered = flow.load.frames().round();
            Observation::of(TrialOutcome {
                offered: offered as u64,
                forwarded: (offered * share) as u64,
                effective: flow.load.duration(),
                bunched: 0,
                latency: None,
            })
        };
        Ok(flows.iter().map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use trammel_workbench::bench::Bench;
    use trammel_workbench::machines;
    use trammel_workbench::samples;

    #[test]
    fn a_mix_takes_what_its_frames_take_in_the_mean() {
        let text = "FromDevice(a) -> Strip(14) -> CheckIPHeader -> SetUDPChecksum -> Unstrip(14) \
                    -> Queue -> ToDevice(b);";
        let bench = Bench::new(text, "x.click", &[], &[samples::plain()]).unwrap();
        let machine = machines::find("xeon-e5-2690v2").unwrap();
        let rate = |sizes: &str, bits_per_s: f64| {
            let configuration = Configuration {
                bench: bench.clone(),
                rate: bits_per_s,
                interrupted: Arc::default(),
            };
            let mut bed = Estimated::new(configuration, machine.clone());
            bed.rate(&Traffic::of(sizes.parse().unwrap())).unwrap()
        };
        let (small, large) = (rate("64", f64::INFINITY), rate("1518", f64::INFINITY));
        assert!(large < small, "{small} {large}");
        let mean = 4.0 / (3.0 / small + 1.0 / large);
        let mixed = rate("imix:AABA/A=64/B=1518", f64::INFINITY);
        assert!((mixed / mean - 1.0).abs() < 1e-9, "{mixed} {mean}");
        // The line's limit is the mix's, too.
        let line = 1e9 / (8.0 * ((3.0 * 64.0 + 1518.0) / 4.0 + 20.0));
        let mixed = rate("imix:AABA/A=64/B=1518", 1e9);
        assert!((mixed / line - 1.0).abs() < 1e-9, "{mixed} {line}");
    }
}
