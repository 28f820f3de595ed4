//! Which flows have other results at each start, where microseconds can decide who meets a full
//! queue: phase effects (Floyd and Jacobson, *Traffic phase effects in packet-switched gateways*,
//! 1991).

use std::collections::BTreeMap;
use trammel_core::time::Span;
use trammel_scenario::File;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Limit, Line};
use trammel_scenario::topology::Topology;
use trammel_stats::table::{Table, format_float};

/// The least number of repeats that say something.
const LEAST_REPEATS: usize = 3;
/// The largest result over the smallest from which it is told.
const APART: f64 = 2.0;

/// A note on the flow whose repeats lie furthest apart, where nothing by chance is on their way.
pub(super) fn notes(file: &File, flows: &Table) -> Vec<String> {
    let mut repeats: BTreeMap<(&str, &str, &str), Vec<f64>> = BTreeMap::new();
    for row in flows.rows() {
        let Some(goodput) = row.float("goodput_mbps") else {
            continue;
        };
        let of = (row.text("point"), row.text("engine"), row.text("flow"));
        repeats.entry(of).or_default().push(goodput);
    }
    let points = file.points.iter();
    let points: BTreeMap<&str, &Scenario> = points
        .map(|point| (point.id.as_str(), &point.scenario))
        .collect();
    let in_step = |id: &str| points.get(id).is_some_and(|scenario| is_in_step(scenario));
    let apart = repeats.into_iter().filter_map(|(of, goodputs)| {
        let least = goodputs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = goodputs.iter().copied().fold(0.0, f64::max);
        let told = goodputs.len() >= LEAST_REPEATS && most > APART * least && in_step(of.0);
        told.then_some((of, goodputs.len(), least, most))
    });
    // The first of equals, so that the note does not depend on chance.
    let widest = apart.reduce(|a, b| if b.3 * a.2 > a.3 * b.2 { b } else { a });
    let Some(((point, engine, flow), count, least, most)) = widest else {
        return Vec::new();
    };
    let at = match file.points.len() {
        1 => String::new(),
        _ => format!(" at `{point}`"),
    };
    vec![format!(
        "the {count} repeats of `{flow}` ({engine}){at} lie between {} and {} Mbit/s: behind \
         drop-tail queues without randomness, microseconds can decide who loses (phase effects). A \
         single run is not a result here; `processing = \"10 us\"` on the path shows how much \
         depends on it",
        format_float(least, 3),
        format_float(most, 3)
    )]
}

/// Several flows behind drop-tail queues, and nothing by chance on their way.
fn is_in_step(scenario: &Scenario) -> bool {
    let is_wireless = matches!(&scenario.topology, Topology::Path(path) if path.wifi.is_some());
    !is_wireless
        && scenario.flows.len() > 1
        && scenario.workloads.is_empty()
        && scenario.apps.is_empty()
        && scenario.topology.lines().all(without_chance)
}

fn without_chance(line: &Line) -> bool {
    let limit = match line.queue.limit {
        Limit::Packets(n) => n,
        Limit::Bytes(_) | Limit::Bdp(_) => u32::MAX,
    };
    line.queue.discipline.name == "droptail"
        && line.loss.is_none()
        && line.jitter.is_none()
        && line.reorder.is_none()
        && line.trace.is_none()
        && line.late(limit) == Span::ZERO
}
