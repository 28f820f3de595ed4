//! A log in a file.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use trammel_traffic::log::{Ending, Session, Writer, survey};
use trammel_traffic::record::{Flow, Instants, Record};

/// A log that is being written.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    writer: Writer<File>,
}

/// A session of this program on this host, which begins now.
pub fn session(instants: Instants, seed: u64) -> Session {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Session {
        instants,
        date_ns: now.map_or(0, |since| since.as_nanos() as i64),
        host: host.trim().to_owned(),
        clock: "CLOCK_REALTIME".to_owned(),
        program: format!("trammel {}", env!("CARGO_PKG_VERSION")),
        seed,
    }
}

impl LogFile {
    /// Opens a log at `path` and begins a session; what the file holds already stays. A file that is no whole log is
    /// left as it is, and said.
    pub fn open(path: &Path, session: &Session) -> Result<LogFile, String> {
        let name = path.display();
        let wrong = |error: std::io::Error| format!("`{name}` cannot be written: {error}");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(wrong)?;
        let found = survey(BufReader::new(&file)).map_err(wrong)?;
        if found.ending != Ending::Whole {
            return Err(format!(
                "`{name}`: {}; nothing is appended to it: name another file, or cut it: `truncate -s {} {name}`",
                found.ending, found.good_bytes
            ));
        }
        file.seek(SeekFrom::End(0)).map_err(wrong)?;
        let mut log = LogFile {
            path: path.to_owned(),
            writer: Writer::new(file),
        };
        let begun = log.writer.session(session);
        begun.map_err(|why| log.told(&why))?;
        Ok(log)
    }

    fn told(&self, why: &trammel_traffic::log::Error) -> String {
        format!("`{}`: {why}", self.path.display())
    }

    /// Tells of a flow.
    pub fn flow(&mut self, flow: &Flow) -> Result<(), String> {
        let done = self.writer.flow(flow);
        done.map_err(|why| self.told(&why))
    }

    /// Tells of a packet.
    pub fn record(&mut self, record: &Record) -> Result<(), String> {
        let done = self.writer.record(record);
        done.map_err(|why| self.told(&why))
    }

    /// Writes what waits.
    pub fn flush(&mut self) -> Result<(), String> {
        let done = self.writer.flush();
        done.map_err(|why| self.told(&why))
    }
}
