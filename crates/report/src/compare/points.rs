//! What tells the points of runs apart, and by what the points of several runs are one.

use super::run::{KEYS, Run};
use std::collections::BTreeSet;
use trammel_stats::table::{Row, Table};

/// The columns of a run's `summary` that are swept parameters: those between the point and what a
/// row is of.
fn swept(run: &Run) -> Vec<&str> {
    let columns = run.summary.iter().flat_map(Table::columns);
    let names = columns.map(|column| column.name.as_str());
    let behind = names.skip_while(|name| *name != "point").skip(1);
    behind
        .take_while(|name| !KEYS.contains(name) && !["system", "label"].contains(name))
        .collect()
}

/// What tells the points of a run apart, beside its name.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters<'a> {
    /// Those that all runs sweep: rows are matched by them.
    pub(super) shared: Vec<&'a str>,
    /// Those of this run alone that have several values: a column for each.
    pub(super) own: Vec<&'a str>,
    /// Whether this run sweeps something that not all do.
    pub(super) has_others: bool,
}

impl<'a> Parameters<'a> {
    /// Those of each run.
    pub(super) fn of(runs: &'a [Run]) -> Vec<Parameters<'a>> {
        let all: Vec<Vec<&str>> = runs.iter().map(swept).collect();
        let is_shared = |name: &&str| all.iter().all(|names| names.contains(name));
        let of_run = |(run, names): (&'a Run, &Vec<&'a str>)| {
            let (shared, others): (Vec<_>, Vec<_>) = names.iter().copied().partition(is_shared);
            let has_several = |name: &&str| {
                let rows = run.summary.iter().flat_map(Table::rows);
                let values = rows.map(|row| row.get(name).map(ToString::to_string));
                values.collect::<BTreeSet<_>>().len() > 1
            };
            Parameters {
                shared,
                has_others: !others.is_empty(),
                own: others.into_iter().filter(has_several).collect(),
            }
        };
        let parameters: Vec<_> = runs.iter().zip(&all).map(of_run).collect();
        if are_named(runs, &parameters) {
            return vec![Parameters::default(); runs.len()];
        }
        parameters
    }

    /// By what rows of several runs are one: the shared parameters, or where nobody sweeps any, the
    /// point's name.
    pub(super) fn matched(&self, is_swept: bool, row: Row<'_>) -> String {
        if is_swept {
            named(&self.shared, row)
        } else {
            text(row, "point")
        }
    }

    /// What a row's point is called.
    pub(super) fn point(&self, row: Row<'_>) -> String {
        match (self.has_others, self.shared.is_empty()) {
            (false, _) => text(row, "point"),
            (true, true) => "base".to_owned(),
            (true, false) => named(&self.shared, row),
        }
    }
}

/// Whether points are matched by their names though runs sweep something: they sweep nothing in
/// common, and a name is one of several runs, or points of a run differ in nothing but their names
/// (an import of the points of a sweep knows no parameters).
fn are_named(runs: &[Run], parameters: &[Parameters<'_>]) -> bool {
    if parameters.iter().any(|one| !one.shared.is_empty()) {
        return false;
    }
    let names: Vec<BTreeSet<String>> = runs.iter().map(points).collect();
    let is_elsewhere = |at: usize, name: &String| {
        let mut others = names.iter().enumerate().filter(|(other, _)| *other != at);
        others.any(|(_, names)| names.contains(name))
    };
    let has_merged = |at: usize| {
        let rows = runs[at].summary.iter().flat_map(Table::rows);
        let told_apart = rows.map(|row| named(&parameters[at].own, row));
        told_apart.collect::<BTreeSet<_>>().len() < names[at].len()
    };
    parameters
        .iter()
        .enumerate()
        .any(|(at, one)| one.has_others && names[at].iter().any(|name| is_elsewhere(at, name)))
        || parameters.iter().any(|one| one.has_others) && (0..runs.len()).any(has_merged)
}

/// The names of a run's points.
fn points(run: &Run) -> BTreeSet<String> {
    let rows = run.summary.iter().flat_map(Table::rows);
    rows.map(|row| text(row, "point")).collect()
}

/// `name=value` of some columns of a row.
pub(super) fn named(names: &[&str], row: Row<'_>) -> String {
    let all = names
        .iter()
        .map(|name| format!("{name}={}", text(row, name)));
    all.collect::<Vec<_>>().join(",")
}

pub(super) fn text(row: Row<'_>, name: &str) -> String {
    row.get(name).map(ToString::to_string).unwrap_or_default()
}
