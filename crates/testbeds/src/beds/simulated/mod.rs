//! A Click configuration in virtual time: each element is charged what it costs on a machine.

mod course;
mod settled;
mod switch;
#[cfg(test)]
mod tests;
mod transfer;

use super::configuration::{Configuration, augmented, failure, pattern, without_reset};
use super::passages::Seen;
use course::{Course, CourseFlow as Offered, Ended};
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use trammel_bench::ports::{Learned, Learning, PortFlow};
use trammel_bench::testbed::{LatencyOf, Observation, Plan, Testbed, Traffic, Unable};
use trammel_bench::transfer::{File, Protocol as Carrier, Transferred};
use trammel_bench::trial::{Failure, Load};
use trammel_core::label::Label;
use trammel_core::time::Span;
use trammel_cost::machine::Machine;
use trammel_router::Reason;
use trammel_workbench::device::{Device, Ports};
use trammel_workbench::simulated::INTERRUPTED;

/// Frames of a port's ring.
const RING: usize = 1024;
/// Frames that are simulated to know how long one takes.
const TRIED: f64 = 20_000.0;

/// A configuration on a machine whose costs are known.
#[derive(Debug)]
pub struct Simulated {
    configuration: Configuration,
    machine: Machine,
    /// The device of the last traffic, since loading one takes longer than a short trial.
    loaded: Option<(Traffic, Device)>,
    pace: OnceCell<Pace>,
}

/// How fast this machine simulates the device.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// What a frame takes, s.
    frame_s: f64,
    /// Stretches may stand for others.
    is_steady: bool,
}

impl Simulated {
    /// The configuration on `machine`.
    pub fn new(configuration: Configuration, machine: Machine) -> Simulated {
        Simulated {
            configuration,
            machine,
            loaded: None,
            pace: OnceCell::new(),
        }
    }

    fn load(&self, traffic: &Traffic) -> Result<Device, Failure> {
        let offered = self.configuration.offered(traffic)?;
        let rate = self.configuration.rate;
        let ports = Ports {
            rate,
            ring: RING,
            pattern: pattern(traffic),
            seed: traffic.seed,
        };
        let under = offered.conditions(rate);
        let device = Device::new(
            &offered.bench,
            &self.machine,
            &offered.frames,
            &under,
            ports,
        );
        device.map_err(failure)
    }

    /// The device that is offered `traffic`.
    fn ready(&mut self, traffic: &Traffic) -> Result<&Device, Failure> {
        let is_known = self
            .loaded
            .as_ref()
            .is_some_and(|(known, _)| known == traffic);
        if !is_known {
            self.loaded = Some((traffic.clone(), self.load(traffic)?));
        }
        let (_, device) = self.loaded.as_ref().expect("it was just loaded");
        Ok(device)
    }

    fn pace(&self, traffic: &Traffic) -> Result<Pace, Failure> {
        if let Some(pace) = self.pace.get() {
            return Ok(*pace);
        }
        let interrupted = &self.configuration.interrupted;
        if interrupted.load(Ordering::SeqCst) {
            return Err(INTERRUPTED.into());
        }
        let device = self.load(traffic)?;
        let fps = 0.5 * self.line_fps(traffic).min(1e9);
        let load = Load::new(fps, Span::from_secs_f64(TRIED / fps));
        let plan = Plan::of(&[load.ok_or("nothing can be offered")?]);
        let started = Instant::now();
        let (_, ended) = offered(&device, &plan, Some(TRIED as u64 / 4), interrupted)?;
        let pace = Pace {
            frame_s: started.elapsed().as_secs_f64() / TRIED,
            is_steady: ended.is_steady,
        };
        Ok(*self.pace.get_or_init(|| pace))
    }
}

