//! A log in D-ITG's form that several flows write to at once: a binary file, or one that a log
//! server keeps.

use super::binary_log::{self, Order};
use super::line::Line;
#[cfg(target_os = "linux")]
use super::signalling::LogName;
use crate::log::quota::Quota;
#[cfg(target_os = "linux")]
use crate::record::Protocol;
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufWriter, Write};
#[cfg(target_os = "linux")]
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Where lines go.
pub(super) trait Sink: Debug + Send {
    /// Takes a line, perhaps only to keep it for later.
    fn line(&mut self, line: &Line) -> io::Result<()>;
    /// Writes what it keeps.
    fn flush(&mut self) -> io::Result<()>;
}

/// A log that is being written.
#[derive(Debug)]
pub struct BinaryLog {
    name: String,
    /// Of the file, where it is one.
    file_name: Option<String>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    into: Box<dyn Sink>,
    fault: Option<String>,
}

/// A file: as the original's it has the machine's order of bytes, and no head.
#[derive(Debug)]
struct Binary {
    into: BufWriter<File>,
    /// Of a log of others.
    quota: Option<Quota>,
    record: Vec<u8>,
}

impl Sink for Binary {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.record.clear();
        binary_log::write(line, Order::of_this_machine(), &mut self.record);
        if let Some(quota) = &self.quota {
            quota.take(self.record.len() as u64)?;
        }
        self.into.write_all(&self.record)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

impl BinaryLog {
    /// Begins one at `path`; what the file held is gone.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(path: &Path) -> io::Result<BinaryLog> {
        Ok(BinaryLog::in_file(File::create(path)?, path, None))
    }

    /// Begins one that somebody else wishes for and names: in a file of its own, whatever is there
    /// already, and of no more bytes than `quota` has.
    ///
    /// # Errors
    /// If it cannot be written.
    #[cfg(target_os = "linux")]
    pub(crate) fn begin_new(folder: &Path, name: &str, quota: &Quota) -> io::Result<BinaryLog> {
        let (file, path) = quota.create(folder, |number| match number {
            0 => name.to_owned(),
            _ => format!("{name}.{number}"),
        })?;
        Ok(BinaryLog::in_file(file, &path, Some(quota.clone())))
    }

    fn in_file(file: File, path: &Path, quota: Option<Quota>) -> BinaryLog {
        let into = Binary {
            into: BufWriter::with_capacity(64 * binary_log::RECORD, file),
            quota,
            record: Vec::with_capacity(binary_log::RECORD),
        };
        let name = path.file_name().map(|name| name.to_string_lossy());
        BinaryLog {
            file_name: name.map(std::borrow::Cow::into_owned),
            ..BinaryLog::new(path.display().to_string(), into)
        }
    }

    /// The name of its file, where it is one.
    pub fn file_name(&self) -> Option<&str> {
        self.file_name.as_deref()
    }

    /// Begins one that the log server at `server` keeps under `name`; its records go there over
    /// `protocol` (UDP or TCP), `batch` at a time. The server hears of its end when the log is
    /// dropped.
    ///
    /// # Errors
    /// If the server cannot be reached, or is none of D-ITG's.
    #[cfg(target_os = "linux")]
    pub fn at_server(
        servers: &[SocketAddr],
        protocol: Protocol,
        name: &LogName,
        batch: u32,
    ) -> io::Result<BinaryLog> {
        let into = super::log_client::LogClient::open(servers, protocol, name, batch)?;
        let server = into.server;
        let name = String::from_utf8_lossy(name.as_bytes())
            .escape_debug()
            .to_string();
        Ok(BinaryLog::new(
            format!("{name} at the log server {server}"),
            into,
        ))
    }

    fn new(name: String, into: impl Sink + 'static) -> BinaryLog {
        BinaryLog {
            name,
            file_name: None,
            inner: Mutex::new(Inner {
                into: Box::new(into),
                fault: None,
            }),
        }
    }

    /// Writes a packet, unless something went wrong before.
    pub fn line(&self, line: &Line) {
        self.with(|into| into.line(line));
    }

    /// Writes what waits.
    pub fn flush(&self) {
        self.with(|into| into.flush());
    }

    /// What went wrong first; the log lacks what came after.
    pub fn fault(&self) -> Option<String> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = inner.fault.as_ref()?;
        Some(format!("`{}` cannot be written: {fault}", self.name))
    }

    fn with(&self, work: impl FnOnce(&mut dyn Sink) -> io::Result<()>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.fault.is_none() {
            inner.fault = work(inner.into.as_mut()).err().map(|why| why.to_string());
        }
    }
}
