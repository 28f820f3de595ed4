//! From a scenario and a seed to the simulator's network: links, routes, flows, workloads and streams.
//!
//! Every random thing draws from a stream of its own, told apart by its name, so that a flow more or less
//! leaves the losses of the others where they were.

mod flow_of;
mod graph;
mod line;
mod path;
mod stream_of;
mod wireless;
mod workload_of;

pub(crate) use flow_of::{Described, describe};
pub(super) use flow_of::{rmem_max, with_buffers};
pub(crate) use line::{BACK_QUEUE_PKTS, schedule};
pub(crate) use path::{ACCESS_QUEUE_PKTS, base_delay};

use trammel_core::schedule::{DeliverySchedule, RateSchedule};
use trammel_core::time::Time;
use trammel_core::units::Rate;
use trammel_netsim::ids::LinkId;
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::Line;
use trammel_scenario::topology::Topology;

/// A network that is ready to run, and what its parts are called.
#[derive(Debug)]
pub struct Built {
    /// The network.
    pub network: Network,
    /// Its flows, in the order of the scenario; a flow's place is its index in the network.
    pub flows: Vec<BuiltFlow>,
    /// Its links that have a rate.
    pub links: Vec<BuiltLink>,
    /// Its workloads, in the order of the scenario; a workload's place is its index in the network.
    pub workloads: Vec<BuiltWorkload>,
    /// Its streams, in the order of the scenario.
    pub streams: Vec<String>,
}

/// A flow in the network.
#[derive(Clone, Debug)]
pub struct BuiltFlow {
    /// Its name.
    pub name: String,
    /// Its variant's proper name.
    pub variant: String,
    /// When it starts.
    pub start: Time,
    /// When it stops to send, at the latest.
    pub stop: Time,
    /// Its unloaded round trip.
    pub rtt: Time,
    /// Payload bytes of a full segment.
    pub payload_bytes: u32,
    /// Bytes of headers of a segment, up to IP.
    pub header_bytes: u32,
    /// Bytes that links count beyond the IP packet.
    pub overhead_bytes: u32,
}

/// A workload in the network.
#[derive(Clone, Debug)]
pub struct BuiltWorkload {
    /// Its name.
    pub name: String,
    /// Its variant's proper name.
    pub variant: String,
    /// Whether its completions are results: not for cross traffic, nor for bursts, which complete nothing.
    pub is_measured: bool,
}

/// A link in the network.
#[derive(Clone, Debug)]
pub struct BuiltLink {
    /// Its index in the network.
    pub index: LinkId,
    /// Its name; the way back has `:back` added.
    pub name: String,
    /// Its rate, or the mean of its delivery opportunities.
    pub rate: Rate,
    /// Changes of its rate.
    pub schedule: Option<RateSchedule>,
    /// Whether it is the data direction of a bottleneck, to be shown first.
    pub is_forward: bool,
    /// Bytes that its token bucket holds; nothing where packets take their time on a wire.
    pub burst_bytes: Option<u64>,
    /// Delivery opportunities of a packet each, in place of a rate.
    pub deliveries: Option<DeliverySchedule>,
    /// Whether it is a direction of a medium that contends for each frame.
    pub is_medium: bool,
}

impl BuiltLink {
    /// Bits that the link can carry between two instants.
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        let Some(schedule) = &self.schedule else {
            return self.rate.as_bps() as f64 * to.saturating_sub(from).as_secs_f64();
        };
        let (mut at, mut bits) = (from, 0.0);
        while at < to {
            let next = schedule
                .next_change(at)
                .map_or(to, |(time, _)| time.min(to));
            bits += schedule.at(at).as_bps() as f64 * (next - at).as_secs_f64();
            at = next;
        }
        bits
    }
}

/// Links of a flow, workload or stream, there and back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    pub(crate) forward: Vec<LinkId>,
    pub(crate) backward: Vec<LinkId>,
    pub(crate) rtt: Time,
    pub(crate) mtu: u32,
    pub(crate) overhead_bytes: u32,
}

/// The links of a scenario, and the ways of its traffic over them.
#[derive(Debug, Default)]
struct Laid {
    links: Vec<BuiltLink>,
    flows: Vec<Ways>,
    workloads: Vec<Ways>,
    streams: Vec<Ways>,
}

/// Builds `scenario` for one run with `seed`; flows are traced at `pace`.
pub fn network_of(scenario: &Scenario, seed: u64, pace: Pace) -> anyhow::Result<Built> {
    let mut network = Network::new();
    let laid = match &scenario.topology {
        Topology::Path(path) => path::lay(&mut network, scenario, path, seed)?,
        Topology::Graph(graph) => graph::lay(&mut network, scenario, graph, seed)?,
    };
    let mut flows = Vec::with_capacity(scenario.flows.len());
    for (flow, ways) in scenario.flows.iter().zip(&laid.flows) {
        let (spec, built) = flow_of::flow_of(scenario, flow, ways, seed, pace)?;
        network.add_flow(spec);
        flows.push(built);
    }
    let mut workloads = Vec::with_capacity(scenario.workloads.len());
    for (workload, ways) in scenario.workloads.iter().zip(&laid.workloads) {
        let (spec, built) = workload_of::workload_of(scenario, workload, ways, &laid.links, seed)?;
        network.add_workload(spec);
        workloads.push(built);
    }
    let mut streams = Vec::with_capacity(scenario.streams.len());
    for (stream, ways) in scenario.streams.iter().zip(&laid.streams) {
        network.add_stream(stream_of::stream_of(scenario, stream, ways, seed)?);
        streams.push(stream.name.clone());
    }
    Ok(Built {
        network,
        flows,
        links: laid.links,
        workloads,
        streams,
    })
}

/// Adds `line` of `delay` to `network` in both directions, drawing its chances from `seed`: what was added, the data
/// direction first.
pub fn add_line(
    network: &mut Network,
    name: &str,
    (line, delay, limit_packets): (&Line, Time, u32),
    seed: u64,
) -> anyhow::Result<[BuiltLink; 2]> {
    let placed = line::Placed {
        name,
        line,
        delay,
        limit_packets,
        back_queue: line::BackQueue::Host,
        seed,
    };
    let mut links = Vec::new();
    placed.add(network, &mut links)?;
    let both: Result<[BuiltLink; 2], _> = links.try_into();
    Ok(both.expect("a line is added in two directions"))
}
