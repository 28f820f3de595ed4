//! The plots of a sweep against the swept number: that of the metric that the file asks for comes
//! first.
//!
//! A colour is a flow, or a value of what is swept beside the number; a dash pattern is an engine
//! or a model.

use super::axis::{Sweep, axis, named_alike, placing, value};
use super::numbers::{EQUAL_PARTS, Number, Numbers};
use super::{cloud, named};
use trammel_core::label::Label;
use trammel_report::Block;
use trammel_report::figure::{Axis, Figure, GREY, Mark, Series};
use trammel_scenario::File;
use trammel_scenario::model::Goal;
use trammel_scenario::sweep::Point;
use trammel_stats::table::format_float;

/// Curves of one plot at most, of one engine: more cannot be told apart.
const MOST_CURVES: usize = 12;
/// Points of a curve that are marked, at most: more would be a blot.
const MOST_MARKED: usize = 60;
/// Values that lie further apart than this are drawn by factors.
const FAR: f64 = 30.0;

pub(super) fn figures(file: &File, numbers: &Numbers, sweep: &Sweep) -> Vec<Block> {
    let figures = match sweep.axis {
        Some(at) => against(file, numbers, sweep, at),
        None => Vec::new(),
    };
    let figures = figures.into_iter().map(by_factors);
    let figures = figures.chain(cloud::goodput_and_delay(file, numbers, sweep));
    let mut figures: Vec<_> = figures
        .filter(|figure| figure.series.iter().any(|one| !one.points.is_empty()))
        .collect();
    // What is asked for is seen first.
    let asked = asked(file);
    figures.sort_by_key(|figure| !asked.contains(&figure.id.as_str()));
    if let Some(first) = figures.first_mut().filter(|_| sweep.axis.is_some()) {
        first.is_wide = true;
    }
    let of_names = sweep
        .axis
        .is_none()
        .then(|| named::dots(file, numbers, sweep));
    let of_names = of_names.into_iter().flatten().map(Block::Dots);
    of_names
        .chain(figures.into_iter().map(Block::Figure))
        .collect()
}

/// The plots of the metric that the file asks for.
fn asked(file: &File) -> &'static [&'static str] {
    match file.points[0].scenario.answer {
        Some(Goal::Delay) => &["queue-delay"],
        Some(Goal::Goodput | Goal::Rank | Goal::Recovery) => &["goodput"],
        Some(Goal::Share) => &["share"],
        Some(Goal::Utilisation) => &["utilisation"],
        _ => &[],
    }
}

/// The figure with its y axis by factors, where values lie far apart.
fn by_factors(mut figure: Figure) -> Figure {
    if figure.y.range.is_some() {
        return figure;
    }
    let values = figure.series.iter().flat_map(|one| &one.points);
    let values = values.map(|(_, y)| *y).filter(|y| y.is_finite());
    figure.y = figure.y.clone().by_factors_beyond(FAR, values);
    figure
}

/// The points of a sweep by the values of all but its axis, in order of first appearance.
pub(super) fn groups<'a>(file: &'a File, others: &[usize]) -> Vec<(String, Vec<&'a Point>)> {
    let name = |point: &Point| {
        // A number alone says nothing of what it is.
        let values = others.iter().map(|at| match value(point, *at) {
            text if text.parse::<f64>().is_ok() => {
                let text = in_percent(file, point, *at).unwrap_or(text);
                format!("{} = {text}", super::axis::name(point, *at).0)
            }
            text => text,
        });
        values.collect::<Vec<_>>().join(", ")
    };
    let groups = named_alike(file, name).into_iter();
    let points = |places: Vec<usize>| places.into_iter().map(|at| &file.points[at]).collect();
    groups
        .map(|(name, places)| (name, points(places)))
        .collect()
}

/// A part of a whole as axes have it: `0.01 %`.
fn in_percent(file: &File, point: &Point, at: usize) -> Option<String> {
    const DIGITS: usize = 4;
    let is_shown = axis(file, at).unit == "%";
    let percent = placing(file, at)(point).filter(|_| is_shown)?;
    Some(format!("{} %", format_float(percent, DIGITS)))
}

