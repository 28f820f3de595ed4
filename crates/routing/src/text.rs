//! A routing run for a person at a terminal: the network, each event, the routers at the end.

use crate::outcome::{Outcome, Ran};
use std::fmt::Write;
use trammel_scenario::routing::Point;
use trammel_stats::table::{Row, format_float};

/// Routers of a point that are shown; the tables have all.
const MOST_SHOWN: usize = 12;
/// Digits that people see.
const DIGITS: usize = 4;

/// Every point.
pub(crate) fn all(outcome: &Outcome<'_>) -> String {
    let mut text = String::new();
    for (point, ran) in outcome.points() {
        if !text.is_empty() {
            text.push('\n');
        }
        if !point.swept.is_empty() {
            let _ = writeln!(text, "{}\n", point.id.replace(',', ", "));
        }
        network(&mut text, point, ran);
        events(&mut text, ran);
        routers(&mut text, ran);
    }
    text
}

fn network(text: &mut String, point: &Point, ran: &Ran) {
    let scenario = &point.scenario;
    let _ = writeln!(
        text,
        "{} routers, {} subnets, {}{}\n",
        scenario.topology.routers.len(),
        scenario.topology.subnets.len(),
        scenario.duration,
        match (&ran.simulated, &ran.measured) {
            (None, Some(_)) => " by the clock, live".to_owned(),
            (_, measured) => {
                let live = measured.as_ref().map_or("", |_| " and live");
                let data_plane = scenario.data_plane.name();
                format!(" of virtual time{live}, data plane: {data_plane}")
            }
        }
    );
}

/// A row for the start and each change, by each engine that ran.
fn events(text: &mut String, ran: &Ran) {
    let heads = [
        "at, s",
        "event",
        "bound, s",
        "converged, s",
        "black hole, s",
        "loop, s",
        "probes",
        "lost",
        "HELLOs",
        "LSUs",
        "SPF runs",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let predicted: Vec<_> = ran.predicted.iter().flatten().collect();
    let runs = ran.runs();
    let runs: Vec<(&str, Vec<Row<'_>>)> = runs
        .map(|(engine, run)| (engine, run.events.rows().collect()))
        .collect();
    let all = runs.iter().map(|(_, rows)| rows.len());
    let several = runs.len() > 1;
    if several {
        rows[0].insert(2, "engine".to_owned());
    }
    for at in 0..all.fold(predicted.len(), usize::max) {
        let bound = predicted.get(at);
        for place in 0..runs.len().max(1) {
            let run = runs.get(place);
            let row = run.and_then(|(_, rows)| rows.get(at));
            let number = |column: &str| {
                let value = row.and_then(|row| row.float(column));
                value.map_or(String::new(), |value| format_float(value, DIGITS))
            };
            let count = |column: &str| {
                let value = row.and_then(|row| row.int(column));
                value.map_or(String::new(), |value| value.to_string())
            };
            let name = bound.map(|one| one.cause.clone());
            let name = name.or_else(|| Some(row?.text("event").to_owned()));
            let instant = bound.map(|one| one.at.as_secs_f64());
            let instant = instant.or_else(|| row?.float("at_s"));
            let mut cells = vec![
                instant.map_or(String::new(), |at| format_float(at, 9)),
                name.unwrap_or_default(),
                bound.map_or(String::new(), |one| {
                    format_float(one.bound.as_secs_f64(), DIGITS)
                }),
                number("converged_s"),
                number("black_hole_s"),
                number("loop_s"),
                count("probes_pkts"),
                count("lost_pkts"),
                count("hello_pkts"),
                count("lsu_pkts"),
                count("spf_runs"),
            ];
            if let (true, Some((engine, _))) = (several, run) {
                cells.insert(2, (*engine).to_owned());
            }
            rows.push(cells);
        }
    }
    write_rows(text, &rows, if several { &[1, 2] } else { &[1] });
}

/// The routers at the end, by each engine that ran.
fn routers(text: &mut String, ran: &Ran) {
    let several = ran.runs().count() > 1;
    for (engine, run) in ran.runs() {
        let heads = ["router", "state", "routes", "neighbours", "SPF runs"];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for row in run.routers.rows().take(MOST_SHOWN) {
            let count = |column: &str| row.int(column).unwrap_or(0).to_string();
            let is_up = row
                .get("is_up")
                .is_some_and(|cell| cell.to_string() == "true");
            rows.push(vec![
                row.text("router").to_owned(),
                if is_up { "up" } else { "failed" }.to_owned(),
                count("routes"),
                count("neighbours"),
                count("spf_runs"),
            ]);
        }
        text.push('\n');
        if several {
            let _ = writeln!(text, "{engine}, at the end:");
        }
        write_rows(text, &rows, &[0]);
        let more = run.routers.len().saturating_sub(MOST_SHOWN);
        if more > 0 {
            let _ = writeln!(
                text,
                "and {more} routers more; `--json` and `-o DIR` have all"
            );
        }
    }
}

/// Rows in columns: those at the places `names` to the left, the others to the right.
fn write_rows(text: &mut String, rows: &[Vec<String>], names: &[usize]) {
    let columns = rows.first().map_or(0, Vec::len);
    let mut widths = vec![0; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if at > 0 {
                line.push_str("  ");
            }
            let _ = if names.contains(&at) {
                write!(line, "{cell:<width$}")
            } else {
                write!(line, "{cell:>width$}")
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
