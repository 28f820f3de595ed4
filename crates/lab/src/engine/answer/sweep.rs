//! The plots of a sweep: metrics against the swept number, or goodput against delay where names are swept.

use super::axis::{Sweep, axis, value};
use super::numbers::{Number, Numbers};
use super::words::INTERVALS;
use crate::report::Block;
use crate::report::figure::{Axis, Figure, Mark, Series};
use crate::scenario::File;
use crate::scenario::sweep::Point;
use trammel_core::label::Label;
use trammel_core::units::Rate;

/// Curves of one plot at most, of one engine: more cannot be told apart.
const MOST_CURVES: usize = 12;
/// Marks of one plot at most: so many colours and shapes there are.
const MOST_MARKS: usize = 32;

pub(super) fn figures(file: &File, numbers: &Numbers, sweep: &Sweep) -> Vec<Block> {
    let figures = match sweep.axis {
        Some(at) => against(file, numbers, sweep, at),
        None => Vec::new(),
    };
    let figures = figures
        .into_iter()
        .chain(goodput_and_delay(file, numbers, sweep));
    let mut figures: Vec<_> = figures
        .filter(|figure| figure.series.iter().any(|one| !one.points.is_empty()))
        .collect();
    if let Some(first) = figures.first_mut() {
        first.is_wide = true;
    }
    figures.into_iter().map(Block::Figure).collect()
}

/// The points of a sweep by the values of all but its axis, in order of first appearance.
fn groups<'a>(file: &'a File, others: &[usize]) -> Vec<(String, Vec<&'a Point>)> {
    let mut groups: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in &file.points {
        let values: Vec<_> = others.iter().map(|at| value(point, *at)).collect();
        let name = values.join(", ");
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => groups.push((name, vec![point])),
        }
    }
    groups
}

/// A curve of the numbers that `find` gives, against the parameter `at`.
fn curve(
    name: String,
    points: &[&Point],
    at: usize,
    find: impl Fn(&Point) -> Option<Number>,
) -> Series {
    let found: Vec<_> = points
        .iter()
        .filter_map(|point| Some((point.swept[at].number?, find(point)?)))
        .collect();
    let series = Series::new(
        name,
        Mark::LinePoints,
        found.iter().map(|(x, number)| (*x, number.mean)).collect(),
    );
    if found.iter().any(|(_, number)| number.interval.is_some()) {
        let ends = found
            .iter()
            .map(|(_, n)| n.interval.unwrap_or((n.mean, n.mean)));
        return series.banded(ends.collect());
    }
    series
}

fn caption(file: &File) -> String {
    match file.points.iter().map(|point| point.scenario.repeat).max() {
        Some(n) if n > 1 => {
            format!("Bands: 95 % confidence interval of the mean over {n} repeats ({INTERVALS}).")
        }
        _ => String::new(),
    }
}

