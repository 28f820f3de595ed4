//! Runs that others make and put into a store: which are missing, and what is there.

use crate::faults::transport;
use crate::outcome::Outcome;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;
use trammel_ground::{identity, machine};
use trammel_report::store::Store;
use trammel_transport::embedded::Embedded;
use trammel_transport::points::{ListedRun, RunOptions};

/// The key of a run, the engine that makes it, and about how many seconds it takes.
type Missing = (String, &'static str, f64);

/// The build of the program, which is that of this module.
#[pyfunction]
pub(crate) fn build() -> &'static str {
    identity::of_program()
}

/// How many runs `text` has, and those, of the keys `only` where given, that the store does not
/// have.
#[pyfunction]
#[pyo3(signature = (text, name, folder, engines, seed, store, only))]
#[expect(clippy::too_many_arguments, reason = "the package names them")]
pub(crate) fn missing(
    py: Python<'_>,
    text: &str,
    name: &str,
    folder: PathBuf,
    engines: Vec<String>,
    seed: Option<u64>,
    store: &str,
    only: Option<BTreeSet<String>>,
) -> PyResult<(usize, Vec<Missing>)> {
    let transport = transport(py, text, name, &folder, &engines, seed)?;
    let missing = py.detach(|| transport.missing_here(&Store::open(store)?, only.as_ref()));
    let missing = missing.map_err(|why| PyRuntimeError::new_err(format!("{name}: {why:#}")));
    let (all, runs) = missing?;
    let runs = runs.into_iter();
    let of = |run: ListedRun| (run.key, run.label.engine(), run.expected_s);
    Ok((all, runs.map(of).collect()))
}

/// What the store has of the runs of `text`, as of a run that was interrupted where some are
/// missing.
#[pyfunction]
#[pyo3(signature = (text, name, folder, engines, seed, store))]
pub(crate) fn gather(
    py: Python<'_>,
    text: &str,
    name: &str,
    folder: PathBuf,
    engines: Vec<String>,
    seed: Option<u64>,
    store: &str,
) -> PyResult<Outcome> {
    let transport = transport(py, text, name, &folder, &engines, seed)?;
    let options = RunOptions {
        engines: transport.engines.clone(),
        ..RunOptions::default()
    };
    let (started, clock) = (machine::now(), Instant::now());
    let run = py.detach(|| Embedded::gather(transport.file, options, &Store::open(store)?));
    let run = run.map_err(|why| PyRuntimeError::new_err(format!("{name}: {why:#}")))?;
    Ok(Outcome::new(
        run,
        &transport.engines,
        started,
        clock.elapsed(),
    ))
}
