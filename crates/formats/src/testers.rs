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
    /// Whether the file has a value that cannot be: its cell is empty.
    pub(crate) is_doubtful: bool,
    /// Of how many trials it is a mean.
    pub(crate) trials: Option<usize>,
}

/// The most of anything in a second that a number is believed: a Pbit/s.
const MOST: f64 = 1e15;

impl Number {
    /// Leaves out a value that is more than can be, and ends that do not enclose anything.
    fn doubt(&mut self) {
        let is_too_large = self.value.is_some_and(|value| value > MOST);
        let are_none = |(low, high): (f64, f64)| low > high || high > MOST;
        if is_too_large || self.ends.is_some_and(are_none) {
            (self.value, self.ends, self.is_doubtful) = (None, None, true);
        }
    }
}

/// Empties the cells of numbers that cannot be, and says how many.
pub(crate) fn doubt(numbers: &mut [Number], notes: &mut Vec<String>) {
    numbers.iter_mut().for_each(Number::doubt);
    let doubtful = numbers.iter().filter(|one| one.is_doubtful).count();
    if doubtful > 0 {
        let are = if doubtful == 1 {
            "number is"
        } else {
            "numbers are"
        };
        notes.push(format!(
            "{doubtful} {are} left out: more than a Pbit/s, or between a lower end above the upper \
             one."
        ));
    }
}

/// The numbers that have a value, as a summary; empty cells of those that cannot be.
pub(crate) fn summary(numbers: &[Number]) -> Option<Table> {
    numbers.iter().find(|one| one.value.is_some())?;
    let label = Label::Measured.key();
    let mut rows = Rows::new("summary", COLUMNS);
    let is_told = |one: &&Number| one.value.is_some() || one.is_doubtful;
    for one in numbers.iter().filter(is_told) {
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
