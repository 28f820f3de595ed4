//! Reading a scenario's text: the points that it has, or every fault with its place.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use trammel_core::raised::Raised;
use trammel_scenario::diagnose::{Problem, Problems};
use trammel_scenario::model::Engine;
use trammel_scenario::{Description, File, ReadError, Subject};
use trammel_transport::embedded;
use trammel_transport::refusals::reading;

create_exception!(
    _trammel,
    Refused,
    PyValueError,
    "A text that is no scenario, as (message, faults)."
);

/// A place and what is wrong there: line and column from 1, what, why, what to do.
type Fault = (usize, usize, String, String, String);

/// Reads `text` of any subject; gives the name of each of its points, and its hash where runs of
/// the subject have one.
#[pyfunction]
#[pyo3(signature = (text, name, folder, engines))]
pub(crate) fn check(
    py: Python<'_>,
    text: &str,
    name: &str,
    folder: PathBuf,
    engines: Vec<String>,
) -> PyResult<Vec<(String, String)>> {
    let engines = engines_of(&engines)?;
    let read = || Description::parse(name, text, &folder, &reading(&engines));
    let description = py.detach(|| unraised(name, || read().map_err(|why| refused(name, &why))))?;
    let unhashed = |id: String| (id, String::new());
    Ok(match description {
        Description::Transport(file) => {
            let points = file.points.into_iter();
            points.map(|point| (point.id, point.hash)).collect()
        }
        Description::Forwarding(file) => {
            let points = file.points.into_iter();
            points.map(|point| unhashed(point.id)).collect()
        }
        Description::Traffic(file) => {
            let points = file.points.into_iter();
            points.map(|point| unhashed(point.id)).collect()
        }
        Description::Routing(file) => {
            let points = file.points.into_iter();
            points.map(|point| unhashed(point.id)).collect()
        }
        Description::Placement(_) => vec![unhashed("base".to_owned())],
    })
}

/// The subject of `text`, as the package names its module.
#[pyfunction]
pub(crate) fn subject(text: &str) -> &'static str {
    match Subject::of_text(text) {
        Subject::Routing => "routing",
        other => other.name(),
    }
}

/// Reads `text` for `engines`.
pub(crate) fn read(
    text: &str,
    name: &str,
    folder: &std::path::Path,
    engines: &[Engine],
    seed: Option<u64>,
) -> PyResult<File> {
    unraised(name, || {
        embedded::read(name, text, folder, engines, seed).map_err(|why| refused(name, &why))
    })
}

/// What `act` gives. A law in Python is drawn from as a scenario is read; where it raises, that is
/// an error of the scenario.
fn unraised<T>(name: &str, act: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        let words = match Raised::of(panic.as_ref()) {
            Some(Raised(words)) => words.as_str(),
            None => "a fault of Trammel: reading it panicked",
        };
        Err(Refused::new_err((
            format!("{name}: {words}"),
            Vec::<Fault>::new(),
        )))
    })
}

/// The engines of `names`.
pub(crate) fn engines_of(names: &[String]) -> PyResult<Vec<Engine>> {
    let engine = |name: &String| {
        Engine::from_name(name).ok_or_else(|| {
            PyValueError::new_err(format!(
                "`{name}` is no engine; there are `predict`, `simulate` and `measure`"
            ))
        })
    };
    let mut engines = names.iter().map(engine).collect::<PyResult<Vec<_>>>()?;
    engines.sort_unstable();
    engines.dedup();
    Ok(engines)
}

fn refused(name: &str, why: &ReadError) -> PyErr {
    let message = embedded::refusal(name, why, "package");
    let faults: Vec<Fault> = match why {
        ReadError::Faults(problems) => {
            let list = problems.list.iter();
            list.map(|problem| fault(problems, problem)).collect()
        }
        _ => Vec::new(),
    };
    Refused::new_err((message, faults))
}

fn fault(problems: &Problems, problem: &Problem) -> Fault {
    let (line, column) = place(&problems.text, problem.span.start);
    let Problem {
        what, why, help, ..
    } = problem.clone();
    (line, column, what, why, help)
}

/// The line and the column of a byte of `text`, from 1; columns count characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
