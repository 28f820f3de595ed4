//! Options that `run`, `sweep` and those who hand out runs share.

use anyhow::{Context, bail};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_report::live::Live;
use trammel_report::run::Request;
use trammel_report::run_folder::RunFolder;
use trammel_report::store::Store;
use trammel_scenario::model::Engine;
use trammel_scenario::{Description, Reading};
use trammel_transport::refusals::reading;
use trammel_transport::run::Transport;

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

/// Which runs of which file.
#[derive(Debug, clap::Args)]
// Its name is that of the group of the arguments around it.
#[group(skip)]
pub(super) struct Which {
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml")]
    pub(super) scenario: PathBuf,
    /// Engines to use instead of the file's, separated by commas
    #[arg(short, long, value_name = "ENGINES", value_delimiter = ',')]
    engine: Vec<EngineName>,
    /// First seed, instead of the file's
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
}

/// What a run takes besides its kind.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    pub(super) which: Which,
    #[command(flatten)]
    out: super::folder::Args,
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    metrics: super::metrics::Args,
    /// Store of runs: those it holds are not made again, and those that are made are kept there
    #[arg(long, value_name = "DIR")]
    store: Option<String>,
    /// Threads to use [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
    /// Offer the report to the browser of this machine while it fills itself
    #[arg(long)]
    live: bool,
    /// Plot windows, goodput and queues on the terminal while runs go on
    #[arg(long)]
    tui: bool,
}

impl Which {
    /// The engines of the command line; none where it leaves them to the file.
    pub(super) fn engines(&self) -> Vec<Engine> {
        let asked = self.engine.iter().map(|name| match name {
            EngineName::Predict => Engine::Predict,
            EngineName::Simulate => Engine::Simulate,
            EngineName::Measure => Engine::Measure,
        });
        let mut asked: Vec<Engine> = asked.collect();
        asked.sort_unstable();
        asked.dedup();
        asked
    }

    /// The file at `path` as it is.
    pub(super) fn of(path: &Path) -> Which {
        Which {
            scenario: path.to_owned(),
            engine: Vec::new(),
            seed: None,
        }
    }

    /// The options as words, for a command elsewhere.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let engines: Vec<_> = self.engines().iter().map(|engine| engine.name()).collect();
        if !engines.is_empty() {
            words.extend(["--engine".to_owned(), engines.join(",")]);
        }
        if let Some(seed) = self.seed {
            words.extend(["--seed".to_owned(), seed.to_string()]);
        }
        words
    }

    /// The file, which is one of transport: the runs of other subjects cannot be handed out.
    pub(super) fn transport(&self) -> anyhow::Result<Transport> {
        let engines = self.engines();
        let reading = Reading {
            seed: self.seed,
            ..reading(&engines)
        };
        let path = self.scenario.display();
        let Description::Transport(file) = Description::read(&self.scenario, &reading)? else {
            bail!(
                "`{path}`: runs of subject `transport` alone can be made one by one; use `trammel \
                 run` for this one"
            );
        };
        if file.captures_packets() {
            bail!(
                "`{path}`: `pcap` and `qlog` are written into a run folder, and stores have no \
                 room for them; leave them out, or use `trammel run -o`"
            );
        }
        Ok(Transport::new(file, &engines))
    }
}

impl Options {
    /// Whether runs are plotted on the terminal.
    pub(super) fn has_plots(&self) -> bool {
        self.tui
    }

    /// Begins the page that fills itself, and says where it is.
    fn begin_live(&self) -> anyhow::Result<Live> {
        let name = self.which.scenario.display().to_string();
        let live = Live::begin(&name).context("`--live`: no page can be offered")?;
        trammel_ground::say(&format!("live report: {}", live.url()));
        Ok(live)
    }

    /// What is asked of the run.
    pub(super) fn request(
        &self,
        is_sweep: bool,
        interrupted: Arc<AtomicBool>,
    ) -> anyhow::Result<Request> {
        let out = self.out.wanted();
        let store = self.store.as_deref().map(Store::open).transpose()?;
        let is_served = self.live;
        #[cfg(target_os = "linux")]
        let is_served = is_served || self.metrics.is_asked();
        if is_served && let Some(out) = &out {
            // An address of a run that is refused would lead nowhere: the run begins its folder
            // for itself after this one is let go.
            drop(RunFolder::begin(out)?);
        }
        let live = self.live.then(|| self.begin_live()).transpose()?;
        #[cfg(target_os = "linux")]
        if let Some(counts) = self.metrics.serve(super::metrics::RunCounts::new)? {
            counts.listen();
        }
        Ok(Request {
            live,
            has_plots: self.tui,
            out,
            json: self.json,
            is_sweep,
            store,
            threads: self.threads.map(usize::from),
            interrupted,
        })
    }
}

/// Has an interrupt end the process at once, with nothing half written left: for commands that do
/// not look for it.
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
