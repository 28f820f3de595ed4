//! A plan under way on the simulated router; what it does again and again is done once.
//!
//! A trial of RFC 2544 has some thousand million frames, nearly all of which pass as the ones before did. So a load is
//! offered in *stretches* of some ten thousand frames, whose bytes come again in each. A stretch is *settled* where
//!
//! - no element asked for a random number in it or before it, and no timer is set;
//! - nothing was lost in it nor in the one before, every ring was empty and every link stood still at some time in both, and
//!   no frame took longer than in the one before: what came had gone, so nothing piles up from stretch to stretch; or
//! - as much was lost in four of them, but for what a batch makes, and frames took as long.
//!
//! Then it stands for as many of those that follow as fit, and the rest of the load is simulated. Loads that fill a ring so slowly
//! that neither holds are simulated frame by frame. Without this a load has the same number of frames at the same distances.

use super::super::passages::Seen;
use crate::forwarding::arrivals::{Part, Pattern};
use crate::forwarding::lost;
use crate::forwarding::simulated::SimulatedRouter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::Time;
use trammel_packet::batch::CAPACITY;
use trammel_router::simulate::offer::{Arrivals, Offer};
use trammel_router::simulate::port::Port;
use trammel_router::simulate::{Report, Simulation};

/// Frames of a stretch, about, all flows together.
pub(super) const STRETCH: u64 = 1 << 14;
/// Frames of a stretch at most, where flows take long to come round.
const LONGEST_STRETCH: u64 = 1 << 21;
/// Stretches of a load that are simulated, about.
pub(super) const SIMULATED: u64 = 8;
/// Stretches of which each is as the one before until those that lose frames stand for others: by how many they lose on average
/// is so more exact.
const LOSSY: usize = 4;
/// How long residual frames are waited for.
//= rfc2544 §23
//# d) Wait for two seconds for any residual frames to be received.
const RESIDUE: Time = Time::from_secs(2);
/// By what share the longest latency of overloaded rings may differ from stretch to stretch.
const JITTER: f64 = 1e-3;

/// What one flow offers: loads one after the other, as long as those of the others.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// The port into which it is sent.
    pub(super) from: String,
    /// The frames' bytes without the checksum, taken in turn.
    pub(super) frames: Vec<Vec<u8>>,
    pub(super) pattern: Pattern,
    pub(super) loads: Vec<Load>,
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
    span: Time,
    /// How many whole ones there are.
    count: u64,
}

impl Stretches {
    /// Of the load number `at` of all `flows`, of `stretch` frames or more; none where their frames never come round
    /// together, or too late.
    fn of(flows: &[Flow], at: usize, stretch: u64) -> Option<Stretches> {
        let fps = |flow: &Flow| flow.loads[at].frames_per_second();
        let slowest = flows.iter().map(fps).fold(f64::INFINITY, f64::min);
        let ratios: Vec<f64> = flows.iter().map(|flow| fps(flow) / slowest).collect();
        if ratios
            .iter()
            .any(|ratio| (ratio - ratio.round()).abs() > 1e-9)
        {
            return None;
        }
        let burst = |pattern| match pattern {
            Pattern::Bursts(frames) => u64::from(frames),
            Pattern::Constant | Pattern::Poisson => 1,
        };
        let cycle = |flow: &Flow| lcm(flow.frames.len() as u64, burst(flow.pattern));
        let cycle = flows.iter().map(cycle).fold(1, lcm);
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
            span: Time::from_secs_f64(of_slowest as f64 / slowest),
            count: whole.min().unwrap_or(0),
            frames: of,
        })
    }
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// The instants of a flow's frames, of which some are left out: for each load, so many stretches as `cuts` says by the time
/// it ends.
struct Instants {
    flow: Flow,
    /// Frames of each load, and frames and length of its stretches.
    loads: Vec<(u64, u64, Time)>,
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
        let endless = Load::new(load.frames_per_second(), Time::MAX)?;
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
                return Some(self.start + self.arrivals.next()?);
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

/// What a stretch came to.
#[derive(Debug)]
struct Stretch {
    steadiness: Option<u64>,
    lost: u64,
    /// Frames were there, and at no time none: a ring, a link.
    is_never_empty: bool,
    longest: Vec<Option<u64>>,
}

impl Stretch {
    /// Whether it is as the one before, so that those after it will be.
    fn is_as(&self, before: &Stretch, ports: usize) -> bool {
        if self.steadiness.is_none() || self.steadiness != before.steadiness {
            return false;
        }
        let longer = |share: f64| {
            let pairs = self.longest.iter().zip(&before.longest);
            pairs
                .filter_map(|(now, then)| Some(((*now)? as f64, (*then)? as f64)))
                .any(|(now, then)| now > then * (1.0 + share))
        };
        match (before.lost, self.lost) {
            (0, 0) => !before.is_never_empty && !self.is_never_empty && !longer(0.0),
            (0, _) | (_, 0) => false,
            (then, now) => now.abs_diff(then) <= (CAPACITY * ports) as u64 && !longer(JITTER),
        }
    }
}

/// A plan under way.
pub(super) struct Course<'a> {
    simulation: Simulation,
    flows: &'a [Flow],
    seen: &'a mut [Seen],
    stretches: Vec<Option<Stretches>>,
    cuts: Arc<[AtomicU64]>,
    ports: usize,
    /// After the last stretch: what was lost by then, and each port's counts of empty rings and idle links.
    lost: u64,
    emptied: Vec<[u64; 4]>,
}

