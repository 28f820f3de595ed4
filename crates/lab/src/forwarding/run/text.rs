//! The comparison for a person at a terminal.

use super::comparison::{self, Compared};
use super::tables::word;
use super::{Cell, Outcome};
use crate::forwarding::view::source;
use std::fmt::Write;

/// Every point and function: rates by frame size with errors, then what trials at given loads came to.
pub(super) fn all(outcome: &Outcome<'_>) -> String {
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

fn heading(outcome: &Outcome<'_>, cell: &Cell) -> String {
    let (point, tested) = cell.of(outcome.file);
    let at = match point.swept.is_empty() {
        true => String::new(),
        false => format!(", {}", point.id.replace(',', ", ")),
    };
    let flows = match tested.traffic.flows {
        1 => String::new(),
        n => format!(", {n} flows"),
    };
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

/// Rates and cycles, a row a frame size.
fn rates(outcome: &Outcome<'_>, rows: &[&Compared]) -> String {
    let mut text = format!(
        "{:>6}  {:<6} {:>9} {:>17} {:>9} {:>9} {:>9}  {:>8} {:>8}  bound by\n",
        "frame",
        "",
        "predicted",
        "interval",
        "simulated",
        "measured",
        "published",
        "error p",
        "error s"
    );
    for one in rows {
        if !["throughput", "cost"].contains(&one.metric.as_str()) {
            continue;
        }
        let digits = if one.metric == "cost" { 1 } else { 3 };
        let number = |value: Option<f64>| match value {
            Some(value) => format!("{value:.digits$}"),
            None => "–".to_owned(),
        };
        let percent = |value: Option<f64>| match value {
            Some(value) => format!("{:+.1} %", 100.0 * value),
            None => "–".to_owned(),
        };
        let interval = one.interval.map_or_else(String::new, |(low, high)| {
            format!("{low:.digits$} … {high:.digits$}")
        });
        let (of_prediction, of_simulation) = one.errors();
        let cell = &outcome.cells[one.cell];
        let bound = match (&cell.predicted, &cell.simulated) {
            _ if one.metric == "cost" => "",
            (Some(at), _) => at.estimate.rate().what,
            (None, Some(sought)) => sought.bound_by,
            (None, None) => "",
        };
        let line = format!(
            "{:>6}  {:<6} {:>9} {:>17} {:>9} {:>9} {:>9}  {:>8} {:>8}  {bound}",
            cell.frame,
            one.unit,
            number(one.predicted),
            interval,
            number(one.simulated),
            number(one.measured),
            number(one.published),
            percent(of_prediction),
            percent(of_simulation),
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Trials at shares of the throughput.
fn trials(cells: &[Cell]) -> String {
    let mut text = String::new();
    for cell in cells {
        let rows = cell.simulated.iter().flat_map(|sought| &sought.trials);
        for row in rows {
            let Some(share) = row.share else { continue };
            if text.is_empty() {
                let _ = writeln!(
                    text,
                    "\nsimulated at shares of the throughput\n{:>6}  {:<10} {:>6} {:>9} {:>9} {:>9} {:>9}",
                    "frame", "test", "load", "Mpps", "loss", "p50 us", "p99 us"
                );
            }
            let us = |fraction: f64| {
                let ps = row.outcome.latency.as_ref();
                let ps = ps.and_then(|latency| latency.quantile(fraction));
                ps.map_or("–".to_owned(), |ps| format!("{:.2}", ps as f64 / 1e6))
            };
            let _ = writeln!(
                text,
                "{:>6}  {:<10} {:>4.0} % {:>9.3} {:>7.2} % {:>9} {:>9}",
                cell.frame,
                word(row.test),
                100.0 * share,
                row.intended / 1e6,
                100.0 * row.outcome.loss_ratio(),
                us(0.5),
                us(0.99)
            );
        }
    }
    text
}
