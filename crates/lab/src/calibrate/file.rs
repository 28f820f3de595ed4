//! Where the host's machine file is, and how it gets there: whole or not at all.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trammel_cost::machine::Machine;
use trammel_cost::{machine_reader, machine_writer};

/// The name by which the host is asked for.
pub const HOST: &str = "host";

/// `$XDG_DATA_HOME/trammel/machines/host.toml`, or the same in `~/.local/share`; nothing where neither is set.
pub fn default_path() -> Option<PathBuf> {
    path_in(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

fn path_in(data: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG Base Directory Specification has relative paths ignored.
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let data = data
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(".local/share")))?;
    Some(data.join("trammel/machines").join(format!("{HOST}.toml")))
}

/// The file of a machine. Where it could not be read again, as one whose second level was measured to be slower than its
/// third, it is an error which says so: no file is better than that one.
pub fn text(machine: &Machine, notes: &[String]) -> Result<String, String> {
    let text = machine_writer::write(machine, notes);
    match machine_reader::read(&machine.id, &text, None) {
        Ok(_) => Ok(text),
        Err(fault) => Err(format!("what was measured is no machine: {fault}")),
    }
}

/// Writes the text to a file beside `path` and renames it, so that `path` is what it was or is whole. A link stays one, and what is no
/// regular file, such as a device or a pipe, is written to.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return std::fs::write(path, text);
    }
    let whole = path.canonicalize();
    let path = whole.as_deref().unwrap_or(path);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Of a name that nobody knows beforehand: the folder may be one that others write to. It is gone where it is not renamed.
    let new = |path: &Path| std::fs::File::create_new(path);
    let mut beside = tempfile::Builder::new().make_in(folder, new)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("real"), "old").unwrap();
        std::os::unix::fs::symlink("real", at("link")).unwrap();
        replace(&at("link"), "new").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(std::fs::read_to_string(at("real")).unwrap(), "new");
        // By a link of our own, so that a fault here replaces no device of the machine.
        std::os::unix::fs::symlink("/dev/null", at("null")).unwrap();
        replace(&at("null"), "gone").unwrap();
        assert_eq!(
            std::fs::read_link(at("null")).unwrap(),
            Path::new("/dev/null")
        );
    }

    #[test]
    fn the_data_folder_is_the_one_that_is_set() {
        let path = |data: Option<&str>, home: Option<&str>| {
            path_in(data.map(Into::into), home.map(Into::into))
        };
        let file = "trammel/machines/host.toml";
        assert_eq!(
            path(Some("/d"), Some("/h")),
            Some(Path::new("/d").join(file))
        );
        let home = Path::new("/h/.local/share").join(file);
        assert_eq!(path(None, Some("/h")), Some(home.clone()));
        assert_eq!(path(Some("relative"), Some("/h")), Some(home));
        assert_eq!(path(None, None), None);
    }

    #[test]
    fn what_noise_made_no_machine_is_no_file() {
        let right = trammel_cost::machines::find("epyc-7742").unwrap();
        assert!(text(&right, &[]).is_ok());
        let mut wrong = right.clone();
        wrong.levels[1].cycles = wrong.levels[2].cycles + 1.0;
        let said = text(&wrong, &[]).unwrap_err();
        assert!(
            said.starts_with("what was measured is no machine: ")
                && said.contains("`L3`")
                && said.contains("is behind `L2`"),
            "{said}"
        );
        let mut wrong = right;
        wrong.memory.latency_ns = 0.1;
        let said = text(&wrong, &[]).unwrap_err();
        assert!(said.contains("so it is slower"), "{said}");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/host.toml");
        replace(&path, "one").unwrap();
        replace(&path, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1);
        // A folder in the file's place cannot be replaced by a file.
        let taken = folder.path().join("taken");
        std::fs::create_dir_all(taken.join("inside")).unwrap();
        assert!(replace(&taken, "text").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