/// Offers a plan to all ways in, in stretches of so many frames if any, and says what was seen.
fn offered(
    device: &Device,
    plan: &Plan,
    stretch: Option<u64>,
    interrupted: &AtomicBool,
) -> Result<(Seen, Ended), Failure> {
    let router = device.router();
    let share =
        |load: &Load, share: f64| Load::new(load.frames_per_second() * share, load.duration());
    let flow = |stream: &trammel_workbench::simulated::Stream| {
        let loads = plan.loads.iter().map(|load| share(load, stream.share));
        Ok::<_, Failure>(Offered {
            from: stream.from.clone(),
            frames: stream.frames.clone(),
            beside: stream.beside,
            pattern: stream.pattern,
            loads: loads
                .collect::<Option<_>>()
                .ok_or("no load is left for a way in")?,
        })
    };
    let flows: Vec<Offered> = router.streams.iter().map(flow).collect::<Result<_, _>>()?;
    let mut seen = [Seen::of(plan, flows.len())];
    let ended = Course::new(router, &flows, &mut seen, stretch, interrupted)?.run()?;
    let [seen] = seen;
    Ok((seen, ended))
}

/// What was observed of `plan` with `traffic`, whose last frame the link itself may have made so
/// late.
fn observation(
    (traffic, late): (&Traffic, Span),
    plan: &Plan,
    seen: Seen,
    ended: &Ended,
) -> Observation {
    let dropped = &ended.report.balance.dropped;
    // What the function ends by its rules is missing and is not lost.
    let ends_others = dropped
        .iter()
        .any(|(reason, _)| !trammel_workbench::lost::LOST.contains(reason));
    let missing = seen.last_missing().filter(|_| !ends_others);
    let in_elements = dropped
        .iter()
        .any(|(reason, _)| *reason == Reason::Overflow);
    let last_lost = match ended.lost {
        0 => None,
        _ if in_elements && ends_others => None,
        _ if in_elements => ended.last_lost.max(missing),
        _ => ended.last_lost,
    };
    let (offered, forwarded) = match traffic.modifier {
        None => (ended.offered, ended.offered.saturating_sub(ended.lost)),
        // What was lost of the frames beside them is none of the test's.
        Some(_) => (seen.offered(), seen.forwarded().min(seen.offered())),
    };
    let offered_for = ended.last_offered.since_start();
    let effective = if offered_for <= plan.duration() + late {
        plan.duration()
    } else {
        offered_for
    };
    Observation {
        last_lost,
        ..seen.observation(offered, forwarded, effective)
    }
}

impl Testbed for Simulated {
    fn label(&self) -> Label {
        Label::Simulated
    }

    fn device(&self) -> String {
        let machine = self.machine.name_and_origin();
        format!("{} on {machine}", self.configuration.name())
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        self.configuration.line_fps(traffic)
    }

    fn sources(&self, traffic: &Traffic) -> u32 {
        self.configuration.sources(traffic)
    }

    fn latency_of(&self) -> LatencyOf {
        LatencyOf::StoreAndForward
    }

    fn repeats_itself(&self) -> bool {
        true
    }

    fn takes(&self, traffic: &Traffic, plan: &Plan) -> Option<Span> {
        let Ok(pace) = self.pace(traffic) else {
            // The trial will say why.
            return Some(Span::ZERO);
        };
        let simulated = |load: &Load| {
            let most = ((course::SIMULATED + 2) * course::STRETCH) as f64;
            if pace.is_steady {
                load.frames().min(most)
            } else {
                load.frames()
            }
        };
        let frames: f64 = plan.loads.iter().map(simulated).sum();
        Some(Span::from_secs_f64(frames * pace.frame_s))
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        without_reset(plan)?;
        let interrupted = Arc::clone(&self.configuration.interrupted);
        let all = Plan {
            loads: augmented(traffic, &plan.loads),
            ..plan.clone()
        };
        let device = self.ready(traffic)?;
        let (seen, ended) = offered(device, &all, Some(course::STRETCH), &interrupted)?;
        if seen.forwarded() == 0 && seen.offered() > 0 {
            self.configuration.ends_all(traffic, ended.lost)?;
        }
        let late = self.configuration.late(traffic);
        Ok(observation((traffic, late), plan, seen, &ended))
    }

    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        switch::offer_together(self, flows)
    }

    fn learn(&mut self, traffic: &Traffic, learning: &Learning) -> Result<Learned, Failure> {
        switch::learn(self, traffic, learning)
    }

    fn carries_files(&self, carrier: &Carrier) -> Result<(), Unable> {
        crate::transfer::simulated::of(carrier).map(|_| ())
    }

    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        transfer::transfer(self, file)
    }
}
