//! One bottleneck: what all flows share, and wires for those whose round trip is longer.
//!
//! ```text
//! sender ─ access ─ wire ─ bottleneck ─ access ─ receiver
//! ```
//! The bottleneck has the propagation delay of the shortest round trip; a flow of a longer one
//! crosses a wire of the difference before it. Access links are there only where the scenario has
//! them.

use super::line::{BackQueue, Placed};
use super::ways::{Laid, Ways};
use super::wireless;
use std::collections::BTreeMap;
use trammel_core::time::{Span, Time};
use trammel_netsim::ids::LinkId;
use trammel_netsim::link::LinkSpec;
use trammel_netsim::network::Network;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Access, Path};

/// Packets that an access link holds: it is never where they are lost.
pub(crate) const ACCESS_QUEUE_PKTS: u32 = 1_000_000;

/// The one-way propagation delay of the bottleneck, and that which a flow of a round trip has
/// beside it.
pub(crate) fn base_delay(scenario: &Scenario, path: &Path) -> (Span, impl Fn(Span) -> Span) {
    let access = elsewhere(path);
    let one_way = move |rtt: Span| (rtt / 2).saturating_sub(access);
    let workloads = scenario.workloads.iter().map(|workload| &workload.flow);
    let rtts = scenario.flows.iter().chain(workloads);
    let rtts = rtts.map(|flow| flow.rtt.unwrap_or(path.rtt));
    let has_others = !scenario.streams.is_empty() || !scenario.apps.is_empty();
    let of_streams = has_others.then_some(path.rtt);
    let shortest = rtts.chain(of_streams).min().unwrap_or(path.rtt);
    let base = one_way(shortest);
    (base, move |rtt| one_way(rtt).saturating_sub(base))
}

/// What of a one-way delay of the path is not the bottleneck's: that of the access links.
pub(crate) fn elsewhere(path: &Path) -> Span {
    path.access.map_or(Span::ZERO, |access| access.delay * 2)
}

pub(super) fn lay(
    network: &mut Network,
    scenario: &Scenario,
    path: &Path,
    seed: u64,
) -> anyhow::Result<Laid> {
    let mut laid = Laid::default();
    let (base, extra_of) = base_delay(scenario, path);
    let limit = path.line.queue_packets(path.rtt);
    let links = &mut laid.links;
    let (there, back) = if let Some(wifi) = &path.wifi {
        wireless::add(network, links, path, wifi, base, limit, seed)?
    } else {
        let bottleneck = Placed {
            name: "bottleneck",
            line: &path.line,
            delay: base,
            early: [Span::ZERO; 2],
            elsewhere: elsewhere(path),
            end: scenario.end(),
            limit_packets: limit,
            back_queue: BackQueue::Host,
            seed,
        };
        let (there, back) = bottleneck.add(network, links)?;
        (vec![there], vec![back])
    };
    let mut wires: BTreeMap<Span, [LinkId; 2]> = BTreeMap::new();
    let mut ways_of = |network: &mut Network, rtt: Span| {
        let extra = extra_of(rtt);
        let mut ways = Ways {
            forward: there.clone(),
            backward: back.clone(),
            rtt,
            mtu: path.line.mtu,
            overhead_bytes: path.line.overhead,
        };
        if extra > Span::ZERO {
            let [out, home] = *wires.entry(extra).or_insert_with(|| {
                [("wire", 0), ("wire:back", 1)]
                    .map(|(name, _)| network.add_link(LinkSpec::wire(name, extra)))
            });
            ways.forward.insert(0, out);
            ways.backward.push(home);
        }
        ways
    };
    for flow in &scenario.flows {
        let mut ways = ways_of(network, flow.rtt.unwrap_or(path.rtt));
        if let Some(access) = path.access {
            attach(
                network, &mut laid, &mut ways, &flow.name, path, access, seed,
            )?;
        }
        laid.flows.push(ways);
    }
    for workload in &scenario.workloads {
        let mut ways = ways_of(network, workload.flow.rtt.unwrap_or(path.rtt));
        // All flows of a workload share one pair of hosts.
        if let Some(access) = path.access {
            let name = &workload.name;
            attach(network, &mut laid, &mut ways, name, path, access, seed)?;
        }
        laid.workloads.push(ways);
    }
    for stream in &scenario.streams {
        let mut ways = ways_of(network, path.rtt);
        if let Some(access) = path.access {
            attach(
                network,
                &mut laid,
                &mut ways,
                &stream.name,
                path,
                access,
                seed,
            )?;
        }
        laid.streams.push(ways);
    }
    for app in &scenario.apps {
        let mut ways = ways_of(network, path.rtt);
        // All users of an application share one pair of hosts.
        if let Some(access) = path.access {
            attach(network, &mut laid, &mut ways, &app.name, path, access, seed)?;
        }
        laid.apps.push(ways);
    }
    Ok(laid)
}

/// Gives both hosts of a flow links of their own.
fn attach(
    network: &mut Network,
    laid: &mut Laid,
    ways: &mut Ways,
    name: &str,
    path: &Path,
    access: Access,
    seed: u64,
) -> anyhow::Result<()> {
    let line = access.line(path);
    let mut add = |name: String| {
        let access = Placed {
            name: &name,
            line: &line,
            delay: access.delay,
            early: [Span::ZERO; 2],
            elsewhere: Span::ZERO,
            end: Time::MAX,
            limit_packets: ACCESS_QUEUE_PKTS,
            back_queue: BackQueue::Same,
            seed,
        };
        access.add(network, &mut laid.links)
    };
    let (up, up_back) = add(format!("{name}:source"))?;
    let (down, down_back) = add(format!("{name}:sink"))?;
    ways.forward.insert(0, up);
    ways.forward.push(down);
    ways.backward.insert(0, down_back);
    ways.backward.push(up_back);
    Ok(())
}
