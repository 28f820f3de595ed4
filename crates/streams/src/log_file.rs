//! A log in a file, or at a log server.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use trammel_io::reach;
use trammel_traffic::log::remote::Remote;
use trammel_traffic::log::{Ending, Session, Writer, survey};
use trammel_traffic::record::{Instants, LoggedFlow, Record};
use trammel_traffic::signal::key::Key;

/// So much later than what was written before a record has what waits written, in nanoseconds.
const FLUSH_NS: i64 = 1_000_000_000;

/// Where a log is to be kept.
#[derive(Clone, Debug)]
pub enum LogTo {
    /// In a file.
    File(PathBuf),
    /// At a log server, with the key that it holds.
    Server(Vec<SocketAddr>, Option<Key>),
}

/// Where it is.
#[derive(Debug)]
enum Place {
    File(File),
    Server(Remote),
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Place::File(file) => file.write(bytes),
            Place::Server(remote) => remote.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Place::File(file) => file.flush(),
            Place::Server(remote) => remote.flush(),
        }
    }
}

/// A log that is being written.
#[derive(Debug)]
pub struct LogFile {
    name: String,
    writer: Writer<Place>,
    /// The last instant of a record that was written, about.
    flushed_ns: i64,
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
    /// Opens a log where it is to be kept, and begins a session.
    pub fn begin(to: &LogTo, session: &Session, stop: &AtomicBool) -> Result<LogFile, String> {
        match to {
            LogTo::File(path) => LogFile::open(path, session),
            LogTo::Server(addresses, key) => {
                let address = reach::named(addresses);
                let remote =
                    Remote::open(addresses.as_slice(), key.as_ref(), stop).map_err(|why| {
                        format!(
                            "no log server answers at {address}: {why}; start one there: `trammel \
                             log DIR`"
                        )
                    })?;
                LogFile::new(
                    format!("log server {address}"),
                    Place::Server(remote),
                    session,
                )
            }
        }
    }

    fn new(name: String, place: Place, session: &Session) -> Result<LogFile, String> {
        let mut log = LogFile {
            name,
            writer: Writer::new(place),
            flushed_ns: session.date_ns,
        };
        let begun = log.writer.session(session);
        begun.map_err(|why| log.told(&why))?;
        Ok(log)
    }

    /// Opens a log at `path` and begins a session; what the file holds already stays. A file that
    /// is no whole log is left as it is, and said.
    pub fn open(path: &Path, session: &Session) -> Result<LogFile, String> {
        let name = path.display();
        let wrong = |error: std::io::Error| format!("`{name}` cannot be written: {error}");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(wrong)?;
        let found = survey(BufReader::new(&file)).map_err(wrong)?;
        if found.ending != Ending::Whole {
            return Err(format!(
                "`{name}`: {}; nothing is appended to it: name another file, or cut it: `truncate \
                 -s {} {name}`",
                found.ending, found.good_bytes
            ));
        }
        file.seek(SeekFrom::End(0)).map_err(wrong)?;
        LogFile::new(name.to_string(), Place::File(file), session)
    }

    fn told(&self, why: &trammel_traffic::log::Error) -> String {
        format!("`{}`: {why}", self.name)
    }

    /// Tells of a flow.
    pub fn flow(&mut self, flow: &LoggedFlow) -> Result<(), String> {
        let done = self.writer.flow(flow);
        done.map_err(|why| self.told(&why))
    }

    /// Tells how many packets of a flow its sender says that it sent.
    pub fn sent(&mut self, flow: u32, packets: u64) -> Result<(), String> {
        let done = self.writer.sent(flow, packets);
        done.map_err(|why| self.told(&why))
    }

    /// Tells of a packet. What waits is written once it is a second old.
    pub fn record(&mut self, record: &Record) -> Result<(), String> {
        let done = self.writer.record(record);
        done.map_err(|why| self.told(&why))?;
        if record.end_ns.saturating_sub(self.flushed_ns) > FLUSH_NS {
            self.flushed_ns = record.end_ns;
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits.
    pub fn flush(&mut self) -> Result<(), String> {
        let done = self.writer.flush();
        done.map_err(|why| self.told(&why))
    }

    /// Ends the log: nothing is written to it after that.
    pub fn finish(&mut self) -> Result<(), String> {
        self.flush()?;
        match self.writer.get_mut() {
            Place::File(_) => Ok(()),
            Place::Server(remote) => remote
                .finish()
                .map_err(|why| format!("`{}`: {why}", self.name)),
        }
    }
}
