//! `summary`: every number of every test in a row of its own, as runs of other subjects have it, so
//! that `trammel compare` sets the runs of a bench side by side.
//!
//! A number has an interval where its test tells one: Student's of repeats (`NAME_mean`, `NAME_sd`
//! and `repeats`), and of a search the two ends that it found.

use trammel_bench::procedures::{Entry, SHARED, verdict};
use trammel_bench::search::Verdict;
use trammel_stats::interval::LEVEL;
use trammel_stats::stats::Interval;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Column, Row, Table};

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

/// Columns that have a search's lower end, and those with its upper one.
const ENDS: &[(&str, &str)] = &[("throughput_fps", "upper_fps"), ("lower_fps", "upper_fps")];

/// Columns that tell what was asked, and ends of intervals.
const ASKED: &[&str] = &[
    "line_fps",
    "upper_fps",
    "searches_min_fps",
    "searches_max_fps",
    "trial_time_s",
];

/// Columns of texts that tell rows of one traffic apart.
const PARTS: &[&str] = &["goal", "step", "reset", "load"];

/// The summary of the tables of `tests`.
pub(super) fn summary<'e>(tests: impl Iterator<Item = &'e Entry>, tables: &[Table]) -> Table {
    let mut summary = Table::with("summary", COLUMNS);
    for entry in tests {
        let of_test = tables.iter().find(|table| table.name() == entry.about.name);
        for row in of_test.iter().flat_map(|table| table.rows()) {
            for (name, _) in entry.columns.iter().filter(|(_, kind)| *kind == Float) {
                if let Some(cells) = cells(entry, row, name) {
                    summary
                        .push(cells)
                        .expect("the row has a cell for each column");
                }
            }
        }
    }
    summary
}

/// The row of the number in column `name`, where there is one that was found.
fn cells(entry: &Entry, row: Row<'_>, name: &str) -> Option<Vec<Cell>> {
    let is_spread = name.contains("_sd_");
    if is_spread || ASKED.contains(&name) || SHARED.iter().any(|(shared, _)| *shared == name) {
        return None;
    }
    let value = row.float(name)?;
    let column = Column::new(name, Float);
    let interval = of_repeats(row, name, value).or_else(|| of_search(row, name, value));
    let label = row.text("label");
    Some(vec![
        label.into(),
        point(row).into(),
        entry.about.name.into(),
        column.title().into(),
        column.unit().map_or(Cell::Empty, Cell::from),
        row.text("device").into(),
        label.into(),
        value.into(),
        interval.map(|ends| ends.0).into(),
        interval.map(|ends| ends.1).into(),
        row.int("repeats")
            .map_or(Cell::Empty, |n| Cell::Int(n.into())),
    ])
}

/// What was offered, and which part of the test this is.
fn point(row: Row<'_>) -> String {
    let mut words = vec![row.text("frame").to_owned()];
    match row.text("data_stream") {
        "plain" | "" => {}
        stream => words.push(stream.to_owned()),
    }
    let parts = PARTS.iter().map(|part| row.text(part));
    words.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
    let load = row.float("intended_percent");
    words.extend(load.map(|percent| format!("{percent:.0} %")));
    words.join(", ")
}

fn of_repeats(row: Row<'_>, name: &str, mean: f64) -> Option<(f64, f64)> {
    let sd = row.float(&name.replace("_mean_", "_sd_"))?;
    let count = u64::try_from(row.int("repeats")?).ok()?;
    let is_mean = name.contains("_mean_");
    let interval = Interval::of_mean(mean, sd * sd, count, LEVEL).filter(|_| is_mean)?;
    Some((interval.low, interval.high))
}

fn of_search(row: Row<'_>, name: &str, lower: f64) -> Option<(f64, f64)> {
    // Where the tester is what limits, the upper end is its and not the device's.
    if row.text("verdict") == verdict(Verdict::Tester) {
        return None;
    }
    let (_, upper) = ENDS.iter().find(|(lower, _)| *lower == name)?;
    Some((lower, row.float(upper)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::procedures::find;

    fn table(entry: &Entry, row: &[(&str, Cell)]) -> Table {
        let columns: Vec<_> = SHARED.iter().chain(entry.columns).copied().collect();
        let cell = |(name, _): &(&str, CellType)| {
            let given = row.iter().find(|(known, _)| known == name);
            given.map_or(Cell::Empty, |(_, cell)| cell.clone())
        };
        let mut table = Table::with(entry.about.name, &columns);
        table.push(columns.iter().map(cell).collect()).unwrap();
        table
    }

    #[test]
    fn a_search_has_its_ends_and_repeats_have_students_interval() {
        let throughput = find("throughput").unwrap();
        let latency = find("latency").unwrap();
        let shared = [
            ("device", Cell::from("a router")),
            ("label", "measured".into()),
            ("frame", "64".into()),
            ("data_stream", "plain".into()),
        ];
        let of = |own: &[(&'static str, Cell)]| [&shared[..], own].concat();
        let found = of(&[
            ("throughput_fps", 1000.0.into()),
            ("upper_fps", 1005.0.into()),
            ("line_fps", 2000.0.into()),
        ]);
        let delays = of(&[
            ("latency_mean_us", 10.0.into()),
            ("latency_sd_us", 2.0.into()),
            ("repeats", Cell::Int(20)),
        ]);
        let tables = [table(throughput, &found), table(latency, &delays)];
        let summary = summary([throughput, latency].into_iter(), &tables);
        let rows: Vec<_> = summary
            .rows()
            .map(|row| {
                let ends = (row.float("ci_low").unwrap(), row.float("ci_high").unwrap());
                (
                    row.text("entity").to_owned(),
                    row.text("metric").to_owned(),
                    ends,
                )
            })
            .collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            rows[0],
            ("throughput".into(), "throughput".into(), (1000.0, 1005.0))
        );
        // t of 19 degrees at 95 % is 2.093.
        let (low, high) = rows[1].2;
        let half = 2.093 * 2.0 / 20_f64.sqrt();
        assert!((low - (10.0 - half)).abs() < 1e-3 && (high - (10.0 + half)).abs() < 1e-3);
        let row = summary.rows().next().unwrap();
        assert_eq!((row.text("unit"), row.text("point")), ("frames/s", "64"));
    }
}
