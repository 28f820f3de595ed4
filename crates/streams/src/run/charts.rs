//! The charts of a traffic run: the distribution of delay of each stream, a line for each engine,
//! and the mean along a sweep.

use super::alike::ByAlike;
use super::compared::Compared;
use super::outcome::{Ran, StreamsOutcome};
use super::runs::MOST_CURVES;
use trammel_core::label::Label;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_report::units;
use trammel_report::{Block, Choice};
use trammel_scenario::traffic::Point;
use trammel_stats::table::{CellType, Column};

/// Points that are chosen among.
const MOST_POINTS: usize = 12;
/// Delays that lie further apart than this are drawn by factors.
const FAR: f64 = 30.0;

/// The charts.
pub(super) fn blocks(outcome: &StreamsOutcome<'_>, compared: &[Compared]) -> Vec<Block> {
    let mut blocks: Vec<Block> = along(outcome, compared)
        .into_iter()
        .map(Block::Figure)
        .collect();
    let points = outcome.file.points.iter().zip(&outcome.ran).enumerate();
    let options = points.take(MOST_POINTS).map(|(at, (point, ran))| {
        let figures = distributions(at, point, ran, compared);
        (point.id.clone(), figures)
    });
    let mut options: Vec<(String, Vec<Block>)> = options.collect();
    options.retain(|(_, figures)| !figures.is_empty());
    match options.len() {
        0 => {}
        1 => blocks.extend(options.remove(0).1),
        _ => blocks.push(Block::Choice(Choice {
            name: "Point".to_owned(),
            options,
        })),
    }
    blocks
}

/// A figure for each stream of a point.
fn distributions(at: usize, point: &Point, ran: &Ran, compared: &[Compared]) -> Vec<Block> {
    let streams = point.scenario.streams.iter().enumerate().take(MOST_CURVES);
    let figures = streams.filter_map(|(n, stream)| {
        let engines = [
            (Label::Simulated, &ran.simulated),
            (Label::Measured, &ran.measured),
        ];
        let curves: Vec<(Label, Vec<(f64, f64)>)> = engines
            .into_iter()
            .filter_map(|(label, runs)| {
                let (_, run) = runs.first()?;
                let points = run.delays(&stream.name);
                (!points.is_empty()).then_some((label, points))
            })
            .collect();
        let points = curves.iter().flat_map(|(_, points)| points);
        let delays = points.map(|(us, _)| *us);
        let (factor, unit) = units::shown("us", "delay", delays.clone().reduce(f64::max)?);
        let x = Axis::linear("one-way delay", unit).by_factors_beyond(FAR, delays);
        let y = Axis::linear("share of packets", "%").with_range(0.0, 100.0);
        let id = format!("delay-{}-{}", at + 1, n + 1);
        let title = format!("Delay of `{}`", stream.name);
        let mut figure = Figure::new(&id, &title.replace('`', ""), x, y);
        for (label, points) in curves {
            // It rises from none: no packet is faster than the fastest.
            let fastest = points.first().map(|(us, _)| (*us, 0.0));
            let points = fastest.into_iter().chain(points);
            let points = points.map(|(us, share)| (us * factor, share * 100.0));
            let series = Series::new(stream.name.as_str(), Mark::Step, points.collect());
            figure = figure.with(series.labelled(label).coloured(n));
        }
        let mean = compared
            .iter()
            .find(|one| (one.point, one.stream, one.metric) == (at, n, "delay_mean_us"));
        if let Some(us) = mean.and_then(|one| one.predicted) {
            figure.rules.push(trammel_report::figure::Rule {
                is_upright: true,
                at: us * factor,
                text: "predicted mean".to_owned(),
            });
        }
        let caption =
            "The share of packets with at most this delay, in the first run of each engine.";
        Some(Block::Figure(figure.captioned(caption)))
    });
    figures.collect()
}

/// Mean delay along the swept number with the most values, a colour for each stream, or for all
/// that are alike.
fn along(outcome: &StreamsOutcome<'_>, compared: &[Compared]) -> Option<Figure> {
    let points = &outcome.file.points;
    let first = points.first()?;
    let distinct = |n: usize| {
        let numbers = points.iter().map(|point| point.swept[n].number);
        let mut numbers: Vec<f64> = numbers.collect::<Option<_>>().unwrap_or_default();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        numbers.len()
    };
    let swept = (0..first.swept.len()).max_by_key(|n| distinct(*n))?;
    // With another parameter beside it, a curve would go to and fro.
    if distinct(swept) < 2 || distinct(swept) != points.len() {
        return None;
    }
    let column = Column::new(first.swept[swept].column.clone(), CellType::Float);
    let number = |at: usize| points[at].swept[swept].number.unwrap_or_default();
    let largest = (0..points.len()).map(number).fold(0.0, f64::max);
    let title = column.title();
    let (factor, unit) = units::shown(column.unit().unwrap_or("1"), &title, largest);
    let values: Vec<f64> = (0..points.len()).map(|at| number(at) * factor).collect();
    let x = Axis::swept(&title, unit, &values);
    let means = compared.iter().filter(|one| one.metric == "delay_mean_us");
    let all = means.flat_map(|one| [one.predicted, one.simulated, one.measured]);
    let (scale, delay_unit) = units::shown("us", "delay", all.flatten().fold(0.0, f64::max));
    let y = Axis::linear("mean one-way delay", delay_unit).from_zero();
    let heading = format!("Mean delay against {title}");
    let mut figure = Figure::new("delay-along", &heading, x, y).wide();
    let alike = ByAlike::new(points, compared);
    let mut has_several = false;
    for n in 0..MOST_CURVES {
        let Some(most) = alike.most(n) else { break };
        has_several |= most.count() > 1;
        for label in [Label::Predicted, Label::Simulated, Label::Measured] {
            let mean = |at: usize| {
                let mean = alike.mean((at, n), "delay_mean_us", label)?;
                Some((values[at], mean * scale))
            };
            let here: Vec<(f64, f64)> = (0..points.len()).filter_map(mean).collect();
            if !here.is_empty() {
                let series = Series::new(most.name.as_str(), Mark::LinePoints, here);
                figure = figure.with(series.labelled(label).coloured(n));
            }
        }
    }
    if has_several {
        figure = figure.captioned("Of streams that are alike, the mean of all.");
    }
    (!figure.series.is_empty()).then_some(figure)
}
