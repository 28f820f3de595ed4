//! A sweep of names alone: each name a row, each engine a mark, for the metric that is asked for
//! and for goodput and delay.

use super::axis::Sweep;
use super::finding::Metric;
use super::numbers::{Number, Numbers};
use super::sweep::{goodput_of, groups};
use super::words::capital;
use trammel_report::dots::{DotPlot, DotSeries};
use trammel_scenario::File;
use trammel_scenario::model::Goal;
use trammel_scenario::sweep::Point;

/// Rows of one plot at most.
const MOST_ROWS: usize = 40;

/// Its id, title and unit, how it is found, and what it is multiplied by.
type Column<'a> = (
    &'a str,
    &'a str,
    &'a str,
    &'a dyn Fn(&Numbers, &Point) -> Option<Number>,
    f64,
);

/// What the file asks for, where that is neither goodput nor delay: the id of its plot, and the
/// metric.
fn asked(goal: Option<Goal>) -> Option<(&'static str, Metric)> {
    match goal? {
        Goal::Recovery => Some(("by-recovery", Metric::RECOVERY)),
        Goal::Fairness => Some(("by-fairness", Metric::FAIRNESS)),
        Goal::Loss => Some(("by-loss", Metric::LINK_LOSS)),
        Goal::Utilisation => Some(("by-utilisation", Metric::UTILISATION)),
        Goal::Convergence => Some(("by-convergence", Metric::CONVERGENCE)),
        Goal::Completion => Some(("by-completion", Metric::COMPLETION)),
        _ => None,
    }
}

pub(super) fn dots(file: &File, numbers: &Numbers, sweep: &Sweep) -> Vec<DotPlot> {
    let groups = groups(file, &sweep.others);
    let is_one_each = groups.iter().all(|(_, points)| points.len() == 1);
    if !is_one_each || groups.len() < 2 || groups.len() > MOST_ROWS {
        return Vec::new();
    }
    let goal = file.points[0].scenario.answer;
    let of_whom = capital(goodput_of(file));
    let goodput = |of: &Numbers, point: &Point| of.together(point, "goodput");
    let delay = |of: &Numbers, point: &Point| of.of_bottleneck(&point.id, "queue_delay_mean");
    let mut metrics: Vec<Column<'_>> = vec![
        ("by-goodput", &of_whom, "Mbit/s", &goodput, 1.0),
        ("by-delay", "Mean queueing delay", "ms", &delay, 1e-3),
    ];
    if goal == Some(Goal::Delay) {
        metrics.reverse();
    }
    let (title, find);
    if let Some((id, metric)) = asked(goal) {
        let (unit, scale) = metric.kind.plotted();
        title = capital(metric.words);
        find = move |of: &Numbers, point: &Point| Some(metric.at(of, point)?.0);
        metrics.insert(0, (id, &title, unit, &find, scale));
    }
    let plot = |(id, title, unit, find, scale): Column<'_>| DotPlot {
        id: id.to_owned(),
        title: title.to_owned(),
        unit: unit.to_owned(),
        rows: groups.iter().map(|(name, _)| name.clone()).collect(),
        series: numbers
            .labels
            .iter()
            .map(|label| {
                let of = numbers.by(*label);
                let value = |points: &[&Point]| Some(find(&of, points[0])?.mean * scale);
                DotSeries {
                    name: String::new(),
                    label: *label,
                    values: groups.iter().map(|(_, points)| value(points)).collect(),
                }
            })
            .collect(),
    };
    let has_values = |plot: &DotPlot| {
        let mut values = plot.series.iter().flat_map(|series| &series.values);
        values.any(Option::is_some)
    };
    metrics.into_iter().map(plot).filter(has_values).collect()
}
