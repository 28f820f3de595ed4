//! A chain as text for people and as a table for programs.

use super::super::view::interval;
use super::{Chained, PIPELINED, RUN_TO_COMPLETION};
use std::fmt::Write as _;
use trammel_cost::chain::How;
use trammel_cost::estimate::{Range, line_bits};
use trammel_cost::machine::Machine;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, Table};

/// For a person: who costs what, what limits, and what the chain saves.
pub fn text(chain: &Chained) -> String {
    let names = chain.stages.iter().map(|stage| stage.name.len());
    let width = names.max().unwrap_or(0).max(8);
    let mut text = format!(
        "At {} bytes\n{:>5} {:<width$} {:>7} {:>9} {:>9} {:>9} {:>9}\n",
        chain.frame, "stage", "function", "share", "alone", "cycles", "of all", "Mpps"
    );
    for (at, stage) in chain.stages.iter().enumerate() {
        let _ = writeln!(
            text,
            "{:>5} {:<width$} {:>7.3} {:>9.1} {:>9.1} {:>7.1} % {:>9.3}",
            at + 1,
            stage.name,
            stage.share,
            stage.alone,
            stage.cycles.centre,
            100.0 * stage.cycles.centre / chain.cycles.centre,
            stage.pps / 1e6
        );
    }
    let (centre, interval) = (chain.cycles.centre, interval(&chain.cycles));
    let alone = chain.alone();
    let _ = writeln!(
        text,
        "{:>5} {:<width$} {:>7} {alone:>9.1} {centre:>9.1}  ({interval}; {:+.1} % of alone)",
        "",
        "all",
        "",
        100.0 * (centre / alone - 1.0)
    );
    let (what, pps) = &chain.limits[0];
    let next = chain
        .limits
        .get(1)
        .map_or_else(String::new, |(what, next)| {
            format!("; next {what} at {:.2} ×", next / pps)
        });
    let cores = |count: f64| match count {
        1.0 => "1 core".to_owned(),
        count => format!("{count} cores"),
    };
    let other = match chain.how {
        How::RunToCompletion => PIPELINED,
        How::Pipelined => RUN_TO_COMPLETION,
    };
    let _ = writeln!(
        text,
        "      {:.3} Mpps, {:.3} Gbit/s on {}, bound by {what}{next}\n      {other} on {}: {:.3} \
         Mpps",
        pps / 1e6,
        line_bits(*pps, chain.frame) / 1e9,
        cores(chain.cores),
        cores(chain.stages.len() as f64),
        chain.other_pps / 1e6
    );
    text
}

/// The table `chain`: a row for a function, and one without a stage for all of them.
pub fn table(chains: &[Chained], machine: &Machine) -> Table {
    let mut table = Table::with(
        "chain",
        &[
            ("engine", Text),
            ("machine", Text),
            ("origin", Text),
            ("chain", Text),
            ("frame_bytes", Int),
            ("stage", Int),
            ("function", Text),
            ("share", Float),
            ("alone_cycles", Float),
            ("cost_cycles", Float),
            ("low_cycles", Float),
            ("high_cycles", Float),
            ("rate_mpps", Float),
            ("bound_by", Text),
        ],
    );
    for chain in chains {
        let mut push =
            |stage: Cell, name: &str, share: f64, alone: f64, cycles: Range, pps: f64, by: &str| {
                let cells = vec![
                    Cell::from("predict"),
                    Cell::from(machine.full_name().as_str()),
                    Cell::from(machine.origin.key()),
                    Cell::from(chain.word()),
                    Cell::Int(chain.frame as i128),
                    stage,
                    Cell::from(name),
                    Cell::Float(share),
                    Cell::Float(alone),
                    Cell::Float(cycles.centre),
                    Cell::from(cycles.ends().map(|(low, _)| low)),
                    Cell::from(cycles.ends().map(|(_, high)| high)),
                    Cell::Float(pps / 1e6),
                    Cell::from(by),
                ];
                table
                    .push(cells)
                    .expect("the row has a cell for each column");
            };
        for (at, one) in chain.stages.iter().enumerate() {
            let number = Cell::Int(at as i128 + 1);
            push(
                number, &one.name, one.share, one.alone, one.cycles, one.pps, "",
            );
        }
        let (what, pps) = &chain.limits[0];
        push(
            Cell::Empty,
            "all",
            1.0,
            chain.alone(),
            chain.cycles,
            *pps,
            what,
        );
    }
    table
}
