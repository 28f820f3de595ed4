//! `trammel fidelity`: the simulator against the real kernel over paths of all kinds.

use anyhow::{Context, anyhow, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use trammel_ground::{DONE, FAILED, INTERRUPTED, UNSUPPORTED, say};
use trammel_ground::{Unsupported, machine};
use trammel_report::provenance::provenance;
use trammel_report::run_folder::{RunFolder, RunInfo};
use trammel_scenario::plugin::Plugin;
use trammel_scenario::registry;
use trammel_stats::table::write_json;
use trammel_transport::fidelity::matrix;
use trammel_transport::fidelity::matrix::cells::{BBR3, ON_REQUEST, VARIANTS};
use trammel_transport::fidelity::matrix::extent::{self, Draw, Extent, Wanted};
use trammel_transport::fidelity::matrix::{Made, page};
use trammel_transport::fidelity::terminal::Terminal;

/// The words of `--paths`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Paths {
    Steady,
    Changing,
}

/// Measure how close the simulator is to the real kernel, over paths of all kinds
///
/// Scenarios are drawn from a seed over the whole range of rates, round trips, buffers, losses,
/// flows, variants and queues. The simulator and the kernel of `trammel kernel build` run each of
/// them. An interrupted run with `-o` can be resumed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel fidelity --quick\n  trammel fidelity --full --seed 20261123 \
                  -o out\n\nThe exit code is 1 if a target is missed."
)]
pub(super) struct Args {
    /// 16 cells with three phases: about a minute [default]
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// 400 cells with five phases: up to three hours on two cores
    #[arg(long)]
    full: bool,
    /// The seed of the cells; use one that was not used during development
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Number of cells, instead of that of --quick or --full
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cells: Option<u16>,
    /// Whether paths stay as they are, or change: delay steps, outages, handovers, jitter that
    /// reorders
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Paths::Steady)]
    paths: Paths,
    /// Queue disciplines of the cells, one in each, instead of the usual ones
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    queues: Vec<String>,
    /// Draw the first flow of each cell from these variants; `bbr3` needs a kernel of `--source`
    /// whose `bbr` is version 3, `prague` one that has it; beside `dctcp` and `prague` all have ECN
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = variant)]
    variants: Vec<&'static str>,
    /// Compare with the kernel of this Linux source tree instead of the package's
    #[arg(long, value_name = "TREE")]
    source: Option<PathBuf>,
    /// A patch to apply to a copy of the kernel's source; several are applied in the order given
    #[arg(long = "patch", value_name = "FILE")]
    patches: Vec<PathBuf>,
    #[command(flatten)]
    out: super::folder::Args,
    /// Threads to use [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupted = super::options::interrupted()?;
    let (started, clock) = (machine::now(), Instant::now());
    let mut extent = if args.full {
        Extent::FULL
    } else {
        Extent::QUICK
    };
    if let Some(cells) = args.cells {
        extent.cells = cells.into();
    }
    let wanted_cells = Wanted {
        queues: args
            .queues
            .iter()
            .map(|name| queue(name))
            .collect::<Result<_, _>>()?,
        variants: args.variants.clone(),
    };
    let source = source(args)?;
    if args.paths == Paths::Changing && !args.variants.is_empty() {
        bail!("`--variants` is for `--paths steady`; leave one of them out");
    }
    if args.paths == Paths::Changing && !args.queues.is_empty() {
        bail!("`--queues` is for `--paths steady`; leave one of them out");
    }
    if args.variants.contains(&BBR3) && source.is_none() {
        bail!(
            "`--variants {BBR3}`: the packaged kernel's `bbr` is version 1; name a source tree or \
             a patch with google's BBR version 3 by `--source` or `--patch`"
        );
    }
    // A folder that cannot be written is a fault before the work, not after it.
    let wanted = args.out.wanted();
    let folder = wanted.as_ref().map(RunFolder::begin).transpose()?;
    let watch = Terminal::new(folder.as_ref(), &interrupted);
    let draw = Draw {
        extent,
        paths: match args.paths {
            Paths::Steady => extent::Paths::Steady,
            Paths::Changing => extent::Paths::Changing,
        },
        seed: args.seed,
        source: source.as_deref(),
    };
    let made = matrix::run(
        draw,
        &wanted_cells,
        args.threads.map(usize::from),
        &watch.known(),
        &watch,
    )?;
    watch.clear();
    if let Some(what) = &made.outcome.lacks {
        return Err(anyhow::Error::new(Unsupported {
            what: what.clone(),
            mend: "without the kernel there is nothing to compare with".to_owned(),
        }));
    }
    if let Some(mut out) = folder {
        let info = RunInfo {
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: "fidelity".to_owned(),
            seeds: vec![args.seed],
            machine: machine::facts(),
            started,
            wall_s: [("engines".to_owned(), clock.elapsed().as_secs_f64())].into(),
            interrupted: made.outcome.is_interrupted,
            ..RunInfo::default()
        };
        for table in made.judged.tables().iter().chain(made.outcome.tables()) {
            out.write_table(table)?;
        }
        for cell in &made.cells {
            out.write(&format!("cells/{}.toml", cell.name), cell.text.as_bytes())?;
        }
        let mut report = page::render(&made, args.seed);
        let mut subject = vec![("seed of the cells".to_owned(), args.seed.to_string())];
        subject.extend(made.outcome.facts.clone());
        report.provenance = provenance(&info, subject);
        out.write_page(&report)?;
        let path = out.finish(&info)?;
        say(&format!("{}", path.join("report.html").display()));
    }
    show(args, &made)?;
    Ok(ExitCode::from(code(&made)))
}

