//! Several flows at once: services through a router, stations on a switch; and a switch that is
//! taught addresses.
//!
//! A test knows the ports of a switch by the stations that it puts there. Where a router sends
//! what, only its routes say, so on anything but a switch all flows go by the first way in, and out
//! wherever they are sent.
//!
//! Frames of several sizes are each charged the mean of what they cost, weighted by how many of
//! each come.

use super::course::{Course, CourseFlow as Offered, STRETCH};
use super::{RING, Seen, Simulated};
use crate::beds::configuration::failure;
use trammel_bench::ports::{Learned, Learning, PortFlow};
use trammel_bench::testbed::{Observation, Plan, Protocol, Traffic, Unable};
use trammel_bench::trial::Failure;
use trammel_core::time::{Span, Time};
use trammel_router::engine::core_clock::Cost;
use trammel_router::simulate::Simulation;
use trammel_router::simulate::offer::{Offer, constant};
use trammel_router::simulate::port::Port;
use trammel_workbench::arrivals::Pattern;
use trammel_workbench::device::{Device, Ports, weighted};
use trammel_workbench::frames;
use trammel_workbench::samples;
use trammel_workbench::simulated::{SimulatedRouter, run};

/// Classes of elements that learn where stations are.
const SWITCHES: &[&str] = &["EtherSwitch"];
/// Between what is taught or asked and what follows.
const PAUSE: Span = Span::from_ms(1);
/// Addresses that frames are made for, at most.
const MOST_ADDRESSES: u64 = 1 << 20;
/// The ports of RFC 2889 §5.7.
const LEARNING: usize = 0;
const TEST: usize = 1;
const MONITOR: usize = 2;

/// The address of station `number` at a port.
fn station(port: usize, number: u64) -> [u8; 6] {
    let [.., a, b, c] = number.to_be_bytes();
    [2, 0x18, port as u8, a, b, c]
}

/// A plain frame between two stations, `bytes` long with its FCS.
fn frame(
    from: [u8; 6],
    to: [u8; 6],
    (protocol, bytes): (Protocol, u32),
) -> Result<Vec<u8>, Failure> {
    let sample = match protocol {
        Protocol::Ip4 => samples::plain(),
        Protocol::Ip6 => samples::plain6(),
    };
    let mut frame = frames::fit(&sample, bytes as usize)
        .ok_or_else(|| format!("a frame of {bytes} bytes has no room for its headers"))?;
    frame[..6].copy_from_slice(&to);
    frame[6..12].copy_from_slice(&from);
    Ok(frame)
}

fn unable(why: &str) -> Failure {
    Unable(why.to_owned()).into()
}

impl Simulated {
    fn is_switch(&self) -> bool {
        let declared = self.configuration.bench.declared().iter();
        declared
            .into_iter()
            .any(|(_, class)| SWITCHES.contains(&class.as_str()))
    }

    /// The router at rest, as it is offered a mix of traffics.
    fn mixed(&self, traffics: &[(&Traffic, f64)]) -> Result<SimulatedRouter, Failure> {
        let mut whole: Option<SimulatedRouter> = None;
        let all: f64 = traffics.iter().map(|(_, fps)| fps).sum();
        for (traffic, fps) in traffics {
            let offered = self.configuration.offered(traffic)?;
            let rate = self.configuration.rate;
            let under = offered.conditions(rate);
            let ports = Ports {
                rate,
                ring: RING,
                pattern: Pattern::Constant,
                seed: traffic.seed,
            };
            let (bench, frames) = (&offered.bench, &offered.frames);
            let device =
                Device::new(bench, &self.machine, frames, &under, ports).map_err(failure)?;
            let mut router = device.router().clone();
            let weight = fps / all;
            for (name, cost) in &mut router.costs.names {
                let sum = whole.as_ref().and_then(|whole| whole.costs.names.get(name));
                *cost = weighted(sum.copied().unwrap_or(Cost::NONE), cost, weight);
            }
            whole = Some(router);
        }
        whole.ok_or_else(|| unable("there is no flow"))
    }
}

