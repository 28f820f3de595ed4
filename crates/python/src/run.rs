//! Running a scenario: the engines in a thread of their own, the caller's thread for Python.
//!
//! ```text
//! caller's thread: wait 50 ms for news ─> signals? ─> progress? ─┐      engines' thread
//!        ^ └────────────── stop the engines ─────────────────────│────> run, tell news
//!        └───────────────────────────────────────────────────────┘
//! ```
//! An interrupt, or an error of the caller's callback, stops the engines; the runs that are
//! finished come with it as [`Stopped`]. A second interrupt leaves the engines to end in the
//! background.

use crate::faults::{transport, words_of};
use crate::outcome::Outcome;
use crate::own::{UnderWay, leave_threads, used_by};
use crate::watch::{Messenger, News, Progress};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use trammel_ground::machine;
use trammel_transport::embedded::Embedded;
use trammel_transport::points::RunOptions;

create_exception!(
    _trammel,
    Stopped,
    PyException,
    "A run that was stopped, as (outcome, error)."
);

/// How long signals wait at most.
const WAIT: Duration = Duration::from_millis(50);
/// The time between two calls of the caller's callback.
const BETWEEN: Duration = Duration::from_millis(100);

/// Runs `text`. `progress` is called with runs, those done, those failed, and the fraction done.
#[pyfunction]
#[pyo3(signature = (text, name, folder, engines, threads, seed, progress))]
#[expect(clippy::too_many_arguments, reason = "the package names them")]
pub(crate) fn run(
    py: Python<'_>,
    text: &str,
    name: &str,
    folder: PathBuf,
    engines: Vec<String>,
    threads: Option<usize>,
    seed: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let transport = transport(py, text, name, &folder, &engines, seed)?;
    let options = RunOptions {
        engines: transport.engines.clone(),
        threads,
        ..RunOptions::default()
    };
    let (started, clock) = (machine::now(), Instant::now());
    let is_stopped = Arc::new(AtomicBool::new(false));
    let (news, told) = channel();
    let messenger = Messenger {
        news,
        is_stopped: Arc::clone(&is_stopped),
    };
    let engines = thread::Builder::new()
        .name("trammel".to_owned())
        .spawn(move || {
            let _under_way = UnderWay::begin();
            let run = Embedded::run(transport.file, options, &messenger);
            // The news end here, not with the last of what the thread has.
            drop(messenger);
            (run.map(with_classes), transport.engines)
        })?;
    let stopped_by = attend(py, told, &is_stopped, progress.as_ref())?;
    // Its last objects of Python's go without the lock that this thread has.
    let ended = py.detach(|| engines.join());
    leave_threads(py);
    let (run, engines) =
        ended.map_err(|panic| PyRuntimeError::new_err(words_of(panic.as_ref())))?;
    let run = run.map_err(|why| PyRuntimeError::new_err(format!("{name}: {why:#}")))?;
    let outcome = Outcome::new(run, &engines, started, clock.elapsed());
    match stopped_by {
        None => Ok(outcome),
        Some(error) => Err(Stopped::new_err((Py::new(py, outcome)?, error))),
    }
}

/// The same with what a reader must know of the classes in Python that it used.
fn with_classes(mut run: Embedded) -> Embedded {
    for (name, digest) in used_by(run.file.points.iter().map(|point| &point.scenario)) {
        let digest = &digest[..12];
        run.outcome.notes.push(format!(
            "`{name}` is a class in Python, slow: its numbers follow from its source (SHA-256 \
             {digest}…) and from all that it calls; the scenario alone does not reproduce them"
        ));
        let fact = (
            "class in Python".to_owned(),
            format!("{name}, SHA-256 {digest}…"),
        );
        run.outcome.facts.push(fact);
    }
    run
}

/// Waits for the end of the engines; gives what stopped them before. A second interrupt is the
/// error.
fn attend(
    py: Python<'_>,
    mut told: Receiver<News>,
    is_stopped: &AtomicBool,
    callback: Option<&Py<PyAny>>,
) -> PyResult<Option<PyErr>> {
    let (mut progress, mut called) = (Progress::default(), None::<Instant>);
    let mut stopped_by = None;
    loop {
        let heard;
        // The receiver goes out and comes back, since it is not shared between threads.
        (heard, told) = py.detach(move || (told.recv_timeout(WAIT), told));
        let is_over = match heard {
            Ok(news) => {
                progress.take(news);
                for news in told.try_iter() {
                    progress.take(news);
                }
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        let mut said = py.check_signals();
        if said.is_err() && stopped_by.is_some() {
            return said.map(|()| None);
        }
        let is_due = is_over || called.is_none_or(|at| at.elapsed() >= BETWEEN);
        if let (Ok(()), None, Some(callback), true) = (&said, &stopped_by, callback, is_due) {
            called = Some(Instant::now());
            let Progress {
                runs, done, failed, ..
            } = progress;
            let call = callback.call1(py, (runs, done, failed, progress.fraction()));
            said = call.map(|_| ());
        }
        if let Err(error) = said {
            is_stopped.store(true, Ordering::SeqCst);
            stopped_by = Some(error);
        }
        if is_over {
            return Ok(stopped_by);
        }
    }
}
