//! How many bytes the logs of others may take on this machine, all of a process together.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the user gives no other number: two and a half hours of a million packets a second take
/// more.
pub(crate) const DEFAULT_BYTES: u64 = 10_000_000_000;
/// What a file counts for beside its bytes: so a quota bounds the number of files as well.
const FILE_BYTES: u64 = 4096;
/// Files of one name, at most.
const MOST_ALIKE: u32 = 10_000;

/// A quota; its copies are the same one.
#[derive(Clone, Debug)]
pub struct Quota {
    most: u64,
    left: Arc<AtomicU64>,
}

impl Default for Quota {
    fn default() -> Quota {
        Quota::new(DEFAULT_BYTES)
    }
}

impl Quota {
    /// So many bytes.
    #[must_use]
    pub fn new(most: u64) -> Quota {
        Quota {
            most,
            left: Arc::new(AtomicU64::new(most)),
        }
    }

    /// Takes so many bytes of it.
    ///
    /// # Errors
    /// If it has no more.
    pub fn take(&self, bytes: u64) -> io::Result<()> {
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(bytes)
            });
        taken.map(drop).map_err(|_| {
            io::Error::new(
                ErrorKind::QuotaExceeded,
                format!(
                    "the logs of this server may have {} bytes together; its `--quota` changes \
                     that",
                    self.most
                ),
            )
        })
    }

    /// Makes a file that nobody had, of the first of the names that is free in a folder. What is
    /// there is left alone, and no link is followed.
    ///
    /// # Errors
    /// If no file can be made, or the quota has no more.
    pub fn create(
        &self,
        folder: &Path,
        name: impl Fn(u32) -> String,
    ) -> io::Result<(File, PathBuf)> {
        self.take(FILE_BYTES)?;
        for number in 0..MOST_ALIKE {
            let path = folder.join(name(number));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
                Err(why) => return Err(why),
                Ok(file) => return Ok((file, path)),
            }
        }
        Err(io::Error::other(format!(
            "{MOST_ALIKE} files of that name exist already"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_there_is_touched_and_no_link_is_followed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let here = folder.path();
        std::fs::write(here.join("log"), "kept").expect("the file can be written");
        std::fs::write(here.join("other"), "kept").expect("the file can be written");
        std::os::unix::fs::symlink("other", here.join("log.1")).expect("the link can be made");
        let quota = Quota::default();
        let numbered = |number| match number {
            0 => "log".to_owned(),
            _ => format!("log.{number}"),
        };
        for expected in ["log.2", "log.3"] {
            let (_, path) = quota.create(here, numbered).expect("there is room");
            assert_eq!(path, here.join(expected));
        }
        for name in ["log", "other", "log.1"] {
            let text = std::fs::read_to_string(here.join(name)).expect("the file exists");
            assert_eq!(text, "kept", "{name}");
        }
    }

    #[test]
    fn files_and_bytes_end_with_the_quota() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (here, quota) = (folder.path(), Quota::new(2 * FILE_BYTES + 10));
        quota
            .create(here, |_| "a".to_owned())
            .expect("there is room");
        quota.take(10).expect("there is room");
        let copy = quota.clone();
        copy.create(here, |_| "b".to_owned())
            .expect("there is room");
        let refused = quota.create(here, |_| "c".to_owned());
        let why = refused.expect_err("there is none");
        assert!(why.to_string().contains("8202 bytes together"), "{why}");
        assert!(!here.join("c").exists());
        quota.take(1).expect_err("there is none");
    }
}
