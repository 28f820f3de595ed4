//! How workloads fared: the distribution of slowdowns, a plot for each workload, a curve for each
//! point.

use super::axis::values;
use super::shown::shown_points;
use crate::points::{PointTrace, TransportOutcome};
use crate::trace_of::Samples;
use trammel_netsim::workload::Completion;
use trammel_report::figure::{Axis, Figure, Series};
use trammel_report::{Block, Section};
use trammel_scenario::File;

/// Points whose curves are in one plot, at most.
const MOST_POINTS: usize = 8;

pub(super) fn section(file: &File, outcome: &TransportOutcome) -> Option<Section> {
    let shown = shown_points(file);
    // As many as there are colours, evenly among those with curves.
    let step = shown.len().div_ceil(MOST_POINTS);
    let shown: Vec<usize> = shown.into_iter().step_by(step.max(1)).collect();
    let swept: Vec<usize> = (0..file.points[0].swept.len()).collect();
    let mut figures: Vec<(&str, Figure)> = Vec::new();
    let first = |one: &&PointTrace| one.repeat == 0 && shown.contains(&one.at);
    for one in outcome.traces.iter().filter(first) {
        let Samples::Completions(all) = &one.trace.samples else {
            continue;
        };
        let workload = one.trace.entity.as_str();
        let point = values(&file.points[one.at], &swept);
        let name = if point.is_empty() { workload } else { &point };
        let slowdowns = all.iter().map(Completion::slowdown).collect();
        let series = Series::cdf(name, slowdowns).labelled(one.label);
        let at = figures.iter().position(|(of, _)| *of == workload);
        let at = at.unwrap_or_else(|| {
            let id = format!("slowdown-{}", figures.len() + 1);
            let title = format!("Slowdown of `{workload}`");
            let y = Axis::linear("share of the flows", "%").with_range(0.0, 100.0);
            let figure = Figure::new(&id, &title, Axis::log("slowdown", ""), y);
            figures.push((workload, figure));
            figures.len() - 1
        });
        figures[at].1.series.push(series);
    }
    if figures.is_empty() {
        return None;
    }
    let text = "A flow's slowdown is its completion time over that of an empty network without \
                slow start. Flows that began after the warm-up of the first repeat are shown.";
    Some(Section {
        heading: "Short flows".to_owned(),
        text: text.to_owned(),
        blocks: figures
            .into_iter()
            .map(|(_, figure)| Block::Figure(figure))
            .collect(),
    })
}