/// Offers all flows at once.
pub(super) fn offer_together(
    bed: &Simulated,
    flows: &[PortFlow],
) -> Result<Vec<Observation>, Failure> {
    let Some(first) = flows.first() else {
        return Ok(Vec::new());
    };
    let length = first.load.duration();
    if flows.iter().any(|flow| flow.load.duration() != length) {
        return Err(unable(
            "in virtual time, flows that are offered together have the same duration",
        ));
    }
    let is_switch = bed.is_switch();
    if !is_switch && flows.iter().any(|flow| (flow.from, flow.to) != (0, 1)) {
        return Err(unable(
            "the output of a frame is known only for switches (`EtherSwitch`), not for routers",
        ));
    }
    let bench = &bed.configuration.bench;
    let (ways_in, ways_out) = (bench.inlets(), bench.outlets());
    let most = flows.iter().map(|flow| flow.from.max(flow.to)).max();
    let needed = most.unwrap_or(0) as usize + 1;
    if is_switch && (ways_in.len() < needed || ways_out.len() < needed) {
        return Err(unable(&format!(
            "the test needs {needed} ports, and this switch has {} ways in and {} ways out",
            ways_in.len(),
            ways_out.len()
        )));
    }
    let mix: Vec<_> = flows
        .iter()
        .map(|flow| (&flow.traffic, flow.load.frames_per_second()))
        .collect();
    let router = bed.mixed(&mix)?;
    if flows.iter().any(|flow| flow.traffic.modifier.is_some()) {
        return Err(unable(
            "in virtual time, flows that are offered together have no modifiers",
        ));
    }
    let like = |flow: &PortFlow| (flow.traffic.protocol, flow.traffic.sizes.least());
    let mut offered = Vec::new();
    for flow in flows {
        let (from, to) = (flow.from as usize, flow.to as usize);
        let made = if is_switch {
            let sizes = flow.traffic.sizes.bytes().iter();
            let like = sizes.map(|bytes| (flow.traffic.protocol, *bytes));
            let made = like.map(|like| frame(station(from, 0), station(to, 0), like));
            made.collect::<Result<_, _>>()?
        } else {
            let offered = bed.configuration.offered(&flow.traffic)?;
            let made = offered
                .bench
                .frames(bench.active()[0], &offered.frames, 1 << 13);
            made.map_err(|refused| failure(refused.into()))?
        };
        offered.push(Offered {
            from: ways_in[if is_switch { from } else { bench.active()[0] }].to_owned(),
            frames: made,
            beside: None,
            pattern: Pattern::Constant,
            loads: vec![flow.load],
        });
    }
    let mut simulation = router.load()?;
    if is_switch {
        // Each station says where it is. Ports that are open do not end with what was given to
        // them.
        let inward = &simulation.ports()[..ways_in.len()];
        inward.iter().for_each(Port::open);
        for port in 0..needed {
            let hello = frame(station(port, 0), [0xff; 6], like(first))?;
            simulation.ports()[port].give(Time::from_us(1 + port as u64), hello);
        }
        simulation.run_until(Time::ZERO + PAUSE);
    }
    // Ways out come after the ways in among the ports, but for those that are both.
    let place = |name: &str| {
        simulation
            .ports()
            .iter()
            .position(|port| port.name() == name)
    };
    let out = |flow: &PortFlow| place(ways_out[flow.to as usize]).filter(|_| is_switch);
    let mut seen: Vec<Seen> = (0..)
        .zip(flows)
        .map(|(number, flow)| {
            let plan = Plan::of(&[flow.load]);
            Seen::of_flow(number, if is_switch { out(flow) } else { None }, &plan)
        })
        .collect();
    let interrupted = &bed.configuration.interrupted;
    Course::on(simulation, &offered, &mut seen, Some(STRETCH), interrupted)?.run()?;
    let each = seen.into_iter().zip(flows);
    Ok(each
        .map(|(seen, flow)| {
            let offered = flow.load.frames().round() as u64;
            let forwarded = seen.forwarded().min(offered);
            let missing = seen.last_missing();
            Observation {
                last_lost: missing,
                ..seen.observation(offered, forwarded, length)
            }
        })
        .collect())
}

/// Teaches a switch addresses and asks for them.
pub(super) fn learn(
    bed: &Simulated,
    traffic: &Traffic,
    learning: &Learning,
) -> Result<Learned, Failure> {
    let bench = &bed.configuration.bench;
    let ports = bench.inlets().len().min(bench.outlets().len());
    if !bed.is_switch() || ports <= MONITOR {
        return Err(unable(
            "addresses are learned by switches (`EtherSwitch`) of three ports or more",
        ));
    }
    let count = learning.addresses;
    if count > MOST_ADDRESSES {
        return Err(unable(&format!(
            "in virtual time at most {MOST_ADDRESSES} addresses are taught"
        )));
    }
    let mut simulation = bed.mixed(&[(traffic, 1.0)])?.load()?;
    let ways_out = bench.outlets();
    let opened = |name: &str| {
        simulation
            .ports()
            .iter()
            .find(|port| port.name() == name)
            .cloned()
    };
    let out: Vec<Port> = ways_out.iter().filter_map(|name| opened(name)).collect();
    simulation.ports().iter().for_each(Port::open);
    let size = (traffic.protocol, traffic.sizes.least());
    let (tester, others) = (station(TEST, 0), |number| station(LEARNING, number + 1));
    let taught = (0..count).map(|number| frame(others(number), tester, size));
    let asked = (0..count).map(|number| frame(tester, others(number), size));
    offer(
        &simulation,
        bench.inlets()[LEARNING],
        taught,
        learning.learning_fps,
    )?;
    // The table's own age begins anew with each simulation, so nothing is known before.
    let end = Time::ZERO + span(count, learning.learning_fps);
    let interrupted = &bed.configuration.interrupted;
    run(&mut simulation, end, interrupted)?;
    for port in &out {
        port.departures();
    }
    offer(&simulation, bench.inlets()[TEST], asked, learning.test_fps)?;
    let asked_by = end + span(count, learning.test_fps);
    run(&mut simulation, asked_by, interrupted)?;
    let came = |at: usize| out[at].departures().len() as u64;
    Ok(Learned {
        offered: count,
        forwarded: came(LEARNING),
        flooded_test: came(TEST),
        flooded_learning: 0,
        flooded_monitor: came(MONITOR),
    })
}

/// How long so many frames and a pause take.
fn span(count: u64, fps: f64) -> Span {
    Span::from_secs_f64(count as f64 / fps) + PAUSE
}

/// Frames from now on.
fn offer(
    simulation: &Simulation,
    port: &str,
    frames: impl Iterator<Item = Result<Vec<u8>, Failure>>,
    fps: f64,
) -> Result<(), Failure> {
    let frames: Vec<Vec<u8>> = frames.collect::<Result<_, _>>()?;
    let count = frames.len();
    let arrivals = constant(fps, simulation.now(), Time::MAX)
        .ok_or_else(|| format!("{fps} frames/s cannot be offered"))?;
    let offer =
        Offer::new(frames, Box::new(arrivals.take(count))).ok_or("there is no address to teach")?;
    simulation.offer(port, offer);
    Ok(())
}
