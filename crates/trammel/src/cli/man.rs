//! `trammel man`: the manual pages.

use super::output::out;
use anyhow::Context;
use clap_mangen::Man;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the manual page to standard output, or a page for every command to a folder
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel man | man -l -\n  trammel man --dir /usr/local/share/man/man1"
)]
pub(super) struct Args {
    /// Folder for one page per command
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Writes the pages of `command`, which is the whole one.
pub(super) fn run(args: &Args, command: clap::Command) -> anyhow::Result<ExitCode> {
    if let Some(dir) = &args.dir {
        let written = std::fs::create_dir_all(dir);
        let written = written.and_then(|()| clap_mangen::generate_to(command, dir));
        written.with_context(|| format!("`{}` cannot be written", dir.display()))?;
        return Ok(ExitCode::from(trammel_ground::DONE));
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    out(String::from_utf8(page)?.trim_end())
}
