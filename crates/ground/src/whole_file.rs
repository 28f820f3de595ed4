//! Files that a command writes at the path that the user gave: what stood there is replaced as a
//! whole, and nothing of the user's is.

use anyhow::{Context, bail};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Refuses a path that cannot be written, or that holds something else than `is_ours` knows. A
/// command asks this before its work.
pub fn may_replace(path: &Path, is_ours: impl Fn(&[u8]) -> bool) -> anyhow::Result<()> {
    let name = path.display();
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => bail!("`{name}` is a folder; give the name of a file"),
        Ok(about) if about.is_file() => {
            let bytes = fs::read(path).with_context(|| format!("`{name}`"))?;
            if !bytes.is_empty() && !is_ours(&bytes) {
                bail!(
                    "`{name}` exists and was not written by this command; give another name, or \
                     remove it first"
                );
            }
        }
        // A pipe, a terminal or another device holds nothing.
        Ok(_) => return Ok(()),
        Err(_) => {}
    }
    // What is made here is gone when it is dropped.
    let made = beside(&target(path));
    made.with_context(|| format!("`{name}` cannot be written"))?;
    Ok(())
}

/// Whether `bytes` are text that starts so.
pub fn starts(bytes: &[u8], with: &[&str]) -> bool {
    with.iter().any(|with| bytes.starts_with(with.as_bytes()))
}

/// Writes the bytes to a file beside `path` and renames it, so that `path` is what it was or is
/// whole. A link stays one, and what is no file, as `/dev/stdout` or a pipe, is written to.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let path = target(path);
    let mut beside = beside(&path)?;
    beside.write_all(bytes)?;
    beside.as_file().sync_all()?;
    beside.persist(path).map(drop).map_err(|error| error.error)
}

/// Where a link leads to; the path itself where it is none.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A new file in the folder of `path`, which is made where it is missing.
fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Of a name that nobody knows beforehand: the folder may be one that others write to. It is
    // gone where it is not renamed.
    tempfile::Builder::new().make_in(folder, |path| File::create_new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/host.toml");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let beside = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1);
        // A folder in the file's place cannot be replaced by a file.
        let taken = folder.path().join("taken");
        fs::create_dir_all(taken.join("inside")).unwrap();
        assert!(replace(&taken, b"text").is_err() && may_replace(&taken, |_| true).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_the_user_wrote_is_refused_and_what_this_wrote_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        let ours = |bytes: &[u8]| starts(bytes, &["# ours"]);
        assert!(may_replace(&path, ours).is_ok() && !path.exists());
        fs::write(&path, "# ours, of yesterday").unwrap();
        assert!(may_replace(&path, ours).is_ok());
        fs::write(&path, "my notes").unwrap();
        let why = may_replace(&path, ours).unwrap_err().to_string();
        assert!(why.contains("exists and was not written"), "{why}");
        let nowhere = may_replace(&path.join("below"), ours).unwrap_err();
        assert!(nowhere.to_string().contains("cannot be written"));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [real, link, pipe] = ["real", "link", "pipe"].map(|name| folder.path().join(name));
        fs::write(&real, "before").unwrap();
        symlink(&real, &link).unwrap();
        replace(&link, b"after").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "after");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: this machine has no mkfifo");
            return;
        }
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
        };
        replace(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }
}
