//! A function as a simulated device under test: what its elements cost, its ports, and what counts
//! as lost.
//!
//! Costs are those of the estimate, split into what a call costs and what a packet costs: the
//! function is estimated twice, with the batches of the sampled run and as if a packet took no
//! share of a call. So the estimate and the simulation part only where batches, rings, queues and
//! links make a difference.

use crate::arrivals::Pattern;
use crate::bench::{Bench, Refused};
use crate::estimate::{Conditions, Error, Sampled, Subject};
use crate::lost;
use crate::simulated::{SimulatedRouter, Stream};
use crate::traffic::{PER_BROADCAST, Traffic};
use std::sync::Arc;
use trammel_bench::trial::{Failure, Load, Trial, TrialOutcome};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_cost::estimate::{Row, estimate};
use trammel_cost::expr::Values;
use trammel_cost::function::Function;
use trammel_cost::machine::Machine;
use trammel_router::MemoryHost;
use trammel_router::engine::core_clock::Cost;
use trammel_router::simulate::Report;
use trammel_router::simulate::costs::Costs;
use trammel_router::simulate::port::{Counts, Passage, Settings};

/// Frames of a stream that are made: enough to vary, few enough to be copied for every trial.
const MOST_FRAMES: usize = 8192;
/// Links that do not limit: the simulated ports' rate where the scenario gives none.
/// So fast that a frame takes no picosecond, since rings in memory have no link at all.
const NO_LINK: Rate = Rate::from_bps(u64::MAX);
/// Bytes of a frame on the link besides those in memory: checksum, preamble and gap.
const LINK_OVERHEAD: u64 = 24;
/// Frames that the driver gives at a time: the router's batch.
const BATCH: usize = trammel_packet::batch::CAPACITY;

/// What the device is like besides the function.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// Bits a second of each; infinite where links do not limit.
    pub rate: f64,
    /// Frames of a ring.
    pub ring: usize,
    /// How frames come.
    pub pattern: Pattern,
    /// The seed of random numbers.
    pub seed: u64,
}

/// A simulated device.
#[derive(Clone, Debug)]
pub struct Device(SimulatedRouter);

/// What pacing and stamping cost each way on this machine, where it is known: what latency is
/// measured with on rings in memory, which the simulated rings then cost as well.
fn pace(machine: &Machine) -> Option<Cost> {
    let pace = machine.constants.get("pace")?;
    let half = |name: &str| Some(pace.get(name)? / 2.0);
    Some(Cost {
        call: half("call")?,
        packet: half("packet")?,
        ..Cost::NONE
    })
}

impl Device {
    /// The same with the cost of measuring latency in memory; none where that is not known, or
    /// where ports have links.
    pub fn stamped(&self, machine: &Machine) -> Option<Device> {
        let cost = pace(machine)?;
        let mut stamped = self.clone();
        for port in &mut stamped.0.ports {
            if port.rate != NO_LINK {
                return None;
            }
            (port.receive, port.transmit) = (cost, cost);
        }
        Some(stamped)
    }

    /// Has its ports cost what these drivers do, besides what elements cost: receiving, handing
    /// over, and having sent, which takes a multiple of that: see [`Settings::flush_spread`].
    pub fn drive(&mut self, receive: Cost, transmit: Cost, flush: (Cost, &Arc<[f64]>)) {
        for port in &mut self.0.ports {
            (port.receive, port.transmit) = (receive, transmit);
            (port.flush, port.flush_spread) = (flush.0, flush.1.clone());
            port.gathers = true;
        }
    }

