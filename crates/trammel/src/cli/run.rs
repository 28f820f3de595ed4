//! `trammel run`: every point of a scenario, all its engines, side by side.

use super::options::{Options, end_at_interrupt, interrupted};
use std::process::ExitCode;
use std::sync::Arc;
use trammel_forwarding::Forwarding;
use trammel_forwarding::for_placement::ForPlacement;
use trammel_forwarding::placement::Placement;
use trammel_report::run::{self, Request};
use trammel_routing::Routing;
use trammel_scenario::placement::PlacementFile;
use trammel_scenario::{Description, Reading};
use trammel_streams::run::Streams;
use trammel_transport::refusals::reading;
use trammel_transport::run::Transport;

/// Run every point of a scenario and compare the engines
///
/// The engines are those of the file, or those given with `--engine`. With `-o` the tables, figures
/// and the report are written to a folder. Run the same command again to resume an interrupted run.
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

/// Reads the description and runs it, whatever its subject is.
pub(super) fn carry_out(options: &Options, is_sweep: bool) -> anyhow::Result<ExitCode> {
    let engines = options.which.engines();
    let reading = Reading {
        seed: options.which.seed,
        estimator: &ForPlacement,
        ..reading(&engines)
    };
    let request = |interrupted| options.request(is_sweep, interrupted);
    match Description::read(&options.which.scenario, &reading)? {
        Description::Transport(file) => {
            let transport = Transport::new(file, &engines);
            run::run(&transport, &request(interrupted()?)?)
        }
        Description::Forwarding(file) => {
            run::run(&Forwarding { file, engines }, &request(interrupted()?)?)
        }
        Description::Traffic(file) => {
            run::run(&Streams { file, engines }, &request(interrupted()?)?)
        }
        Description::Routing(file) => {
            // Before the thread that waits for an interruption.
            trammel_routing::prepare(&file, &engines);
            run::run(&Routing { file, engines }, &request(interrupted()?)?)
        }
        Description::Placement(file) if engines.is_empty() => {
            place(file, false, &request(Arc::default())?)
        }
        Description::Placement(file) => anyhow::bail!(
            "`{}`: a placement is always predicted and its cores simulated; leave out `--engine`",
            file.name
        ),
    }
}

/// Places the chains of `file`.
pub(super) fn place(
    file: PlacementFile,
    is_kubernetes: bool,
    request: &Request,
) -> anyhow::Result<ExitCode> {
    // It takes seconds at most, and nothing of it is kept.
    end_at_interrupt()?;
    let placement = Placement {
        file,
        is_kubernetes,
    };
    run::run(&placement, request)
}
