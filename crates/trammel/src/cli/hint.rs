//! What is meant by command lines that are nearly right.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use trammel_scenario::tree::Node;

/// Subjects whose command is not `run`.
const PLACED: &str = trammel_scenario::placement::SUBJECT;

/// What to say of a command line that begins with a file: which command takes it.
pub(super) fn file_without_command(
    command: &clap::Command,
    arguments: &[OsString],
) -> Option<String> {
    let first = arguments.get(1)?.to_str()?;
    if first.starts_with('-') || command.find_subcommand(first).is_some() {
        return None;
    }
    let path = Path::new(first);
    let ending = path.extension().and_then(|ending| ending.to_str());
    let meant = match ending {
        Some("toml") if is_placement(path) => "place",
        Some("toml") => "run",
        Some("click") => "router",
        Some("pkt") => "packetdrill",
        Some("log") => "decode",
        _ if path.is_file() => "check",
        _ => return None,
    };
    let rest: Vec<_> = arguments[1..]
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    Some(format!(
        "error: `{first}` is a file, not a command; did you mean `trammel {meant} {}`?",
        rest.join(" ")
    ))
}

fn is_placement(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let root = Node::parse(&text).ok();
    let subject = root.as_ref().and_then(|root| {
        let entry = root.as_table()?.get("subject")?;
        entry.node.as_text()
    });
    subject == Some(PLACED)
}

/// `trammel router -h` asks for help: with a handler behind it, `-h` is Click's option to print
/// that.
pub(super) fn help_of_router(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is = |at: usize, word: &str| arguments.get(at).is_some_and(|argument| argument == word);
    if arguments.len() == 3 && is(1, "router") && is(2, "-h") {
        arguments[2] = "--help".into();
    }
    arguments
}

/// `examples/first.toml` where the current folder has no such file: the one that comes with the
/// program.
pub(super) fn shipped_files(arguments: Vec<OsString>) -> Vec<OsString> {
    let shipped = |argument: &OsString| {
        let name = argument.to_str().filter(|name| !Path::new(name).exists())?;
        trammel_library::file(name)
    };
    let place = |argument| shipped(&argument).map_or(argument, PathBuf::into_os_string);
    arguments.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory;

    fn said(arguments: &[&str]) -> Option<String> {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        file_without_command(&Cli::command(), &arguments)
    }

    #[test]
    fn a_file_in_the_place_of_a_command_names_its_command() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place.toml");
        std::fs::write(&place, "subject = 'placement'\n").unwrap();
        for (file, meant) in [
            (
                "examples/first.toml",
                "trammel run examples/first.toml -o out",
            ),
            ("r.click", "trammel router r.click -o out"),
            ("received.log", "trammel decode received.log -o out"),
            (place.to_str().unwrap(), "trammel place "),
        ] {
            let text = said(&["trammel", file, "-o", "out"]).unwrap();
            assert!(text.contains(meant), "{text}");
        }
        for other in [
            &["trammel"][..],
            &["trammel", "run", "x.toml"],
            &["trammel", "rnu"],
        ] {
            assert_eq!(said(other), None);
        }
    }

    #[test]
    fn an_example_is_found_from_any_folder() {
        let given = ["trammel", "run", "examples/first.toml", "no.toml"].map(OsString::from);
        let found = shipped_files(given.to_vec());
        assert!(Path::new(&found[2]).is_file(), "{found:?}");
        assert_eq!(found[3], "no.toml");
    }
}
