//! What users get along a swept number: for each application the curve of what it is judged by.

use super::axis::{Sweep, axis, name};
use super::experience::judged_by;
use super::numbers::Numbers;
use super::rank::capital;
use super::sweep::{curve, groups};
use super::words::Kind;
use trammel_report::Block;
use trammel_report::figure::{Axis, Figure};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;

/// Curves of one plot at most: more cannot be told apart.
const MOST_CURVES: usize = 12;

/// A figure for each application; none where no number is swept.
pub(super) fn figures(file: &File, numbers: &Numbers, sweep: &Sweep) -> Vec<Block> {
    let Some(at) = sweep.axis else {
        return Vec::new();
    };
    let first = &file.points[0];
    let groups = groups(file, &sweep.others);
    let apps = first.scenario.apps.iter().enumerate();
    let figures = apps.filter_map(|(place, app)| {
        let (metric, kind, words) = judged_by(first, place)?;
        let (unit, scale) = match kind {
            Kind::Percent => ("%", 100.0),
            Kind::Rate => ("Mbit/s", 1.0),
            Kind::Micros => ("ms", 1e-3),
            Kind::Seconds => ("s", 1.0),
            Kind::Times | Kind::Plain => ("", 1.0),
        };
        let words = words.replace("{}", &app.name);
        let title = format!("{} against {}", capital(&words), name(first, at).0);
        let id = format!("experience-{}", place + 1);
        let y = Axis::linear(&words, unit).from_zero();
        let mut figure = Figure::new(&id, &title, axis(file, at), y);
        for (colour, (group, points)) in groups.iter().take(MOST_CURVES).enumerate() {
            for label in &numbers.labels {
                let engine = numbers.by(*label);
                let find = |point: &Point| {
                    let number = engine.get(&point.id, &app.name, metric)?;
                    Some(number.scaled(scale))
                };
                let series = curve(group.clone(), file, points, at, find);
                if !series.points.is_empty() {
                    figure = figure.with(series.labelled(*label).coloured(colour));
                }
            }
        }
        (!figure.series.is_empty()).then_some(Block::Figure(figure))
    });
    figures.collect()
}
