//! Estimates as tables for people and for programs.

use super::estimate::At;
use super::measure::Measured;
use std::fmt::Write;
use trammel_core::label::Label;
use trammel_cost::estimate::{Range, line_bits};
use trammel_cost::machine::Machine;
use trammel_router::estimate::Undeclared;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, Table};

/// The table `functions`: a row for a function at a frame size.
pub fn functions(rows: &[(&str, &str, &At)], machine: &Machine) -> Table {
    let mut table = Table::with(
        "functions",
        &[
            ("engine", Text),
            ("machine", Text),
            ("origin", Text),
            ("function", Text),
            ("what_if", Text),
            ("frame_bytes", Int),
            ("cost_cycles", Float),
            ("low_cycles", Float),
            ("high_cycles", Float),
            ("accesses", Float),
            ("memory_accesses", Float),
            ("rate_mpps", Float),
            ("line_gbps", Float),
            ("bound_by", Text),
            ("next_limit", Text),
            ("next_limit_ratio", Float),
            ("formula", Text),
        ],
    );
    for (function, what_if, at) in rows {
        let (found, limit) = (&at.estimate, at.estimate.rate());
        let next = found.limits.get(1);
        let cells = vec![
            Cell::from("predict"),
            Cell::from(machine.full_name().as_str()),
            Cell::from(machine.origin.key()),
            Cell::from(*function),
            Cell::from(*what_if),
            Cell::Int(at.frame as i128),
            Cell::Float(found.cycles.centre),
            Cell::from(found.cycles.ends().map(|(low, _)| low)),
            Cell::from(found.cycles.ends().map(|(_, high)| high)),
            Cell::Float(found.accesses),
            Cell::Float(found.memory_accesses),
            Cell::Float(limit.pps / 1e6),
            Cell::Float(line_bits(limit.pps, at.frame) / 1e9),
            Cell::from(limit.what),
            Cell::from(next.map_or("", |next| next.what)),
            next.map_or(Cell::Empty, |next| Cell::Float(next.pps / limit.pps)),
            Cell::from(found.formula.to_string().as_str()),
        ];
        table
            .push(cells)
            .expect("the row has a cell for each column");
    }
    table
}

/// Adds a measured row to `functions`: what the configuration took here.
pub fn add_measured(table: &mut Table, function: &str, frame: u32, found: &Measured) {
    let cells = vec![
        Cell::from("measure"),
        Cell::from("host"),
        Cell::from("measured"),
        Cell::from(function),
        Cell::from(""),
        Cell::Int(i128::from(frame)),
        Cell::Float(found.cycles),
        Cell::Float(found.cycles),
        Cell::Float(found.cycles * (1.0 + found.spread)),
        Cell::Empty,
        Cell::Empty,
        Cell::Float(found.pps / 1e6),
        Cell::Float(line_bits(found.pps, f64::from(frame)) / 1e9),
        Cell::from(""),
        Cell::from(""),
        Cell::Empty,
        Cell::from(""),
    ];
    table
        .push(cells)
        .expect("the row has a cell for each column");
}

/// The same for a person: rates by frame size, and what limits them.
pub fn rates(name: &str, machine: &Machine, all: &[At]) -> String {
    let mut text = format!(
        "{name} on {} ({})\n{}\n\n",
        machine.full_name(),
        machine.title,
        source(machine)
    );
    text += &lines(all);
    if let Some(first) = all.first() {
        let _ = write!(
            text,
            "\ncycles   = {}\naccesses = {}\n",
            first.estimate.formula, first.estimate.accesses_formula
        );
    }
    text
}

/// What an estimate leaves out: the elements that no frame of the sample came to, of `all`. Nothing
/// where there are none.
pub fn unvisited(missed: &[Undeclared], all: usize) -> String {
    if missed.is_empty() {
        return String::new();
    }
    let names = missed.iter().take(MOST_NAMED);
    let names: Vec<String> = names
        .map(|one| format!("'{} :: {}'", one.name, one.class))
        .collect();
    let more = match missed.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "no frame reached {} of {all} elements: {}{more}; their cost is not in these numbers \
         (`--sample FILE` uses the frames of a capture)",
        missed.len(),
        names.join(", ")
    )
}

