//! A plan under way on the simulated router; what it does again and again is done once.
//!
//! A trial of RFC 2544 has some thousand million frames, nearly all of which pass as the ones
//! before did. So a load is offered in *stretches* of some ten thousand frames, whose bytes come
//! again in each. Where it is known what all that follow will come to
//! ([`settled`](super::settled)), the last stands for as many of them as fit, and the rest of the
//! load is simulated. Other loads are simulated frame by frame. Without this a load has the same
//! number of frames at the same distances.
//!
//! What is drawn of the frames themselves, such as where they go, is drawn once for a list of
//! frames that is offered again and again, as real testers do; a stretch has whole lists, and so
//! the same frames as every other.

use super::super::passages::Seen;
use super::settled::{Settled, Stretch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::{Span, Time};
use trammel_router::simulate::offer::{Arrivals, MOST_FLOWS, Offer};
use trammel_router::simulate::port::{Coming, Port};
use trammel_router::simulate::{Report, Simulation};
use trammel_workbench::arrivals::{Part, Pattern};
use trammel_workbench::lost;
use trammel_workbench::simulated;
use trammel_workbench::simulated::SimulatedRouter;
use trammel_workbench::traffic::lcm;

/// Frames of a stretch, about, all flows together.
pub(super) const STRETCH: u64 = 1 << 14;
/// Frames of a stretch at most, where flows take long to come round.
const LONGEST_STRETCH: u64 = 1 << 21;
/// Stretches of a load that are simulated, about.
pub(super) const SIMULATED: u64 = 8;
/// How long residual frames are waited for.
//= rfc2544 §23
//# d) Wait for two seconds for any residual frames to be received.
const RESIDUE: Span = Span::from_secs(2);
/// The flow of frames that are none of the test's.
const BESIDE: u16 = MOST_FLOWS - 1;
/// Bytes of the shortest frame, without its checksum.
const SHORTEST: usize = 60;

/// What one flow offers: loads one after the other, as long as those of the others.
#[derive(Clone, Debug)]
pub(super) struct CourseFlow {
    /// The port into which it is sent.
    pub(super) from: String,
    /// The frames' bytes without the checksum, taken in turn.
    pub(super) frames: Vec<Vec<u8>>,
    /// Of so many frames of the list the last is none of the test's, if any is.
    pub(super) beside: Option<u32>,
    pub(super) pattern: Pattern,
    pub(super) loads: Vec<Load>,
}

impl CourseFlow {
    /// How many of so many of its frames are the test's, where those are whole lists.
    fn of_test(&self, frames: u64) -> u64 {
        frames - self.beside.map_or(0, |every| frames / u64::from(every))
    }
}

/// Frames of a load.
fn frames(load: &Load) -> u64 {
    load.frames().round() as u64
}

/// How a load of all flows is cut into stretches.
#[derive(Clone, Debug)]
struct Stretches {
    /// Frames of each flow in a stretch, and how long that takes.
    frames: Vec<u64>,
    span: Span,
    /// How many whole ones there are.
    count: u64,
}

impl Stretches {
    /// Of the load number `at` of all `flows`, of `stretch` frames or more; none where their frames
    /// never come round together, or too late.
    fn of(flows: &[CourseFlow], at: usize, stretch: u64) -> Option<Stretches> {
        let fps = |flow: &CourseFlow| flow.loads[at].frames_per_second();
        let slowest = flows.iter().map(fps).fold(f64::INFINITY, f64::min);
        let ratios: Vec<f64> = flows.iter().map(|flow| fps(flow) / slowest).collect();
        if ratios
            .iter()
            .any(|ratio| (ratio - ratio.round()).abs() > 1e-9)
        {
            return None;
        }
        let burst = |pattern| match pattern {
            Pattern::Bursts(frames) => frames as usize,
            Pattern::Constant | Pattern::Poisson => 1,
        };
        let cycle = |flow: &CourseFlow| lcm(flow.frames.len(), burst(flow.pattern));
        let cycle = flows.iter().map(cycle).fold(1, lcm) as u64;
        let all: f64 = ratios.iter().sum();
        let least = stretch as f64 / all;
        let of_slowest = cycle * (least / cycle as f64).ceil() as u64;
        if of_slowest as f64 * all > LONGEST_STRETCH as f64 {
            return None;
        }
        let each = ratios.iter().map(|ratio| of_slowest * ratio.round() as u64);
        let of: Vec<u64> = each.collect();
        let whole = flows
            .iter()
            .zip(&of)
            .map(|(flow, of)| frames(&flow.loads[at]) / of);
        Some(Stretches {
            span: Span::from_secs_f64(of_slowest as f64 / slowest),
            count: whole.min().unwrap_or(0),
            frames: of,
        })
    }
}

/// The instants of a flow's frames, of which some are left out: for each load, so many stretches as
/// `cuts` says by the time it ends.
struct Instants {
    flow: CourseFlow,
    /// Frames of each load, and frames and length of its stretches.
    loads: Vec<(u64, u64, Span)>,
    cuts: Arc<[AtomicU64]>,
    at: usize,
    sent: u64,
    start: Time,
    arrivals: Arrivals,
}

impl Instants {
    fn arrivals(&self) -> Option<Arrivals> {
        let load = self.flow.loads.get(self.at)?;
        let part = Part {
            share: 1.0,
            number: 0,
            seed: 0,
        };
        // Without an end: the number of frames is what ends a load.
        let endless = Load::new(load.frames_per_second(), Span::MAX)?;
        self.flow.pattern.arrivals(part, &[endless]).ok()
    }
}

impl Iterator for Instants {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        loop {
            let (frames, stretch, span) = *self.loads.get(self.at)?;
            let cut = self.cuts[self.at].load(Relaxed);
            if self.sent < frames - cut * stretch {
                self.sent += 1;
                return Some(self.start + self.arrivals.next()?.since_start());
            }
            let length = self.flow.loads[self.at].duration();
            self.start += length.saturating_sub(span * cut);
            self.at += 1;
            self.sent = 0;
            self.arrivals = self.arrivals()?;
        }
    }
}