    /// `bench` on `machine`, offered frames of `traffic`.
    pub fn new(
        bench: &Bench,
        machine: &Machine,
        traffic: &Traffic,
        under: &Conditions,
        ports: Ports,
    ) -> Result<Device, Error> {
        let costs = mean_costs(bench, machine, traffic, under)?;
        let rate = if ports.rate.is_finite() {
            Rate::from_bps(ports.rate as u64)
        } else {
            NO_LINK
        };
        let port = |name: &&str| Settings {
            receive_ring: ports.ring,
            transmit_ring: ports.ring,
            batch: BATCH,
            // The driver's cycles are in the costs of FromDevice and ToDevice.
            ..Settings::ideal(name, rate)
        };
        let (ways_in, active) = (bench.inlets(), bench.active());
        let share = 1.0 / active.len().max(1) as f64;
        let stream = |at: &usize| -> Result<Stream, Refused> {
            Ok(Stream {
                from: ways_in[*at].to_owned(),
                share,
                frames: bench.frames(*at, traffic, MOST_FRAMES)?,
                beside: traffic.broadcasts.then_some(PER_BROADCAST),
                pattern: ports.pattern,
            })
        };
        let streams = active.iter().map(stream).collect::<Result<_, _>>()?;
        Ok(Device(SimulatedRouter {
            config: bench.text().to_owned(),
            name: bench.name.clone(),
            hz: machine.clock_hz,
            costs,
            look_cycles: 0.0,
            ports: ways_in.iter().chain(&bench.outlets()).map(port).collect(),
            streams,
            files: MemoryHost::new(),
            seed: ports.seed,
            last: None,
            interrupted: Arc::default(),
        }))
    }

    /// The router and its ports.
    pub fn router(&self) -> &SimulatedRouter {
        &self.0
    }

    /// What the last trial came to.
    fn last(&self) -> Option<&Report> {
        self.0.last.as_ref()
    }

    /// Cycles that the core worked on a frame in the last trial.
    pub fn cycles(&self) -> f64 {
        self.last().map_or(0.0, |report| {
            let frames: u64 = report.ports.iter().map(|(_, counts)| counts.received).sum();
            report.busy().as_secs_f64() * self.0.hz / frames.max(1) as f64
        })
    }

    /// Whether a link was in use all the time of the last trial, but for the share `idle`: where
    /// frames came in or, since functions make frames longer, where they went out.
    pub fn fills_a_link(&self, idle: f64) -> bool {
        let occupied = self.occupied().as_secs_f64();
        let Some(report) = self.last().filter(|_| occupied > 0.0) else {
            return false;
        };
        let ports = self.0.ports.iter().zip(&report.ports);
        let of = |(settings, (_, counts)): (&Settings, &(String, Counts))| {
            let stream = self.0.streams.iter().find(|s| s.from == settings.name);
            let frame = stream.map_or(0, |stream| stream.frames[0].len());
            let bytes = (counts.offered * frame as u64).max(counts.sent_bytes);
            let frames = counts.offered.max(counts.sent);
            (bytes + frames * LINK_OVERHEAD) as f64 * 8.0 / settings.rate.as_bps() as f64
        };
        ports.map(of).any(|busy| busy >= (1.0 - idle) * occupied)
    }

    /// Frames that may be under way where nothing queues up: a batch that is worked on, one that
    /// has come meanwhile, and as much on the way out, at each port.
    pub fn under_way(&self) -> usize {
        4 * BATCH * self.0.streams.len()
    }

    /// How long the last trial kept the device occupied: until its last frame was out, and at least
    /// as long as the core had work. Longer than the sending took where rings and queues filled
    /// meanwhile.
    pub fn occupied(&self) -> Span {
        self.last().map_or(Span::ZERO, |report| {
            let last_sent = report.ports.iter().map(|(_, counts)| counts.last_sent);
            let sending = last_sent.max().unwrap_or(Time::ZERO).since_start();
            sending.max(report.busy())
        })
    }
}

impl Device {
    /// Offers `loads` one after the other: the outcome, when each frame came and left, and when a
    /// receive ring was full last.
    pub fn offer_all(
        &mut self,
        loads: &[Load],
    ) -> Result<(TrialOutcome, Vec<Passage>, Option<Time>), Failure> {
        let (outcome, passages) = self.0.offer_all(loads, true)?;
        Ok((self.judged(outcome), passages, self.last_lost()))
    }

