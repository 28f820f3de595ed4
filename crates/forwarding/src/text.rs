//! The comparison for a person at a terminal.

use super::comparison::{self, Compared};
use super::outcome::{Cell, ForwardingOutcome};
use super::row::{Row, us};
use std::fmt::Write;
use trammel_core::time::Span;
use trammel_scenario::forwarding::Test;
use trammel_workbench::view::source;

/// Every point and function: rates by frame size with errors, then what trials at given loads came
/// to.
pub(super) fn all(outcome: &ForwardingOutcome<'_>) -> String {
    let compared = comparison::all(outcome);
    let mut text = String::new();
    let mut last = None;
    for (n, cell) in outcome.cells.iter().enumerate() {
        let place = (cell.point, cell.function);
        if last == Some(place) {
            continue;
        }
        last = Some(place);
        let end = outcome.cells[n..]
            .iter()
            .position(|other| (other.point, other.function) != place);
        let end = end.map_or(outcome.cells.len(), |len| n + len);
        let rows: Vec<&Compared> = compared
            .iter()
            .filter(|one| (n..end).contains(&one.cell))
            .collect();
        if rows.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text += &heading(outcome, cell);
        text += &rates(outcome, &rows);
        text += &trials(&outcome.cells[n..end]);
    }
    text
}

fn heading(outcome: &ForwardingOutcome<'_>, cell: &Cell) -> String {
    let (point, tested) = cell.of(outcome.file);
    let at = if point.swept.is_empty() {
        String::new()
    } else {
        format!(", {}", point.id.replace(',', ", "))
    };
    let flows = match tested.traffic.flows {
        1 => String::new(),
        n => format!(", {n} flows"),
    };
    if let Some(card) = tested.card() {
        let live = match cell.card.measured {
            Some(_) => "; measured live on this machine",
            None => "",
        };
        return format!(
            "{}: NetFPGA {}, the board by the model {}{live}{flows}{at}\n\n",
            tested.name, card.design, card.model
        );
    }
    match &outcome.machines[cell.point] {
        Some(machine) => format!(
            "{} on {} ({}){flows}{at}\n{}\n\n",
            tested.name,
            machine.full_name(),
            machine.title,
            source(machine)
        ),
        None => format!("{} on this machine{flows}{at}\n\n", tested.name),
    }
}

/// A column of the rates: its heading, its width, and what it shows of a row.
type Column = (&'static str, usize, fn(&Shown<'_>) -> String);

/// A row of the rates.
struct Shown<'a> {
    one: &'a Compared,
    cell: &'a Cell,
    errors: (Option<f64>, Option<f64>),
}

impl Shown<'_> {
    fn number(&self, value: Option<f64>) -> String {
        let digits = if self.one.metric == "cost" { 1 } else { 3 };
        value.map_or_else(String::new, |value| format!("{value:.digits$}"))
    }

    fn interval(&self) -> String {
        self.one.interval.map_or_else(String::new, |(low, high)| {
            format!("{} … {}", self.number(Some(low)), self.number(Some(high)))
        })
    }

    fn bound_by(&self) -> &'static str {
        match (&self.cell.predicted, &self.cell.simulated) {
            _ if self.one.metric == "cost" => "",
            (Some(at), _) => at.estimate.rate().what,
            (None, Some(sought)) => sought.bound_by,
            (None, None) => match (&self.cell.card.predicted, &self.cell.card.simulated) {
                (Some(predicted), _) => predicted.bound_by,
                (None, Some(found)) => found.bound_by,
                (None, None) => "",
            },
        }
    }
}

fn error(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{:+.1} %", 100.0 * value))
}

const COLUMNS: &[Column] = &[
    ("frame", 6, |row| row.cell.frame.to_string()),
    ("", 6, |row| row.one.unit.to_owned()),
    ("predicted", 9, |row| row.number(row.one.predicted)),
    ("interval", 17, |row| row.interval()),
    ("error", 8, |row| error(row.errors.0)),
    ("simulated", 9, |row| row.number(row.one.simulated)),
    ("error", 8, |row| error(row.errors.1)),
    ("measured", 9, |row| row.number(row.one.measured)),
    ("published", 9, |row| row.number(row.one.published)),
    ("bound by", 8, |row| row.bound_by().to_owned()),
];

/// Rates and cycles, two rows a frame size; columns without any value are left out.
fn rates(outcome: &ForwardingOutcome<'_>, rows: &[&Compared]) -> String {
    let rows = rows
        .iter()
        .filter(|one| ["throughput", "cost"].contains(&one.metric.as_str()));
    let rows: Vec<Shown<'_>> = rows
        .map(|one| Shown {
            one,
            cell: &outcome.cells[one.cell],
            errors: one.errors(),
        })
        .collect();
    let mut lines = vec![String::new(); rows.len() + 1];
    for (name, width, of) in COLUMNS {
        let cells: Vec<String> = rows.iter().map(of).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        let all = std::iter::once((*name).to_owned()).chain(cells);
        for (line, cell) in lines.iter_mut().zip(all) {
            *line += &format!("{cell:>width$}  ");
        }
    }
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Latency, loss and recovery at shares of the throughput: a row a frame size and engine.
fn trials(cells: &[Cell]) -> String {
    let mut text = String::new();
    for (test, title) in [
        (Test::Latency, "latency in us, median / 99th percentile"),
        (Test::FrameLoss, "share of frames lost"),
        (
            Test::Recovery,
            "recovery in us, until the last loss / until latency is normal",
        ),
    ] {
        let mut has_heading = false;
        for (cell, engine, all) in cells.iter().flat_map(of_engines) {
            let rows = all.iter();
            let rows: Vec<&Row> = rows
                .filter(|row| row.test == test && row.share.is_some())
                .collect();
            if rows.is_empty() {
                continue;
            }
            if !has_heading {
                has_heading = true;
                let loads = rows.iter().filter_map(|row| row.share);
                let word = if test == Test::Recovery { "from" } else { "at" };
                let loads: String = loads
                    .map(|share| {
                        format!(
                            " {:>15}",
                            format!("{word} {} %", comparison::percent(share))
                        )
                    })
                    .collect();
                let _ = writeln!(text, "\n{title}\n{:>6} {:<8}{loads}", "frame", "");
            }
            let each: String = rows
                .iter()
                .map(|row| format!(" {:>15}", result(row)))
                .collect();
            let _ = writeln!(text, "{:>6} {engine:<8}{each}", cell.frame);
        }
    }
    text
}

fn of_engines(cell: &Cell) -> impl Iterator<Item = (&Cell, &'static str, &[Row])> {
    let all = cell.trials().into_iter();
    all.map(move |(engine, rows)| (cell, engine, rows))
}

fn result(row: &Row) -> String {
    let pair = |one: Option<Span>, other: Option<Span>| {
        let shown = |time: Option<Span>| {
            time.map_or_else(|| "–".to_owned(), |time| format!("{:.2}", us(time)))
        };
        format!("{} / {}", shown(one), shown(other))
    };
    match (row.test, row.recovery) {
        (Test::FrameLoss, _) => format!("{:.2} %", 100.0 * row.loss),
        (Test::Recovery, Some(found)) => pair(Some(found.last_loss), found.delay),
        _ => pair(row.p50, row.p99),
    }
}
