//! Writes the embedded files to a folder of the user's data, once for each set of files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// `$XDG_DATA_HOME/trammel`, or the same in `~/.local/share`; nothing where neither is set.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let named = |name| env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let data = named("XDG_DATA_HOME").map(PathBuf::from);
    let home = || named("HOME").map(|home| Path::new(&home).join(".local/share"));
    Some(data.or_else(home)?.join("trammel"))
}

/// The folder below `data` that has `files`; it is complete or does not exist.
pub(crate) fn unpacked(files: &[(&str, &[u8])], data: &Path) -> io::Result<PathBuf> {
    let folder = data.join(format!("library-{:016x}", hash(files)));
    if folder.is_dir() {
        return Ok(folder);
    }
    let draft = data.join(format!("library-{}.part", std::process::id()));
    let written = write(files, &draft).and_then(|()| fs::rename(&draft, &folder));
    if let Err(error) = written {
        // What is left of it is of no use to anybody.
        let _ = fs::remove_dir_all(&draft);
        // Another process was faster, or there is a reason to tell.
        if !folder.is_dir() {
            return Err(error);
        }
    }
    Ok(folder)
}

fn write(files: &[(&str, &[u8])], folder: &Path) -> io::Result<()> {
    for (name, contents) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, contents)?;
    }
    Ok(())
}

/// FNV-1a over names and contents.
fn hash(files: &[(&str, &[u8])]) -> u64 {
    let parts = files
        .iter()
        .flat_map(|(name, contents)| [name.as_bytes(), &[0], contents, &[0]]);
    parts.flatten().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_once_and_other_files_elsewhere() {
        let data = tempfile::tempdir().unwrap();
        let files: [(&str, &[u8]); 2] = [("papers/a/paper.toml", b"a"), ("examples/b", b"b")];
        let folder = unpacked(&files, data.path()).unwrap();
        assert_eq!(fs::read(folder.join("papers/a/paper.toml")).unwrap(), b"a");
        fs::write(folder.join("examples/b"), "mine").unwrap();
        assert_eq!(unpacked(&files, data.path()).unwrap(), folder);
        assert_eq!(fs::read(folder.join("examples/b")).unwrap(), b"mine");
        // A file cannot lie below another: of what cannot be written nothing is left.
        assert!(unpacked(&[("a", b""), ("a/b", b"")], data.path()).is_err());
        let other = unpacked(&files[..1], data.path()).unwrap();
        assert_ne!(other, folder);
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 2);
    }
}