    /// When a receive ring was full last in the last trial.
    fn last_lost(&self) -> Option<Time> {
        let ports = self.last().into_iter().flat_map(|report| &report.ports);
        ports.filter_map(|(_, counts)| counts.last_lost).max()
    }

    /// A function may copy packets, answer some and end others: what it did with them is no loss.
    fn judged(&self, outcome: TrialOutcome) -> TrialOutcome {
        let lost = self.last().map_or(0, |report| {
            lost::of_balance(&report.balance) + lost::waiting(&report.balance)
        });
        TrialOutcome {
            forwarded: outcome.offered.saturating_sub(lost),
            ..outcome
        }
    }
}

impl Trial for Device {
    fn run(&mut self, load: Load) -> Result<TrialOutcome, Failure> {
        let outcome = self.0.run(load)?;
        Ok(self.judged(outcome))
    }
}

/// What each element costs a frame of `traffic` in the mean over its sizes.
fn mean_costs(
    bench: &Bench,
    machine: &Machine,
    traffic: &Traffic,
    under: &Conditions,
) -> Result<Costs, Error> {
    let mut mean = Costs::default();
    for (size, share) in traffic.shares() {
        for (name, cost) in costs(bench, machine, &traffic.of_size(size), under)?.names {
            let sum = mean.names.entry(name).or_insert(Cost::NONE);
            *sum = weighted(*sum, &cost, share);
        }
    }
    Ok(mean)
}

/// `sum` and a share of `cost`.
pub fn weighted(sum: Cost, cost: &Cost, share: f64) -> Cost {
    Cost {
        call: sum.call + share * cost.call,
        packet: sum.packet + share * cost.packet,
        byte: sum.byte + share * cost.byte,
        empty: sum.empty + share * cost.empty,
    }
}

/// What each element costs, from what the estimate says of it.
fn costs(
    bench: &Bench,
    machine: &Machine,
    traffic: &Traffic,
    under: &Conditions,
) -> Result<Costs, Error> {
    let subject = Subject::Configuration(Box::new(bench.clone()));
    let load = subject.load(traffic.frame as f64, under);
    let sampled = Sampled::of(bench, traffic)?;
    let rows = |function: &Function| {
        let estimate = estimate(function, machine, &load);
        let estimate =
            estimate.map_err(|error| Error::Other(format!("{}: {error}", bench.name)))?;
        Ok::<_, Error>(estimate.rows)
    };
    let function = |values: &Values| sampled.cost(&bench.name, values).function;
    let full = function(&load.values);
    let mut values = load.values.clone();
    values.insert("calls".to_owned(), 0.0);
    let mut bare = function(&values);
    for step in &mut bare.steps {
        // The router's own call is the first operation of every element.
        if let Some(handed) = step.operations.first_mut() {
            handed.args = vec![0.0.into()];
        }
    }
    let poll = machine.constants.get("poll");
    let poll = poll.and_then(|poll| poll.get("empty")).copied();
    let mut costs = Costs::default();
    for ((step, row), bare) in full.steps.iter().zip(rows(&full)?).zip(rows(&bare)?) {
        let visit = |row: &Row| (row.core + row.memory.centre) / row.visits;
        let handed = step.operations.first();
        let calls = handed.and_then(|handed| handed.args.first()?.number());
        let call = match calls {
            Some(calls) if calls > 0.0 => ((visit(&row) - visit(&bare)) / calls).max(0.0),
            _ => 0.0,
        };
        // What a call takes is never so much that nothing is left for its packets.
        let packet = visit(&bare).max(0.0);
        let asks = step
            .operations
            .iter()
            .any(|one| one.eo.about.name == "driver");
        let cost = Cost {
            call: calls.map_or(call, |calls| {
                ((visit(&row) - packet) / calls.max(f64::MIN_POSITIVE)).max(0.0)
            }),
            packet,
            byte: 0.0,
            // Of machines on which polls were not measured: a call that finds nothing is a call all
            // the same.
            empty: poll.filter(|_| asks).unwrap_or(call),
        };
        costs.names.insert(row.name, cost);
    }
    Ok(costs)
}
