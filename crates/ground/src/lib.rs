//! What every command stands on: exit codes, what is said to a person, standard output, progress,
//! files written whole, digests, and the facts of this machine.
#![forbid(unsafe_code)]

pub mod identity;
pub mod machine;
pub mod own_file;
pub mod program;
#[cfg_attr(target_family = "wasm", path = "progress_unseen.rs")]
pub mod progress;
mod say;
pub mod screen;
pub mod sha256;
pub mod stdout;
mod unsupported;
pub mod whole_file;

pub use say::{print, printable, say, tell};
pub use stdout::{Stdout, Unwritable, output_lost, stdout};
pub use unsupported::Unsupported;

/// Everything was done.
pub const DONE: u8 = 0;
/// It ran, and a check, threshold or verdict failed.
pub const FAILED: u8 = 1;
/// A fault of usage or of a scenario file.
pub const USAGE: u8 = 2;
/// The machine or this build lacks something.
pub const UNSUPPORTED: u8 = 3;
/// The user interrupted; what was done is kept.
pub const INTERRUPTED: u8 = 130;