/// The discipline of this name.
fn queue(name: &str) -> anyhow::Result<&'static str> {
    let family = registry::Family::Discipline;
    let plugin = Plugin::new(name.trim());
    let about = plugin
        .about(family)
        .map_err(|why| anyhow!("`--queues`: {why}"))?;
    Ok(about.name)
}

/// A variant that is drawn.
fn variant(name: &str) -> Result<&'static str, String> {
    let known = || VARIANTS.into_iter().chain(ON_REQUEST);
    known().find(|known| *known == name).ok_or_else(|| {
        let all: Vec<_> = known().collect();
        format!("it is none of {}", all.join(", "))
    })
}

/// The kernel as a scenario names it, or nothing where it is the package's.
fn source(args: &Args) -> anyhow::Result<Option<String>> {
    let tree = args.source.as_deref();
    let tree = tree.map(|tree| {
        place(
            tree,
            "`--source` takes the folder of a source tree of Linux",
        )
    });
    let mut named = match (tree, args.patches.is_empty()) {
        (None, true) => return Ok(None),
        (None, false) => "packaged".to_owned(),
        (Some(tree), _) => tree?,
    };
    for patch in &args.patches {
        named.push('+');
        named += &place(patch, "`--patch` takes a patch of a source tree of Linux")?;
    }
    Ok(Some(named))
}

/// A place, wherever a cell's file lies.
fn place(path: &Path, what: &str) -> anyhow::Result<String> {
    let whole = path
        .canonicalize()
        .map_err(|why| anyhow!("`{}`: {why}; {what}", path.display()))?;
    let text = whole
        .to_str()
        .context("a path in a scenario must be UTF-8")?;
    Ok(text.to_owned())
}

fn show(args: &Args, made: &Made) -> anyhow::Result<()> {
    let mut out = trammel_ground::stdout();
    if args.json {
        write_json(&made.judged.tables(), &mut out)?;
        return Ok(());
    }
    write!(out, "{}", made.judged.of_targets())?;
    writeln!(out, "{}", page::itself(&made.judged.own))?;
    Ok(())
}

fn code(made: &Made) -> u8 {
    let is_met = made
        .judged
        .targets
        .iter()
        .all(matrix::judge::Target::is_met);
    if made.outcome.is_interrupted {
        INTERRUPTED
    } else if !made.outcome.failures.is_empty() || !is_met {
        FAILED
    } else if made.outcome.lacks.is_some() {
        UNSUPPORTED
    } else {
        DONE
    }
}
