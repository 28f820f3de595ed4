//! The program that is started again, for a part of a run that needs a process of its own.
//!
//! It is the one that runs. Where Trammel is a library inside of another program, such as Python,
//! that one knows nothing of Trammel, and [`stand_in`] names the `trammel` beside it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static STAND_IN: OnceLock<PathBuf> = OnceLock::new();

/// The path of `trammel`; an error where the system does not tell which program runs.
pub fn own() -> io::Result<PathBuf> {
    STAND_IN
        .get()
        .map_or_else(std::env::current_exe, |path| Ok(path.clone()))
}

/// The program that stands in, where one does.
pub(crate) fn in_place() -> Option<&'static Path> {
    STAND_IN.get().map(PathBuf::as_path)
}

/// From now on, `trammel` is the program at `path`. The first call counts.
pub fn stand_in(path: PathBuf) {
    // A second one comes from the same library, and says the same.
    _ = STAND_IN.set(path);
}
