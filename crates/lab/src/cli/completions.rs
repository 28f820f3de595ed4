//! `trammel completions`: completions for a shell.

use clap_complete::Shell;
use std::process::ExitCode;

/// Write completions for a shell to standard output
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel completions bash > ~/.local/share/bash-completion/completions/trammel"
)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "trammel", &mut text);
    super::out(String::from_utf8(text)?.trim_end())
}
