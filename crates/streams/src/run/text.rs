//! A traffic run for a person at a terminal: the path, then each stream with its metrics by engine.

use super::compared::{self, Compared};
use super::offered::Moment;
use super::outcome::{Ran, StreamsOutcome};
use super::summary::Means;
use crate::metrics;
use std::fmt::Write;
use trammel_scenario::traffic::Point;
use trammel_stats::stats::Moments;
use trammel_stats::table::format_float;

/// Streams of a point that are shown; the tables have all.
const MOST_SHOWN: usize = 4;
/// Digits that people see.
const DIGITS: usize = 6;

/// Every point.
pub(super) fn all(outcome: &StreamsOutcome<'_>) -> String {
    let rows = compared::all(outcome);
    let mut text = String::new();
    for (place, (point, ran)) in outcome.file.points.iter().zip(&outcome.ran).enumerate() {
        if !text.is_empty() {
            text.push('\n');
        }
        if !point.swept.is_empty() {
            let _ = writeln!(text, "{}\n", point.id.replace(',', ", "));
        }
        text += &path(point, ran);
        for (number, stream) in point.scenario.streams.iter().enumerate().take(MOST_SHOWN) {
            let _ = match point.scenario.repeat {
                1 => writeln!(text, "\n{}, seed {}", stream.name, stream.seed),
                _ => writeln!(text, "\n{}", stream.name),
            };
            if let Some(predicted) = &ran.predicted {
                text += &offered(&predicted.moments[number]);
            }
            let own = rows
                .iter()
                .filter(|one| one.point == place && one.stream == number);
            text += &metrics_of(own);
        }
        let more = point.scenario.streams.len().saturating_sub(MOST_SHOWN);
        if more > 0 {
            let _ = writeln!(
                text,
                "\nand {more} streams more; `--json` and `-o DIR` have all"
            );
        }
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format_float(value, DIGITS))
}

fn error(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{:+.1} %", 100.0 * value))
}

fn path(point: &Point, ran: &Ran) -> String {
    let path = &point.scenario.path;
    let mut text = format!("path of {}, {} one way, ", path.line.rate, path.delay);
    let seed = point.scenario.seed;
    let _ = match u64::from(point.scenario.repeat) - 1 {
        0 => writeln!(text, "seed {seed}"),
        more => writeln!(text, "means over the seeds {seed} to {}", seed + more),
    };
    let mut rows = vec![["", "load", "wait, us", "dropped", "lost", ""].map(str::to_owned)];
    if let Some(predicted) = &ran.predicted {
        let of = &predicted.queueing;
        rows.push([
            "predicted".to_owned(),
            number(of.load),
            number(of.wait_s.map(|wait| wait * 1e6)),
            number(of.dropped),
            number(of.lost),
            match of.model {
                "none" => "no model for these streams".to_owned(),
                model => format!("{model}, {}", of.form),
            },
        ]);
    }
    let simulated = Means::of(&ran.simulated);
    if let Some(peak) = simulated.of_path("peak_pkts").and_then(Moments::max) {
        let mean = |column| number(simulated.of_path(column).and_then(Moments::mean));
        rows.push([
            "simulated".to_owned(),
            mean("load"),
            mean("wait_mean_us"),
            mean("dropped"),
            mean("lost"),
            format!("at most {peak} packets in the queue"),
        ]);
    }
    if rows.len() > 1 {
        text += &aligned(&rows);
    }
    text
}

fn offered(moments: &[Moment]) -> String {
    let mut rows = vec![["  offered", "predicted", "", "sample"].map(str::to_owned)];
    for one in moments {
        if one.predicted.is_none() && one.sample.is_none() {
            continue;
        }
        let unit = match one.unit {
            "1" => String::new(),
            unit => format!(", {unit}"),
        };
        rows.push([
            format!("  {}{unit}", one.quantity.replace('_', " ")),
            number(one.predicted),
            one.form.to_owned(),
            number(one.sample),
        ]);
    }
    aligned(&rows)
}

fn metrics_of<'a>(rows: impl Iterator<Item = &'a Compared>) -> String {
    let mut shown = vec![
        [
            "  over the path",
            "predicted",
            "error",
            "simulated",
            "error",
            "measured",
        ]
        .map(str::to_owned),
    ];
    for one in rows {
        let name = metrics::metric(one.metric).map_or(one.metric, |(_, name, _)| name);
        let (of_prediction, of_simulation) = one.errors();
        shown.push([
            format!("  {}", name.trim()),
            number(one.predicted),
            error(of_prediction),
            number(one.simulated),
            error(of_simulation),
            number(one.measured),
        ]);
    }
    if shown.len() == 1 {
        return String::new();
    }
    aligned(&shown)
}

/// Rows in columns, the first to the left and the others to the right; those without any value are
/// left out.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let mut lines = vec![String::new(); rows.len()];
    for column in 0..N {
        if column > 0 && rows[1..].iter().all(|row| row[column].is_empty()) {
            continue;
        }
        let width = rows.iter().map(|row| row[column].chars().count()).max();
        let width = width.unwrap_or(0);
        for (line, row) in lines.iter_mut().zip(rows) {
            if column == 0 {
                let _ = write!(line, "{:<width$}", row[column]);
            } else {
                let _ = write!(line, "  {:>width$}", row[column]);
            }
        }
    }
    let mut text = String::new();
    for line in lines {
        text += line.trim_end();
        text.push('\n');
    }
    text
}
