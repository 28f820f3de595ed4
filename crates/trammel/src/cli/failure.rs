//! What is said of an error, and the exit code that it means.

use clap::ArgMatches;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::OnceLock;
use trammel_ground::{DONE, UNSUPPORTED, USAGE, Unsupported, say, stdout};
use trammel_scenario::ReadError;

/// What `-o` of the command that runs takes, such as `FILE`; nothing where it has none.
static OUTPUT: OnceLock<String> = OnceLock::new();

/// Notes what the command of `matches` could write to in place of standard output.
pub(super) fn note(command: &clap::Command, matches: &ArgMatches) {
    let (mut command, mut matches) = (command, matches);
    while let Some((name, within)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else {
            return;
        };
        (command, matches) = (found, within);
    }
    let output = command
        .get_arguments()
        .find(|one| one.get_short() == Some('o'));
    let value = output.and_then(|one| one.get_value_names()?.first());
    if let Some(value) = value {
        // A process has one command line.
        let _ = OUTPUT.set(value.to_string());
    }
}

/// Shows `error` and returns its exit code.
pub(super) fn tell(error: &anyhow::Error) -> ExitCode {
    if let Some(io) = error
        .downcast_ref::<io::Error>()
        .filter(|io| stdout::is_of_stdout(io))
    {
        if io.kind() == io::ErrorKind::BrokenPipe {
            // The reader of our output has what it wanted.
            return ExitCode::from(DONE);
        }
        let or = match OUTPUT.get() {
            Some(value) => format!(", or give `-o {value}`"),
            None => String::new(),
        };
        say(&format!(
            "error: standard output cannot be written: {io}; send it elsewhere{or}"
        ));
        return ExitCode::from(USAGE);
    }
    let code = match error.downcast_ref::<ReadError>() {
        Some(ReadError::Faults(problems)) => {
            trammel_ground::tell(&problems.render(is_coloured()));
            return ExitCode::from(USAGE);
        }
        None if error.downcast_ref::<Unsupported>().is_some() => UNSUPPORTED,
        _ => USAGE,
    };
    say(&format!("error: {error:#}"));
    ExitCode::from(code)
}

/// Whether messages may have colours: on a terminal, unless `NO_COLOR` is set (no-color.org).
fn is_coloured() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
