//! `trammel kernel compare`: which behaviours changed between two kernels.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use trammel_core::label::Label;
use trammel_core::time::Span;
use trammel_ground::{DONE, FAILED, INTERRUPTED, machine, progress, say};
use trammel_report::provenance::provenance;
use trammel_report::run_folder::{RunFolder, RunInfo};
use trammel_report::{Answer, Block, Note, NoteKind, Report, Section, TableView};
use trammel_scenario::File;
use trammel_scenario::model::Engine;
use trammel_stats::table::{Cell, CellType, Column, Table, round_to, write_json};
use trammel_transport::kernels::{Kernel, KernelChanges, KernelWish, compare};
use trammel_transport::points::{Failure, Watch};
use trammel_transport::refusals::reading;
use trammel_transport::run_tables::RunTables;

pub(super) const AFTER: &str = "Examples:\n  trammel kernel compare packaged ~/linux --over \
    examples/kernel.toml\n  trammel kernel compare packaged packaged+bbr3.patch --over a.toml \
    b.toml -o out\n\nA metric changed if it differs by more than --within, and by more than its \
    repeats do among themselves (95 % intervals).\n\nExit codes:\n  0    no metric changed\n  1    \
    some did\n  2    usage, or a scenario that a guest cannot express\n  3    a kernel is not \
    built: `trammel kernel build`";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The old kernel: `packaged`, a source tree, or either with patches (`packaged+x.patch`)
    #[arg(value_name = "OLD")]
    old: String,
    /// The new kernel
    #[arg(value_name = "NEW")]
    new: String,
    /// The scenarios to measure with both
    #[arg(long, value_name = "SCENARIO.toml", required = true, num_args = 1..)]
    over: Vec<PathBuf>,
    /// Repeats of each point, at least
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    repeats: u16,
    /// Largest difference that counts as the same
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "2%",
        value_parser = super::compare::percent
    )]
    within: f64,
    /// Compare the segments of both senders until then
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = super::diverge::time)]
    until: Span,
    /// Measure only: do not look for the first segment that differs
    #[arg(long, conflicts_with = "until")]
    no_diverge: bool,
    #[command(flatten)]
    out: super::folder::Args,
    /// Threads to use [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

/// Shows how many runs are done.
struct Told<'a> {
    bar: indicatif::ProgressBar,
    interrupted: &'a AtomicBool,
}

impl Watch for Told<'_> {
    fn begin(&self, runs: usize) {
        self.bar.inc_length(runs as u64);
    }
    fn done(&self, _: &str, _: &RunTables) {
        self.bar.inc(1);
    }
    fn failed(&self, failure: &Failure) {
        self.bar.suspend(|| say(&failure.to_string()));
    }
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

pub(super) fn run(args: &Args, interrupted: &AtomicBool) -> anyhow::Result<ExitCode> {
    let (started, clock) = (machine::now(), Instant::now());
    let here = Path::new(".");
    let wish = KernelWish {
        kernels: [
            Kernel::named(&args.old, here)?,
            Kernel::named(&args.new, here)?,
        ],
        repeats: args.repeats.into(),
        within: args.within,
        until: (!args.no_diverge && args.until > Span::ZERO).then_some(args.until),
        threads: args.threads.map(usize::from),
    };
    let read = |path: &PathBuf| File::read_with(path, &reading(&[Engine::Measure]));
    let files: Vec<File> = args.over.iter().map(read).collect::<Result<_, _>>()?;
    // A folder that cannot be written is a fault before the work, not after it.
    let wanted = args.out.wanted();
    let folder = wanted.as_ref().map(RunFolder::begin).transpose()?;
    let told = Told {
        bar: progress::bar(0),
        interrupted,
    };
    let changes = compare(&files, &wish, &told);
    told.bar.finish_and_clear();
    let changes = match changes {
        Err(_) if told.is_interrupted() => None,
        changes => changes?,
    };
    let Some(changes) = changes else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    for (name, about) in ["old", "new"].iter().zip(&changes.about) {
        say(&format!("{name}: {about}"));
    }
    for note in &changes.notes {
        say(&format!("note: {note}"));
    }
    say(&changes.sentence());
    if let Some(mut out) = folder {
        let scenarios = args.over.iter().map(|path| path.display().to_string());
        let info = RunInfo {
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: scenarios.collect::<Vec<_>>().join(", "),
            seeds: files
                .iter()
                .filter_map(|file| Some(file.points.first()?.scenario.seed))
                .collect(),
            machine: machine::facts(),
            started,
            wall_s: [("engines".to_owned(), clock.elapsed().as_secs_f64())].into(),
            ..RunInfo::default()
        };
        for table in [&changes.changes, &changes.partings] {
            if !table.is_empty() {
                out.write_table(table)?;
            }
        }
        let mut report = page(&changes);
        report.provenance = provenance(&info, changes.facts.clone());
        out.write_page(&report)?;
        let path = out.finish(&info)?;
        say(&format!("{}", path.join("report.html").display()));
    }
    show(args, &changes)?;
    Ok(ExitCode::from(if changes.is_same() {
        DONE
    } else {
        FAILED
    }))
}

