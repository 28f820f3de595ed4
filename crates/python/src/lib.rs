//! Trammel in Python: the private module `trammel._trammel`, conversion only.
//!
//! What a user sees is the package in `python/trammel`. Engines run without Python's lock, in a
//! thread of their own, while the caller's thread looks for signals (`run.rs`). Tables go out by
//! Arrow's C stream interface (`arrow.rs`). Plug-ins in Python are called from engines (`own/`),
//! environments for learning step on the caller's thread (`environments.rs`).

// The macros of PyO3 make unsafe code, Arrow's interface is structs of C, and a thread of the
// engines keeps a state of Python's.
#![allow(unsafe_code)]
// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod arrow;
mod document;
mod environments;
mod faults;
mod memory;
mod outcome;
mod own;
mod run;
mod store;
mod table;
mod watch;

use pyo3::prelude::*;
use std::path::PathBuf;

/// Where the program `trammel` is, for runs that need a process of their own.
#[pyfunction]
fn stand_in(path: PathBuf) {
    trammel_ground::program::stand_in(path);
}

#[pymodule(gil_used = false)]
mod _trammel {
    #[pymodule_export]
    use super::document::parse;
    #[pymodule_export]
    use super::environments::{Environments, acts, features};
    #[pymodule_export]
    use super::faults::{Refused, check, subject};
    #[pymodule_export]
    use super::memory::Memory;
    #[pymodule_export]
    use super::outcome::Outcome;
    #[pymodule_export]
    use super::own::call::leave;
    #[pymodule_export]
    use super::own::register::{names, register};
    #[pymodule_export]
    use super::own::samples::{AckSample, IntervalSample, LostSegment, RateSample};
    #[pymodule_export]
    use super::own::sender::Sender;
    #[pymodule_export]
    use super::own::{Packet, Waiting};
    #[pymodule_export]
    use super::run::{Stopped, run};
    #[pymodule_export]
    use super::stand_in;
    #[pymodule_export]
    use super::store::{build, gather, missing};
    #[pymodule_export]
    use super::table::{Table, read_table};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
