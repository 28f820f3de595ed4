//! Files that a router writes: a write that fails is told at once, one line for each file, and
//! fails the command at its end.
//!
//! Elements need not look: what they write goes through [`Written`], whether they heed its errors
//! or not.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a file of this process has lost something.
static LOST: AtomicBool = AtomicBool::new(false);

/// Whether a write to a file has failed.
pub(crate) fn any_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Why a file is not whole, and what to do.
pub fn incomplete(path: &str, why: &io::Error) -> String {
    let remedy = if is_full(why) {
        "make room, or name a file on another disk"
    } else {
        "name another file"
    };
    let why = trammel_workbench::source::os_text(why);
    format!("`{path}` cannot be written: {why}; the file is incomplete: {remedy}")
}

/// Whether the disk is full, or the user's share of it.
pub fn is_full(why: &io::Error) -> bool {
    matches!(
        why.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// A file, or standard output, that tells when it takes no more.
#[derive(Debug)]
pub struct Written<W> {
    /// None for standard output, of which the command tells at its end.
    path: Option<String>,
    to: W,
    /// Whether its failure has been told, or shall not be.
    is_told: bool,
}

impl Written<File> {
    /// The file at `path`; nothing is told where `is_silent`.
    pub fn file(path: &str, file: File, is_silent: bool) -> Written<File> {
        Written {
            path: Some(path.to_owned()),
            to: file,
            is_told: is_silent,
        }
    }
}

impl Written<io::Stdout> {
    /// Standard output.
    pub fn stdout() -> Written<io::Stdout> {
        Written {
            path: None,
            to: io::stdout(),
            is_told: false,
        }
    }
}

impl<W> Written<W> {
    fn heeded<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        let Err(why) = &result else { return result };
        if matches!(
            why.kind(),
            io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
        ) {
            return result;
        }
        let Some(path) = &self.path else {
            let same = io::Error::new(why.kind(), why.to_string());
            trammel_ground::output_lost(same);
            return result;
        };
        LOST.store(true, Ordering::Relaxed);
        if !std::mem::replace(&mut self.is_told, true) {
            trammel_ground::say(&format!("error: {}", incomplete(path, why)));
        }
        result
    }
}

impl<W: Write> Write for Written<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.to.write(bytes);
        self.heeded(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.to.flush();
        self.heeded(result)
    }
}
