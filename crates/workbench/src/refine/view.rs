//! A corrected estimate as text for people and as a table for programs.

use super::Refined;
use std::fmt::Write as _;
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::{Cell, Table};

/// The word for a number of the operations.
const ESTIMATED: &str = "estimated";
/// The word for one of the run.
const COUNTED: &str = "counted";

/// What was assumed, what was counted, and what that changes.
pub fn text(refined: &Refined, run: &str, packets: f64) -> String {
    let mut text = format!("corrected by {run}, which counted {packets} packets\n\n");
    let _ = writeln!(
        text,
        "{:<36} {:>10} {:>10} {:>10}",
        "", "assumed", COUNTED, "cycles"
    );
    for stage in &refined.stages {
        let value = |at: f64| format!("{at:.1}");
        let (old, new) = match stage.values {
            Some((old, new)) => (value(old), value(new)),
            None => (String::new(), String::new()),
        };
        let _ = writeln!(
            text,
            "{:<36} {old:>10} {new:>10} {:>+10.1}",
            stage.what, stage.change
        );
    }
    let cycles = [&refined.before, &refined.after].map(|at| at.estimate.cycles.centre);
    let _ = writeln!(
        text,
        "{:<36} {:>10.1} {:>10.1} {:>+10.1}\n",
        "cycles a packet, then corrected",
        cycles[0],
        cycles[1],
        cycles[1] - cycles[0]
    );
    let _ = writeln!(
        text,
        "{:<24} {:<16} {:>15} {:>15} {:>21} {:>8}",
        "element", "class", "visits", "packets a call", "cycles", "change"
    );
    for one in &refined.elements {
        let pair = |values: [f64; 2], digits: usize| {
            format!("{:.digits$} → {:.digits$}", values[0], values[1])
        };
        let _ = writeln!(
            text,
            "{:<24} {:<16} {:>15} {:>15} {:>21} {:>+8.1} {}",
            one.name,
            one.class,
            pair(one.visits, 3),
            pair(one.batch, 1),
            pair(one.cycles, 1),
            one.cycles[1] - one.cycles[0],
            if one.is_counted { COUNTED } else { ESTIMATED }
        );
    }
    for note in &refined.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// The table `refinement`: a row for an element.
pub fn table(refined: &[(&str, &Refined)]) -> Table {
    let mut table = Table::with(
        "refinement",
        &[
            ("function", Text),
            ("element", Text),
            ("class", Text),
            ("visits_assumed", Float),
            ("visits_counted", Float),
            ("batch_assumed_pkts", Float),
            ("batch_counted_pkts", Float),
            ("estimated_cycles", Float),
            ("corrected_cycles", Float),
            ("corrected_by", Text),
        ],
    );
    for (function, refined) in refined {
        for one in &refined.elements {
            let mut cells = vec![
                Cell::from(*function),
                Cell::from(one.name.as_str()),
                Cell::from(one.class.as_str()),
            ];
            let numbers = [one.visits, one.batch, one.cycles];
            cells.extend(numbers.into_iter().flatten().map(Cell::Float));
            cells.push(Cell::from(if one.is_counted { COUNTED } else { ESTIMATED }));
            table
                .push(cells)
                .expect("the row has a cell for each column");
        }
    }
    table
}
