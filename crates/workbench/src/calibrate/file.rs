//! Where the host's machine file is, and its text.

use std::ffi::OsString;
use std::path::PathBuf;
use trammel_cost::machine::Machine;
use trammel_cost::{machine_reader, machine_writer};

/// The name by which the host is asked for.
pub const HOST: &str = "host";

/// `$XDG_DATA_HOME/trammel/machines/host.toml`, or the same in `~/.local/share`; nothing where
/// neither is set.
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

/// The file of a machine. Where it could not be read again, as one whose second level was measured
/// to be slower than its third, it is an error which says so: no file is better than that one.
pub fn text(machine: &Machine, notes: &[String]) -> Result<String, String> {
    let text = machine_writer::write(machine, notes);
    match machine_reader::read(&machine.id, &text, None) {
        Ok(_) => Ok(text),
        Err(fault) => Err(format!("what was measured is no machine: {fault}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
}
