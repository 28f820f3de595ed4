//! Devices whose truth is known: what the tests of this crate find must be what these are made to
//! do.

use crate::frames::{GAP_AND_PREAMBLE, Sizes};
use crate::ports::{Learned, Learning, PortFlow};
use crate::procedures::{Bench, Entry, Search};
use crate::testbed::{Observation, Outage, Plan, Testbed, Traffic, Unable, Variation};
use crate::transfer::{Across, File, Protocol as Carrier, Transferred};
use crate::trial::{Failure, Load, TrialOutcome};
use std::collections::VecDeque;
use trammel_core::entry::{Params, Value};
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;
use trammel_stats::table::Table;

/// What the line carries of the smallest frames: a rate at which tests are short.
pub(crate) const LINE_FPS: f64 = 10_000.0;
const LINE_BPS: f64 = LINE_FPS * 8.0 * (64.0 + GAP_AND_PREAMBLE);

/// Even frames of a size.
pub(crate) fn traffic(bytes: u32) -> Traffic {
    Traffic::of(Sizes::of(bytes).unwrap())
}

/// A search that is soon over.
pub(crate) fn search() -> Search {
    Search {
        width: 0.002,
        ..Search::binary(Span::from_secs(1))
    }
}

fn settings(entry: &Entry, given: &[(&str, &str)]) -> Params {
    let text =
        |(name, value): &(&str, &str)| ((*name).to_owned(), Value::Text((*value).to_owned()));
    let given: Vec<_> = given.iter().map(text).collect();
    Params::resolve(&entry.about, &given).unwrap()
}

/// The table of a test.
pub(crate) fn made(
    entry: &'static Entry,
    given: &[(&str, &str)],
    bed: &mut dyn Testbed,
    traffics: &[Traffic],
    search: Search,
) -> Table {
    let mut bench = Bench::new(bed, traffics.to_vec(), search);
    bench.run(entry, &settings(entry, given)).unwrap()
}

/// What a test says that has no result.
pub(crate) fn refused(
    entry: &'static Entry,
    given: &[(&str, &str)],
    bed: &mut dyn Testbed,
) -> String {
    let mut bench = Bench::new(bed, vec![traffic(64)], search());
    let error = bench.run(entry, &settings(entry, given)).unwrap_err();
    error.to_string()
}

/// A buffer before a processor, frame by frame.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    /// Frames that the processor does a second.
    pub(crate) capacity_fps: f64,
    /// Frames that wait for it, besides the one that it is at.
    pub(crate) buffer: usize,
    /// What every frame takes besides its wait.
    pub(crate) delay: Span,
    /// What every second frame takes besides.
    pub(crate) slower: Span,
    /// What the first frame takes besides.
    pub(crate) first: Span,
    /// It forwards nothing at all, whatever its processor does.
    pub(crate) is_deaf: bool,
    /// For how long it loses each second frame after an overload.
    pub(crate) hangover: Span,
    /// Above so many frames a second it does this share of what it could.
    pub(crate) collapse: Option<(f64, f64)>,
    /// For how long a reset keeps it from forwarding.
    pub(crate) outage: Span,
    /// The resets that it knows.
    pub(crate) resets: &'static [&'static str],
    /// The tester tags frames.
    pub(crate) tags: bool,
    /// The tester measures how delays vary.
    pub(crate) varies: bool,
}

impl Device {
    /// Without a delay, and one frame waits: so that under overload the processor never does.
    pub(crate) fn of_capacity(capacity_fps: f64) -> Device {
        Device {
            capacity_fps,
            buffer: 1,
            delay: Span::ZERO,
            slower: Span::ZERO,
            first: Span::ZERO,
            is_deaf: false,
            hangover: Span::ZERO,
            collapse: None,
            outage: Span::ZERO,
            resets: &[],
            tags: true,
            varies: true,
        }
    }

    /// Frames that it does a second under `load`.
    fn capacity(&self, load: Load) -> f64 {
        match self.collapse {
            Some((above, share)) if load.frames_per_second() > above => share * self.capacity_fps,
            _ => self.capacity_fps,
        }
    }
}

impl Testbed for Device {
    fn label(&self) -> Label {
        Label::Modelled
    }

    fn device(&self) -> String {
        "a device of known truth".to_owned()
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        traffic.sizes.line_fps(LINE_BPS)
    }

    fn resets(&self) -> Vec<String> {
        self.resets.iter().map(|&name| name.to_owned()).collect()
    }

