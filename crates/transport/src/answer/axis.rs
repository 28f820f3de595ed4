//! The shape of a file: one point, a matrix of variants, or a sweep with its axis.

use std::collections::BTreeMap;
use trammel_report::figure::Axis;
use trammel_report::units;
use trammel_scenario::File;
use trammel_scenario::sweep::Point;
use trammel_stats::table::{CellType, Column};

/// What a file varies.
#[derive(Debug)]
pub(super) enum Shape {
    /// Nothing.
    Single,
    /// The variants of the first two flows.
    Matrix(Matrix),
    /// Something else.
    Sweep(Sweep),
}

/// Positions among the swept parameters of the two variants, and of the others.
#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) others: Vec<usize>,
}

/// A swept number, if there is one, and the other swept parameters.
#[derive(Debug)]
pub(super) struct Sweep {
    /// Position of the number among the swept parameters.
    pub(super) axis: Option<usize>,
    pub(super) others: Vec<usize>,
}

impl Shape {
    pub(super) fn of(file: &File) -> Shape {
        let swept = &file.points[0].swept;
        if file.points.len() < 2 {
            return Shape::Single;
        }
        let place = |key: &str| swept.iter().position(|swept| swept.key == key);
        let except = |taken: &[usize]| {
            let varies = |at: &usize| {
                let first = &file.points[0].swept[*at].text;
                file.points
                    .iter()
                    .any(|point| point.swept[*at].text != *first)
            };
            (0..swept.len())
                .filter(|at| !taken.contains(at))
                .filter(varies)
                .collect()
        };
        if let (Some(first), Some(second)) = (place("flow.0.variant"), place("flow.1.variant")) {
            let others = except(&[first, second]);
            return Shape::Matrix(Matrix {
                first,
                second,
                others,
            });
        }
        let distinct = |at: usize| {
            let mut numbers: Vec<f64> = file
                .points
                .iter()
                .filter_map(|point| point.swept[at].number)
                .collect();
            let is_number = numbers.len() == file.points.len();
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            if is_number { numbers.len() } else { 0 }
        };
        let longest = (0..swept.len()).rev().max_by_key(|at| distinct(*at));
        let axis = longest.filter(|at| distinct(*at) >= 2);
        let mut others: Vec<usize> = except(&axis.into_iter().collect::<Vec<_>>());
        if let Some(axis) = axis {
            // What varies together with the axis says nothing more.
            others.retain(|other| !follows(file, *other, axis));
        }
        Shape::Sweep(Sweep { axis, others })
    }
}

/// The swept parameters that have several values.
pub(super) fn varying(file: &File) -> Vec<usize> {
    let swept = &file.points[0].swept;
    let varies = |at: &usize| {
        let first = &swept[*at].text;
        let mut points = file.points.iter();
        points.any(|point| point.swept[*at].text != *first)
    };
    (0..swept.len()).filter(varies).collect()
}

/// Of these, names of what may be compared over one path: variants, stacks, disciplines, kernels.
/// All else is another path.
pub(super) fn names(file: &File) -> Vec<usize> {
    let is_name = |at: &usize| {
        let swept = |point: &Point| point.swept[*at].clone();
        let key = swept(&file.points[0]).key;
        let is_of_path = ["path.", "link.", "topology."]
            .iter()
            .any(|start| key.starts_with(start));
        let is_number = file
            .points
            .iter()
            .all(|point| swept(point).number.is_some());
        !is_number && (!is_of_path || key.contains("queue"))
    };
    varying(file).into_iter().filter(is_name).collect()
}

/// Whether the parameter `other` has one value for each value of `axis`.
pub(super) fn follows(file: &File, other: usize, axis: usize) -> bool {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    file.points.iter().all(|point| {
        let (key, value) = (&point.swept[axis].text, &point.swept[other].text);
        *values.entry(key).or_insert(value) == value
    })
}

/// The value of a swept parameter as a person reads it.
pub(super) fn value(point: &Point, at: usize) -> String {
    let swept = &point.swept[at];
    let text = swept.text.trim_matches('"');
    // A table says its first value: `{ discipline = "codel", … }`.
    match text.split_once('=') {
        Some((_, rest)) if text.starts_with('{') => {
            let rest = rest.trim().trim_end_matches(['}', ' ']);
            rest.replace(['"', '\''], "")
        }
        _ => text.replace(" bdp", " BDP"),
    }
}

/// The name of a swept parameter as a person reads it, and its unit.
pub(super) fn name(point: &Point, at: usize) -> (String, &'static str) {
    let swept = &point.swept[at];
    let column = Column::new(swept.column.clone(), CellType::Float);
    let unit = column.unit().unwrap_or_default();
    // `flow.0.variant` is the variant to a person: the flows have names.
    let parts: Vec<&str> = swept.key.split('.').collect();
    let title = match parts[..] {
        ["flow", _, last] => last.replace('_', " "),
        [.., "queue", "limit"] => "queue limit".to_owned(),
        [.., "loss", "probability"] => "loss probability".to_owned(),
        ["path", "rtt"] => "round trip".to_owned(),
        _ => column.title(),
    };
    // Units of sweeps alone, of which the column's name says so.
    for (suffix, unit) in [("_bdp", "BDP"), ("_dbm", "dBm")] {
        if swept.column.ends_with(suffix) {
            return (
                title.trim_end_matches(&suffix[1..]).trim_end().to_owned(),
                unit,
            );
        }
    }
    (title, unit)
}

/// `probability = 1.5e-4, rtt = 10 ms` for the parameters `which` of `point`.
pub(super) fn values(point: &Point, which: &[usize]) -> String {
    let values = which
        .iter()
        .map(|at| format!("{} = {}", name(point, *at).0, value(point, *at)));
    values.collect::<Vec<_>>().join(", ")
}

/// The swept numbers of the parameter `at`: the factor to the unit that is shown, and that unit.
fn shown_unit(file: &File, at: usize) -> (f64, &'static str) {
    let (title, unit) = name(&file.points[0], at);
    let numbers = file
        .points
        .iter()
        .filter_map(|point| point.swept[at].number);
    let largest = numbers.map(f64::abs).fold(0.0, f64::max);
    let unit = if unit.is_empty() { "1" } else { unit };
    units::shown(unit, &title, largest)
}

/// The axis of a plot for the swept parameter `at`.
pub(super) fn axis(file: &File, at: usize) -> Axis {
    let (title, _) = name(&file.points[0], at);
    let (_, unit) = shown_unit(file, at);
    let values: Vec<f64> = file.points.iter().filter_map(placing(file, at)).collect();
    Axis::swept(&title, unit, &values)
}

/// Tells the place of a point on that axis.
pub(super) fn placing(file: &File, at: usize) -> impl Fn(&Point) -> Option<f64> {
    let (factor, _) = shown_unit(file, at);
    move |point| Some(point.swept[at].number? * factor)
}

/// The points of a file that have one name, by their places, in order of first appearance.
pub(super) fn named_alike(
    file: &File,
    name: impl Fn(&Point) -> String,
) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (place, point) in file.points.iter().enumerate() {
        let name = name(point);
        let group = *known.entry(name.clone()).or_insert(groups.len());
        match groups.get_mut(group) {
            Some((_, points)) => points.push(place),
            None => groups.push((name, vec![place])),
        }
    }
    groups
}
