//! A file that D-ITG's binary log is written to, by several flows at once.

use super::binary_log::{self, Order};
use super::line::Line;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A log that is being written. As the original's it is begun anew, has the machine's order of bytes, and no head.
#[derive(Debug)]
pub struct BinaryLog {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    into: BufWriter<File>,
    fault: Option<String>,
    record: Vec<u8>,
}

impl BinaryLog {
    /// Begins one at `path`; what the file held is gone.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(path: &Path) -> io::Result<BinaryLog> {
        let file = File::create(path)?;
        Ok(BinaryLog {
            path: path.to_owned(),
            inner: Mutex::new(Inner {
                into: BufWriter::with_capacity(64 * binary_log::RECORD, file),
                fault: None,
                record: Vec::with_capacity(binary_log::RECORD),
            }),
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a packet, unless something went wrong before.
    pub fn line(&self, line: &Line) {
        self.with(|inner| {
            inner.record.clear();
            binary_log::write(line, Order::of_this_machine(), &mut inner.record);
            inner.into.write_all(&inner.record)
        });
    }

    /// Writes what waits.
    pub fn flush(&self) {
        self.with(|inner| inner.into.flush());
    }

    /// What went wrong first; the log lacks what came after.
    pub fn fault(&self) -> Option<String> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = inner.fault.as_ref()?;
        Some(format!(
            "`{}` cannot be written: {fault}",
            self.path.display()
        ))
    }

    fn with(&self, work: impl FnOnce(&mut Inner) -> io::Result<()>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.fault.is_none() {
            inner.fault = work(&mut inner).err().map(|why| why.to_string());
        }
    }
}
