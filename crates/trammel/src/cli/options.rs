//! Options that `run` and `sweep` share, and the job that they make.

use clap::ValueEnum;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_scenario::File;
#[cfg(target_os = "linux")]
use trammel_scenario::forwarding::ForwardingFile;
use trammel_scenario::model::Engine;
use trammel_scenario::traffic::TrafficFile;
use trammel_transport::refusals::reading;
use trammel_transport::run::Job;

/// An engine on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum EngineName {
    /// Closed form, in milliseconds
    Predict,
    /// Virtual time, deterministic
    Simulate,
    /// Real packets and real stacks
    Measure,
}

/// What a run takes besides its kind.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    #[command(flatten)]
    out: super::folder::Args,
    /// Engines to use instead of the file's, separated by commas
    #[arg(short, long, value_name = "ENGINES", value_delimiter = ',')]
    engine: Vec<EngineName>,
    /// Threads to use [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// First seed, instead of the file's
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

/// The engines of the command line; none where it leaves them to the file.
fn asked(options: &Options) -> Vec<Engine> {
    let asked = options.engine.iter().map(|name| match name {
        EngineName::Predict => Engine::Predict,
        EngineName::Simulate => Engine::Simulate,
        EngineName::Measure => Engine::Measure,
    });
    let mut asked: Vec<Engine> = asked.collect();
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// The job of a forwarding scenario.
#[cfg(target_os = "linux")]
pub(super) fn forwarding(options: &Options) -> anyhow::Result<trammel_forwarding::Job> {
    Ok(trammel_forwarding::Job {
        file: ForwardingFile::read_seeded(&options.scenario, options.seed)?,
        engines: asked(options),
        out: options.out.wanted(),
        threads: options.threads.map(usize::from),
        json: options.json,
        interrupted: interrupted()?,
    })
}

/// The job of a traffic scenario.
pub(super) fn traffic(
    options: &Options,
    is_sweep: bool,
) -> anyhow::Result<trammel_streams::run::Job> {
    Ok(trammel_streams::run::Job {
        file: TrafficFile::read_for(&options.scenario, options.seed, &asked(options))?,
        engines: asked(options),
        out: options.out.wanted(),
        threads: options.threads.map(usize::from),
        json: options.json,
        is_sweep,
        interrupted: interrupted()?,
    })
}

/// Reads the scenario and plans the job.
pub(super) fn plan(options: &Options, is_sweep: bool) -> anyhow::Result<Job> {
    let mut file = File::read_with(&options.scenario, &reading(&asked(options)))?;
    if let Some(seed) = options.seed {
        file.reseed(seed);
    }
    let of_file = || {
        file.points
            .first()
            .map(|p| p.scenario.engines.clone())
            .unwrap_or_default()
    };
    let mut engines = if options.engine.is_empty() {
        of_file()
    } else {
        asked(options)
    };
    engines.sort_unstable();
    engines.dedup();
    let job = Job {
        file,
        engines,
        out: options.out.wanted(),
        threads: options.threads.map(usize::from),
        json: options.json,
        is_sweep,
        interrupted: interrupted()?,
    };
    Ok(job)
}

/// Has an interrupt end the process at once, with nothing half written left: for commands that do not look for it.
pub(super) fn end_at_interrupt() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        trammel_report::run_folder::abandon();
        std::process::exit(i32::from(trammel_ground::INTERRUPTED));
    })?;
    Ok(())
}

/// A flag that the first interrupt sets; the second one ends the process at once.
pub(super) fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::SeqCst) {
            trammel_report::run_folder::abandon();
            std::process::exit(i32::from(trammel_ground::INTERRUPTED));
        }
    })?;
    Ok(flag)
}
