//! Devices in a report: for each test the devices beside each other, each with what its numbers
//! are; and the transfers.

use super::Paper;
use super::experiment::Done;
use trammel_report::{Block, Section, TableView};
use trammel_stats::stats::Moments;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, Column, Row, Table, format_float};

/// Of each test, the column that stands for it, what it is, and the test's heading.
const SHOWN: &[(&str, &str, &str)] = &[
    (
        "throughput",
        "throughput_mbps",
        "Throughput, Mbit/s of frames",
    ),
    (
        "frame-loss",
        "loss_percent",
        "Frames lost at the most load that was offered, %",
    ),
    (
        "overload-burst",
        "came_mean_bytes",
        "What comes out of a burst, bytes",
    ),
    (
        "overload-burst",
        "came_after_bytes",
        "Of these, after the last frame had been sent, bytes",
    ),
    (
        "single-frame",
        "latency_mean_us",
        "A frame that comes alone, us",
    ),
    (
        "single-frame",
        "steady_median_us",
        "A frame of a steady stream, us",
    ),
    ("restart", "restart_mean_ms", "Restart, ms"),
    (
        "constant-load",
        "lost",
        "Frames lost just below the throughput",
    ),
];
/// Digits of a number that people see.
const DIGITS: usize = 5;

/// The sections: tests, then transfers; none where the paper has neither.
pub(super) fn sections(paper: &Paper, done: &[Done]) -> Vec<Section> {
    let of = |one: &Done| &paper.spec.experiments[one.at];
    let text = |name: &str| {
        let about = paper.spec.tables.iter().find(|table| table.name == name);
        about.map_or_else(
            || (name.to_owned(), String::new()),
            |table| (table.title.clone(), table.text.clone()),
        )
    };
    let tested: Vec<&Table> = done
        .iter()
        .filter(|one| of(one).tested.is_some())
        .filter_map(|one| one.table.as_ref())
        .collect();
    let mut all = Vec::new();
    if !tested.is_empty() {
        let (heading, text) = text("devices");
        let shown = SHOWN.iter().filter_map(|shown| beside(&tested, shown));
        all.push(Section {
            heading,
            text,
            blocks: shown.map(Block::Table).collect(),
        });
    }
    let transfers = done.iter().filter(|one| of(one).transfers.is_some());
    for table in transfers.filter_map(|one| one.table.as_ref()) {
        let (heading, text) = text("transfers-here");
        all.push(Section {
            heading,
            text,
            blocks: vec![Block::Table(transferred(table))],
        });
    }
    all
}

/// A row for each device that has the test, a column for each frame size; nothing where none has
/// it.
fn beside(tables: &[&Table], (test, column, title): &(&str, &str, &str)) -> Option<TableView> {
    let mut devices: Vec<(String, String)> = Vec::new();
    let mut frames: Vec<u64> = Vec::new();
    let mut values: Vec<((String, String), u64, f64)> = Vec::new();
    let rows = tables.iter().flat_map(|table| table.rows());
    for row in rows.filter(|row| row.text("test") == *test) {
        let Some(value) = row.float(column) else {
            continue;
        };
        let of = (row.text("device").to_owned(), row.text("label").to_owned());
        // What is published does not always say.
        let frame = row.float("frame_bytes").unwrap_or(0.0) as u64;
        // The first row of a test counts: the most load of those that are tried one after the
        // other.
        if values
            .iter()
            .any(|(known, at, _)| *known == of && *at == frame)
        {
            continue;
        }
        if !devices.contains(&of) {
            devices.push(of.clone());
        }
        if !frames.contains(&frame) {
            frames.push(frame);
        }
        values.push((of, frame, value));
    }
    frames.sort_unstable();
    let mut columns = vec![Column::new("device", Text), Column::new("label", Text)];
    let name = |frame: &u64| match frame {
        0 => "any frame".to_owned(),
        bytes => format!("{bytes} B"),
    };
    columns.extend(frames.iter().map(|frame| Column::new(name(frame), Float)));
    let mut table = Table::new("beside", columns);
    for of in devices {
        let mut row = vec![Cell::from(of.0.as_str()), Cell::from(of.1.as_str())];
        row.extend(frames.iter().map(|frame| {
            let mut all = values.iter();
            let found = all.find(|(known, at, _)| *known == of && at == frame);
            Cell::from(found.and_then(|(.., value)| rounded(*value)))
        }));
        table
            .push(row)
            .expect("every row has a cell for each frame size");
    }
    (!table.is_empty()).then(|| TableView {
        title: (*title).to_owned(),
        table,
        is_open: true,
    })
}

fn rounded(value: f64) -> Option<f64> {
    format_float(value, DIGITS).parse().ok()
}

/// A row for each device and protocol: the mean of its transfers.
fn transferred(table: &Table) -> TableView {
    let columns = [
        ("device", Text),
        ("label", Text),
        ("protocol", Text),
        ("server", Text),
        ("bytes", Int),
        ("seconds_mean", Float),
        ("seconds_min", Float),
        ("seconds_max", Float),
        ("mbps_mean", Float),
        ("n", Int),
    ];
    let mut shown = Table::with("transfers", &columns);
    for first in table.rows().filter(|row| row.int("repeat") == Some(0)) {
        let same = |row: &Row<'_>| {
            ["device", "label", "protocol"]
                .iter()
                .all(|key| row.text(key) == first.text(key))
        };
        let of = |column: &str| -> Moments {
            let rows = table.rows().filter(same);
            rows.filter_map(|row| row.float(column)).collect()
        };
        let seconds = of("seconds");
        let number = |value: Option<f64>| Cell::from(value.and_then(rounded));
        let row = vec![
            first.text("device").into(),
            first.text("label").into(),
            first.text("protocol").into(),
            first.text("server").into(),
            first.int("bytes").map(|bytes| bytes as u64).into(),
            number(seconds.mean()),
            number(seconds.min()),
            number(seconds.max()),
            number(of("mbps").mean()),
            (table.rows().filter(same).count()).into(),
        ];
        shown.push(row).expect("the row has a cell for each column");
    }
    TableView {
        title: "Published, and transferred here".to_owned(),
        table: shown,
        is_open: true,
    }
}
