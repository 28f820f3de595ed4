//! `trammel sweep`: as `run`, but points that are done are kept.

use super::options::Options;
use std::process::ExitCode;

/// Run a scenario and keep the points that are done already
///
/// Finished points are known by a hash of what they compute: an interrupted sweep goes on where it stopped,
/// and a changed file runs only what is new.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel sweep examples/friendliness-matrix.toml -o out")]
pub(super) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    super::run::carry_out(&args.options, true)
}
