//! `trammel run`: every point of a scenario, all its engines, side by side.

use super::options::{Options, plan};
use std::process::ExitCode;
use trammel_scenario::{ReadError, traffic};
use trammel_transport as engine;

/// Run every point of a scenario and compare the engines
///
/// The engines are those of the file, or those given with `--engine`. With `-o` the tables, figures and
/// the report are written to a folder. Run the same command again to resume an interrupted run.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel run examples/paper-001.toml -o out --engine predict,simulate"
)]
pub(super) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    carry_out(&args.options, false)
}

/// The subject of a file that was refused only because files of its subject have a reader of their own.
fn subject(error: &anyhow::Error) -> Option<&'static str> {
    match error.downcast_ref::<ReadError>() {
        Some(ReadError::Elsewhere { subject, .. }) => Some(subject),
        _ => None,
    }
}

/// Plans and does the job.
pub(super) fn carry_out(options: &Options, is_sweep: bool) -> anyhow::Result<ExitCode> {
    let job = match plan(options, is_sweep) {
        #[cfg(target_os = "linux")]
        Err(error) if subject(&error) == Some(trammel_scenario::forwarding::SUBJECT) => {
            return trammel_forwarding::run(&super::options::forwarding(options)?);
        }
        Err(error) if subject(&error) == Some(traffic::SUBJECT) => {
            return trammel_streams::run::run(&super::options::traffic(options, is_sweep)?);
        }
        planned => planned?,
    };
    engine::run::run(&job)
}
