//! `trammel run`: every point of a scenario, all its engines, side by side.

use super::options::{Options, end_at_interrupt, interrupted};
use std::process::ExitCode;
use std::sync::Arc;
use trammel_forwarding::Forwarding;
use trammel_forwarding::for_placement::ForPlacement;
use trammel_forwarding::placement::Placement;
use trammel_report::run::{self, Request};
use trammel_routing::Routing;
use trammel_scenario::model::Engine;
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
    let description = Description::read(&options.which.scenario, &reading)?;
    if options.has_plots() && !matches!(description, Description::Transport(_)) {
        anyhow::bail!(
            "`{}`: `--tui` plots the flows of subject `transport`, and this file has another; \
             leave it out",
            options.which.scenario.display()
        );
    }
    if let Description::Placement(_) = &description {
        // It takes seconds at most, and nothing of it is kept.
        end_at_interrupt()?;
        return described(
            description,
            &engines,
            &options.request(false, Arc::default())?,
        );
    }
    if let Description::Routing(file) = &description {
        // Before the thread that waits for an interruption.
        trammel_routing::prepare(file, &engines);
    }
    let request = options.request(is_sweep, interrupted()?)?;
    described(description, &engines, &request)
}

/// Runs `description` by `engines`; by those of the file where there are none.
pub(super) fn described(
    description: Description,
    engines: &[Engine],
    request: &Request,
) -> anyhow::Result<ExitCode> {
    let engines = engines.to_vec();
    match description {
        Description::Transport(file) => run::run(&Transport::new(file, &engines), request),
        Description::Forwarding(file) => run::run(&Forwarding { file, engines }, request),
        Description::Traffic(file) => run::run(&Streams { file, engines }, request),
        Description::Routing(file) => run::run(&Routing { file, engines }, request),
        Description::Placement(file) if engines.is_empty() => place(file, false, request),
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
    let placement = Placement {
        file,
        is_kubernetes,
    };
    run::run(&placement, request)
}
