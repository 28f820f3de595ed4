//! `trammel diverge`: where the simulator and the real kernel part, or two logs of controllers.

use super::output::out;
use anyhow::bail;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;
use trammel_core::time::Span;
use trammel_ground::machine;
use trammel_ground::{DONE, FAILED, INTERRUPTED, print, say};
use trammel_report::run_folder::{RunFolder, RunInfo};
use trammel_scenario::File;
use trammel_scenario::model::Engine;
use trammel_transport::diverge::{Wish, compare, save, show};
use trammel_transport::refusals::reading;

/// Find the first segment that the simulator and the real kernel send differently, and the
/// mechanism
///
/// Both run the same path and lose the same packets. Segments are compared one by one: their data
/// and their time of sending. Of two logs in qlog, the congestion state and the windows are
/// compared over time.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel diverge examples/kernel.toml\n  trammel diverge s.toml \
                  --flow bulk --tolerance 5ms -o out\n  trammel diverge ours.sqlog \
                  theirs.qlog\n\n\
                  With -o, writes divergence.json and both captures from one second before they \
                  diverge.\n\nExit codes:\n  0    identical to the end\n  1    they diverge\n  \
                  2    usage, or a scenario that the kernel's guest cannot express\n  3    there \
                  is no kernel: `trammel kernel build`"
)]
pub(super) struct Args {
    /// The scenario file, or a log
    #[arg(value_name = "SCENARIO.toml|A.sqlog")]
    scenario: PathBuf,
    /// The log to compare with the first
    #[arg(value_name = "B.sqlog")]
    other: Option<PathBuf>,
    /// The point of a sweep to run [default: the first]
    #[arg(long, value_name = "POINT")]
    pub(super) point: Option<String>,
    /// The flow to compare [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(super) flow: Option<String>,
    /// Largest difference that counts as the same time [default: 1 ms plus four packets on the
    /// slowest link]; of logs, how long a difference must last [default: 10 ms]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) tolerance: Option<Span>,
    /// When to stop [default: the scenario's duration]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) until: Option<Span>,
    /// The seed of both, instead of the file's
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    pub(super) out: super::folder::Args,
    /// Write what was found to standard output as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn time(text: &str) -> Result<Span, String> {
    let time = super::durations::parse(text)?;
    if (0.0..=1e6).contains(&time.as_secs_f64()) {
        return Ok(time);
    }
    Err("it must be from 0 to 1,000,000 s".to_owned())
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(other) = &args.other {
        return super::diverge_logs::run(args, &args.scenario, other);
    }
    let is_log = ["sqlog", "qlog"].map(|end| args.scenario.extension().is_some_and(|it| it == end));
    if is_log.contains(&true) {
        bail!(
            "`{}` is a log, and one alone has nothing to diverge from; give a second log",
            args.scenario.display()
        );
    }
    let interrupted = super::options::interrupted()?;
    let wish = wish(args)?;
    // A folder that cannot be written is a fault before the work, not after it.
    let wanted = args.out.wanted();
    let folder = wanted.as_ref().map(RunFolder::begin).transpose()?;
    let (started, clock) = (machine::now(), Instant::now());
    let is_interrupted = || interrupted.load(Ordering::SeqCst);
    let compared = match compare(&wish, &is_interrupted) {
        Err(_) if is_interrupted() => return Ok(ExitCode::from(INTERRUPTED)),
        compared => compared?,
    };
    if let Some(mut folder) = folder {
        save(&compared, &mut folder)?;
        let text = format!("{:#}\n", show::json(&compared));
        folder.write("divergence.json", text.as_bytes())?;
        let info = RunInfo {
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: args.scenario.display().to_string(),
            seeds: vec![wish.seed],
            machine: machine::facts(),
            started,
            wall_s: [("engines".to_owned(), clock.elapsed().as_secs_f64())].into(),
            ..RunInfo::default()
        };
        say(&format!("{}", folder.finish(&info)?.display()));
    }
    if args.json {
        print(&format!("{:#}", show::json(&compared)))?;
    } else {
        out(show::text(&compared).trim_end())?;
    }
    let code = if compared.parting.is_some() {
        FAILED
    } else {
        DONE
    };
    Ok(ExitCode::from(code))
}

/// What the arguments ask for.
fn wish(args: &Args) -> anyhow::Result<Wish> {
    // What the kernel refuses is told of the one point that is run.
    let file = File::read_with(&args.scenario, &reading(&[Engine::Simulate]))?;
    let names = |all: &mut dyn Iterator<Item = &str>| {
        let quoted: Vec<_> = all.map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    let point = match &args.point {
        None => file.points.first(),
        Some(wanted) => file.points.iter().find(|point| point.id == *wanted),
    };
    let Some(point) = point else {
        let all = names(&mut file.points.iter().map(|point| point.id.as_str()));
        bail!("{}: there is no such point; it has {all}", file.name);
    };
    let scenario = &point.scenario;
    let flow = match &args.flow {
        None => 0,
        Some(wanted) => match scenario.flows.iter().position(|flow| flow.name == *wanted) {
            Some(flow) => flow,
            None => {
                let all = names(&mut scenario.flows.iter().map(|flow| flow.name.as_str()));
                bail!("{}: there is no flow `{wanted}`; it has {all}", file.name);
            }
        },
    };
    Ok(Wish {
        scenario: scenario.clone(),
        flow,
        tolerance: args.tolerance,
        until: args.until.filter(|until| *until > Span::ZERO),
        seed: args.seed.unwrap_or(scenario.seed),
    })
}
