//! Standard output, whose errors are known as its own wherever they arrive.

use std::io::{self, StdoutLock, Write};
use std::sync::{Mutex, PoisonError};

/// That standard output cannot be written, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unwritable(#[from] io::Error);

/// Standard output.
#[derive(Debug)]
pub struct Stdout(StdoutLock<'static>);

/// Standard output, locked.
pub fn stdout() -> Stdout {
    Stdout(io::stdout().lock())
}

fn own(why: io::Error) -> io::Error {
    io::Error::new(why.kind(), Unwritable(why))
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(own)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(own)
    }
}

/// The first error of what was written on the way, by parts that do not stop for it.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// Notes that something was not written; the command tells it at its end.
pub fn output_lost(why: io::Error) {
    let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
    lost.get_or_insert(why);
}

/// Writes what is still on its way; the error is that of anything that was not written.
pub fn finish() -> io::Result<()> {
    stdout().flush()?;
    let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
    lost.take().map_or(Ok(()), Err)
}

/// Whether `error` is of standard output.
pub fn is_of_stdout(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Unwritable>)
}