/// Metrics of flows and of the bottleneck against the swept number.
fn against(file: &File, numbers: &Numbers, sweep: &Sweep, at: usize) -> Vec<Figure> {
    let groups = groups(file, &sweep.others);
    let caption = caption(file);
    let engines: Vec<Numbers> = numbers.labels.iter().map(|one| numbers.by(*one)).collect();
    let x = || axis(file, at);
    let (title, _) = super::axis::name(&file.points[0], at);
    let flows: Vec<&str> = file.points[0]
        .scenario
        .flows
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    // A swept variant renames the flows: then a flow is known by its place.
    let flow_at = |point: &Point, n: usize| {
        point
            .scenario
            .flows
            .get(n)
            .map_or_else(String::new, |flow| flow.name.clone())
    };
    let named = |n: usize, group: &str| match (flows.len(), group) {
        (1, "") | (0, _) => flows
            .first()
            .map_or_else(String::new, |flow| (*flow).to_owned()),
        (1, group) => group.to_owned(),
        (_, "") => flows[n].to_owned(),
        (_, group) => format!("{}, {group}", flows[n]),
    };
    let of_flows = |id: &str, name: &str, y: Axis, metric: &str, scale: f64| {
        let mut figure = Figure::new(id, &format!("{name} against {title}"), x(), y);
        let mut colour = 0;
        for (group, points) in &groups {
            for n in 0..flows.len() {
                if colour == MOST_CURVES {
                    break;
                }
                let scaled = |number: Number| number.scaled(scale);
                for engine in &engines {
                    let find = |point: &Point| {
                        engine
                            .steady(&point.id, &flow_at(point, n), metric)
                            .map(scaled)
                    };
                    let series = curve(named(n, group), points, at, find);
                    if !series.points.is_empty() {
                        figure = figure.with(series.labelled(engine.label).coloured(colour));
                    }
                }
                for model in &numbers.models {
                    let find = |point: &Point| {
                        numbers
                            .of_model(&point.id, model, &flow_at(point, n), metric)
                            .map(scaled)
                    };
                    // Of two shares that sum to one, the second curve says nothing new.
                    if metric == "share" && flows.len() == 2 && n == 1 {
                        continue;
                    }
                    let name = format!("{}, {model}", named(n, group));
                    let series = curve(name, points, at, find);
                    if !series.points.is_empty() {
                        // A colour is a flow's; of several models each needs its own.
                        let of_model = numbers.models.iter().position(|one| one == model);
                        let shade = match numbers.models.len() {
                            1 => colour,
                            _ => 3 + of_model.unwrap_or_default(),
                        };
                        figure = figure.with(series.labelled(Label::Predicted).coloured(shade));
                    }
                }
                colour += 1;
            }
        }
        figure.captioned(&(left_out(groups.len() * flows.len(), MOST_CURVES) + &caption))
    };
    let mut figures = Vec::new();
    let n = flows.len();
    let is_crowded = n * groups.len() > MOST_CURVES.min(8) && groups.len() > 1;
    let of_all = |id: &str, name: &str, y: Axis, metric: &str, scale: f64| {
        let mut figure = Figure::new(id, &format!("{name} against {title}"), x(), y);
        for (colour, (group, points)) in groups.iter().take(MOST_CURVES).enumerate() {
            for engine in &engines {
                let find = |point: &Point| {
                    let number = engine.of_all(&point.id, metric)?;
                    Some(number.scaled(scale))
                };
                let series = curve(group.clone(), points, at, find);
                if !series.points.is_empty() {
                    figure = figure.with(series.labelled(engine.label).coloured(colour));
                }
            }
        }
        figure.captioned(&(left_out(groups.len(), MOST_CURVES) + &caption))
    };
    if is_crowded {
        // Each flow of each group would be too much: what they get together.
        let y = Axis::linear("goodput of all flows", "Mbit/s");
        figures.push(of_all("goodput", "Goodput", y, "goodput", 1.0));
        if n >= 2 {
            let y = Axis::linear("Jain's index", "").with_range(0.0, 1.0);
            figures.push(of_all("fairness", "Fairness", y, "jain", 1.0));
        }
    }
    if n >= 2 && !is_crowded {
        let y = Axis::linear("share of the goodput", "").with_range(0.0, 1.0);
        let figure = of_flows("share", "Share of the goodput", y, "share", 1.0);
        figures.push(figure.ruled(1.0 / n as f64, "fair share"));
    }
    if n >= 1 && !is_crowded {
        let y = Axis::linear("goodput", "Mbit/s");
        figures.push(of_flows("goodput", "Goodput", y, "goodput", 1.0));
    }
    let of_links = |id: &str, name: &str, y: Axis, metric: &str, scale: f64| {
        let mut figure = Figure::new(id, &format!("{name} against {title}"), x(), y);
        let links = groups.len() * numbers.bottlenecks.len();
        let mut colour = 0;
        for (group, points) in &groups {
            for link in &numbers.bottlenecks {
                if colour == MOST_CURVES {
                    break;
                }
                let name = match (numbers.bottlenecks.len(), group.as_str()) {
                    (1, "") => String::new(),
                    (1, group) => group.to_owned(),
                    (_, "") => link.clone(),
                    (_, group) => format!("{link}, {group}"),
                };
                for engine in &engines {
                    let find = |point: &Point| {
                        let number = engine.steady(&point.id, link, metric)?;
                        Some(number.scaled(scale))
                    };
                    let series = curve(name.clone(), points, at, find);
                    if !series.points.is_empty() {
                        figure = figure.with(series.labelled(engine.label).coloured(colour));
                    }
                }
                colour += 1;
            }
        }
        figure.captioned(&(left_out(links, MOST_CURVES) + &caption))
    };
    let y = Axis::linear("utilisation", "").with_range(0.0, 1.0);
    figures.push(of_links(
        "utilisation",
        "Use of the bottleneck",
        y,
        "utilisation",
        1.0,
    ));
    let y = Axis::linear("queueing delay", "ms");
    figures.push(of_links(
        "queue-delay",
        "Queueing delay",
        y,
        "queue_delay_mean",
        1e-3,
    ));
    if n >= 1 {
        let y = Axis::linear("round trip, 95th percentile", "ms");
        let (id, name) = ("latency", "Latency under load");
        figures.push(if is_crowded {
            of_all(id, name, y, "latency_loaded_p95", 1e-3)
        } else {
            of_flows(id, name, y, "rtt_p95", 1e-3)
        });
    }
    figures
}