    fn offer(&mut self, _traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        let mut seen = Seen::of(plan);
        // When the frames leave the processor that are in it or wait for it.
        let mut leaving = VecDeque::new();
        let (mut begin, mut free, mut number) = (Time::ZERO, Time::ZERO, 0_u64);
        let mut overloaded_until: Option<Time> = None;
        for load in &plan.loads {
            let gap_s = 1.0 / load.frames_per_second();
            let capacity = self.capacity(*load);
            let service = Span::from_secs_f64(1.0 / capacity);
            for frame in 0..load.frames().round() as u64 {
                let due = begin + Span::from_secs_f64(frame as f64 * gap_s);
                while leaving.front().is_some_and(|at| *at <= due) {
                    leaving.pop_front();
                }
                let is_down = plan.reset.as_ref().is_some_and(|reset| {
                    reset.at <= due && due.saturating_since(reset.at) < self.outage
                });
                let is_hung = overloaded_until
                    .is_some_and(|until| due.saturating_since(until) < self.hangover);
                let is_full = leaving.len() > self.buffer;
                if self.is_deaf || is_down || is_full || (is_hung && number % 2 == 1) {
                    seen.lose(due);
                } else {
                    let begun = free.max(due);
                    free = begun + service;
                    leaving.push_back(free);
                    let mut latency = begun - due + self.delay;
                    if number % 2 == 1 {
                        latency += self.slower;
                    }
                    if number == 0 {
                        latency += self.first;
                    }
                    seen.come(due, latency, free);
                }
                number += 1;
            }
            begin += load.duration();
            overloaded_until = (load.frames_per_second() > self.capacity_fps).then_some(begin);
        }
        Ok(seen.finish(self, plan, number))
    }

    /// All flows go from the first port to the second and share the processor evenly.
    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        let fps: f64 = flows.iter().map(|f| f.load.frames_per_second()).sum();
        let share = (self.capacity_fps / fps).min(1.0);
        let of = |flow: &PortFlow| passed(flow.load, 1.0, share, self.delay);
        Ok(flows.iter().map(of).collect())
    }
}

/// What is seen of a plan, frame by frame.
#[derive(Debug)]
struct Seen {
    latency: Histogram,
    variation: Variation,
    /// Of the frame before.
    last_latency: Option<Span>,
    /// Of the frames from which tagged ones are taken.
    latest: Vec<Span>,
    tag_from: Time,
    /// When frames left the processor.
    left: Vec<Time>,
    last_lost: Option<Time>,
    last_out: Option<Time>,
    lost_since: u64,
    outage: Option<Outage>,
    last_due: Time,
}

impl Seen {
    fn of(plan: &Plan) -> Seen {
        Seen {
            latency: Histogram::of_times(),
            variation: Variation {
                less: Histogram::of_times(),
                more: Histogram::of_times(),
            },
            last_latency: None,
            latest: Vec::new(),
            tag_from: plan.tags.map_or(Time::MAX, |tags| tags.from),
            left: Vec::new(),
            last_lost: None,
            last_out: None,
            lost_since: 0,
            outage: None,
            last_due: Time::ZERO,
        }
    }

    fn lose(&mut self, due: Time) {
        self.last_lost = Some(due);
        self.last_due = due;
        self.last_latency = None;
        self.lost_since += 1;
    }

    fn come(&mut self, due: Time, latency: Span, left: Time) {
        self.last_due = due;
        self.latency.record_time(latency);
        if due >= self.tag_from {
            self.latest.push(latency);
        }
        if let Some(before) = self.last_latency.replace(latency) {
            let Variation { less, more } = &mut self.variation;
            let side = if latency < before { less } else { more };
            side.record_time(latency.max(before) - latency.min(before));
        }
        self.left.push(left);
        let (to, lost) = (due + latency, std::mem::take(&mut self.lost_since));
        let from = self.last_out.replace(to).unwrap_or_default();
        let is_longest =
            |known: Outage| to.saturating_since(from) > known.to.saturating_since(known.from);
        if lost > 0 && self.outage.is_none_or(is_longest) {
            self.outage = Some(Outage { from, to, lost });
        }
    }

    fn finish(self, of: &Device, plan: &Plan, offered: u64) -> Observation {
        let tagged = plan.tags.filter(|_| of.tags).map_or(Vec::new(), |tags| {
            let step = (self.latest.len() / tags.frames as usize).max(1);
            let picked = self.latest.iter().step_by(step);
            picked.take(tags.frames as usize).copied().collect()
        });
        let after = self.left.iter().filter(|at| **at > self.last_due).count();
        let outcome = TrialOutcome {
            offered,
            forwarded: self.left.len() as u64,
            effective: plan.duration(),
            bunched: 0,
            latency: Some(self.latency),
        };
        Observation {
            last_lost: self.last_lost,
            outage: self.outage,
            variation: Some(self.variation).filter(|_| of.varies),
            tagged,
            came_after: Some(after as u64),
            ..Observation::of(outcome)
        }
    }
}