/// What became of the frames.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) report: Report,
    /// Frames that came, those beside the test's among them.
    pub(super) offered: u64,
    /// Frames that rings, queues and buffers had no room for, and those that never came out.
    pub(super) lost: u64,
    /// When the last frame was lost that found a receive ring full.
    pub(super) last_lost: Option<Time>,
    /// When the last frame came.
    pub(super) last_offered: Time,
    /// The configuration is such that stretches may stand for others.
    pub(super) is_steady: bool,
}

/// A plan under way.
pub(super) struct Course<'a> {
    simulation: Simulation,
    flows: &'a [CourseFlow],
    seen: &'a mut [Seen],
    stretches: Vec<Option<Stretches>>,
    cuts: Arc<[AtomicU64]>,
    interrupted: &'a AtomicBool,
    ports: usize,
    /// After the last stretch: what was lost by then, and each port's counts of empty rings and
    /// idle links.
    lost: u64,
    emptied: Vec<[u64; 4]>,
}

impl<'a> Course<'a> {
    /// `flows` on `router`, which is at rest; `seen` take note of what leaves. What is repeated in
    /// stretches of so many frames is left out; nothing where there is no such number.
    pub(super) fn new(
        router: &SimulatedRouter,
        flows: &'a [CourseFlow],
        seen: &'a mut [Seen],
        stretch: Option<u64>,
        interrupted: &'a AtomicBool,
    ) -> Result<Course<'a>, Failure> {
        let simulation = router.load()?;
        Course::on(simulation, flows, seen, stretch, interrupted)
    }

    /// The same on a router that is loaded.
    pub(super) fn on(
        simulation: Simulation,
        flows: &'a [CourseFlow],
        seen: &'a mut [Seen],
        stretch: Option<u64>,
        interrupted: &'a AtomicBool,
    ) -> Result<Course<'a>, Failure> {
        let loads = flows.iter().map(|flow| flow.loads.len()).min().unwrap_or(0);
        let stretches: Vec<_> = (0..loads)
            .map(|at| Stretches::of(flows, at, stretch?))
            .collect();
        let cuts: Arc<[AtomicU64]> = (0..loads).map(|_| AtomicU64::new(0)).collect();
        simulation.ports().iter().for_each(Port::note_passages);
        for seen in seen.iter_mut() {
            seen.begin(simulation.now());
        }
        for (number, flow) in flows.iter().enumerate() {
            let loads = flow.loads.iter().zip(&stretches).map(|(load, stretches)| {
                let of = stretches.as_ref();
                let stretch = of.map_or((0, Span::ZERO), |of| (of.frames[number], of.span));
                (frames(load), stretch.0, stretch.1)
            });
            let mut instants = Instants {
                flow: flow.clone(),
                loads: loads.collect(),
                cuts: cuts.clone(),
                at: 0,
                sent: 0,
                start: simulation.now(),
                arrivals: Box::new(std::iter::empty()),
            };
            let rate = flow.loads[0].frames_per_second();
            instants.arrivals = instants
                .arrivals()
                .ok_or_else(|| format!("`{}`: {rate} frames/s cannot be offered", flow.from))?;
            let offer = Offer::new(flow.frames.clone(), Box::new(instants))
                .ok_or_else(|| format!("`{}` has no frame, or an empty one", flow.from))?;
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let offer = match flow.beside {
                Some(every) => offer.of_flow(number).with_others(every, BESIDE),
                None => offer.of_flow(number),
            };
            if !simulation.offer(&flow.from, offer) {
                return Err(format!("there is no port `{}`", flow.from).into());
            }
        }
        Ok(Course {
            ports: simulation.ports().len(),
            emptied: vec![[0; 4]; simulation.ports().len()],
            simulation,
            flows,
            seen,
            stretches,
            cuts,
            interrupted,
            lost: 0,
        })
    }

    /// To the end, and until what is inside is out. The failure is that the user interrupts.
    pub(super) fn run(mut self) -> Result<Ended, Failure> {
        let mut start = self.simulation.now();
        let begin = start;
        let (mut offered, mut lost) = (0, 0);
        let mut skips: Vec<(Time, Span)> = Vec::new();
        let mut is_steady = true;
        for at in 0..self.stretches.len() {
            let length = self.flows[0].loads[at].duration();
            let mut cut = (0, Span::ZERO);
            if let Some(of) = self.stretches[at].clone() {
                let flows = self.flows.iter().zip(&of.frames);
                let of_test: Vec<u64> = flows.map(|(flow, of)| flow.of_test(*of)).collect();
                let mut settled = Settled::new(self.ports);
                for number in 1..=of.count {
                    self.advance(start + of.span * number)?;
                    let stretch = self.stretch();
                    is_steady &= stretch.steadiness.is_some();
                    let left = of.count - number;
                    settled.take(stretch);
                    // One more is simulated, in which frames come as if none had been left out.
                    if left > 1 && settled.is_settled(left) {
                        let times = left - 1;
                        self.cuts[at].store(times, Relaxed);
                        for seen in self.seen.iter_mut() {
                            seen.repeat(times, of.span, &of_test);
                        }
                        cut = (times, of.span * times);
                        skips.push((start + of.span * number, cut.1));
                        offered += times * of.frames.iter().sum::<u64>();
                        lost += settled.lost(times);
                        break;
                    }
                }
            } else {
                // So that what is noted does not pile up.
                let fps: f64 = self
                    .flows
                    .iter()
                    .map(|flow| flow.loads[at].frames_per_second())
                    .sum();
                let step = Span::from_secs_f64(STRETCH as f64 / fps).max(Span::from_ps(1));
                let mut until = start + step;
                while until < start + length {
                    self.advance(until)?;
                    self.stretch();
                    until += step;
                }
            }
            start += length.saturating_sub(cut.1);
            self.advance(start)?;
            self.stretch();
        }
        self.advance(start + RESIDUE)?;
        self.stretch();
        let report = self.simulation.report();
        let balance = &report.balance;
        let real = |at: Time| {
            let later = skips.iter().filter(|(cut, _)| *cut < at);
            let later: Span = later.map(|(_, skip)| *skip).sum();
            Time::ZERO + at.saturating_since(begin) + later
        };
        let counts = || report.ports.iter().map(|(_, counts)| counts);
        Ok(Ended {
            offered: offered + balance.offered,
            lost: lost + lost::of_balance(balance) + lost::waiting(balance),
            last_lost: counts()
                .filter_map(|counts| counts.last_lost)
                .max()
                .map(real),
            last_offered: counts()
                .map(|counts| counts.last_offered)
                .max()
                .map_or(Time::ZERO, real),
            is_steady,
            report,
        })
    }

    fn advance(&mut self, until: Time) -> Result<(), Failure> {
        simulated::run(&mut self.simulation, until, self.interrupted)
    }

    /// What has happened since the last call.
    fn stretch(&mut self) -> Stretch {
        let report = self.simulation.report();
        let ports = self.simulation.ports();
        let comings: Vec<Coming> = ports.iter().flat_map(Port::comings).collect();
        let passages: Vec<_> = ports.iter().map(Port::passages).collect();
        for seen in self.seen.iter_mut() {
            seen.take(&comings, &passages);
        }
        let lost = lost::of_balance(&report.balance);
        let mut stretch = Stretch {
            steadiness: None,
            lost: lost - std::mem::replace(&mut self.lost, lost),
            is_ring_never_empty: false,
            is_link_never_idle: false,
            room: Span::MAX,
            longest: self.seen.iter().map(Seen::longest).collect(),
            slowest: self
                .seen
                .iter()
                .map(Seen::longest_exact)
                .max()
                .unwrap_or_default(),
        };
        for ((_, counts), (before, port)) in
            report.ports.iter().zip(self.emptied.iter_mut().zip(ports))
        {
            let now = [
                counts.offered,
                counts.emptied,
                counts.sent,
                counts.link_idle,
            ];
            let grown = |at: usize| now[at] > before[at];
            stretch.is_ring_never_empty |= grown(0) && !grown(1);
            if grown(2) && !grown(3) {
                stretch.is_link_never_idle = true;
                let room = port.on_link(SHORTEST) * port.transmit_room() as u64;
                stretch.room = stretch.room.min(room);
            }
            *before = now;
        }
        stretch.steadiness = self.simulation.router().steadiness();
        stretch
    }
}
