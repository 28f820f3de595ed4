//! The plug-ins that a scenario names, with their places.

use super::model::Scenario;
use super::path::{Jitter, Limit, Line};
use super::plugin::{Plugin, Random};
use super::topology::Topology;
use super::workload::WorkloadKind;
use crate::registry::Family;
use trammel_queues::aqm::LinkFacts;

/// Every plug-in that the scenario names, with its place and family.
pub(super) fn plugins(scenario: &Scenario) -> Vec<(String, &Plugin, Family)> {
    let mut all = Vec::new();
    for (n, flow) in scenario.flows.iter().enumerate() {
        all.push((format!("flow.{n}.variant"), &flow.variant, Family::Variant));
    }
    for (n, workload) in scenario.workloads.iter().enumerate() {
        let place = |key: &str| format!("workload.{n}.{key}");
        all.push((place("variant"), &workload.flow.variant, Family::Variant));
        for (key, value) in randoms(&workload.kind) {
            if let Random::Drawn(plugin) = value {
                all.push((place(key), plugin, Family::Distribution));
            }
        }
    }
    for (n, stream) in scenario.streams.iter().enumerate() {
        for (key, value) in [("size", &stream.size), ("gap", &stream.gap)] {
            if let Random::Drawn(plugin) = value {
                all.push((format!("stream.{n}.{key}"), plugin, Family::Distribution));
            }
        }
    }
    for (place, line) in lines(scenario) {
        all.push((
            format!("{place}.queue"),
            &line.queue.discipline,
            Family::Discipline,
        ));
        if let Some(loss) = &line.loss {
            all.push((format!("{place}.loss"), &loss.model, Family::Loss));
        }
        if let Some(Jitter::Drawn(plugin)) = &line.jitter {
            all.push((format!("{place}.jitter"), plugin, Family::Distribution));
        }
    }
    all
}

fn randoms(kind: &WorkloadKind) -> Vec<(&'static str, &Random)> {
    match kind {
        WorkloadKind::Poisson { size, .. } | WorkloadKind::Background { size, .. } => {
            vec![("size", size)]
        }
        WorkloadKind::RequestResponse {
            request,
            response,
            think,
            ..
        } => {
            vec![
                ("request", request),
                ("response", response),
                ("think", think),
            ]
        }
        WorkloadKind::OnOff { on, off, .. } => vec![("on", on), ("off", off)],
    }
}

/// Every line with its place: the one of the path, or those of the links.
pub fn lines(scenario: &Scenario) -> Vec<(String, &Line)> {
    match &scenario.topology {
        Topology::Path(path) => vec![("path".to_owned(), &path.line)],
        Topology::Graph(graph) => {
            let links = graph.links.iter().enumerate();
            let links = links.map(|(n, link)| (format!("link.{n}"), &link.line));
            links.collect()
        }
    }
}

/// What a line tells the discipline of its queue, of `limit_packets` packets.
pub fn link_facts(line: &Line, limit_packets: u32) -> LinkFacts {
    LinkFacts {
        rate_bps: line.rate.as_bps(),
        mtu: line.mtu,
        limit_packets,
        limit_bytes: match line.queue.limit {
            Limit::Bytes(bytes) => bytes,
            Limit::Packets(_) | Limit::Bdp(_) => u64::MAX,
        },
    }
}

/// Disciplines whose parameters are each allowed but impossible together or on their line.
pub(super) fn refused_disciplines(scenario: &Scenario) -> Vec<(String, String)> {
    let limits = scenario.queue_packets();
    let mut refused = Vec::new();
    for ((place, line), limit) in lines(scenario).into_iter().zip(limits) {
        let discipline = &line.queue.discipline;
        // An unknown name or parameter is noted where it is read.
        if discipline.params(Family::Discipline).is_ok()
            && let Err(error) = discipline.discipline(&link_facts(line, limit))
        {
            refused.push((format!("{place}.queue"), error));
        }
    }
    refused
}