/// A curve of the numbers that `find` gives, against the parameter `at`.
pub(super) fn curve(
    name: String,
    file: &File,
    points: &[&Point],
    at: usize,
    find: impl Fn(&Point) -> Option<Number>,
) -> Series {
    let place = placing(file, at);
    let found: Vec<_> = points
        .iter()
        .filter_map(|point| Some((place(point)?, find(point)?)))
        .collect();
    let mark = match found.len() {
        ..=MOST_MARKED => Mark::LinePoints,
        _ => Mark::Line,
    };
    let series = Series::new(
        name,
        mark,
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

fn caption(numbers: &Numbers) -> String {
    let bands = |n| format!("Bands: 95 % interval of the mean, {n} repeats.");
    numbers.repeats().map_or_else(String::new, bands)
}

/// Metrics of flows and of the bottleneck against the swept number.
fn against(file: &File, numbers: &Numbers, sweep: &Sweep, at: usize) -> Vec<Figure> {
    let groups = groups(file, &sweep.others);
    let caption = caption(numbers);
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
                    let series = curve(named(n, group), file, points, at, find);
                    if !series.points.is_empty() {
                        figure = figure.with(series.labelled(engine.label).coloured(colour));
                    }
                }
                let models = numbers.models.iter().filter(|one| *one != EQUAL_PARTS);
                for (turn, model) in models.enumerate() {
                    let find = |point: &Point| {
                        numbers
                            .of_model(&point.id, model, &flow_at(point, n), metric)
                            .map(scaled)
                    };
                    // Of two shares that sum to one, the second curve says nothing new.
                    if metric == "share" && flows.len() == 2 && n == 1 {
                        continue;
                    }
                    let name = match named(n, group).as_str() {
                        "" => model.clone(),
                        name => format!("{name}, {model}"),
                    };
                    let series = curve(name, file, points, at, find);
                    if !series.points.is_empty() {
                        let series = series.labelled(Label::Predicted).coloured(colour);
                        figure = figure.with(series.turned(turn));
                    }
                }
                colour += 1;
            }
        }
        // Of equal parts there is one line, however many flows have one; of shares a rule says it.
        let equal = |point: &Point, n: usize| {
            let number = numbers.of_model(&point.id, EQUAL_PARTS, &flow_at(point, n), metric);
            number.map(|number| number.scaled(scale))
        };
        let mut lines: Vec<Series> = Vec::new();
        for (group, points) in groups.iter().filter(|_| metric != "share") {
            for n in 0..flows.len() {
                let name = format!("fair share, {}", named(n, group));
                let line = curve(name, file, points, at, |point| equal(point, n));
                let is_known = lines.iter().any(|known| known.points == line.points);
                if !is_known && !line.points.is_empty() {
                    lines.push(line);
                }
            }
        }
        if let [only] = &mut lines[..] {
            "fair share".clone_into(&mut only.name);
        }
        for (turn, mut line) in lines.into_iter().take(MOST_CURVES).enumerate() {
            line.mark = Mark::Line;
            figure = figure.with(line.labelled(Label::Predicted).coloured(GREY).turned(turn));
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
                    let number = engine.together(point, metric)?;
                    Some(number.scaled(scale))
                };
                let series = curve(group.clone(), file, points, at, find);
                if !series.points.is_empty() {
                    figure = figure.with(series.labelled(engine.label).coloured(colour));
                }
            }
        }
        figure.captioned(&(left_out(groups.len(), MOST_CURVES) + &caption))
    };
    if is_crowded {
        // Each flow of each group would be too much: what they get together.
        let y = Axis::linear(goodput_of(file), "Mbit/s").from_zero();
        figures.push(of_all("goodput", "Goodput", y, "goodput", 1.0));
        if n >= 2 {
            let y = Axis::linear("Jain's index", "").with_range(0.0, 1.0);
            figures.push(of_all("fairness", "Fairness", y, "jain", 1.0));
        }
    }
    // What is asked for is shown, of as many flows as a plot has room for.
    let is_asked = file.points[0].scenario.answer == Some(Goal::Share);
    if n >= 2 && (!is_crowded || is_asked) {
        let y = Axis::linear("share of the goodput", "%").with_range(0.0, 100.0);
        let figure = of_flows("share", "Share of the goodput", y, "share", 100.0);
        figures.push(figure.ruled(100.0 / n as f64, "fair share"));
    }
    if n >= 1 && !is_crowded {
        let y = Axis::linear("goodput", "Mbit/s").from_zero();
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
                    let series = curve(name.clone(), file, points, at, find);
                    if !series.points.is_empty() {
                        figure = figure.with(series.labelled(engine.label).coloured(colour));
                    }
                }
                colour += 1;
            }
        }
        figure.captioned(&(left_out(links, MOST_CURVES) + &caption))
    };
    let y = Axis::linear("use", "%").with_range(0.0, 100.0);
    figures.push(of_links(
        "utilisation",
        "Use of the bottleneck",
        y,
        "utilisation",
        100.0,
    ));
    let y = Axis::linear("queueing delay", "ms").from_zero();
    figures.push(of_links(
        "queue-delay",
        "Queueing delay",
        y,
        "queue_delay_mean",
        1e-3,
    ));
    if n >= 1 {
        let y = Axis::linear("round trip, 95th percentile", "ms").from_zero();
        let (id, name) = ("latency", "Latency under load");
        figures.push(if is_crowded {
            of_all(id, name, y, "latency_loaded_p95", 1e-3)
        } else {
            of_flows(id, name, y, "rtt_p95", 1e-3)
        });
    }
    figures
}

