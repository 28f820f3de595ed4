//! What the first sentence of a report must answer: what the file asks for, else what its shape
//! suggests.

use super::axis::{Shape, names};
use trammel_scenario::File;
use trammel_scenario::model::{Goal, Scenario};
use trammel_scenario::topology::Topology;

/// The goals to try, the one that is wanted first. A goal that the file asks for is tried alone:
/// where no rule answers it, there is no first sentence.
pub(super) fn goals(file: &File, shape: &Shape) -> Vec<Goal> {
    let scenario = &file.points[0].scenario;
    if let Some(asked) = scenario.answer {
        return vec![asked];
    }
    // Who adds an application asks what its user gets, whatever flows are in its way.
    let of_apps = (!scenario.apps.is_empty()).then_some(Goal::Experience);
    let of_apps = of_apps.filter(|_| !matches!(shape, Shape::Matrix(_)));
    of_apps.into_iter().chain(of_others(file, shape)).collect()
}

/// The goals that flows, streams and workloads suggest.
fn of_others(file: &File, shape: &Shape) -> Vec<Goal> {
    let scenario = &file.points[0].scenario;
    if scenario.flows.is_empty() && !scenario.apps.is_empty() {
        return Vec::new();
    }
    if scenario.flows.is_empty() {
        let of_streams = (!scenario.streams.is_empty()).then_some(Goal::Loss);
        let of_workloads = [Goal::Completion, Goal::Goodput].into_iter();
        return of_workloads.chain(of_streams).collect();
    }
    match shape {
        Shape::Matrix(_) => vec![Goal::Share],
        Shape::Single if scenario.flows.len() > 1 => vec![Goal::Share],
        Shape::Single => vec![Goal::Goodput],
        Shape::Sweep(sweep) => {
            let key = |at: usize| file.points[0].swept[at].key.as_str();
            // A sweep of what a workload does asks about the workload, unless flows compete.
            let asks_workload = sweep
                .axis
                .is_some_and(|at| key(at).starts_with("workload."));
            if scenario.flows.len() == 1 && asks_workload {
                return vec![Goal::Completion, Goal::Goodput];
            }
            if !names(file).is_empty() {
                return vec![Goal::Rank];
            }
            if scenario.flows.len() == 2 && shares_one_path(scenario) {
                return vec![Goal::Share, Goal::Goodput];
            }
            vec![Goal::Goodput]
        }
    }
}

/// Whether all flows cross the same bottleneck.
pub(super) fn shares_one_path(scenario: &Scenario) -> bool {
    match &scenario.topology {
        Topology::Path(_) => true,
        Topology::Graph(graph) => {
            let mut routes = scenario.flows.iter().map(|flow| {
                let (from, to) = (flow.from.as_deref()?, flow.to.as_deref()?);
                Some(graph.route(from, to)?.len())
            });
            let first = routes.next().flatten();
            routes.all(|hops| hops == first)
        }
    }
}

/// Links that each flow crosses; one on a path.
pub(super) fn hops(scenario: &Scenario) -> Vec<usize> {
    let flows = scenario.flows.iter();
    match &scenario.topology {
        Topology::Path(_) => flows.map(|_| 1).collect(),
        Topology::Graph(graph) => flows
            .map(|flow| {
                let ends = flow.from.as_deref().zip(flow.to.as_deref());
                let route = ends.and_then(|(from, to)| graph.route(from, to));
                let least = graph.links.iter().map(|link| link.line.rate).min();
                // Access links are no bottlenecks.
                let narrow = |link: usize| Some(graph.links[link].line.rate) == least;
                route.map_or(0, |route| {
                    route.iter().filter(|step| narrow(step.link)).count()
                })
            })
            .collect(),
    }
}
