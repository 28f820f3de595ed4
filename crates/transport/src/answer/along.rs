//! How one metric moves along a swept number, or what it is where nothing is swept.

use super::axis::{Shape, Sweep, varying};
use super::finding::{Finding, Metric, Used};
use super::numbers::{Number, Numbers};
use super::rank::capital;
use super::words::{condition, conditions};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;

/// Groups of points that a sentence names.
const MOST_GROUPS: usize = 2;

/// What `metric` is, by the shape of the file. Swept names are not compared here.
pub(super) fn find(
    file: &File,
    numbers: &Numbers,
    shape: &Shape,
    metric: Metric,
) -> Option<Finding> {
    let points: Vec<&Point> = file
        .points
        .iter()
        .filter(|point| numbers.has(&point.id))
        .collect();
    match shape {
        Shape::Sweep(Sweep { axis: Some(at), .. }) if points.len() > 1 => {
            along(file, numbers, &points, *at, metric)
        }
        // After an interrupt there may be one point, which is no sweep.
        _ => match points[..] {
            [only] => at_point(numbers, only, metric),
            _ => None,
        },
    }
}

fn at_point(numbers: &Numbers, point: &Point, metric: Metric) -> Option<Finding> {
    let (number, used) = metric.at(numbers, point)?;
    let said = metric.kind.mean(number);
    let flows = &point.scenario.flows;
    let of_flow = matches!(&flows[..], [_]) && metric.name == Metric::GOODPUT.name;
    let sentence = if of_flow {
        let name = &flows[0].name;
        let completion = numbers.get(&point.id, name, "completion");
        let done = completion.map_or(String::new(), |s| {
            format!(", done in {}", super::words::Kind::Seconds.mean(s))
        });
        let used = numbers.of_bottleneck(&point.id, "utilisation");
        let of_link = used.map_or(String::new(), |used| {
            format!(
                "; the bottleneck is {} used",
                super::words::Kind::Percent.mean(used)
            )
        });
        let goodput = metric.kind.with_interval(number);
        format!("`{name}` gets {goodput} of goodput{done}{of_link}.")
    } else {
        let said = metric.kind.with_interval(number);
        format!("{}: {said}.", capital(&subject(metric, point)))
    };
    Some(Finding::new(said, sentence).resting_on([used]))
}

/// `mean queueing delay at the bottleneck`, `goodput of the 4 flows together`.
fn subject(metric: Metric, point: &Point) -> String {
    let flows = point.scenario.flows.len();
    match metric.name {
        "goodput" if flows > 1 => format!("goodput of the {flows} flows together"),
        "queue_delay_mean" => "average queueing delay".to_owned(),
        _ => metric.words.to_owned(),
    }
}

fn along(
    file: &File,
    numbers: &Numbers,
    points: &[&Point],
    at: usize,
    metric: Metric,
) -> Option<Finding> {
    let others: Vec<usize> = varying(file)
        .into_iter()
        .filter(|other| *other != at && !super::axis::follows(file, *other, at))
        .collect();
    let mut groups: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in points {
        let group = conditions(point, &others);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, points)) => points.push(point),
            None => groups.push((group, vec![point])),
        }
    }
    let mut used: Vec<Used> = Vec::new();
    let mut parts = Vec::new();
    let mut shown = String::new();
    for (group, mut points) in groups {
        points.sort_by(|a, b| {
            let number = |point: &Point| point.swept[at].number.unwrap_or_default();
            number(a).total_cmp(&number(b))
        });
        let (first, last) = (*points.first()?, *points.last()?);
        let ((from, a), (to, b)) = (metric.at(numbers, first)?, metric.at(numbers, last)?);
        used.extend([a, b]);
        if parts.len() == MOST_GROUPS {
            break;
        }
        let (part, number) = ends(metric, (first, from), (last, to), at);
        if shown.is_empty() {
            shown = number;
        }
        let group = if group.is_empty() {
            group
        } else {
            format!("{group}: ")
        };
        parts.push(format!("{group}{part}"));
    }
    let what = capital(&subject(metric, points[0]));
    Some(Finding::new(shown, format!("{what}: {}.", parts.join("; "))).resting_on(used))
}

/// Both ends of an axis, and what is shown large of them.
fn ends(
    metric: Metric,
    (first, from): (&Point, Number),
    (last, to): (&Point, Number),
    at: usize,
) -> (String, String) {
    let said = |number: Number, point: &Point| {
        let number = metric.kind.with_interval(number);
        format!("{number} {}", condition(point, at))
    };
    let both = format!("{}, {}", said(from, first), said(to, last));
    if from.differs_from(to) {
        let arrow = format!("{} → {}", metric.kind.mean(from), metric.kind.mean(to));
        return (both, arrow);
    }
    let (low, high) = (from.mean.min(to.mean), from.mean.max(to.mean));
    (
        format!("{both} (no clear difference)"),
        metric.kind.range(low, high),
    )
}
