//! A network of hosts and links: two of the simulator's links each, and routes of least delay.

use super::devices;
use super::line::{BackQueue, Placed};
use super::ways::{Laid, Ways};
use anyhow::Context;
use trammel_core::time::Span;
use trammel_netsim::ids::LinkId;
use trammel_netsim::network::Network;
use trammel_scenario::model::Scenario;
use trammel_scenario::topology::{Graph, Step};
use trammel_workbench::card::CardBetween;

pub(super) fn lay(
    network: &mut Network,
    scenario: &Scenario,
    graph: &Graph,
    seed: u64,
) -> anyhow::Result<Laid> {
    let mut laid = Laid::default();
    let mut pairs = Vec::with_capacity(graph.links.len());
    let cards = devices::cards(graph)?;
    for (link, limit) in graph.links.iter().zip(scenario.queue_packets()) {
        let early = |host: &str| cards.get(host).map_or(Span::ZERO, CardBetween::early);
        let placed = Placed {
            name: &link.name,
            line: &link.line,
            delay: link.delay,
            early: [early(&link.to), early(&link.from)],
            elsewhere: Span::ZERO,
            end: scenario.end(),
            limit_packets: limit,
            back_queue: BackQueue::Same,
            seed,
        };
        pairs.push(placed.add(network, &mut laid.links)?);
    }
    laid.devices = devices::place(network, graph, &cards, &pairs)?;
    let ways = |from: Option<&str>, to: Option<&str>| -> anyhow::Result<Ways> {
        let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
        let route = graph.route(from, to);
        let route = route.with_context(|| format!("no route leads from `{from}` to `{to}`"))?;
        Ok(over(graph, &pairs, &route))
    };
    for flow in &scenario.flows {
        laid.flows
            .push(ways(flow.from.as_deref(), flow.to.as_deref())?);
    }
    for workload in &scenario.workloads {
        let (from, to) = (&workload.flow.from, &workload.flow.to);
        laid.workloads.push(ways(from.as_deref(), to.as_deref())?);
    }
    for stream in &scenario.streams {
        laid.streams
            .push(ways(stream.from.as_deref(), stream.to.as_deref())?);
    }
    for app in &scenario.apps {
        let (from, to) = (&app.flow.from, &app.flow.to);
        laid.apps.push(ways(from.as_deref(), to.as_deref())?);
    }
    Ok(laid)
}

fn over(graph: &Graph, pairs: &[(LinkId, LinkId)], route: &[Step]) -> Ways {
    let pick = |step: &Step, there: bool| {
        let (forward, backward) = pairs[step.link];
        if step.forward == there {
            forward
        } else {
            backward
        }
    };
    let lines = || route.iter().map(|step| &graph.links[step.link].line);
    Ways {
        forward: route.iter().map(|step| pick(step, true)).collect(),
        backward: route.iter().rev().map(|step| pick(step, false)).collect(),
        rtt: graph.rtt(route),
        mtu: lines().map(|line| line.mtu).min().unwrap_or(1500),
        // The simulator counts one overhead along a route: the largest.
        overhead_bytes: lines().map(|line| line.overhead).max().unwrap_or_default(),
    }
}
