//! `trammel compare`: several run folders in one report.

use crate::engine::compare::{Job, run as compare};
use std::path::PathBuf;
use std::process::ExitCode;

/// Lay several run folders side by side in one report
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel compare out/monday out/tuesday -o out/both")]
pub(super) struct Args {
    /// Run folders, written by `trammel run -o` or `trammel paper -o`
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    runs: Vec<PathBuf>,
    /// Folder to write the report to
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    compare(&Job {
        runs: args.runs,
        out: args.out,
        json: args.json,
    })
}
