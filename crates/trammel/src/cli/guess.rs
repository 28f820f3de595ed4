//! `trammel FILE`: which command takes the file, by its name and its subject.
//!
//! Commands that send packets by devices of this machine are never guessed: a router configuration
//! is checked.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use trammel_formats::{Format, format_of};
use trammel_scenario::tree::Node;

/// Subjects whose command is not `run`.
const PLACED: &str = trammel_scenario::placement::SUBJECT;

/// Endings of captures and compressed files that no format has for its own.
const ALSO_IMPORTED: [&str; 2] = [".cap", ".gz"];
/// Bytes of a file that tell whether it is a log of Mahimahi's.
const FRONT_BYTES: u64 = 4096;

/// Endings of captures and of other programs' results. Most logs are those of `trammel recv`.
fn imported() -> Vec<&'static str> {
    let formats = Format::ALL.into_iter();
    let endings = formats.flat_map(|format| format.endings().iter().copied());
    let mut all: Vec<&str> = Vec::new();
    for ending in endings.chain(ALSO_IMPORTED) {
        if ending != ".log" && !all.contains(&ending) {
            all.push(ending);
        }
    }
    all
}

/// Whether a log is one of Mahimahi's, which has the same ending as Trammel's and D-ITG's.
fn is_of_mahimahi(path: &Path) -> bool {
    let mut front = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(FRONT_BYTES).read_to_end(&mut front));
    read.is_ok() && format_of(&front) == Some(Format::MahimahiLog)
}

/// What a command line that begins with a file or a folder means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// The command line with the command in it.
    Command(Vec<OsString>),
    /// The folder of a run: there is a summary of it.
    Folder(std::path::PathBuf),
    /// A file or folder that no command takes: what to say.
    Unknown(String),
}

/// Guesses what `arguments` mean; nothing where they begin with a command or an option.
pub(super) fn guess(command: &clap::Command, arguments: &[OsString]) -> Option<Guess> {
    let first = arguments.get(1)?.to_str()?;
    // No name is no path either: joined to a file's name it would be this folder.
    if first.is_empty() || first.starts_with('-') || command.find_subcommand(first).is_some() {
        return None;
    }
    let path = Path::new(first);
    if path.join("run.json").is_file() {
        return Some(Guess::Folder(path.to_owned()));
    }
    if path.is_dir() {
        return Some(Guess::Unknown(format!(
            "`{first}` is no run folder: it has no `run.json`; give one that `trammel run FILE -o \
             DIR` wrote, or a file"
        )));
    }
    let has = |name: &str| command.find_subcommand(name).is_some();
    let ending = path.extension().and_then(|ending| ending.to_str());
    let meant = match ending {
        Some("toml") if is_placement(path) => "place",
        Some("toml") => "run",
        Some("click") => "check",
        Some("pkt") => "packetdrill",
        Some("log") if has("import") && is_of_mahimahi(path) => "import",
        Some("log") => "decode",
        Some(_) if path.is_file() && has("import") && is_imported(first) => "import",
        _ if path.is_file() => {
            let endings: Vec<String> = imported().iter().map(|one| format!("`{one}`")).collect();
            return Some(Guess::Unknown(format!(
                "`{first}` is a file that no command is known for; `.toml` is run, `.click` \
                 checked, `.pkt` run as packetdrill does, `.log` decoded, and {} are imported",
                endings.join(", ")
            )));
        }
        // No command has a name with a slash.
        _ if first.contains('/') && !path.exists() => {
            return Some(Guess::Unknown(format!("`{first}` does not exist")));
        }
        _ => return None,
    };
    let mut line = arguments.to_vec();
    line.insert(1, meant.into());
    Some(Guess::Command(line))
}

fn is_imported(name: &str) -> bool {
    imported().iter().any(|ending| name.ends_with(ending))
}

/// How a command line reads.
pub(super) fn words(line: &[OsString]) -> String {
    let words = line[1..].iter().map(|word| word.to_string_lossy());
    format!("trammel {}", words.collect::<Vec<_>>().join(" "))
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

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory;

    fn guessed(arguments: &[&str]) -> Option<Guess> {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        guess(&Cli::command(), &arguments)
    }

    fn command_of(arguments: &[&str]) -> String {
        match guessed(arguments) {
            Some(Guess::Command(line)) => words(&line),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_in_the_place_of_a_command_has_its_command() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place.toml");
        std::fs::write(&place, "subject = 'placement'\n").unwrap();
        for (file, meant) in [
            (
                "examples/first.toml",
                "trammel run examples/first.toml -o out",
            ),
            ("received.log", "trammel decode received.log -o out"),
            ("reno.pkt", "trammel packetdrill reno.pkt -o out"),
            (place.to_str().unwrap(), "trammel place "),
        ] {
            let line = command_of(&["trammel", file, "-o", "out"]);
            assert!(line.starts_with(meant), "{line}");
        }
        for other in [
            &["trammel"][..],
            &["trammel", ""],
            &["trammel", "run", "x.toml"],
            &["trammel", "rnu"],
        ] {
            assert_eq!(guessed(other), None);
        }
    }

    #[test]
    fn every_format_s_file_is_imported_by_its_ending_or_as_mahimahi_s_log() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            command_of(&["trammel", path.to_str().unwrap()])
        };
        for format in Format::ALL {
            for ending in format.endings() {
                let line = at(&format!("a{ending}"), "100 + 1500\n");
                assert!(line.starts_with("trammel import "), "{ending}: {line}");
            }
        }
        assert!(at("b.cap", "").starts_with("trammel import "));
        assert!(at("b.log", "Flow>1\n").starts_with("trammel decode "));
    }

    #[test]
    fn a_router_is_checked_and_not_run() {
        assert_eq!(command_of(&["trammel", "r.click"]), "trammel check r.click");
    }

    #[test]
    fn the_folder_of_a_run_and_an_unknown_file_are_known_as_such() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("run.json"), "{}").unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(
            guessed(&["trammel", path]),
            Some(Guess::Folder(path.into()))
        );
        let within = folder.path().join("empty");
        std::fs::create_dir(&within).unwrap();
        for (path, why) in [
            (within, "`run.json`"),
            (folder.path().join("no"), "does not exist"),
        ] {
            let said = guessed(&["trammel", path.to_str().unwrap()]);
            let Some(Guess::Unknown(said)) = said else {
                panic!("{said:?}")
            };
            assert!(said.contains(why), "{said}");
        }
        let other = folder.path().join("x.docx");
        std::fs::write(&other, "").unwrap();
        let said = guessed(&["trammel", other.to_str().unwrap()]);
        let Some(Guess::Unknown(said)) = said else {
            panic!("{said:?}")
        };
        for ending in ["`.toml`", "`.json`", "`.xml`", "`.sqlog`", "`.up`"] {
            assert!(said.contains(ending), "{said}");
        }
    }
}