fn show(args: &Args, changes: &KernelChanges) -> anyhow::Result<()> {
    let mut out = trammel_ground::stdout();
    if args.json {
        write_json([&changes.changes, &changes.partings], &mut out)?;
        return Ok(());
    }
    let changed = changes.changed();
    if !changed.is_empty() {
        write!(out, "{}", readable(&shown(&changed, &CHANGED)?)?)?;
    }
    if !changes.partings.is_empty() {
        if !changed.is_empty() {
            writeln!(out)?;
        }
        let parted = shown(&changes.partings, &PARTED)?;
        write!(out, "{}", readable(&parted)?)?;
    }
    Ok(())
}

/// The columns for a terminal; files have all.
const CHANGED: [&str; 8] = [
    "scenario", "point", "entity", "metric", "unit", "old", "new", "change",
];
const PARTED: [&str; 6] = [
    "scenario",
    "point",
    "flow",
    "identical_segments",
    "diverge_at_s",
    "mechanism",
];

/// `table` for people: with no more digits than anybody reads, and changes in per cent. The files
/// and `--json` have all.
fn readable(table: &Table) -> anyhow::Result<Table> {
    const DIGITS: usize = 4;
    let mut columns = table.columns().to_vec();
    let change = columns.iter().position(|column| column.name == "change");
    if let Some(at) = change {
        columns[at] = Column::new("change", CellType::Text);
    }
    let mut all = Table::new(table.name(), columns);
    for row in table.rows() {
        let cells = row.cells().iter().enumerate();
        let readable = cells.map(|(at, cell)| match cell {
            Cell::Float(share) if Some(at) == change => format!("{:+.1} %", 100.0 * share).into(),
            Cell::Empty if Some(at) == change => "from nothing".into(),
            Cell::Float(value) => Cell::Float(round_to(*value, DIGITS)),
            other => other.clone(),
        });
        all.push(readable.collect())?;
    }
    Ok(all)
}

/// The named columns that have a value somewhere.
fn shown(table: &Table, columns: &[&str]) -> anyhow::Result<Table> {
    let has = |name: &&&str| {
        let mut rows = table.rows();
        rows.any(|row| {
            row.get(name)
                .is_some_and(|cell| !cell.to_string().is_empty())
        })
    };
    let columns: Vec<&str> = columns.iter().filter(has).copied().collect();
    Ok(table.select(&columns)?)
}

fn page(changes: &KernelChanges) -> Report {
    let [old, new] = &changes.about;
    let view = |title: &str, table: Table, is_open: bool| {
        Block::Table(TableView {
            title: title.to_owned(),
            table,
            is_open,
        })
    };
    let mut blocks = vec![view("What changed", changes.changed(), true)];
    blocks.extend(changes.notes.iter().map(|note| {
        Block::Note(Note {
            kind: NoteKind::Info,
            text: note.clone(),
        })
    }));
    let parted = Section {
        heading: "Where they diverge".to_owned(),
        blocks: vec![view(
            "The first segment that the new kernel sends differently",
            changes.partings.clone(),
            true,
        )],
        ..Section::default()
    };
    Report {
        title: "Two kernels".to_owned(),
        question: format!("What changed from {old} to {new}?"),
        answer: Answer {
            number: changes.changed().len().to_string(),
            sentence: format!("{}.", changes.sentence()),
            label: Some(Label::LinuxVt),
        },
        sections: vec![
            Section {
                heading: "Changes".to_owned(),
                blocks,
                ..Section::default()
            },
            parted,
            Section {
                heading: "All".to_owned(),
                blocks: vec![view("Every metric", changes.changes.clone(), false)],
                ..Section::default()
            },
        ],
        ..Report::default()
    }
}
