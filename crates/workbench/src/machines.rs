//! Machines by name: this one as it was calibrated, one of a file, or one that comes with the
//! program.

use crate::calibrate::file;
use std::path::Path;
use trammel_core::units;
use trammel_cost::machine::Machine;
use trammel_cost::{machine_reader, machines};

/// The machine of `name`: `host` (also `host:profile`), a path that ends in `.toml` (a profile may
/// follow after a colon), or a built-in one such as `xeon-e5-2690v2:printed`. The error says what
/// to do.
pub fn find(name: &str) -> anyhow::Result<Machine> {
    let (base, profile) = match name.rsplit_once(':') {
        Some((base, profile)) => (base, Some(profile)),
        None => (name, None),
    };
    if base == file::HOST {
        let path = file::default_path().ok_or_else(|| no_host("there is no home directory"))?;
        let text = std::fs::read_to_string(&path).map_err(|why| match why.kind() {
            std::io::ErrorKind::NotFound => no_host("it was not calibrated yet"),
            _ => no_host(&format!("`{}`: {why}", path.display())),
        })?;
        let read = machine_reader::read(file::HOST, &text, profile);
        return read.map_err(|fault| anyhow::anyhow!("{}: {fault}", path.display()));
    }
    let path = Path::new(base);
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        let id = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(path).map_err(|why| {
            anyhow::anyhow!(
                "machine `{base}` cannot be read: {why}; `trammel list machines` shows \
                             those by name"
            )
        })?;
        let read = machine_reader::read(&id, &text, profile);
        return read.map_err(|fault| anyhow::anyhow!("{base}: {fault}"));
    }
    machines::find(name).map_err(|error| match error {
        machines::Error::Unknown {
            name,
            nearest,
            known,
        } => {
            // `host` is nearest to few names, and none of those that come with the program.
            let nearest = nearest.or_else(|| units::nearest(&name, [file::HOST].into_iter()));
            let error = machines::Error::Unknown {
                name,
                nearest,
                known,
            };
            anyhow::anyhow!("{error}, `{}` and paths that end in .toml", file::HOST)
        }
        file @ machines::Error::File(_) => file.into(),
    })
}

/// The machine that is meant where none is named: this one where it was calibrated, else one by its
/// data sheet.
pub const DATA_SHEET: &str = "xeon-e5-2690v2:data-sheet";
/// The same in words.
pub const USUAL: &str = "`host` where `trammel calibrate` was run, else xeon-e5-2690v2:data-sheet";

/// The machine of `name`, or the one that is meant where none is named; a sentence where that is
/// not this machine.
pub fn find_or_usual(name: Option<&str>) -> anyhow::Result<(Machine, Option<String>)> {
    if let Some(name) = name {
        return Ok((find(name)?, None));
    }
    // A file that cannot be used is a fault, and no reason to take another machine.
    if file::default_path().is_some_and(|path| path.exists()) {
        return Ok((find(file::HOST)?, None));
    }
    let machine = find(DATA_SHEET)?;
    let said = format!(
        "this machine is not calibrated, so numbers are of {DATA_SHEET} ({}), taken to be good for \
         ±{:.0} %; `trammel calibrate` measures this one in about 100 s, `--machine` names another",
        machine.title,
        100.0 * machine.spread
    );
    Ok((machine, Some(said)))
}

fn no_host(why: &str) -> anyhow::Error {
    trammel_ground::Unsupported::error(
        &format!("no calibration for `{}`: {why}", file::HOST),
        "run `trammel calibrate` first (100 s)",
    )
}

/// Every machine that can be asked for by name, with its title and where its numbers come from.
pub fn all() -> Vec<(String, String)> {
    let built_in = machines::names().into_iter().map(str::to_owned);
    let host = file::default_path().filter(|path| path.exists());
    let host = host.map(|_| file::HOST.to_owned());
    let row = |name: String| {
        let said = match find(&name) {
            Ok(machine) => format!("{} ({})", machine.title, machine.origin.key()),
            Err(why) => format!("cannot be used: {why:#}"),
        };
        (name, said)
    };
    built_in.chain(host).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_found_by_name_and_by_path() {
        let built_in = find("xeon-e5-2690v2:printed").unwrap();
        assert_eq!(built_in.full_name(), "xeon-e5-2690v2:printed");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let text = trammel_cost::machine_writer::write(&built_in, &[]);
        std::fs::write(&path, text).unwrap();
        let mine = find(path.to_str().unwrap()).unwrap();
        assert_eq!(mine.full_name(), "mine:printed");
        let said = find("hots").unwrap_err().to_string();
        assert!(said.contains("did you mean `host`?"), "{said}");
        let said = find("nowhere.toml").unwrap_err().to_string();
        assert!(
            said.starts_with("machine `nowhere.toml` cannot be read"),
            "{said}"
        );
        let said = find("xeon-e5-2690v3").unwrap_err().to_string();
        assert!(said.contains("did you mean `xeon-e5-2690v2`?"), "{said}");
        assert!(
            said.ends_with("`host` and paths that end in .toml"),
            "{said}"
        );
    }
}
