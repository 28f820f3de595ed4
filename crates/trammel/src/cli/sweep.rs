//! `trammel sweep`: as `run`, and finished runs are kept for the next sweep.

use super::options::Options;
use std::process::ExitCode;

/// Run a scenario as `run` does, without repeating what the folder already holds
///
/// Finished runs are known by a hash of what they compute. `run` takes up an interrupted run and computes a whole one
/// anew; `sweep` also keeps the runs of a whole one, so that a changed file runs only what is new.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel sweep examples/friendliness-matrix.toml -o out")]
pub(super) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    super::run::carry_out(&args.options, true)
}
