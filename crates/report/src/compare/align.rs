//! The rows of all runs, each with the number of every column.

use super::engines::Crossed;
use super::points::{Parameters, text};
use super::run::{KEYS, Key, Run};
use super::sides::Side;
use crate::comparison::Estimate;
use std::collections::BTreeMap;
use trammel_stats::table::Table;

/// A row of `summary` with the number of each side.
pub(super) type Aligned = (Key, Vec<Option<Estimate>>);

/// The rows of all runs, in the order in which the first run that has them lists them.
pub(super) fn align(runs: &[Run], sides: &[Side]) -> Vec<Aligned> {
    let all = Parameters::of(runs);
    let is_swept = all
        .iter()
        .any(|parameters| parameters.has_others || !parameters.shared.is_empty());
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let mut rows: Vec<Aligned> = Vec::new();
    let crossed = Crossed::of(runs);
    for (run, parameters) in runs.iter().enumerate().zip(&all) {
        for row in run.1.summary.iter().flat_map(Table::rows) {
            let key = |point: String| {
                let mut key = KEYS.map(|name| text(row, name));
                key[0] = crossed.engine(run.0, text(row, "engine"));
                key[1] = point;
                key
            };
            let place = places
                .entry(key(parameters.matched(is_swept, row)))
                .or_insert_with(|| {
                    rows.push((key(parameters.point(row)), vec![None; sides.len()]));
                    rows.len() - 1
                });
            let side = Side::of(run, &crossed, parameters, row);
            let at = sides.iter().position(|other| other.is(&side));
            let Some(at) = at else { continue };
            rows[*place].1[at] = row.float("mean").map(|value| Estimate {
                value,
                interval: row.float("ci_low").zip(row.float("ci_high")),
            });
        }
    }
    rows
}
