//! What is said of an error, and the exit code that it means.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use trammel_ground::{DONE, UNSUPPORTED, USAGE, Unsupported, say, stdout};
use trammel_scenario::ReadError;

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
        say(&format!(
            "error: standard output cannot be written: {io}; send it elsewhere, or give `-o DIR`"
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
