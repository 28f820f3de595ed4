//! A store in a folder of a file system that all workers see.

use super::place::Place;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A folder. A name's last folder is made where there is none; those above it are there, or the
/// file system is not.
#[derive(Debug)]
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// The folder at `path`, with `inside` in it.
    pub(super) fn open(path: &str, inside: &str) -> io::Result<Folder> {
        let folder = PathBuf::from(path);
        fs::create_dir_all(folder.join(inside))?;
        Ok(Folder(folder))
    }

    /// A new file beside `name` that holds `text` and that those may read who may read the others.
    /// It is gone with the value.
    fn part(&self, name: &str, text: &str) -> io::Result<(NamedTempFile, PathBuf)> {
        let whole = self.0.join(name);
        let folder = whole.parent().unwrap_or(Path::new("."));
        match fs::create_dir(folder) {
            Err(why) if why.kind() != ErrorKind::AlreadyExists => return Err(why),
            _ => {}
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix("part-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        Ok((file, whole))
    }
}

impl Place for Folder {
    fn get(&self, name: &str) -> io::Result<Option<String>> {
        match fs::read(self.0.join(name)) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
            Err(why) => Err(why),
        }
    }

    fn put_new(&self, name: &str, text: &str) -> io::Result<bool> {
        let (part, whole) = self.part(name, text)?;
        match part.persist_noclobber(whole) {
            Ok(_) => Ok(true),
            Err(why) if why.error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(why) => Err(why.error),
        }
    }

    fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        let (part, whole) = self.part(name, text)?;
        part.persist(whole).map(drop).map_err(|why| why.error)
    }

    fn shown(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}