/// Whose goodput a plot of all flows shows: of one there are no others.
pub(super) fn goodput_of(file: &File) -> &'static str {
    match file.points[0].scenario.flows.len() {
        1 => "goodput",
        _ => "goodput of all flows",
    }
}

/// What a plot of `most` of `all` names must say.
pub(super) fn left_out(all: usize, most: usize) -> String {
    if all > most {
        format!("The first {most} of {all} are shown; the tables have all. ")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::Shape;
    use super::*;
    use crate::run_tables::ALL_FLOWS;

    #[test]
    fn names_of_curves_say_parts_as_axes_do() {
        let text = "duration = '4 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '20 ms'\n\
             loss = { probability = 0.01 }\n[[flow]]\nvariant = 'cubic'\n[sweep]\n\
             'path.loss.probability' = [0.0001, 0.02]\n'path.rtt' = ['5 ms', '20 ms', '80 ms']";
        let file = File::parse("test.toml", text, std::path::Path::new(".")).unwrap();
        let names = groups(&file, &[0]).into_iter().map(|(name, _)| name);
        let wanted = ["loss probability = 0.01 %", "loss probability = 2 %"];
        assert_eq!(names.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_flow_alone_is_plotted_over_its_own_time() {
        let text = "duration = '4 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '20 ms'\n\
             [[flow]]\nname = 'a'\nvariant = 'cubic'\n[sweep]\n\
             'path.rtt' = ['5 ms', '20 ms', '80 ms']\n\
             'path.rate' = ['1 Mbit/s', '2 Mbit/s', '3 Mbit/s', '4 Mbit/s', '5 Mbit/s', \
                            '6 Mbit/s', '7 Mbit/s', '8 Mbit/s', '9 Mbit/s']\n\
             'path.queue.limit' = ['1 bdp', '2 bdp', '3 bdp']";
        let file = File::parse("test.toml", text, std::path::Path::new(".")).unwrap();
        let rows = file.points.iter().flat_map(|point| {
            let id = point.id.as_str();
            // It started late: over the whole run it gets less.
            [
                (id, ALL_FLOWS, "goodput", 14.77),
                (id, "a", "goodput", 19.07),
            ]
        });
        let numbers = Numbers::simulated(&file, rows);
        let Shape::Sweep(sweep) = Shape::of(&file) else {
            panic!("numbers are swept");
        };
        let blocks = figures(&file, &numbers, &sweep);
        let figure = blocks.iter().find_map(|block| match block {
            Block::Figure(figure) if figure.id == "goodput" => Some(figure),
            _ => None,
        });
        let figure = figure.unwrap();
        assert_eq!(figure.y.title, "goodput");
        let mut drawn = figure.series.iter().flat_map(|one| &one.points);
        assert!(drawn.all(|(_, y)| *y == 19.07));
    }
}