/// Goodput of all flows against the queueing delay: one point a value of what is swept by name. Where rates
/// differ between points, goodput is shown as a part of the rate.
fn goodput_and_delay(file: &File, numbers: &Numbers, sweep: &Sweep) -> Option<Figure> {
    if sweep.others.is_empty() || file.points[0].scenario.flows.is_empty() {
        return None;
    }
    let rates: Vec<Option<Rate>> = file.points.iter().map(rate_of).collect();
    let is_relative = rates.windows(2).any(|pair| pair[0] != pair[1]);
    let y = if is_relative {
        Axis::linear("use of the bottleneck", "")
    } else {
        Axis::linear("goodput of all flows", "Mbit/s")
    };
    let link = numbers.bottlenecks.first()?;
    let delays = file
        .points
        .iter()
        .filter_map(|point| Some(numbers.steady(&point.id, link, "queue_delay_mean")?.mean / 1e3));
    let (low, high) = delays.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    let x = if low > 0.0 && high / low > 20.0 {
        Axis::log("mean queueing delay", "ms")
    } else {
        Axis::linear("mean queueing delay", "ms")
    };
    let mut figure = Figure::new("goodput-delay", "Goodput against delay", x, y);
    // A mark for each value of every swept name: what tells paths apart is in the name too.
    let groups = groups(file, &sweep.others);
    let all = groups.len();
    for (place, (name, points)) in groups.into_iter().take(MOST_MARKS).enumerate() {
        for (round, engine) in numbers.labels.iter().enumerate() {
            let engine = numbers.by(*engine);
            let places = points.iter().filter_map(|point| {
                let delay = engine.steady(&point.id, link, "queue_delay_mean")?.mean / 1e3;
                let goodput = if is_relative {
                    engine.steady(&point.id, link, "utilisation")?.mean
                } else {
                    engine.of_all(&point.id, "goodput")?.mean
                };
                Some((delay, goodput))
            });
            let series = Series::new(name.clone(), Mark::Points, places.collect());
            if !series.points.is_empty() {
                // As many places on in the palette, the colour is the same and the shape another.
                let look = place + round * MOST_MARKS / 2;
                figure = figure.with(series.labelled(engine.label).coloured(look));
            }
        }
    }
    let left_out = left_out(all, MOST_MARKS);
    Some(figure.captioned(&format!(
        "{left_out}One mark a point of the sweep; up and to the left is better."
    )))
}

/// What a plot of `most` of `all` names must say.
fn left_out(all: usize, most: usize) -> String {
    if all > most {
        format!("The first {most} of {all} are shown; the tables have all. ")
    } else {
        String::new()
    }
}

fn rate_of(point: &Point) -> Option<Rate> {
    match &point.scenario.topology {
        crate::scenario::topology::Topology::Path(path) => Some(path.line.rate),
        crate::scenario::topology::Topology::Graph(_) => None,
    }
}
