//! The fidelity of the simulator as a number that anyone can compute again: scenarios drawn over
//! the whole range of paths, each in the simulator and in the real kernel.
//!
//! ```text
//! seed ─ cells (Latin hypercube) ─ run_points: simulate, measure ─ judge: rows of flows, cells, variants by regime ─ page
//! ```
//! Beside each error stand that of a null model, which knows the link and no TCP, and how far the
//! kernel itself goes over phases.

pub mod cells;
mod changing;
pub mod extent;
pub mod judge;
pub mod page;

use crate::points::{RunOptions, TransportOutcome, Watch, run_points};
use crate::run_tables::RunTables;
use cells::Cell;
use extent::{Draw, Paths, Wanted};
use judge::Judged;
use std::collections::BTreeMap;
use std::sync::Arc;
use trammel_scenario::File;
use trammel_scenario::hash;
use trammel_scenario::model::Engine;
use trammel_scenario::sweep::Point;

/// What a matrix came to.
#[derive(Debug)]
pub struct Made {
    /// The cells, in the order of the file's points.
    pub cells: Vec<Cell>,
    /// What the engines gave.
    pub outcome: TransportOutcome,
    /// How close they are.
    pub judged: Judged,
}

/// Draws cells from what is `wanted` and runs them, but those runs that are `known`.
pub fn run(
    draw: Draw<'_>,
    wanted: &Wanted,
    threads: Option<usize>,
    known: &Arc<BTreeMap<String, RunTables>>,
    watch: &dyn Watch,
) -> anyhow::Result<Made> {
    let Draw {
        extent,
        paths,
        seed,
        source,
    } = draw;
    let cells = match paths {
        Paths::Steady => cells::draw(extent, seed, source, wanted),
        Paths::Changing => changing::draw(extent, seed, source),
    };
    let file = file(&cells);
    let options = RunOptions {
        engines: vec![Engine::Simulate, Engine::Measure],
        needs_all: true,
        threads,
        known: Arc::clone(known),
        ..RunOptions::default()
    };
    let outcome = run_points(&file, &options, watch)?;
    let judged = judge::judge(&cells, &outcome);
    Ok(Made {
        cells,
        outcome,
        judged,
    })
}

/// The cells as a file of points.
fn file(cells: &[Cell]) -> File {
    let point = |cell: &Cell| Point {
        id: cell.name.clone(),
        swept: Vec::new(),
        hash: hash::of(&cell.scenario),
        scenario: cell.scenario.clone(),
    };
    File {
        name: "fidelity".to_owned(),
        text: String::new(),
        points: cells.iter().map(point).collect(),
    }
}
