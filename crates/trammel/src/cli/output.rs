//! Text to standard output, with which a command ends.

use std::io::Write;
use std::process::ExitCode;
use trammel_ground::DONE;

/// Writes `text` and a line end to standard output.
pub(super) fn out(text: &str) -> anyhow::Result<ExitCode> {
    writeln!(trammel_ground::stdout(), "{text}")?;
    Ok(ExitCode::from(DONE))
}
