//! `trammel kernel`: the real kernel that measures, built and tried.

use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use trammel_ground::{DONE, FAILED, INTERRUPTED, print, progress, say};
use trammel_kernel::build::{self, Watch, Wish};
use trammel_kernel::{boot, check};
use trammel_transport::guest;
use trammel_transport::instrument;
use trammel_transport::instrument::lacks;

/// Build and check the real kernel that engine `measure` runs in virtual time
///
/// It is User-Mode Linux, a kernel that is a program: it runs without root, its clock is virtual,
/// and two runs of it are the same.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the kernel, once per machine, and boot it once: some minutes, 2.5 GB of disk
    ///
    /// The kernel is kept in $XDG_CACHE_HOME/trammel/kernel by the hash of its source,
    /// patches, configuration and compiler. An existing one is not built again.
    #[command(
        after_help = "Examples:\n  apt-get install linux-source-6.12 flex bison bc\n  trammel \
                      kernel build\n  trammel kernel build --source ~/linux\n  \
                      trammel kernel build --patch bbr3.patch"
    )]
    Build {
        #[command(flatten)]
        wanted: Wanted,
        /// Parallel compilers [default: one per core]
        #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        jobs: Option<u16>,
    },
    /// Compare two kernels over scenarios: which numbers changed, by how much, and where their
    /// senders diverge
    ///
    /// A kernel is `packaged`, a source tree of Linux, or one of these with patches. Both must have
    /// been built.
    #[command(after_help = super::kernel_compare::AFTER)]
    Compare(super::kernel_compare::Args),
    /// Check that the kernel boots here, is complete, and repeats a run to the last byte
    #[command(after_help = "Example:\n  trammel kernel check")]
    Check {
        #[command(flatten)]
        wanted: Wanted,
    },
}

#[derive(Debug, clap::Args)]
struct Wanted {
    /// A Linux source tree, which is only read [default: the package linux-source-6.12]
    #[arg(short, long, value_name = "TREE")]
    source: Option<PathBuf>,
    /// A patch to apply to a copy of the source; several are applied in the order given
    #[arg(short, long = "patch", value_name = "FILE")]
    patches: Vec<PathBuf>,
}

impl Wanted {
    fn wish(&self, jobs: Option<u16>) -> anyhow::Result<Wish> {
        let mut wish = instrument::wish(self.source.as_deref(), &self.patches)?;
        if let Some(jobs) = jobs {
            wish.jobs = jobs.into();
        }
        Ok(wish)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupted = super::options::interrupted()?;
    match &args.command {
        Command::Build { wanted, jobs } => make(&wanted.wish(*jobs)?, &interrupted),
        Command::Compare(args) => super::kernel_compare::run(args, &interrupted),
        Command::Check { wanted } => attempt(&wanted.wish(None)?, &interrupted),
    }
}

/// Tells how a build goes on.
struct Told<'a> {
    bar: indicatif::ProgressBar,
    interrupted: &'a AtomicBool,
}

impl Watch for Told<'_> {
    fn stage(&self, what: &str) {
        self.bar.suspend(|| say(what));
    }
    fn compiled(&self, files: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(files);
    }
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

fn make(wish: &Wish, interrupted: &AtomicBool) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let was_there = build::find(wish).map_err(lacks)?.is_some();
    let watch = Told {
        bar: progress::bar(1),
        interrupted,
    };
    let built = match build::build(wish, &watch) {
        Err(build::Error::Interrupted) => {
            watch.bar.finish_and_clear();
            say("interrupted; compiled files are kept, and the next build continues from there");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        built => built.map_err(lacks)?,
    };
    watch.bar.finish_and_clear();
    let how = if was_there {
        "is there already".to_owned()
    } else {
        format!("built in {:.0} s", started.elapsed().as_secs_f64())
    };
    say(&format!(
        "{}, {how}",
        instrument::called(&built.version, wish)
    ));
    print(&format!("{}\n", built.kernel.display()))?;
    let (machine, booted) = (guest::machine(&built)?, Instant::now());
    let stop = || interrupted.load(Ordering::SeqCst);
    match guest::try_boot(&machine, &stop) {
        Err(_) if stop() => return Ok(ExitCode::from(INTERRUPTED)),
        tried => tried?,
    }
    let took = booted.elapsed().as_secs_f64();
    say(&format!("a guest boots here, in {took:.2} s"));
    Ok(ExitCode::from(DONE))
}

fn attempt(wish: &Wish, interrupted: &AtomicBool) -> anyhow::Result<ExitCode> {
    let built = instrument::built(wish)?;
    say(&format!(
        "{}, `{}`",
        instrument::called(&built.version, wish),
        built.kernel.display()
    ));
    let machine = guest::machine(&built)?;
    let stop = || interrupted.load(Ordering::SeqCst);
    let mut told = |finding: &check::Finding| {
        let line = match &finding.came {
            Ok(how) => format!("ok      {}: {how}", finding.what),
            Err(why) => format!("FAILED  {}: {why}", finding.what),
        };
        say(&line);
    };
    match check::check(&machine, &stop, &mut told) {
        Ok(true) => Ok(ExitCode::from(DONE)),
        Ok(false) => Ok(ExitCode::from(FAILED)),
        Err(boot::Error::Interrupted) => Ok(ExitCode::from(INTERRUPTED)),
        Err(other) => Err(guest::unable(other)),
    }
}
