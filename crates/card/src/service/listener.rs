//! A socket at a path, for the owner of this process only; the file goes with it.

use crate::error::Error;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use trammel_io::accept::Reserve;
use trammel_io::socket::private_unix;

/// A listener, and the file that it has made.
#[derive(Debug)]
pub(super) struct Listener {
    socket: UnixListener,
    reserve: Reserve,
    path: PathBuf,
    /// Device and number of the file, so that another's is left alone.
    file: Option<(u64, u64)>,
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.symlink_metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

impl Listener {
    /// Listens at `path`. The socket of a process that is gone makes room.
    pub(super) fn open(path: &Path) -> Result<Listener, Error> {
        let shown = path.display();
        let opened = private_unix(path).or_else(|why| {
            if why.kind() == ErrorKind::AddrInUse && is_abandoned(path) {
                std::fs::remove_file(path)?;
                return private_unix(path);
            }
            Err(why)
        });
        let lack = |what: String, mend: &str| Error::Lack {
            what,
            mend: Some(mend.to_owned()),
        };
        let listener = opened.map_err(|why| match why.kind() {
            ErrorKind::AddrInUse => lack(
                format!("`{shown}` is in use: another card runs, or the file is no socket"),
                "end the other card, or give this one a `--socket` and a `--prefix` of its own",
            ),
            _ => lack(
                format!("cannot listen at `{shown}`: {why}"),
                "name a path that can be written, by `--socket` or `--console`",
            ),
        })?;
        listener
            .set_nonblocking(true)
            .map_err(Error::of(format!("listen at `{shown}`")))?;
        Ok(Listener {
            socket: listener,
            reserve: Reserve::new(),
            path: path.to_owned(),
            file: identity(path),
        })
    }

    /// The next client, if one waits.
    pub(super) fn accept(&mut self) -> io::Result<Option<UnixStream>> {
        let socket = &self.socket;
        let accepted = self.reserve.accept(|| socket.accept())?;
        let Some((stream, _)) = accepted else {
            return Ok(None);
        };
        stream.set_nonblocking(true)?;
        Ok(Some(stream))
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// Whether `path` is a socket that nobody listens at.
fn is_abandoned(path: &Path) -> bool {
    let is_socket = |metadata: std::fs::Metadata| metadata.file_type().is_socket();
    if !path.symlink_metadata().is_ok_and(is_socket) {
        return false;
    }
    let refused = UnixStream::connect(path).err();
    refused.is_some_and(|why| why.kind() == ErrorKind::ConnectionRefused)
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.file.is_some() && identity(&self.path) == self.file {
            // Nothing can be done about a file that stays; the next card removes it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_process_that_is_gone_makes_room_and_that_of_another_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        // A listener that is closed leaves its file.
        drop(UnixListener::bind(&path).unwrap());
        let ours = Listener::open(&path).unwrap();
        assert!(Listener::open(&path).unwrap_err().is_lack());
        drop(ours);
        assert!(!path.exists());
        std::fs::write(&path, "text").unwrap();
        assert!(Listener::open(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
    }
}
