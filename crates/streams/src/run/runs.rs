//! One run of the streams by one engine: rows of the streams, counts of the path, and what a sweep
//! keeps of them.
//!
//! A run is the same tables whether it was made now or by an earlier sweep, and everything that is
//! told comes from them.

use super::account::Account;
use super::path_counts::PathCounts;
use crate::metrics;
use trammel_report::kept::{Keep, Samples};
use trammel_scenario::traffic::Traffic;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Table};

/// What a run knows of a stream before its metrics.
const STREAM: [(&str, CellType); 4] = [
    ("stream", Text),
    ("seed", Int),
    ("sent_pkts", Int),
    ("sent_bytes", Int),
];
/// What a run knows of the path.
pub(crate) const COUNTS: [(&str, CellType); 6] = [
    ("load", Float),
    ("utilisation", Float),
    ("wait_mean_us", Float),
    ("dropped", Float),
    ("lost", Float),
    ("peak_pkts", Int),
];

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// A row each stream.
    pub streams: Table,
    /// One row; none where nothing counts what the path does.
    pub path: Table,
    /// What a reader has to know.
    notes: Table,
    /// The distribution of each stream's delay.
    delays: Table,
}

/// Streams whose distribution of delay is kept, of one run.
pub(super) const MOST_CURVES: usize = 8;

/// The columns of a distribution: of the packets of `stream`, `share` took no longer than
/// `delay_us`.
const DELAYS: [(&str, CellType); 3] = [("stream", Text), ("delay_us", Float), ("share", Float)];

/// The columns of a stream's row.
pub(crate) fn stream_columns() -> impl Iterator<Item = (&'static str, CellType)> {
    STREAM.into_iter().chain(metrics::metric_columns())
}

fn empty() -> Run {
    Run {
        streams: Table::with("streams", &stream_columns().collect::<Vec<_>>()),
        path: Table::with("path", &COUNTS),
        notes: Table::with("notes", &[("note", Text)]),
        delays: Table::with("delays", &DELAYS),
    }
}

fn push(table: &mut Table, cells: impl IntoIterator<Item = Cell>) {
    let row = cells.into_iter().collect();
    table.push(row).expect("the row has a cell for each column");
}

impl Run {
    /// The run of `traffic` with the account of an engine, and the counts of its path where it has
    /// them.
    pub fn new(traffic: &Traffic, account: &Account, path: Option<PathCounts>) -> Run {
        let mut run = empty();
        let pairs = traffic.streams.iter().zip(&account.streams);
        for (stream, of) in pairs.filter_map(|(stream, of)| Some((stream, of.as_ref()?))) {
            let about = [
                Cell::from(stream.name.as_str()),
                stream.seed.into(),
                of.sent.packets.into(),
                of.sent.bytes.into(),
            ];
            let cells = about.into_iter().chain(metrics::cells(&of.summary));
            push(&mut run.streams, cells);
            // Many thousand streams would have millions of points, which nobody draws.
            let has_curve = run.streams.len() <= MOST_CURVES;
            for (ns, share) in of.summary.delay_cdf.iter().filter(|_| has_curve) {
                let us = *ns as f64 / 1e3;
                let cells = [stream.name.as_str().into(), us.into(), (*share).into()];
                push(&mut run.delays, cells);
            }
        }
        if let Some(path) = path {
            let cells = [
                path.load.into(),
                path.utilisation.into(),
                path.wait_mean_us.into(),
                path.dropped.into(),
                path.lost.into(),
                u64::from(path.peak_pkts).into(),
            ];
            push(&mut run.path, cells);
        }
        for note in &account.notes {
            push(&mut run.notes, [Cell::from(note.as_str())]);
        }
        run
    }

    /// The distribution of a stream's delay: microseconds, and the share of packets that took no
    /// longer.
    pub fn delays(&self, stream: &str) -> Vec<(f64, f64)> {
        let rows = self.delays.rows();
        let rows = rows.filter(|row| row.text("stream") == stream);
        rows.filter_map(|row| Some((row.float("delay_us")?, row.float("share")?)))
            .collect()
    }

    /// What a reader has to know.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.rows().map(|row| row.text("note"))
    }
}

impl Keep for Run {
    fn tables(&self) -> Vec<&Table> {
        vec![&self.streams, &self.path, &self.notes, &self.delays]
    }

    fn of_parts(read: &dyn Fn(&Table) -> Option<Table>, _: &[Samples]) -> Option<Run> {
        let empty = empty();
        Some(Run {
            streams: read(&empty.streams)?,
            path: read(&empty.path)?,
            notes: read(&empty.notes)?,
            delays: read(&empty.delays)?,
        })
    }
}
