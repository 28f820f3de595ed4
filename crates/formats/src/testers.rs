//! Results of testers of devices as rows of a summary, the one that `trammel bench` writes.
//!
//! A row is matched by what was offered (`point`), the test (`entity`), the metric and its unit;
//! each device under test (`system`) is a column of its own in comparisons.

use crate::rows::{Rows, maybe};
use trammel_core::label::Label;
use trammel_stats::table::CellType::{self, Float, Int, Text};
use trammel_stats::table::Table;

const COLUMNS: &[(&str, CellType)] = &[
    ("engine", Text),
    ("point", Text),
    ("entity", Text),
    ("metric", Text),
    ("unit", Text),
    ("system", Text),
    ("label", Text),
    ("mean", Float),
    ("ci_low", Float),
    ("ci_high", Float),
    ("n", Int),
];

/// One number of a tester.
#[derive(Clone, Debug, Default)]
pub(crate) struct Number {
    /// What was offered: the size of frames.
    pub(crate) point: String,
    /// The test: `throughput`, `latency`.
    pub(crate) test: &'static str,
    pub(crate) metric: &'static str,
    pub(crate) unit: &'static str,
    /// The device under test.
    pub(crate) system: String,
    pub(crate) value: Option<f64>,
    /// The ends between which it lies.
    pub(crate) ends: Option<(f64, f64)>,
    /// Of how many trials it is a mean.
    pub(crate) trials: Option<usize>,
}

/// The numbers that have a value, as a summary.
pub(crate) fn summary(numbers: &[Number]) -> Option<Table> {
    let label = Label::Measured.key();
    let mut rows = Rows::new("summary", COLUMNS);
    for one in numbers.iter().filter(|one| one.value.is_some()) {
        rows.push(&[
            ("engine", label.into()),
            ("point", one.point.as_str().into()),
            ("entity", one.test.into()),
            ("metric", one.metric.into()),
            ("unit", one.unit.into()),
            ("system", one.system.as_str().into()),
            ("label", label.into()),
            ("mean", maybe(one.value)),
            ("ci_low", maybe(one.ends.map(|ends| ends.0))),
            ("ci_high", maybe(one.ends.map(|ends| ends.1))),
            ("n", one.trials.into()),
        ]);
    }
    rows.whole()
}
