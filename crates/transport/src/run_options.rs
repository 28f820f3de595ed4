//! How to run a file, and the name by which each of its runs is known.

use super::comparison::Published;
use super::run_tables::RunTables;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use trammel_scenario::hash;
use trammel_scenario::model::{Engine, Scenario};

/// How to run a file.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The engines; those that are not built are left out with a note.
    pub engines: Vec<Engine>,
    /// Whether nothing is run where one of them is missing; else the others run.
    pub needs_all: bool,
    /// Threads; nothing means one a core.
    pub threads: Option<usize>,
    /// Short curves over time are kept of the first repeat of a few points, for a report.
    pub curves: bool,
    /// Runs that are done already, by [`run_key`].
    pub known: Arc<BTreeMap<String, RunTables>>,
    /// Why runs failed that have been tried already, by the same key.
    pub failed: BTreeMap<String, String>,
    /// The only runs to make, by their keys; nothing means all.
    pub only: Option<BTreeSet<String>>,
    /// Published numbers to compare with.
    pub published: Vec<Published>,
    /// Where captures go that the file asks for, as `<point>.<link>.pcapng` of the first repeat.
    pub captures: Option<PathBuf>,
}

/// The name by which a run with curves over time is kept: another than without them, since its file
/// holds more.
pub(crate) fn with_curves(key: &str) -> String {
    format!("{key}-curves")
}

/// The name by which a run is known: a hash of all that decides its numbers, its seed included.
pub fn run_key(scenario: &Scenario, seed: u64) -> String {
    hash::of(&Scenario {
        repeat: 1,
        seed,
        solo: false,
        models: Vec::new(),
        measure: None,
        ..scenario.clone()
    })
}
