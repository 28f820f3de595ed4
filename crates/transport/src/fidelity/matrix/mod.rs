//! The fidelity of the simulator as a number that anyone can compute again: scenarios drawn over
//! the whole range of paths, each in the simulator and in the real kernel.
//!
//! ```text
//! seed ─ cells (Latin hypercube) ─ run_points: simulate, measure ─ judge: rows of flows, cells, variants by regime ─ page
//! ```
//! Beside each error stand that of a null model, which knows the link and no TCP, and how far the
//! kernel itself goes over phases.

pub mod cells;
pub mod judge;
pub mod page;

use crate::points::{RunOptions, TransportOutcome, Watch, run_points};
use crate::run_tables::RunTables;
use cells::Cell;
use judge::Judged;
use std::collections::BTreeMap;
use std::sync::Arc;
use trammel_scenario::File;
use trammel_scenario::hash;
use trammel_scenario::model::Engine;
use trammel_scenario::sweep::Point;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Cells.
    pub cells: usize,
    /// Runs of each by each engine, with other starts and losses.
    pub phases: u32,
    /// Packets that a full bottleneck carries in a run: at least, and at most where that is long
    /// enough for its round trip.
    pub packets: (u64, u64),
}

impl Extent {
    /// A minute on two cores.
    pub const QUICK: Extent = Extent {
        cells: 16,
        phases: 3,
        packets: (60_000, 200_000),
    };
    /// Up to three hours on two cores. Flows that compete differ so much from phase to phase that
    /// three of them leave more chance in a mean than the simulator's error.
    pub const FULL: Extent = Extent {
        cells: 400,
        phases: 5,
        packets: (400_000, 3_000_000),
    };
}

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

/// Draws the cells of `seed` and runs them, but those runs that are `known`; the kernel is of the
/// tree `source`, or the package's.
pub fn run(
    extent: Extent,
    seed: u64,
    source: Option<&str>,
    threads: Option<usize>,
    known: &Arc<BTreeMap<String, RunTables>>,
    watch: &dyn Watch,
) -> anyhow::Result<Made> {
    let cells = cells::draw(extent, seed, source);
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
