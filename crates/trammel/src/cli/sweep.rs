//! `trammel sweep`: as `run`, and finished runs are kept for the next sweep.

use super::options::Options;
use std::process::ExitCode;

/// Run a scenario as `run` does, without repeating what the folder already holds
///
/// Finished runs are identified by a hash of what they compute. `run` resumes an interrupted run
/// and computes a complete one anew; `sweep` also reuses the runs of a complete folder, so that
/// after a change of the file only new points run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel sweep examples/friendliness-matrix.toml -o out")]
pub(super) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    super::run::carry_out(&args.options, true)
}
