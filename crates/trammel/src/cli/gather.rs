//! `trammel gather`: the run folder of runs that others have made.

use super::options::{Which, interrupted};
use std::process::ExitCode;
use trammel_ground::{FAILED, say};
use trammel_report::run::{self, Request};
use trammel_report::store::Store;

/// Keys of missing runs that are told at most.
const MOST_TOLD: usize = 5;

/// Make the run folder of a scenario whose runs are in a store
///
/// The folder is that of `trammel run`, to the byte, but for `run.json` and the foot of the
/// report. Nothing is simulated or measured here; predictions are computed. If runs are missing,
/// they are told, and nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel gather s.toml --store runs -o out")]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Store that has the runs
    #[arg(long, value_name = "DIR")]
    store: String,
    #[command(flatten)]
    out: super::folder::Args,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let transport = args.which.transport()?;
    let store = Store::open(&args.store)?;
    let missing = transport.missing_in(&store)?;
    if !missing.is_empty() {
        let told = missing.iter().take(MOST_TOLD);
        let told: Vec<&str> = told.map(|run| run.key.as_str()).collect();
        let rest = if missing.len() > told.len() {
            " …"
        } else {
            ""
        };
        say(&format!(
            "error: `{}` lacks {} of the runs of `{}`: {}{rest}; make them by `trammel point`",
            args.store,
            missing.len(),
            args.which.scenario.display(),
            told.join(" "),
        ));
        return Ok(ExitCode::from(FAILED));
    }
    let request = Request {
        out: args.out.wanted(),
        json: args.json,
        store: Some(store),
        interrupted: interrupted()?,
        ..Request::default()
    };
    run::run(&transport, &request)
}
