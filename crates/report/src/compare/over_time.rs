//! Curves over time of several runs in one plot, of what more than one of them has a trace: a
//! colour for each run, dashes for each engine.

use super::run::Run;
use crate::figure::{Axis, Figure, Mark, Series};
use crate::run_folder::traces;
use crate::{Block, Choice, Section};
use std::collections::BTreeMap;
use std::path::PathBuf;
use trammel_core::label::Label;
use trammel_stats::table::Table;

/// Traces of one name that are shown at most; the folders have all.
const MOST_TRACES: usize = 20;
/// Steps of a curve of goodput.
const STEPS: usize = 100;

/// What is drawn of a trace: its id, title, the title of its axis, unit, and its curve.
type Drawn = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    fn(&Table) -> Vec<(f64, f64)>,
);

const DRAWN: [Drawn; 4] = [
    ("cwnd", "Congestion window", "cwnd", "packets", |table| {
        column(table, "cwnd_pkts", 1.0)
    }),
    ("rate", "Goodput", "goodput", "Mbit/s", goodput),
    ("rtt", "Round trip", "smoothed round trip", "ms", |table| {
        column(table, "srtt_us", 1e-3)
    }),
    ("queue", "Queue", "queue", "packets", |table| {
        column(table, "queue_pkts", 1.0)
    }),
];

/// A trace: the place of its run, its engine, and its file.
type Found = (usize, Label, PathBuf);

/// The section of `runs`; nothing where no two have a trace of the same.
pub(super) fn section(runs: &[Run]) -> Option<Section> {
    let mut all: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for (name, file) in run.folder.as_deref().map(traces::names).unwrap_or_default() {
            let (name, label) = named(&name);
            all.entry(name).or_default().push((at, label, file));
        }
    }
    all.retain(|_, found| found.iter().any(|(at, ..)| *at != found[0].0));
    let left_out = all.len().saturating_sub(MOST_TRACES);
    let shown = all.iter().take(MOST_TRACES).enumerate();
    let options = shown.map(|(n, (name, found))| (name.clone(), figures(n + 1, runs, found)));
    let mut options: Vec<(String, Vec<Block>)> = options.collect();
    options.retain(|(_, blocks)| !blocks.is_empty());
    if options.is_empty() {
        return None;
    }
    let more = match left_out {
        0 => String::new(),
        _ => format!(
            " The first {MOST_TRACES} traces are shown; the run folders have {left_out} more."
        ),
    };
    Some(Section {
        heading: "Over time".to_owned(),
        text: format!("What several runs have a trace of, by its point and flow or link.{more}"),
        blocks: vec![Block::Choice(Choice {
            name: "Trace".to_owned(),
            options,
        })],
    })
}

/// What a trace is of, and its engine, of which simulated ones do not tell.
fn named(name: &str) -> (String, Label) {
    let mut label = Label::Simulated;
    let words = name.split('.').filter(|word| {
        let found = Label::OF_RESULTS.iter().find(|one| one.key() == *word);
        label = found.copied().unwrap_or(label);
        found.is_none()
    });
    let words: Vec<&str> = words.collect();
    (words.join("."), label)
}

fn figures(number: usize, runs: &[Run], found: &[Found]) -> Vec<Block> {
    let read = |(at, label, file): &Found| Some((*at, *label, traces::read(file)?));
    let tables: Vec<(usize, Label, Table)> = found.iter().filter_map(read).collect();
    let figure = |(id, title, axis, unit, curve): &Drawn| {
        let series = tables.iter().filter_map(|(at, label, table)| {
            let points = curve(table);
            let mark = if *id == "rate" {
                Mark::Line
            } else {
                Mark::Step
            };
            let series = Series::new(&runs[*at].name, mark, points);
            (!series.points.is_empty()).then(|| series.coloured(*at).labelled(*label))
        });
        let series: Vec<Series> = series.collect();
        if series.is_empty() {
            return None;
        }
        let (x, y) = (Axis::linear("time", "s"), Axis::linear(axis, unit));
        let y = if *id == "rtt" { y } else { y.from_zero() };
        let figure = Figure::new(&format!("{id}-{number}"), title, x, y);
        let mut figure = figure.grouped(&format!("trace-{number}"));
        figure.series = series;
        Some(Block::Figure(figure))
    };
    DRAWN.iter().filter_map(figure).collect()
}

/// A column over time, times `factor`; empty where the table has none.
fn column(table: &Table, name: &str, factor: f64) -> Vec<(f64, f64)> {
    let rows = table.rows();
    rows.filter_map(|row| Some((row.float("time_s")?, row.float(name)? * factor)))
        .collect()
}

/// The rate at which payload was acknowledged, between instants at least a step apart.
fn goodput(table: &Table) -> Vec<(f64, f64)> {
    let acked = column(table, "acked_bytes", 8e-6);
    let (Some(first), Some(last)) = (acked.first(), acked.last()) else {
        return Vec::new();
    };
    let step = (last.0 - first.0) / STEPS as f64;
    let mut before = *first;
    let mut rates = Vec::new();
    for (time, megabits) in &acked[1..] {
        let passed = time - before.0;
        if passed > 0.0 && passed >= step {
            rates.push((*time, (megabits - before.1) / passed));
            before = (*time, *megabits);
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::read_one;
    use crate::run_folder::{RunFolder, RunInfo};
    use std::path::Path;
    use trammel_stats::table::CellType::{Float, Int};

    fn run(folder: &Path, traces: &[&str]) -> Run {
        let columns = [("time_s", Float), ("cwnd_pkts", Int), ("acked_bytes", Int)];
        let mut table = Table::with("flow", &columns);
        for (time, bytes) in [(0.0, 0_u64), (1.0, 125_000), (2.0, 375_000)] {
            let cells = vec![time.into(), 10_u64.into(), bytes.into()];
            table.push(cells).unwrap();
        }
        let mut out = RunFolder::create(folder).unwrap();
        for point in traces {
            out.write_trace(point, "reno", &table).unwrap();
        }
        read_one(&out.finish(&RunInfo::default()).unwrap())
    }

    #[test]
    fn what_two_runs_have_a_trace_of_is_overlaid() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let one = run(&at("one"), &["limit=0.1bdp", "alone"]);
        let other = run(&at("other"), &["limit=0.1bdp.linux_vt"]);
        let section = section(&[one.clone(), other]).unwrap();
        let [Block::Choice(choice)] = &section.blocks[..] else {
            panic!("alternatives: {section:?}");
        };
        let [(name, blocks)] = &choice.options[..] else {
            panic!("one alternative: {choice:?}");
        };
        assert_eq!(name, "limit=0.1bdp.reno");
        let [Block::Figure(windows), Block::Figure(rates)] = &blocks[..] else {
            panic!("two figures: {blocks:?}");
        };
        let looks: Vec<_> = windows.series.iter().map(|s| (&*s.name, s.label)).collect();
        let wanted = [
            ("one", Some(Label::Simulated)),
            ("other", Some(Label::LinuxVt)),
        ];
        assert_eq!(looks, wanted);
        assert_eq!(rates.series[0].points, [(1.0, 1.0), (2.0, 2.0)]);
        assert!(super::section(&[one.clone(), run(&at("third"), &["b"])]).is_none());
    }
}