impl<'a> Course<'a> {
    /// `flows` on `router`, which is at rest; `seen` take note of what leaves. What is repeated in stretches of so many frames
    /// is left out; nothing where there is no such number.
    pub(super) fn new(
        router: &SimulatedRouter,
        flows: &'a [Flow],
        seen: &'a mut [Seen],
        stretch: Option<u64>,
    ) -> Result<Course<'a>, Failure> {
        let simulation = router.load()?;
        Course::on(simulation, flows, seen, stretch)
    }

    /// The same on a router that is loaded.
    pub(super) fn on(
        simulation: Simulation,
        flows: &'a [Flow],
        seen: &'a mut [Seen],
        stretch: Option<u64>,
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
                let stretch = of.map_or((0, Time::ZERO), |of| (of.frames[number], of.span));
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
            if !simulation.offer(&flow.from, offer.of_flow(number)) {
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
            lost: 0,
        })
    }

    /// To the end, and until what is inside is out.
    pub(super) fn run(mut self) -> Ended {
        let mut start = self.simulation.now();
        let begin = start;
        let (mut offered, mut lost) = (0, 0);
        let mut skips: Vec<(Time, Time)> = Vec::new();
        let mut is_steady = true;
        for at in 0..self.stretches.len() {
            let length = self.flows[0].loads[at].duration();
            let mut cut = (0, Time::ZERO);
            if let Some(of) = self.stretches[at].clone() {
                let mut before: Option<Stretch> = None;
                // What was lost in stretches of which each is as the one before.
                let mut losses: Vec<u64> = Vec::new();
                for number in 1..=of.count {
                    self.simulation.run_until(start + of.span * number);
                    let stretch = self.stretch();
                    is_steady &= stretch.steadiness.is_some();
                    let left = of.count - number;
                    let is_same = |before: &Stretch| stretch.is_as(before, self.ports);
                    if !before.as_ref().is_some_and(is_same) {
                        losses.clear();
                    }
                    losses.push(stretch.lost);
                    let needed = if stretch.lost == 0 { 2 } else { LOSSY };
                    let is_settled = losses.len() >= needed;
                    // One more is simulated, in which frames come as if none had been left out.
                    if is_settled && left > 1 {
                        let times = left - 1;
                        self.cuts[at].store(times, Relaxed);
                        for seen in self.seen.iter_mut() {
                            seen.repeat(times, of.span, &of.frames);
                        }
                        cut = (times, of.span * times);
                        skips.push((start + of.span * number, cut.1));
                        offered += times * of.frames.iter().sum::<u64>();
                        lost += times * losses.iter().sum::<u64>() / losses.len() as u64;
                        break;
                    }
                    before = Some(stretch);
                }
            }
            start += length.saturating_sub(cut.1);
            self.simulation.run_until(start);
            self.stretch();
        }
        self.simulation.run_until(start + RESIDUE);
        self.stretch();
        let report = self.simulation.report();
        let balance = &report.balance;
        let real = |at: Time| {
            let later = skips.iter().filter(|(cut, _)| *cut < at);
            let later = later.fold(Time::ZERO, |sum, (_, skip)| sum + *skip);
            at.saturating_sub(begin) + later
        };
        let counts = || report.ports.iter().map(|(_, counts)| counts);
        Ended {
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
        }
    }

    /// What has happened since the last call.
    fn stretch(&mut self) -> Stretch {
        let report = self.simulation.report();
        let passages: Vec<_> = self.simulation.ports().iter().map(Port::passages).collect();
        for seen in self.seen.iter_mut() {
            seen.take(&passages);
        }
        let lost = lost::of_balance(&report.balance);
        let mut is_never_empty = false;
        for ((_, counts), before) in report.ports.iter().zip(&mut self.emptied) {
            let now = [
                counts.offered,
                counts.emptied,
                counts.sent,
                counts.link_idle,
            ];
            let grown = |at: usize| now[at] > before[at];
            is_never_empty |= (grown(0) && !grown(1)) || (grown(2) && !grown(3));
            *before = now;
        }
        Stretch {
            steadiness: self.simulation.router().steadiness(),
            lost: lost - std::mem::replace(&mut self.lost, lost),
            is_never_empty,
            longest: self.seen.iter().map(Seen::longest).collect(),
        }
    }
}