/// A share of a load is offered, and of that a share forwarded.
fn passed(load: Load, offered: f64, forwarded: f64, delay: Span) -> Observation {
    let offered = (load.frames() * offered).round();
    let mut latency = Histogram::of_times();
    latency.record_time(delay);
    Observation::of(TrialOutcome {
        offered: offered as u64,
        forwarded: (offered * forwarded).round() as u64,
        effective: load.duration(),
        bunched: 0,
        latency: Some(latency),
    })
}

/// A testbed that does no more than it must: a wire without a delay.
#[derive(Debug)]
pub(crate) struct Wire;

impl Testbed for Wire {
    fn label(&self) -> Label {
        Label::Modelled
    }

    fn device(&self) -> String {
        "a wire".to_owned()
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        traffic.sizes.line_fps(LINE_BPS)
    }

    fn offer(&mut self, _traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        let offered = plan.frames().round() as u64;
        Ok(Observation::of(TrialOutcome {
            offered,
            forwarded: offered,
            effective: plan.duration(),
            bunched: 0,
            latency: None,
        }))
    }
}

/// Hosts at both ends of a wire: the n-th transfer through the device takes n seconds, one without
/// it half a second.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// What was asked for.
    pub(crate) asked: Vec<File>,
}

impl Testbed for Hosts {
    fn label(&self) -> Label {
        Wire.label()
    }

    fn device(&self) -> String {
        Wire.device()
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        Wire.line_fps(traffic)
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        Wire.offer(traffic, plan)
    }

    fn carries_files(&self, _: &Carrier) -> Result<(), Unable> {
        Ok(())
    }

    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        self.asked.push(file.clone());
        let of = |across| self.asked.iter().filter(move |one| one.across == across);
        let time = match file.across {
            Across::Device => Span::from_secs(of(Across::Device).count() as u64),
            Across::Wire => Span::from_ms(500),
        };
        Ok(Transferred {
            time,
            retransmissions: 2,
            hosts: format!("{} at both ends", file.protocol.name()),
        })
    }
}

/// A switch of four ports.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    /// A sender waits until its next frame can go.
    pub(crate) blocks: bool,
    /// Senders are kept back where frames would be lost.
    pub(crate) keeps_back: bool,
    /// Addresses that it keeps.
    pub(crate) addresses: u64,
    /// Addresses that it learns a second.
    pub(crate) learns_fps: f64,
}

impl Default for Switch {
    fn default() -> Switch {
        Switch {
            blocks: false,
            keeps_back: false,
            addresses: u64::MAX,
            learns_fps: f64::INFINITY,
        }
    }
}

impl Testbed for Switch {
    fn label(&self) -> Label {
        Label::Modelled
    }

    fn device(&self) -> String {
        "a switch of known truth".to_owned()
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        Wire.line_fps(traffic)
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        Wire.offer(traffic, plan)
    }

    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        let shares = flows.iter().map(|flow| {
            let demand = flows.iter().filter(|other| other.to == flow.to);
            let fps: f64 = demand.map(|other| other.load.frames_per_second()).sum();
            (self.line_fps(&flow.traffic) / fps).min(1.0)
        });
        let shares: Vec<f64> = shares.collect();
        let of = |(at, flow): (usize, &PortFlow)| {
            let mut forwarded = shares[at];
            if self.blocks {
                let same = flows
                    .iter()
                    .zip(&shares)
                    .filter(|(other, _)| other.from == flow.from);
                forwarded = same.map(|(_, share)| *share).fold(1.0, f64::min);
            }
            if self.keeps_back {
                return passed(flow.load, forwarded, 1.0, Span::ZERO);
            }
            passed(flow.load, 1.0, forwarded, Span::ZERO)
        };
        Ok(flows.iter().enumerate().map(of).collect())
    }

    fn learn(&mut self, _traffic: &Traffic, learning: &Learning) -> Result<Learned, Failure> {
        let in_time =
            learning.addresses as f64 * (self.learns_fps / learning.learning_fps).min(1.0);
        let known = self.addresses.min(in_time as u64);
        Ok(Learned {
            offered: learning.addresses,
            forwarded: learning.addresses,
            flooded_monitor: learning.addresses.saturating_sub(known),
            ..Learned::default()
        })
    }
}
