//! Streams in a report: the table of systems by imposed rate, what was accounted, curves, and a
//! summary to compare.

use super::{OURS, word};
use crate::Paper;
use crate::experiment::Done;
use trammel_core::label::Label;
use trammel_report::figure::{Mark, Series};
use trammel_report::{Block, Highlight, Section, TableView};
use trammel_scenario::columns::metric_of;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, Column, Row, Table, format_float};
use trammel_traffic::record::Protocol;

/// The columns of the account of what was measured, from the experiment's table.
const ACCOUNT: &[&str] = &[
    "system",
    "path",
    "protocol",
    "imposed_bytes",
    "imposed_mbps",
    "imposed_pps",
    "sent_pps",
    "achieved_pps",
    "achieved_mbps",
    "lost_percent",
    "receiver_lost_pkts",
    "overdue_pkts",
    "late_p50_us",
    "late_p99_us",
    "delay_mean_us",
    "jitter_mean_us",
];
/// The columns by which runs are compared. Counts are none of them: they say how long was sent, not
/// what was reached.
const SUMMARY: &[&str] = &[
    "achieved_pps",
    "achieved_mbps",
    "sent_pps",
    "lost_percent",
    "jitter_mean_us",
    "delay_mean_us",
    "late_p50_us",
    "late_p99_us",
];
/// Digits of a measured number that people see.
const DIGITS: usize = 5;

/// A system as people read it.
fn shown(row: Row<'_>) -> String {
    let system = row.text("system");
    if row.text("label") == Label::Measured.key() {
        format!("{system}, here")
    } else {
        system.to_owned()
    }
}

/// Different values, in order.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// The sections of streams that were measured.
pub(crate) fn sections<'a>(
    paper: &'a Paper,
    done: &'a [Done],
) -> impl Iterator<Item = Section> + 'a {
    done.iter().filter_map(|one| {
        let experiment = &paper.spec.experiments[one.at];
        let streams = experiment.streams.as_ref().filter(|it| it.is_measured)?;
        let table = one.table.as_ref()?;
        let about = paper.spec.tables.iter().find(|it| it.name == experiment.id);
        let mut blocks = Vec::new();
        if streams.published.is_some() {
            let protocols = distinct(streams.kinds.iter().map(|(protocol, _)| *protocol));
            blocks.extend(
                protocols
                    .into_iter()
                    .map(|of| Block::Table(by_system(table, of))),
            );
        }
        let measured = table.filter(|row| row.text("label") == Label::Measured.key());
        blocks.push(Block::Table(TableView {
            title: "What was measured here".to_owned(),
            table: rounded(&measured),
            is_open: false,
        }));
        Some(Section {
            heading: about
                .map_or(experiment.id.as_str(), |it| &it.title)
                .to_owned(),
            text: about.map(|it| it.text.clone()).unwrap_or_default(),
            blocks,
        })
    })
}

/// For each protocol, what ours came to at the greatest imposed rate, beside the best of the
/// published.
pub(crate) fn highlights(paper: &Paper, done: &[Done]) -> Vec<Highlight> {
    let mut all = Vec::new();
    for one in done {
        let streams = paper.spec.experiments[one.at].streams.as_ref();
        let (Some(streams), Some(table)) = (streams, &one.table) else {
            continue;
        };
        if !streams.is_measured || streams.published.is_none() {
            continue;
        }
        let imposed = streams.imposed.sweep().1.iter().copied();
        let most = imposed.fold(0.0, f64::max);
        for protocol in distinct(streams.kinds.iter().map(|(protocol, _)| *protocol)) {
            let of = |is_it: fn(Row<'_>) -> bool| {
                let rows = table.rows().filter(move |row| {
                    row.text("protocol") == word(protocol)
                        && row.float("imposed_pps") == Some(most)
                        && is_it(*row)
                });
                let each = rows.filter_map(|row| Some((row.float("achieved_pps")?, shown(row))));
                each.max_by(|a, b| a.0.total_cmp(&b.0))
            };
            let ours = of(|row| row.text("system") == OURS);
            let theirs = of(|row| row.text("label") == Label::Published.key());
            let (Some((ours, system)), Some((theirs, other))) = (ours, theirs) else {
                continue;
            };
            all.push(Highlight {
                name: format!("{} of {most}, {system}", word(protocol).to_uppercase()),
                value: ours.round().to_string(),
                unit: "packets/s".to_owned(),
                label: Some(Label::Measured),
                note: format!("the best published is {theirs} ({other})"),
            });
        }
    }
    all
}

