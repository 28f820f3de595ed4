//! Reading a scenario's text: the points that it has, or every fault with its place.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use trammel_core::raised::Raised;
use trammel_scenario::diagnose::{Problem, Problems};
use trammel_scenario::model::Engine;
use trammel_scenario::{Description, File, ReadError, Subject};
use trammel_transport::embedded;
use trammel_transport::refusals::reading;
use trammel_transport::run::Transport;

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
    if matches!(description, Description::Placement(_)) {
        return Ok(vec![("base".to_owned(), String::new())]);
    }
    let points = description.points().into_iter();
    let texts = points.map(|one| (one.id.to_owned(), one.hash.unwrap_or_default().to_owned()));
    Ok(texts.collect())
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
    folder: &Path,
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
        let words = words_of(panic.as_ref());
        Err(Refused::new_err((
            format!("{name}: {words}"),
            Vec::<Fault>::new(),
        )))
    })
}

/// What unwound: the words of a plug-in in Python, or a fault of ours.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    match Raised::of(panic) {
        Some(Raised(words)) => words.clone(),
        None => "a fault of Trammel: it panicked".to_owned(),
    }
}

/// What `text` says, by `engines`, or where none are given, by its own.
pub(crate) fn transport(
    py: Python<'_>,
    text: &str,
    name: &str,
    folder: &Path,
    engines: &[String],
    seed: Option<u64>,
) -> PyResult<Transport> {
    let engines = engines_of(engines)?;
    let file = py.detach(|| read(text, name, folder, &engines, seed))?;
    Ok(Transport::new(file, &engines))
}

/// The engines of `names`.
fn engines_of(names: &[String]) -> PyResult<Vec<Engine>> {
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
