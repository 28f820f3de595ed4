//! What users get along a swept number: for each application the curve of what it is judged by.

use super::axis::{Sweep, axis, name};
use super::experience::judged_by;
use super::numbers::Numbers;
use super::sweep::{curve, groups, left_out};
use super::words::{Kind, capital, list};
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
        let mut without = Vec::new();
        for (colour, (group, points)) in groups.iter().take(MOST_CURVES).enumerate() {
            let drawn = figure.series.len();
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
            if figure.series.len() == drawn && !group.is_empty() {
                without.push(group.clone());
            }
        }
        let without = match without.len() {
            0 => String::new(),
            _ => format!("Without a number at any point: {}.", list(&without)),
        };
        let caption = left_out(groups.len(), MOST_CURVES) + &without;
        (!figure.series.is_empty()).then(|| Block::Figure(figure.captioned(&caption)))
    });
    figures.collect()
}

#[cfg(test)]
mod tests {
    use super::super::axis::Shape;
    use super::*;

    #[test]
    fn a_curve_without_points_is_named() {
        let text = "duration = '1 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n\
             [[app]]\nkind = 'web'\nname = 'pages'\n[sweep]\n\
             'path.rate' = ['5 Mbit/s', '20 Mbit/s', '80 Mbit/s']\n\
             'path.queue.discipline' = ['droptail', 'fq_codel']";
        let file = File::parse("test.toml", text, std::path::Path::new(".")).unwrap();
        let ids = file.points.iter().map(|point| point.id.as_str());
        let with_one = ids.filter(|id| id.contains("fq_codel"));
        let rows = with_one.map(|id| (id, "pages", "time_p50", 1.4));
        let numbers = Numbers::simulated(&file, rows);
        let Shape::Sweep(sweep) = Shape::of(&file) else {
            panic!("names along a number are a sweep");
        };
        let blocks = figures(&file, &numbers, &sweep);
        let [Block::Figure(figure)] = &blocks[..] else {
            panic!("one application has one figure");
        };
        assert_eq!(figure.series.len(), 1);
        assert_eq!(figure.caption, "Without a number at any point: droptail.");
    }
}