/// A row for each system, a column for each imposed rate: packets a second that were achieved.
fn by_system(table: &Table, protocol: Protocol) -> TableView {
    let of = table.filter(|row| row.text("protocol") == word(protocol));
    let imposed = distinct(of.rows().filter_map(|row| row.float("imposed_pps")));
    let mut columns = vec![Column::new("imposed rate", Text)];
    columns.extend(imposed.iter().map(|pps| Column::new(pps.to_string(), Int)));
    let mut wide = Table::new("systems", columns);
    for system in distinct(of.rows().map(shown)) {
        let of_system = || of.rows().filter(|row| shown(*row) == system);
        let mut row: Vec<Cell> = vec![system.as_str().into()];
        row.extend(imposed.iter().map(|pps| {
            let mut here = of_system().filter(|row| row.float("imposed_pps") == Some(*pps));
            let achieved = here.next().and_then(|row| row.float("achieved_pps"));
            Cell::from(achieved.map(|pps| pps.round() as u64))
        }));
        wide.push(row).expect("every row has a cell for each rate");
    }
    TableView {
        title: format!(
            "{}: achieved packets a second, measured here and published",
            word(protocol).to_uppercase()
        ),
        table: wide,
        is_open: true,
    }
}

/// The account with as many digits as people read, and no column without a number.
fn rounded(table: &Table) -> Table {
    let has_some = |name: &&str| {
        let mut rows = table.rows();
        rows.any(|row| row.get(name).is_some_and(|cell| *cell != Cell::Empty))
    };
    let kept: Vec<&str> = ACCOUNT.iter().copied().filter(has_some).collect();
    let Ok(picked) = table.select(&kept) else {
        return Table::with("streams", &[]);
    };
    let mut rounded = Table::new("streams", picked.columns().to_vec());
    for row in picked.rows() {
        let digits = |cell: &Cell| match cell {
            Cell::Float(value) => format_float(*value, DIGITS).parse().ok().map(Cell::Float),
            _ => None,
        };
        let cells = row
            .cells()
            .iter()
            .map(|cell| digits(cell).unwrap_or_else(|| cell.clone()));
        rounded
            .push(cells.collect())
            .expect("the row has a cell for each column");
    }
    rounded
}

/// A curve for each system and size of payload; nothing where there is no number.
pub(crate) fn curves(
    table: &Table,
    protocol: Protocol,
    (x, y): (&str, &str),
) -> Option<Vec<Series>> {
    let of = table.filter(|row| {
        row.text("protocol") == word(protocol) && row.float(x).is_some() && row.float(y).is_some()
    });
    let kind = |row: Row<'_>| (shown(row), row.int("imposed_bytes"));
    let sizes = distinct(of.rows().map(|row| row.int("imposed_bytes")));
    let mut curves = Vec::new();
    for (system, bytes) in distinct(of.rows().map(kind)) {
        let rows = || {
            of.rows()
                .filter(|row| kind(*row) == (system.clone(), bytes))
        };
        let points = rows().filter_map(|row| row.float(x).zip(row.float(y)));
        let name = match bytes {
            Some(bytes) if sizes.len() > 1 => format!("{system}, {bytes} B"),
            _ => system.clone(),
        };
        let label = rows()
            .next()
            .and_then(|row| Label::of_engine(row.text("label")));
        let mut series = Series::new(name, Mark::LinePoints, points.collect());
        series.label = label;
        curves.push(series);
    }
    (!curves.is_empty()).then_some(curves)
}

/// What was achieved as a `summary`, by which run folders are compared: a row for each number, with
/// its system.
pub fn summary<'a>(tables: impl Iterator<Item = &'a Table>) -> Table {
    let columns = [
        ("engine", Text),
        ("point", Text),
        ("model", Text),
        ("entity", Text),
        ("metric", Text),
        ("unit", Text),
        ("mean", Float),
        ("n", Int),
        ("system", Text),
        ("label", Text),
    ];
    let mut summary = Table::with("summary", &columns);
    for table in tables {
        let rows = || {
            table
                .rows()
                .filter(|row| row.text("label") != Label::Predicted.key())
        };
        // One metric over all points and systems reads as the paper's tables do.
        for name in SUMMARY {
            let (metric, unit) = metric_of(&Column::new(*name, Float));
            for row in rows() {
                let Some(value) = row.float(name) else {
                    continue;
                };
                let (rate, of) = match (row.float("imposed_mbps"), row.float("imposed_pps")) {
                    (Some(mbps), _) => (mbps, "Mbit/s"),
                    (None, pps) => (pps.unwrap_or_default(), "packets/s"),
                };
                let bytes = row.int("imposed_bytes").unwrap_or_default();
                let cells = vec![
                    "measure".into(),
                    format!("{rate} {of}").into(),
                    Cell::Empty,
                    format!("{}, {bytes} B", row.text("protocol")).into(),
                    metric.as_str().into(),
                    unit.into(),
                    value.into(),
                    1_u64.into(),
                    row.text("system").into(),
                    row.text("label").into(),
                ];
                summary
                    .push(cells)
                    .expect("the row has a cell for each column");
            }
        }
    }
    summary
}
