//! `summary`: every metric of every stream and of the path at every point, over the repeats: mean
//! and interval.

use super::outcome::StreamsOutcome;
use super::runs::Run;
use std::collections::BTreeMap;
use trammel_stats::interval::Support;
use trammel_stats::stats::Moments;
use trammel_stats::table::{Cell, Column, Table};
use trammel_transport::summary;
use trammel_transport::summary::{Of, moments};

/// What the path is called among the entities of a summary.
const PATH: &str = "path";

/// The moments of an engine's runs at a point.
#[derive(Debug, Default)]
pub struct Means {
    /// By stream and column, in the order of rows and columns.
    streams: Vec<((String, Column), Moments)>,
    /// The places of a stream's columns among these.
    places: BTreeMap<String, BTreeMap<String, usize>>,
    /// By column.
    path: Vec<((String, Column), Moments)>,
}

impl Means {
    /// Those of `runs`.
    pub fn of(runs: &[(u32, Run)]) -> Means {
        let streams = runs.iter().map(|(_, run)| &run.streams);
        let streams = moments(streams, |row| row.text("stream").to_owned());
        let mut places: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for (at, ((stream, column), _)) in streams.iter().enumerate() {
            let of_stream = places.entry(stream.clone()).or_default();
            of_stream.insert(column.name.clone(), at);
        }
        let paths = runs.iter().map(|(_, run)| &run.path);
        Means {
            streams,
            places,
            path: moments(paths, |_| PATH.to_owned()),
        }
    }

    /// The mean of a column of a stream.
    pub fn of_stream(&self, stream: &str, column: &str) -> Option<f64> {
        let at = self.places.get(stream)?.get(column)?;
        self.streams[*at].1.mean()
    }

    /// The moments of a column of the path.
    pub fn of_path(&self, column: &str) -> Option<&Moments> {
        let mut all = self.path.iter();
        let found = all.find(|((_, one), _)| one.name == column);
        found.map(|(_, moments)| moments)
    }
}

/// Where the numbers of `column` can lie. Clocks of two hosts that differ make a delay seem
/// negative.
fn support(column: &str, moments: &Moments) -> Support {
    match column {
        "lost" | "utilisation" => Support::Within(0.0, 1.0),
        _ if moments.min().is_some_and(|min| min < 0.0) => Support::Real,
        _ => Support::Positive,
    }
}

/// Fills `table`, whose columns are those that `lead` gives the cells of for a point, `engine`, and
/// [`summary::COLUMNS`].
pub(super) fn fill(
    table: &mut Table,
    outcome: &StreamsOutcome<'_>,
    lead: impl Fn(usize) -> Vec<Cell>,
) {
    for (at, ran) in outcome.ran.iter().enumerate() {
        for (engine, runs) in ran.by_engine() {
            let mut lead = lead(at);
            lead.push(Cell::from(engine.name()));
            let means = Means::of(runs);
            for ((entity, column), moments) in means.streams.iter().chain(&means.path) {
                let of = Of::new(moments, support(&column.name, moments));
                summary::push(table, &lead, "", entity, column, of);
            }
        }
    }
}
