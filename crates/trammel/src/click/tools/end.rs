//! How a tool ends: its work done, or not, which was said.

use std::process::ExitCode;

/// Why a tool ends without its work done; what there is to say about it was said.
pub(super) struct Failed;

pub(super) type Done = Result<(), Failed>;

/// The exit code that `done` means.
#[allow(clippy::needless_pass_by_value)] // the end of every tool
pub(super) fn code(done: Done) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed) => ExitCode::FAILURE,
    }
}

/// Says what is wrong.
pub(super) fn fail(why: &str) -> Failed {
    trammel_ground::say(why);
    Failed
}
