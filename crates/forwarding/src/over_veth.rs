//! A function between virtual Ethernet devices: simulated with what such devices cost here, and
//! measured.
//!
//! What the devices cost is learnt from a graph that does nothing: each call of the router's
//! sockets is timed, and what the same call of a ring in memory takes is taken off, since that is
//! in the costs of elements. What frames that come one by one take beyond all that is learnt from
//! the same graph and charged to each batch: the kernel's work leaves the router's own out of the
//! nearest caches. Nothing is learnt from the function.

use super::comparison::{asked as asked_of, percent};
use super::row::Row;
use super::{live, search};
use std::sync::Arc;
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::Span;
use trammel_cost::machine::Machine;
use trammel_packet::batch::CAPACITY;
use trammel_router::engine::core_clock::Cost;
use trammel_router::simulate::port::Passage;
use trammel_scenario::forwarding::{Bench, Test};
use trammel_workbench::arrivals::Pattern;
use trammel_workbench::bench::{Bench as Workbench, Refused};
use trammel_workbench::device::{Device, Ports};
use trammel_workbench::estimate::{Conditions, Error};
use trammel_workbench::measure::Clock;
use trammel_workbench::paced::UnderLoad;
use trammel_workbench::samples;
use trammel_workbench::traffic::Traffic;
use trammel_workbench::veth;
use trammel_workbench::veth::{NoBed, Ticks, ring_ticks};

/// The graph that does nothing.
const NULL: &str = "FromDevice(in) -> ToDevice(out);";
/// Frames that a ring of AF_XDP holds.
const RING: usize = 1024;
/// Loads by which devices are timed: few frames at a time, and as many as there can be. Frames a
/// second, and frames.
const TIMED: [(f64, f64); 3] = [(2e4, 2e3), (2e5, 2e4), (2e6, 1e5)];
/// How often it is learnt.
const PASSES: usize = 7;
/// The load at which frames come one by one.
const ALONE: (f64, f64) = (2e4, 4e3);
/// About what such devices forward a second, where nothing is known yet.
const ABOUT: f64 = 4e5;

/// What virtual devices cost on this machine.
#[derive(Clone, Debug)]
pub struct Veth {
    /// Cycles of the driver, beyond those of a ring in memory.
    pub receive: Cost,
    /// See `receive`.
    pub transmit: Cost,
    /// See `receive`: of having sent what was handed over.
    pub flush: Cost,
    /// How many times that each flush takes: equally likely values.
    pub flush_spread: Arc<[f64]>,
}

/// A metric of a function between virtual devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Both {
    /// Its name and unit.
    pub metric: String,
    /// See `metric`.
    pub unit: &'static str,
    /// What each engine says.
    pub simulated: Option<f64>,
    /// See `simulated`.
    pub measured: Option<f64>,
}

fn no_bed(no: NoBed) -> Error {
    match no {
        NoBed::Refused(refused) => Error::Refused(refused),
        NoBed::Kernel(error) => Error::Other(error.to_string()),
    }
}

fn other(failure: &Failure) -> Error {
    Error::Other(failure.to_string())
}

/// So many frames a second, and frames.
fn load((pps, frames): (f64, f64)) -> Load {
    Load::new(pps, Span::from_secs_f64(frames / pps)).expect("the load is above 0")
}

fn middle(mut all: Vec<Span>) -> Span {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(Span::ZERO)
}

fn null() -> Result<Workbench, Refused> {
    Workbench::new(NULL, "null", &[], &[samples::plain()])
}

/// What is asked of a function, with so many frames.
fn asked(frames: u64) -> Bench {
    Bench {
        tests: vec![Test::Latency, Test::FrameLoss, Test::Recovery],
        latency_at: vec![0.1, 0.5, 0.9],
        loss_at: vec![0.9, 1.0, 1.1],
        frames,
        resolution: 0.005,
    }
}

