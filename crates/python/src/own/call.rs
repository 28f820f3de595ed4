//! A call into Python from a thread of the engines.
//!
//! An engine's thread has no state of Python's. Made anew for each call, it would cost more than
//! the call, so the first call of a thread makes one that stays, attached to nothing. When no run
//! is under way any more, the threads that had them are over, and [`leave_threads`] takes the
//! states away.
//!
//! After a second interrupt Python ends while engines run. A thread that is in Python then, or
//! comes in, would be ended by Python with frames of ours on its stack, which is a crash. So
//! [`leave`] waits at Python's exit for those that are in, and lets nobody in any more.

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use trammel_core::raised::Raised;

/// A state of Python's that a thread of the engines keeps.
struct Kept(*mut ffi::PyThreadState);

// SAFETY: it is only handed back to Python, by a thread that is attached.
unsafe impl Send for Kept {}

/// The states that are kept, and the runs under way.
static KEPT: Mutex<(Vec<Kept>, usize)> = Mutex::new((Vec::new(), 0));

/// Whose a thread is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Unknown,
    Pythons,
    Engines,
}

thread_local! {
    static WHOSE: Cell<Whose> = const { Cell::new(Whose::Unknown) };
}

/// Calls that are in Python or on their way, and whether Python ends.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
static IS_LEFT: AtomicBool = AtomicBool::new(false);
/// How long Python's end waits for a hook that does not come back.
const PATIENCE: Duration = Duration::from_secs(5);

/// A call that is in Python.
struct Inside;

impl Inside {
    /// Nothing where Python ends.
    fn enter() -> Option<Inside> {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        let inside = Inside;
        (!IS_LEFT.load(Ordering::SeqCst)).then_some(inside)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets no engine into Python any more, and waits for those that are in; says whether all came out.
/// Called as Python ends.
#[pyfunction]
pub(crate) fn leave(py: Python<'_>) -> bool {
    IS_LEFT.store(true, Ordering::SeqCst);
    py.detach(|| {
        let began = Instant::now();
        while INSIDE.load(Ordering::SeqCst) > 0 && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        INSIDE.load(Ordering::SeqCst) == 0
    })
}

/// Gives this thread a state that stays, unless it has one.
fn keep_state() {
    if WHOSE.get() != Whose::Unknown {
        return;
    }
    // SAFETY: the interpreter runs, since it is what asked for the run.
    let is_pythons = unsafe { !ffi::PyGILState_GetThisThreadState().is_null() };
    if is_pythons {
        WHOSE.set(Whose::Pythons);
        return;
    }
    WHOSE.set(Whose::Engines);
    // SAFETY: this thread has no state, so it gets a new one, and lets go of the lock at once.
    let state = unsafe {
        ffi::PyGILState_Ensure();
        ffi::PyEval_SaveThread()
    };
    KEPT.lock()
        .expect("no panic while kept")
        .0
        .push(Kept(state));
}

/// Has a run under way as long as it lives, so that no thread of it loses its state.
pub(crate) struct UnderWay;

impl UnderWay {
    pub(crate) fn begin() -> UnderWay {
        KEPT.lock().expect("no panic while kept").1 += 1;
        UnderWay
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        KEPT.lock().expect("no panic while kept").1 -= 1;
    }
}

/// Takes away the states of threads that are over, where no run is under way.
pub(crate) fn leave_threads(_attached: Python<'_>) {
    let gone = {
        let mut kept = KEPT.lock().expect("no panic while kept");
        if kept.1 > 0 {
            return;
        }
        std::mem::take(&mut kept.0)
    };
    for Kept(state) in gone {
        // SAFETY: its thread made its last call, since no run is under way, and this one is
        // attached.
        unsafe {
            ffi::PyThreadState_Clear(state);
            ffi::PyThreadState_Delete(state);
        }
    }
}

/// Calls Python for the plug-in `name`; an exception ends the run with its words.
pub(super) fn attached<T>(name: &str, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    match said(name, call) {
        Ok(answer) => answer,
        Err(words) => Raised(words).raise(),
    }
}

/// Calls Python for the plug-in `name`; an exception comes back as its words.
pub(super) fn said<T>(
    name: &str,
    call: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> Result<T, String> {
    let inside = Inside::enter();
    if inside.is_none() && WHOSE.get() != Whose::Pythons {
        // The process ends; nobody waits for the run.
        loop {
            thread::park();
        }
    }
    keep_state();
    Python::attach(|py| call(py).map_err(|error| words(py, name, &error)))
}

/// Does `free` while attached, so that objects go at once; where that is not possible, as it is.
pub(super) fn freeing(free: impl FnOnce()) {
    let inside = Inside::enter();
    if inside.is_none() {
        free();
    } else {
        keep_state();
        Python::attach(|_| free());
    }
}

/// What `error` says: its kind and text, and where it was raised.
fn words(py: Python<'_>, name: &str, error: &PyErr) -> String {
    let place = place(py, error).map(|at| format!(" ({at})"));
    format!("`{name}` in Python: {error}{}", place.unwrap_or_default())
}

/// The file, line and function where `error` was raised.
fn place(py: Python<'_>, error: &PyErr) -> Option<String> {
    let traceback = error.traceback(py)?;
    let frames = py.import("traceback").ok()?;
    let frames = frames.call_method1("extract_tb", (traceback,)).ok()?;
    let last = frames.get_item(-1).ok()?;
    let text = |key: &str| {
        last.getattr(key)
            .and_then(|value| value.extract::<String>())
    };
    let line: Option<u32> = last.getattr("lineno").ok()?.extract().ok()?;
    let file = text("filename").ok()?;
    let file = file.rsplit('/').next().unwrap_or_default();
    Some(format!(
        "{file}:{}, in {}",
        line.unwrap_or_default(),
        text("name").ok()?
    ))
}

/// That a hook gave something of no use.
pub(super) fn of_no_use(hook: &str, wanted: &str, got: &Bound<'_, PyAny>) -> PyErr {
    PyRuntimeError::new_err(format!("`{hook}` must give {wanted}, not `{got}`"))
}
