//! `trammel sweep-plan`: what a sweep on many workers will take, and what limits it.

use super::options::Which;
use crate::sweep_plan::{Limits, Outcome, Plan, simulate};
use std::io::Write;
use std::process::ExitCode;
use trammel_core::time::Span;
use trammel_ground::DONE;
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::{Table, round_to, write_json};

/// Simulate a sweep on many workers before it is begun
///
/// Prints how long the sweep takes, what the store has to bear, where the time of the workers goes,
/// and what limits it. The store's limits are those of one prefix of S3 as its manual has them, the
/// other numbers are guesses until you give your own. The same seed gives the same numbers.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel sweep-plan --runs 1000000 --run-time 1s --workers 10000\n  \
                  trammel sweep-plan s.toml --workers 500 --losses 0.1"
)]
pub(super) struct Args {
    /// The scenario file: its runs and their expected times
    #[arg(value_name = "SCENARIO.toml", required_unless_present = "runs")]
    scenario: Option<std::path::PathBuf>,
    /// Runs, in place of a scenario's
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "scenario",
        value_parser = clap::value_parser!(u32).range(1..=10_000_000)
    )]
    runs: Option<u32>,
    /// The time that a run takes on one core
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1s",
        value_parser = super::durations::parse,
        conflicts_with = "scenario"
    )]
    run_time: Span,
    /// How far times of runs are off: their standard deviation over their mean
    #[arg(long, value_name = "X", default_value = "0.5")]
    spread: f64,
    /// Workers, of one core each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    workers: u32,
    /// Tasks that the engine starts in a second
    #[arg(long, value_name = "N", default_value = "1000")]
    starts: f64,
    /// The time that a process takes to start
    #[arg(
        long,
        value_name = "TIME",
        default_value = "200ms",
        value_parser = super::durations::parse
    )]
    start_time: Span,
    /// The time that a process takes to list a run of the scenario; it lists them all
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10us",
        value_parser = super::durations::parse
    )]
    list_time: Span,
    /// Reads that the store takes in a second
    #[arg(long, value_name = "N", default_value = "5500")]
    reads: f64,
    /// Writes that it takes in a second
    #[arg(long, value_name = "N", default_value = "3500")]
    writes: f64,
    /// The time of a request to the store that does not wait
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30ms",
        value_parser = super::durations::parse
    )]
    latency: Span,
    /// Losses of a worker in an hour of its time
    #[arg(long, value_name = "X", default_value = "0.05")]
    losses: f64,
    /// From a loss until another worker is there
    #[arg(
        long,
        value_name = "TIME",
        default_value = "2min",
        value_parser = super::durations::parse
    )]
    replace_time: Span,
    /// Seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Write the table to standard output as JSON
    #[arg(long)]
    json: bool,
}

/// Names in an answer to a request for a list, of S3, Google and Azure (5,000 there).
const LISTED: usize = 1000;
/// Reads that a process of ours has on their way at once.
const AT_ONCE: usize = 256;

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let expected_s = match &args.scenario {
        None => vec![args.run_time.as_secs_f64(); args.runs.unwrap_or_default() as usize],
        Some(path) => {
            let runs = Which::of(path).transport()?.list()?.into_iter();
            runs.map(|run| run.expected_s).collect()
        }
    };
    for (name, number) in [
        ("--starts", args.starts),
        ("--reads", args.reads),
        ("--writes", args.writes),
    ] {
        anyhow::ensure!(number > 0.0, "`{name}` must be above 0, not {number}");
    }
    for (name, number) in [("--spread", args.spread), ("--losses", args.losses)] {
        let is_good = (0.0..=1000.0).contains(&number);
        anyhow::ensure!(is_good, "`{name}` must be from 0 to 1000, not {number}");
    }
    let plan = Plan {
        expected_s,
        spread: args.spread,
        workers: args.workers as usize,
        starts_per_s: args.starts,
        start_s: args.start_time.as_secs_f64(),
        list_s: args.list_time.as_secs_f64(),
        store: Limits {
            reads_per_s: args.reads,
            writes_per_s: args.writes,
            latency_s: args.latency.as_secs_f64(),
            at_once: AT_ONCE,
        },
        losses_per_h: args.losses,
        replace_s: args.replace_time.as_secs_f64(),
        seed: args.seed,
    };
    let outcome = simulate(&plan);
    let table = table(&plan, &outcome)?;
    let mut out = trammel_ground::stdout();
    if args.json {
        write_json([&table], &mut out)?;
        return Ok(ExitCode::from(DONE));
    }
    writeln!(out, "{}", table.to_string().trim_end())?;
    let (what, mend) = outcome.bottleneck();
    writeln!(out, "\nlimit: {what}; less of it by {mend}")?;
    Ok(ExitCode::from(DONE))
}

fn table(plan: &Plan, outcome: &Outcome) -> anyhow::Result<Table> {
    const DIGITS: usize = 3;
    let columns = [("what", Text), ("value", Float), ("unit", Text)];
    let mut table = Table::with("plan", &columns);
    let mut add = |what: &str, value: f64, unit: &str| {
        table.push(vec![
            what.into(),
            round_to(value, DIGITS).into(),
            unit.into(),
        ])
    };
    add("runs", plan.expected_s.len() as f64, "runs")?;
    add("workers", plan.workers as f64, "workers")?;
    add("makespan", outcome.makespan_s, "s")?;
    add("work over workers", outcome.ideal_s, "s")?;
    add("efficiency", 100.0 * outcome.efficiency(), "%")?;
    add("batches", outcome.batches as f64, "processes")?;
    add("rounds", outcome.rounds as f64, "rounds")?;
    add("workers lost", outcome.losses as f64, "workers")?;
    add("runs begun again", outcome.again as f64, "runs")?;
    add("runs missing", outcome.missing as f64, "runs")?;
    for (name, load) in [("reads", outcome.reads), ("writes", outcome.writes)] {
        add(
            &format!("{name} of the store"),
            load.requests as f64,
            "requests",
        )?;
        add(
            &format!("{name}: share of its limit"),
            100.0 * load.busy,
            "%",
        )?;
        add(&format!("{name}: longest wait"), load.longest_wait_s, "s")?;
    }
    // Nothing of ours lists a store: a list has the runs of other sweeps, and halves of files.
    let pages = plan.expected_s.len().div_ceil(LISTED);
    add("a list of the store instead", pages as f64, "requests")?;
    let all: f64 = outcome.spent.parts().iter().map(|part| part.1).sum();
    for (name, spent, _) in outcome.spent.parts() {
        add(
            &format!("time of workers: {name}"),
            100.0 * spent / all,
            "%",
        )?;
    }
    Ok(table)
}
