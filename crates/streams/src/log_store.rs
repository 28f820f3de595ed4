//! The files of a log server: one for each log in a folder, or one file that logs are appended to
//! in turn.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_traffic::log::quota::Quota;
use trammel_traffic::log::server::Store;
use trammel_traffic::log::{Ending, Session, survey};

/// The files.
#[derive(Debug)]
pub enum Files {
    /// A folder, and how many bytes the logs may take.
    Folder(PathBuf, Quota),
    /// A file, whether a log is being written to it, and the same.
    File(PathBuf, Arc<AtomicBool>, Quota),
}

impl Files {
    /// A folder where `path` is one or ends as one, which is made then; else a file. Tries whether
    /// it can be written.
    pub fn open(path: &Path, quota: Quota) -> Result<Files, String> {
        let name = path.display();
        let wrong = |why: io::Error| format!("`{name}` cannot be written: {why}");
        let is_folder = path.is_dir() || name.to_string().ends_with('/');
        if is_folder {
            std::fs::create_dir_all(path).map_err(wrong)?;
            // A file of a name that nobody knows beforehand, gone at once.
            tempfile::NamedTempFile::new_in(path).map_err(wrong)?;
            return Ok(Files::Folder(path.to_owned(), quota));
        }
        let files = Files::File(path.to_owned(), Arc::default(), quota);
        append(path)?;
        Ok(files)
    }
}

/// A file that is a whole log or empty, at its end.
fn append(path: &Path) -> Result<File, String> {
    let name = path.display();
    let wrong = |why: io::Error| format!("`{name}` cannot be written: {why}");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(path).map_err(wrong)?;
    let found = survey(BufReader::new(&file)).map_err(wrong)?;
    if found.ending != Ending::Whole {
        return Err(format!(
            "`{name}`: {}; nothing is appended to it: name another file, or cut it: `truncate -s \
             {} {name}`",
            found.ending, found.good_bytes
        ));
    }
    file.seek(SeekFrom::End(0)).map_err(wrong)?;
    Ok(file)
}

/// `20261122T185900Z` of an instant in nanoseconds since 1970.
fn date(ns: i64) -> String {
    let at = jiff::Timestamp::from_nanosecond(ns.into());
    let at = at.expect("64 bits of nanoseconds end in 2262");
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// A log's file.
struct Log {
    file: File,
    quota: Quota,
    /// Up to where all is whole.
    good_bytes: u64,
    /// To be given back.
    busy: Option<Arc<AtomicBool>>,
}

impl Write for Log {
    /// Writes a block, or leaves the file as it was.
    fn write(&mut self, block: &[u8]) -> io::Result<usize> {
        self.quota.take(block.len() as u64)?;
        if let Err(why) = self.file.write_all(block) {
            // Where not even this can be done, a reader stops at the last whole block.
            let _ = self.file.set_len(self.good_bytes);
            return Err(why);
        }
        self.good_bytes += block.len() as u64;
        Ok(block.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(busy) = &self.busy {
            busy.store(false, Ordering::SeqCst);
        }
    }
}

impl Store for Files {
    fn begin(&self, session: &Session, from: SocketAddr) -> Result<Box<dyn Write>, String> {
        let (file, busy, quota) = match self {
            Files::Folder(folder, quota) => (new_file(folder, session, from, quota)?, None, quota),
            Files::File(path, busy, quota) => {
                if busy.swap(true, Ordering::SeqCst) {
                    return Err(
                        "its file holds one log at a time; give the log server a folder to \
                                keep several at once"
                            .to_owned(),
                    );
                }
                let file = append(path).inspect_err(|_| busy.store(false, Ordering::SeqCst))?;
                (file, Some(busy.clone()), quota)
            }
        };
        let good_bytes = file.metadata().map_or(0, |about| about.len());
        Ok(Box::new(Log {
            file,
            quota: quota.clone(),
            good_bytes,
            busy,
        }))
    }
}

/// A file for a log that begins. Nothing in its name is of the writer's choice but a date.
fn new_file(
    folder: &Path,
    session: &Session,
    from: SocketAddr,
    quota: &Quota,
) -> Result<File, String> {
    let (date, host) = (date(session.date_ns), from.ip().to_canonical());
    let host = host.to_string().replace(':', "_");
    quota
        .create(folder, |number| format!("{date}-{host}-{}.log", number + 1))
        .map(|(file, _)| file)
        .map_err(|why| format!("the log server has no file for it: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (secs, expected) in [
            (0, "19700101T000000Z"),
            (951_782_400, "20000229T000000Z"),
            (1_795_373_940, "20261122T185900Z"),
            (-1, "19691231T235959Z"),
        ] {
            assert_eq!(date(secs * 1_000_000_000), expected);
        }
        // Whatever a writer says.
        assert!(date(i64::MIN).len() < 20 && date(i64::MAX).len() < 20);
    }
}
