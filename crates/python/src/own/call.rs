//! A call into Python from a thread of the engines.
//!
//! An engine's thread has no state of Python's. Made anew for each call, it would cost more than
//! the call, so the first call of a thread makes one that stays, attached to nothing. When no run
//! is under way any more, the threads that had them are over, and [`leave_threads`] takes the
//! states away.

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Mutex;
use trammel_core::raised::Raised;

/// A state of Python's that a thread of the engines keeps.
struct Kept(*mut ffi::PyThreadState);

// SAFETY: it is only handed back to Python, by a thread that is attached.
unsafe impl Send for Kept {}

/// The states that are kept, and the runs under way.
static KEPT: Mutex<(Vec<Kept>, usize)> = Mutex::new((Vec::new(), 0));

thread_local! {
    static HAS_STATE: Cell<bool> = const { Cell::new(false) };
}

/// Gives this thread a state that stays, unless it has one.
fn keep_state() {
    if HAS_STATE.replace(true) {
        return;
    }
    // SAFETY: the interpreter runs, since it is what asked for the run.
    let is_pythons = unsafe { !ffi::PyGILState_GetThisThreadState().is_null() };
    if is_pythons {
        return;
    }
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
    keep_state();
    Python::attach(|py| call(py).map_err(|error| words(py, name, &error)))
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
