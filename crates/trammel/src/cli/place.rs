//! `trammel place`: chains of network functions on servers.

use clap::ValueEnum;
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_forwarding::for_placement::ForPlacement;
use trammel_report::run::Request;
use trammel_scenario::Reading;
use trammel_scenario::placement::PlacementFile;

/// Place chains of network functions on servers
///
/// Splits chains that are too large into replicas, places them on as few servers as it can, reports
/// the gap to the lower bound, and simulates every core. A placement is printed only if an
/// independent checker accepts it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel place examples/placement.toml\n  trammel place \
                  examples/placement.toml --format kubernetes\n  trammel place \
                  examples/placement.toml -o out"
)]
pub(super) struct Args {
    /// Placement file (`subject = "placement"`)
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// How to show the placement
    #[arg(long, value_enum, default_value = "text", conflicts_with = "json")]
    format: Shown,
    #[command(flatten)]
    out: super::folder::Args,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
    /// Seed of the simulated cores, instead of the file's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// Tables for people
    Text,
    /// All tables, as with `--json`
    Json,
    /// Kubernetes resources in YAML
    Kubernetes,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let reading = Reading {
        seed: args.seed,
        estimator: &ForPlacement,
        ..Reading::default()
    };
    let file = PlacementFile::read(&args.scenario, &reading)?;
    // It takes seconds at most, and nothing of it is kept.
    super::options::end_at_interrupt()?;
    let request = Request {
        out: args.out.wanted(),
        json: args.json || args.format == Shown::Json,
        ..Request::default()
    };
    super::run::place(file, args.format == Shown::Kubernetes, &request)
}
