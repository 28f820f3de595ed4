//! Goodput against queueing delay, one mark a point of a sweep: colour and shape say which.
//!
//! What is swept by name has the colours; the swept number, or a second name, has the shapes where
//! it has few values. So a mark says both. Engines after the first have outlines.

use super::axis::{Sweep, placing, value};
use super::numbers::Numbers;
use super::sweep::{goodput_of, groups, left_out};
use super::words::placed;
use std::collections::BTreeSet;
use trammel_core::units::Rate;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;
use trammel_scenario::topology::Topology;

/// Names of one plot at most, where shapes and colours together tell them apart.
const MOST_MARKS: usize = 32;
/// Colours there are. Where shapes say something else, names have them filled, then as outlines.
const COLOURS: usize = 8;
/// Shapes there are.
const MOST_SHAPES: usize = 8;
/// Delays further apart than this are drawn by factors.
const FAR: f64 = 20.0;

/// Where rates differ between points, goodput is shown as a part of the rate.
pub(super) fn goodput_and_delay(file: &File, numbers: &Numbers, sweep: &Sweep) -> Option<Figure> {
    if sweep.others.is_empty() || file.points[0].scenario.flows.is_empty() {
        return None;
    }
    let rates: Vec<Option<Rate>> = file.points.iter().map(rate_of).collect();
    let is_relative = rates.windows(2).any(|pair| pair[0] != pair[1]);
    let y = if is_relative {
        Axis::linear("use of the bottleneck", "%")
    } else {
        Axis::linear(goodput_of(file), "Mbit/s").from_zero()
    };
    let link = numbers.bottlenecks.first()?;
    let delays = file
        .points
        .iter()
        .filter_map(|point| Some(numbers.steady(&point.id, link, "queue_delay_mean")?.mean / 1e3));
    let x = Axis::linear("mean queueing delay", "ms").by_factors_beyond(FAR, delays);
    let mut figure = Figure::new("goodput-delay", "Goodput against delay", x, y);
    let (coloured, shape) = keys(file, sweep);
    if let Some(at) = shape {
        figure.shapes = shapes(file, at);
    }
    let groups = groups(file, &coloured);
    let all = groups.len();
    let most = most_names(shape.is_some(), numbers.labels.len());
    for (place, (name, points)) in groups.into_iter().take(most).enumerate() {
        for (round, engine) in numbers.labels.iter().enumerate() {
            let engine = numbers.by(*engine);
            let mut marks = Vec::new();
            let mut kinds = Vec::new();
            for point in &points {
                let delay = engine.steady(&point.id, link, "queue_delay_mean");
                let goodput = if is_relative {
                    let used = engine.steady(&point.id, link, "utilisation");
                    used.map(|used| used.mean * 100.0)
                } else {
                    engine.together(point, "goodput").map(|one| one.mean)
                };
                if let Some((delay, goodput)) = delay.zip(goodput) {
                    marks.push((delay.mean / 1e3, goodput));
                    let kind = shape.map(|at| placed(point, at));
                    let kind = figure
                        .shapes
                        .iter()
                        .position(|one| Some(one) == kind.as_ref());
                    kinds.extend(kind);
                }
            }
            if marks.is_empty() {
                continue;
            }
            let mut series = Series::new(name.clone(), Mark::Points, marks);
            if kinds.len() == series.points.len() {
                series = series.shaped(kinds);
            }
            series.is_hollow = round > 0 || (shape.is_some() && place >= COLOURS);
            figure = figure.with(series.labelled(engine.label).coloured(place));
        }
    }
    let left_out = left_out(all, most);
    let outlines = match (shape, all > COLOURS && most > COLOURS) {
        (Some(_), true) => " Outlines: colours that come again.",
        _ => "",
    };
    let shapes = shape.map_or(String::new(), |at| {
        let (name, _) = super::axis::name(&file.points[0], at);
        format!(" Colours: what is compared; shapes: the {name}.")
    });
    Some(figure.captioned(&format!(
        "{left_out}One mark per point of the sweep; up and to the left is better.{shapes}{outlines}"
    )))
}

/// How many names marks can tell apart; of several engines the outlines say which.
fn most_names(has_shapes: bool, engines: usize) -> usize {
    match (has_shapes, engines) {
        (false, _) => MOST_MARKS,
        (true, ..=1) => 2 * COLOURS,
        (true, _) => COLOURS,
    }
}

/// What has the colours, and what the shapes.
fn keys(file: &File, sweep: &Sweep) -> (Vec<usize>, Option<usize>) {
    let is_few = |at: &usize| (2..=MOST_SHAPES).contains(&shapes(file, *at).len());
    if let Some(at) = sweep.axis.filter(is_few) {
        return (sweep.others.clone(), Some(at));
    }
    if let ([first, second], None) = (&sweep.others[..], sweep.axis)
        && is_few(second)
    {
        return (vec![*first], Some(*second));
    }
    (sweep.others.clone(), None)
}

/// The values of the parameter `at`, by size where they are numbers.
fn shapes(file: &File, at: usize) -> Vec<String> {
    let mut points: Vec<&Point> = file.points.iter().collect();
    let place = placing(file, at);
    let size = |point: &Point| place(point).unwrap_or_default();
    points.sort_by(|a, b| size(a).total_cmp(&size(b)));
    points.retain(|point| !value(point, at).is_empty());
    let mut known = BTreeSet::new();
    let names = points.into_iter().map(|point| placed(point, at));
    names.filter(|name| known.insert(name.clone())).collect()
}

fn rate_of(point: &Point) -> Option<Rate> {
    match &point.scenario.topology {
        Topology::Path(path) => Some(path.line.rate),
        Topology::Graph(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::Shape;
    use super::*;
    use crate::run_tables::ALL_FLOWS;

    #[test]
    fn no_two_points_have_the_same_mark() {
        let names = [
            "cubic",
            "reno",
            "bbr",
            "vegas",
            "hybla",
            "htcp",
            "westwood",
            "illinois",
            "scalable",
            "yeah",
            "bic",
            "veno",
            "nv",
            "highspeed",
        ];
        let text = format!(
            "duration = '1 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n\
             [[flow]]\nvariant = 'cubic'\n[sweep]\n\
             'path.rtt' = ['5 ms', '20 ms', '80 ms']\n'flow.0.variant' = {names:?}"
        );
        let file = File::parse("test.toml", &text, std::path::Path::new(".")).unwrap();
        let rows = file.points.iter().flat_map(|point| {
            let id = point.id.as_str();
            let delay = (id, "bottleneck", "queue_delay_mean", 1e3);
            [delay, (id, ALL_FLOWS, "goodput", 18.0)]
        });
        let numbers = Numbers::simulated(&file, rows);
        let Shape::Sweep(sweep) = Shape::of(&file) else {
            panic!("names along a number are a sweep");
        };
        let figure = goodput_and_delay(&file, &numbers, &sweep).unwrap();
        let mut marks = BTreeSet::new();
        for series in &figure.series {
            let colour = series.colour.unwrap() % COLOURS;
            for shape in &series.shapes {
                marks.insert((colour, series.is_hollow, *shape));
            }
        }
        assert_eq!(marks.len(), 3 * names.len());
        assert!(figure.caption.contains("Outlines"), "{}", figure.caption);
        assert_eq!(most_names(true, 2), COLOURS, "outlines are an engine's");
    }
}
