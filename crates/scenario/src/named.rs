//! The plug-ins that a scenario names, with their places.

use super::keys::PACKAGED;
use super::model::Scenario;
use super::path::{Jitter, Limit, Line};
use super::plugin::{Plugin, Random};
use super::topology::Topology;
use super::workload::WorkloadKind;
use crate::registry::Family;
use std::path::Path;
use trammel_queues::aqm::LinkFacts;

/// The source tree of a kernel's name, nothing where it is the packaged one, and the patches over
/// it:
/// `TREE`, `TREE+x.patch+y.patch`, `packaged+x.patch`. Files are named from `dir`; a tree may have
/// a plus in its own name.
pub fn kernel<'a>(name: &'a str, dir: &Path) -> (Option<&'a str>, Vec<&'a str>) {
    let (tree, patches) = match name.split_once('+') {
        Some((tree, patches)) if !dir.join(name).exists() => (tree, Some(patches)),
        _ => (name, None),
    };
    let patches = patches.into_iter().flat_map(|patches| patches.split('+'));
    ((tree != PACKAGED).then_some(tree), patches.collect())
}

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
    for (n, app) in scenario.apps.iter().enumerate() {
        all.push((format!("app.{n}.kind"), &app.kind, Family::App));
        let place = format!("app.{n}.variant");
        all.push((place, &app.flow.variant, Family::Variant));
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
        overhead: line.overhead,
    }
}

/// Applications whose parameters are each allowed but impossible together.
pub(super) fn refused_apps(scenario: &Scenario) -> Vec<(String, String)> {
    let apps = scenario.apps.iter().enumerate();
    let refused = apps.filter_map(|(n, app)| {
        // An unknown name or parameter is noted where it is read.
        app.kind.params(Family::App).ok()?;
        Some((format!("app.{n}.kind"), app.kind.app().err()?))
    });
    refused.collect()
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
