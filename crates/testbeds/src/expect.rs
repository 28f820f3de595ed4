//! What is expected of results, and whether it came:
//! `--expect 'throughput@64.of_line_percent >= 95'`.
//!
//! An expectation names a test, a column of its table and a bound, and perhaps a frame size; every
//! row must keep it. A row without the number does not keep it: what was not found cannot be relied
//! on.

use anyhow::anyhow;
use std::fmt;
use std::str::FromStr;
use trammel_bench::procedures::{self, Entry};
use trammel_stats::table::CellType::{self, Bool, Float, Int, Text};
use trammel_stats::table::{Cell, Table};

/// A comparison: how it is written, and whether it holds.
type Relation = (&'static str, fn(f64, f64) -> bool);

/// The longer ones first, which begin like the shorter.
const RELATIONS: [Relation; 4] = [
    (">=", |value, bound| value >= bound),
    ("<=", |value, bound| value <= bound),
    (">", |value, bound| value > bound),
    ("<", |value, bound| value < bound),
];

/// The columns of the table `verdicts`.
const COLUMNS: &[(&str, CellType)] = &[
    ("expected", Text),
    ("device", Text),
    ("frame", Text),
    ("value", Float),
    ("is_kept", Bool),
    ("rows", Int),
];

/// What is expected.
#[derive(Clone, Debug)]
pub struct Expectation {
    text: String,
    entry: &'static Entry,
    frame: Option<String>,
    column: String,
    relation: Relation,
    bound: f64,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Expectation {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Expectation> {
        let unreadable = || {
            anyhow!(
                "`{text}` expects nothing; write TEST.COLUMN and a bound, for example \
                 'throughput.throughput_fps >= 1e6', or TEST@FRAME.COLUMN for one frame size"
            )
        };
        let split = |relation: &Relation| Some((*relation, text.split_once(relation.0)?));
        let (relation, (what, bound)) = RELATIONS.iter().find_map(split).ok_or_else(unreadable)?;
        let (test, column) = what.trim().split_once('.').ok_or_else(unreadable)?;
        let (test, frame) = match test.split_once('@') {
            Some((test, frame)) => (test, Some(frame.to_owned())),
            None => (test, None),
        };
        let entry = procedures::FAMILY.get(test)?;
        let numbers = entry.columns.iter();
        let numbers = numbers.filter(|(_, kind)| matches!(kind, Float | Int));
        let numbers: Vec<&str> = numbers.map(|(name, _)| *name).collect();
        if !numbers.contains(&column) {
            return Err(anyhow!(
                "`{text}`: `{}` has no number `{column}`; it has {}",
                entry.about.name,
                numbers.join(", ")
            ));
        }
        let bound = bound.trim();
        let bound: f64 = bound.parse().map_err(|_| {
            anyhow!("`{text}`: `{bound}` is no number; write it without a unit, as in the table")
        })?;
        Ok(Expectation {
            text: text.trim().to_owned(),
            entry,
            frame,
            column: column.to_owned(),
            relation,
            bound,
        })
    }
}

impl Expectation {
    /// The test of whose results it is.
    pub fn test(&self) -> &'static Entry {
        self.entry
    }

    /// The frames that it is of, where it is not of all.
    pub fn frame(&self) -> Option<&str> {
        self.frame.as_deref()
    }
}

/// The table `verdicts`: a row for each number that something is expected of, and whether all of it
/// was kept. Where a test has no result, a row says so.
pub(super) fn verdicts(expectations: &[Expectation], tables: &[Table]) -> (Table, bool) {
    let mut verdicts = Table::with("verdicts", COLUMNS);
    let mut is_all = true;
    for expected in expectations {
        let of_test = tables
            .iter()
            .filter(|table| table.name() == expected.entry.about.name);
        let rows = of_test.flat_map(Table::rows);
        let rows: Vec<_> = rows
            .filter(|row| {
                expected
                    .frame()
                    .is_none_or(|frame| row.text("frame") == frame)
            })
            .collect();
        let mut add = |device: Cell, frame: Cell, value: Option<f64>| {
            let is_kept = value.is_some_and(|value| (expected.relation.1)(value, expected.bound));
            is_all &= is_kept;
            let cells = vec![
                expected.text.as_str().into(),
                device,
                frame,
                value.into(),
                is_kept.into(),
                rows.len().into(),
            ];
            verdicts
                .push(cells)
                .expect("the row has a cell for each column");
        };
        if rows.is_empty() {
            add(Cell::Empty, Cell::Empty, None);
        }
        for row in &rows {
            let value = row.float(&expected.column);
            let value = value.or_else(|| row.int(&expected.column).map(|whole| whole as f64));
            add(row.text("device").into(), row.text("frame").into(), value);
        }
    }
    (verdicts, is_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Table {
        let columns = [
            ("device", Text),
            ("frame", Text),
            ("throughput_fps", Float),
            ("trials", Int),
        ];
        let mut table = Table::with("throughput", &columns);
        for (frame, fps) in [("64", Some(1e6)), ("512", None)] {
            let row = vec!["a".into(), frame.into(), fps.into(), Cell::Int(7)];
            table.push(row).unwrap();
        }
        table
    }

    fn judged(text: &str) -> (Vec<bool>, bool) {
        let (table, is_all) = verdicts(&[text.parse().unwrap()], &[results()]);
        let kept = table
            .rows()
            .map(|row| row.get("is_kept") == Some(&Cell::Bool(true)));
        (kept.collect(), is_all)
    }

    #[test]
    fn every_row_must_keep_it_and_what_was_not_found_does_not() {
        assert_eq!(
            judged("throughput@64.throughput_fps >= 1e6"),
            (vec![true], true)
        );
        assert_eq!(
            judged("throughput@64.throughput_fps > 1e6"),
            (vec![false], false)
        );
        assert_eq!(
            judged("throughput.throughput_fps<2e6"),
            (vec![true, false], false)
        );
        assert_eq!(judged("throughput.trials <= 7"), (vec![true, true], true));
        // No result at all.
        assert_eq!(judged("latency.latency_mean_us < 50"), (vec![false], false));
        assert_eq!(judged("throughput@128.trials < 50"), (vec![false], false));
    }

    #[test]
    fn what_cannot_be_expected_is_told() {
        for (text, what) in [
            ("throughput.throughput_fps", "expects nothing"),
            ("throughput >= 3", "expects nothing"),
            ("thruput.throughput_fps > 3", "thruput"),
            (
                "throughput.rate > 3",
                "has no number `rate`; it has throughput_fps, ",
            ),
            ("throughput.verdict > 3", "has no number `verdict`"),
            (
                "throughput.throughput_fps > 3 Mpps",
                "`3 Mpps` is no number",
            ),
        ] {
            let said = text.parse::<Expectation>().unwrap_err().to_string();
            assert!(said.contains(what), "{said}");
        }
    }
}
