//! From a scenario and a seed to the simulator's network: links, routes, flows, workloads and
//! streams.
//!
//! Every random thing draws from a stream of its own, told apart by its name, so that a flow more
//! or less leaves the losses of the others where they were.

mod app_of;
mod built;
mod devices;
mod flow_of;
mod graph;
mod labels;
mod line;
mod path;
mod stream_of;
mod ways;
mod wireless;
mod workload_of;

pub use built::{Built, BuiltApp, BuiltDevice, BuiltFlow, BuiltLink, BuiltWorkload};
pub(super) use flow_of::with_buffers;
pub(crate) use path::{base_delay, elsewhere};
// What a measurement of the same scenario sets up alike.
#[cfg(target_os = "linux")]
pub(crate) use {
    flow_of::{Described, describe, rmem_max},
    line::BACK_QUEUE_PKTS,
    path::ACCESS_QUEUE_PKTS,
    ways::Ways,
};

use labels::HostLabels;
use trammel_core::time::{Span, Time};
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::Line;
use trammel_scenario::topology::Topology;

/// Builds `scenario` for one run with `seed`; flows are traced at `pace`.
pub fn network_of(scenario: &Scenario, seed: u64, pace: Pace) -> anyhow::Result<Built> {
    let mut network = Network::new();
    let laid = match &scenario.topology {
        Topology::Path(path) => path::lay(&mut network, scenario, path, seed)?,
        Topology::Graph(graph) => graph::lay(&mut network, scenario, graph, seed)?,
    };
    let labels = HostLabels::new(scenario);
    let mut flows = Vec::with_capacity(scenario.flows.len());
    for (flow, ways) in scenario.flows.iter().zip(&laid.flows) {
        let (spec, built) = flow_of::flow_of(scenario, flow, ways, seed, pace)?;
        let index = network.add_flow(spec);
        network.label_flow(index, labels.of_flow(flow));
        if let Some(rate) = flow.rate {
            network.write_at(index, rate);
        }
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
        let index = network.add_stream(stream_of::stream_of(scenario, stream, ways, seed)?);
        network.label_stream(index, labels.of_stream(stream));
        streams.push(stream.name.clone());
    }
    let mut apps = Vec::with_capacity(scenario.apps.len());
    for (app, ways) in scenario.apps.iter().zip(&laid.apps) {
        let labels = labels.of_app(app);
        let (spec, built) = app_of::app_of(scenario, app, ways, labels, seed)?;
        network.add_app(spec);
        apps.push(built);
    }
    Ok(Built {
        network,
        flows,
        links: laid.links,
        devices: laid.devices,
        workloads,
        streams,
        apps,
    })
}

/// Adds `line` of `delay` to `network` in both directions, drawing its chances from `seed`: what
/// was added, the data direction first.
pub fn add_line(
    network: &mut Network,
    name: &str,
    (line, delay, limit_packets): (&Line, Span, u32),
    seed: u64,
) -> anyhow::Result<[BuiltLink; 2]> {
    let placed = line::Placed {
        name,
        line,
        delay,
        early: [Span::ZERO; 2],
        elsewhere: Span::ZERO,
        end: Time::MAX,
        limit_packets,
        back_queue: line::BackQueue::Host,
        seed,
    };
    let mut links = Vec::new();
    placed.add(network, &mut links)?;
    let both: Result<[BuiltLink; 2], _> = links.try_into();
    Ok(both.expect("a line is added in two directions"))
}