impl Veth {
    /// Learns it from the graph that does nothing, with frames of so many bytes.
    pub fn learn(machine: &Machine, frame: usize) -> Result<Veth, Error> {
        let traffic = Traffic {
            frame,
            ..Traffic::default()
        };
        // The machine is at its own pace where it is fastest.
        let batch = |veth: &Veth| veth.flush.of(CAPACITY, 0);
        let mut veth = Veth::by_calls(&traffic)?;
        for _ in 1..PASSES {
            let again = Veth::by_calls(&traffic)?;
            if batch(&again) < batch(&veth) {
                veth = again;
            }
        }
        let load = load(ALONE);
        let bed = veth::bed(&null()?, &traffic, Pattern::Constant, false);
        let (mut bed, _) = bed.map_err(no_bed)?;
        let mut measured = Span::MAX;
        for _ in 0..PASSES {
            let window = bed.offer(&[load]).map_err(|failure| other(&failure))?;
            let passages = window.passages.into_iter();
            measured = measured.min(middle(passages.map(Passage::latency).collect()));
        }
        let mut device = veth.device(&null()?, machine, &traffic)?;
        let (_, passages, _) = device
            .offer_all(&[load])
            .map_err(|failure| other(&failure))?;
        let simulated = middle(passages.into_iter().map(Passage::latency).collect());
        let beyond = measured.saturating_sub(simulated).as_secs_f64();
        veth.receive.call += beyond * machine.clock_hz;
        Ok(veth)
    }

    /// What calls of devices take.
    fn by_calls(traffic: &Traffic) -> Result<Veth, Error> {
        let null = null()?;
        let bed = veth::bed(&null, traffic, Pattern::Constant, true);
        let (mut bed, timing) = bed.map_err(no_bed)?;
        for timed in TIMED {
            bed.offer(&[load(timed)])
                .map_err(|failure| other(&failure))?;
        }
        let ring = ring_ticks(&null, traffic)?;
        Ok(Veth::of(
            &timing.ticks(),
            &ring,
            Clock::measure().cycles_a_tick,
        ))
    }

    fn of(device: &Ticks, ring: &Ticks, cycles: f64) -> Veth {
        let beyond = |device: f64, ring: f64| ((device - ring) * cycles).max(0.0);
        let cost = |device: (f64, f64), ring: (f64, f64), empty: f64| Cost {
            call: beyond(device.0, ring.0),
            packet: beyond(device.1, ring.1),
            byte: 0.0,
            empty,
        };
        Veth {
            receive: cost(
                device.receive,
                ring.receive,
                beyond(device.empty, ring.empty),
            ),
            transmit: cost(device.transmit, ring.transmit, 0.0),
            flush: cost(device.flush, (0.0, 0.0), 0.0),
            flush_spread: device.flush_spread.clone().into(),
        }
    }

    /// `function` as a simulated device with such ports.
    fn device(
        &self,
        function: &Workbench,
        machine: &Machine,
        traffic: &Traffic,
    ) -> Result<Device, Error> {
        let under = Conditions {
            traffic: traffic.clone(),
            ..Conditions::default()
        };
        let ports = Ports {
            rate: f64::INFINITY,
            ring: RING,
            pattern: Pattern::Constant,
            seed: traffic.seed,
        };
        let mut device = Device::new(function, machine, traffic, &under, ports)?;
        device.drive(
            self.receive,
            self.transmit,
            (self.flush, &self.flush_spread),
        );
        Ok(device)
    }

    /// `function` simulated with these devices, and measured.
    pub fn compare(
        &self,
        function: &Workbench,
        traffic: &Traffic,
        machine: &Machine,
        frames: u64,
    ) -> Result<Vec<Both>, Error> {
        let bench = &asked(frames);
        let mut device = self.device(function, machine, traffic)?;
        let sought = search::seek(&mut device, None, bench, ABOUT, f64::INFINITY)?;
        let bed = veth::bed(function, traffic, Pattern::Constant, false);
        let (bed, _) = bed.map_err(no_bed)?;
        let live = live::measure_on(bed, bench, sought.pps)?;
        let most = live.trials.first().map(|row| row.intended / 1e6);
        let mut all = vec![Both {
            metric: "throughput".to_owned(),
            unit: "Mpps",
            simulated: Some(sought.pps / 1e6),
            measured: most,
        }];
        for row in &live.trials {
            let same = |other: &&Row| other.test == row.test && other.share == row.share;
            let Some(simulated) = sought
                .trials
                .iter()
                .find(same)
                .filter(|_| row.share.is_some())
            else {
                continue;
            };
            let share = percent(row.share.unwrap_or_default());
            all.extend(asked_of(row.test).iter().map(|(name, unit, value)| Both {
                metric: format!("{name}_{share}"),
                unit,
                simulated: value(simulated),
                measured: value(row),
            }));
        }
        Ok(all)
    }
}
