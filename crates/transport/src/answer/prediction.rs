//! How far formulas are from what ran: shares of flows, or goodput where there is one flow.

use super::finding::{Finding, Used};
use super::numbers::{EQUAL_PARTS, Numbers};
use super::words::{conditions, list, percent};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;
use trammel_stats::stats::relative_error;

/// Formulas that a sentence names.
const MOST: usize = 3;

/// The worst that a formula says of the file.
struct Worst<'a> {
    model: &'a str,
    error: f64,
    point: &'a Point,
    used: Used,
}

/// The formulas by their largest errors, the nearest one first.
pub(super) fn find(file: &File, numbers: &Numbers) -> Option<Finding> {
    let models = numbers.models.iter().filter(|model| *model != EQUAL_PARTS);
    let mut all: Vec<Worst<'_>> = models
        .filter_map(|model| worst(file, numbers, model))
        .collect();
    all.sort_by(|a, b| a.error.abs().total_cmp(&b.error.abs()));
    let axes: Vec<usize> = (0..file.points[0].swept.len()).collect();
    let said = |one: &Worst<'_>| {
        let (sign, size) = match one.error {
            error if error < 0.0 => ("less", -error),
            error => ("more", error),
        };
        let place = conditions(one.point, &axes);
        let said = format!("`{}` {} {sign} {place}", one.model, percent(size));
        said.trim_end().to_owned()
    };
    let nearest = all.first()?;
    let number = percent(nearest.error.abs());
    let parts: Vec<String> = all.iter().take(MOST).map(said).collect();
    let what = metric(file);
    let sentence = format!(
        "Where each formula is farthest from the {what} it says: {}.",
        list(&parts)
    );
    let used = all.into_iter().map(|one| one.used);
    Some(Finding::new(number, sentence).resting_on(used))
}

/// What is compared.
fn metric(file: &File) -> &'static str {
    if file.points[0].scenario.flows.len() > 1 {
        "share"
    } else {
        "goodput"
    }
}

/// The largest error of `model` over all points and flows.
fn worst<'a>(file: &'a File, numbers: &Numbers, model: &'a str) -> Option<Worst<'a>> {
    let metric = metric(file);
    let pairs = file.points.iter().flat_map(|point| {
        let flows = point.scenario.flows.iter();
        flows.map(move |flow| (point, &flow.name))
    });
    let errors = pairs.filter_map(|(point, flow)| {
        let says = numbers.of_model(&point.id, model, flow, metric)?.mean;
        let is = numbers.steady(&point.id, flow, metric)?.mean;
        Some(Worst {
            model,
            error: relative_error(says, is)?,
            point,
            used: Used::new(point, flow, metric),
        })
    });
    errors.max_by(|a, b| a.error.abs().total_cmp(&b.error.abs()))
}
