//! `trammel compare`: several run folders in one report.

use crate::compare_runs::{CompareJob, run as compare};
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare run folders metric by metric with the first
///
/// The terminal shows the metrics that differ by more than 5 %, or by more than `--within` allows;
/// `-o` and `--json` have all of them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel compare out/monday out/tuesday -o out/both\n  trammel \
                  compare old new --within 5%\n\n\
                  With --within the exit code is 1 if a metric differs by more, or if a run lacks \
                  it."
)]
pub(super) struct Args {
    /// Run folders, written with `-o` by `run`, `paper`, `bench`, …
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    runs: Vec<PathBuf>,
    /// Fail (exit code 1) if a metric differs from the first run's by more than this
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    within: Option<f64>,
    #[command(flatten)]
    out: super::folder::Args,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

/// A share that was written as `5%`.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim);
    match number.and_then(|number| number.parse::<f64>().ok()) {
        Some(percent) if (0.0..=1e6).contains(&percent) => Ok(percent / 100.0),
        _ => Err("give a percentage, such as `5%`".to_owned()),
    }
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::options::end_at_interrupt()?;
    compare(&CompareJob {
        runs: args.runs,
        out: args.out.wanted(),
        json: args.json,
        within: args.within,
    })
}
