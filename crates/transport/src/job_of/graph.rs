//! A network of hosts and links: a router for each host, and a line for each link.

use super::layout::{Layout, Row, parties};
use super::line::Placed;
use super::refusal::refused;
use std::collections::BTreeMap;
use trammel_core::time::Span;
use trammel_kernel::job::Host;
use trammel_scenario::topology::Graph;

/// Lays the network; the row of routers of each flow.
pub(super) fn lay(layout: &mut Layout<'_>, graph: &Graph) -> Vec<Row> {
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &graph.hosts {
        let host = layout.host(Host::default());
        // Where two share a name, the first has it.
        hosts.entry(name).or_insert(host);
    }
    for device in &graph.devices {
        let at = graph.hosts.iter().position(|host| *host == device.host);
        let fault = refused(
            &format!("host.{}.device", at.unwrap_or_default()),
            "a device is simulated only",
            "a guest has no card",
        );
        layout.faults.push(fault);
    }
    let limits = layout.scenario.queue_packets();
    let mut lines = Vec::with_capacity(graph.links.len());
    for (at, (link, limit)) in graph.links.iter().zip(limits).enumerate() {
        let (Some(from), Some(to)) = (hosts.get(&*link.from), hosts.get(&*link.to)) else {
            let fault = refused(
                &format!("link.{at}"),
                "one of its hosts is missing",
                "it is no host of the network",
            );
            layout.faults.push(fault);
            return Vec::new();
        };
        let placed = Placed {
            name: &link.name,
            place: &format!("link.{at}"),
            line: &link.line,
            delay: link.delay,
            elsewhere: Span::ZERO,
            limit_packets: limit,
            back_packets: None,
        };
        lines.push(placed.add(layout, [*from, *to]));
    }
    let mut rows = Vec::with_capacity(layout.scenario.flows.len());
    for party in parties(layout.scenario) {
        let flow = party.flow;
        let ends = flow.from.as_deref().zip(flow.to.as_deref());
        let route = ends.and_then(|(from, to)| Some((hosts.get(from)?, graph.route(from, to)?)));
        let Some((from, route)) = route else {
            let fault = refused(
                &party.place,
                "no route leads from its sender to its receiver",
                "there is no link",
            );
            layout.faults.push(fault);
            return Vec::new();
        };
        let mut row = Row::from(*from);
        for step in route {
            let line = &lines[step.link];
            row.join(&if step.forward {
                line.clone()
            } else {
                line.reversed()
            });
        }
        rows.push(row);
    }
    rows
}