/// How many elements are named.
const MOST_NAMED: usize = 8;

/// A line for each frame size: cycles, rates, limits.
pub fn lines(all: &[At]) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:>6} {:>9} {:>17} {:>9} {:>9} {:>9}  {:<8} next limit",
        "frame", "cycles", "interval", "accesses", "Mpps", "Gbit/s", "bound by"
    );
    for at in all {
        let (found, limit) = (&at.estimate, at.estimate.rate());
        let next = found.limits.get(1).map_or_else(String::new, |next| {
            format!("{} at {:.2} ×", next.what, next.pps / limit.pps)
        });
        let _ = writeln!(
            text,
            "{:>6} {:>9.1} {:>17} {:>9.2} {:>9.3} {:>9.3}  {:<8} {next}",
            at.frame.round(),
            found.cycles.centre,
            interval(&found.cycles),
            found.accesses,
            limit.pps / 1e6,
            line_bits(limit.pps, at.frame) / 1e9,
            limit.what
        );
    }
    text
}

/// The ends of an estimate, for people.
pub fn interval(cycles: &Range) -> String {
    cycles.ends().map_or_else(
        || "not known".to_owned(),
        |(low, high)| format!("{low:.0} … {high:.0}"),
    )
}

/// Where a machine's numbers come from, for people, and what estimates by them are good for.
pub fn source(machine: &Machine) -> String {
    let good_for = match 100.0 * machine.spread {
        spread if spread <= 0.0 => "; the uncertainty of its constants is not known".to_owned(),
        // Nobody has timed that machine.
        spread if machine.origin == Label::DataSheet => {
            format!("; constants are taken to be good for ±{spread:.0} %")
        }
        spread => format!("; constants are good for ±{spread:.0} %"),
    };
    format!(
        "machine: {} ({}){good_for}",
        machine.origin.key(),
        machine.source
    )
}

/// Which element costs what, the dearest first.
pub fn shares(at: &At) -> String {
    shares_of(&at.estimate.rows)
}

/// Which of these parts costs what, the dearest first.
pub fn shares_of(rows: &[trammel_cost::estimate::Row]) -> String {
    let mut rows: Vec<_> = rows.iter().collect();
    let cost = |row: &trammel_cost::estimate::Row| row.core + row.memory.centre;
    rows.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    let all: f64 = rows.iter().map(|row| cost(row)).sum();
    let mut text = format!(
        "{:<24} {:<20} {:>7} {:>9} {:>9} {:>7}\n",
        "element", "class", "visits", "cycles", "memory", "share"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:<24} {:<20} {:>7.3} {:>9.1} {:>9.1} {:>6.1}%",
            row.name,
            row.class,
            row.visits,
            row.core,
            row.memory.centre,
            100.0 * cost(row) / all.max(f64::MIN_POSITIVE)
        );
    }
    text
}

/// Each operation of each part, with its cycles and accesses a visit.
pub fn operations(at: &At) -> String {
    let mut text = String::new();
    for row in &at.estimate.rows {
        let _ = writeln!(
            text,
            "{} {} ({:.3} visits)",
            row.name, row.class, row.visits
        );
        for (operation, cycles, accesses) in &row.operations {
            let _ = writeln!(text, "  {operation:<40} {cycles:>9.1} {accesses:>7.2}");
        }
    }
    text
}

/// What a change buys, beside what was.
pub fn change(what: &str, before: &At, after: &At) -> String {
    let rate = |at: &At| at.estimate.rate().pps;
    let (old, new) = (&before.estimate, &after.estimate);
    format!(
        "{what}: {:.1} → {:.1} cycles ({:+.1} %), {:.3} → {:.3} Mpps ({:+.1} %), bound by {}\n",
        old.cycles.centre,
        new.cycles.centre,
        100.0 * (new.cycles.centre / old.cycles.centre - 1.0),
        rate(before) / 1e6,
        rate(after) / 1e6,
        100.0 * (rate(after) / rate(before) - 1.0),
        new.rate().what
    )
}
