//! A sweep of names alone: each name a row, each engine a mark, for the metric that is asked for
//! and for goodput and delay.

use super::axis::Sweep;
use super::numbers::{Number, Numbers};
use super::rank::capital;
use super::sweep::{goodput_of, groups};
use trammel_report::dots::{DotPlot, DotSeries};
use trammel_scenario::File;
use trammel_scenario::model::Goal;
use trammel_scenario::sweep::Point;

/// Rows of one plot at most.
const MOST_ROWS: usize = 40;

/// Its id, title and unit, how it is found, and what it is multiplied by.
type Metric<'a> = (
    &'a str,
    &'a str,
    &'a str,
    &'a dyn Fn(&Numbers, &Point) -> Option<Number>,
    f64,
);

pub(super) fn dots(file: &File, numbers: &Numbers, sweep: &Sweep) -> Vec<DotPlot> {
    let groups = groups(file, &sweep.others);
    let is_one_each = groups.iter().all(|(_, points)| points.len() == 1);
    if !is_one_each || groups.len() < 2 || groups.len() > MOST_ROWS {
        return Vec::new();
    }
    let of_whom = capital(goodput_of(file));
    let recovery = |of: &Numbers, point: &Point| of.of_bottleneck(&point.id, "recovery");
    let goodput = |of: &Numbers, point: &Point| of.together(point, "goodput");
    let delay = |of: &Numbers, point: &Point| of.of_bottleneck(&point.id, "queue_delay_mean");
    let mut metrics: Vec<Metric<'_>> = vec![
        ("by-goodput", &of_whom, "Mbit/s", &goodput, 1.0),
        ("by-delay", "Mean queueing delay", "ms", &delay, 1e-3),
    ];
    match file.points[0].scenario.answer {
        Some(Goal::Recovery) => {
            let title = "Time to use an increased rate";
            metrics.insert(0, ("by-recovery", title, "s", &recovery, 1.0));
        }
        Some(Goal::Delay) => metrics.reverse(),
        _ => {}
    }
    let plot = |(id, title, unit, find, scale): Metric<'_>| DotPlot {
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
