//! `trammel run` and `trammel sweep`: runs a file and writes what came of it.

use super::answer::{answer, report};
use super::kept::KeptRuns;
use super::points::{Failure, Outcome, RunOptions, Watch, run_points};
use super::run_tables::RunTables;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use trammel_core::label::Label;
use trammel_ground::machine;
use trammel_ground::progress::Progress;
use trammel_ground::{DONE, FAILED, INTERRUPTED, LACKS};
use trammel_report::provenance::{going_on, provenance, subject};
use trammel_report::run_folder::{Out, RunFolder, RunInfo};
use trammel_scenario::File;
use trammel_scenario::model::{Engine, Tracing};
use trammel_stats::table::{Cell, Table, round_to, write_json};

/// What `trammel run` and `trammel sweep` ask for.
#[derive(Debug)]
pub struct Job {
    /// The scenario, its seed set.
    pub file: File,
    /// The engines, in order; at least one.
    pub engines: Vec<Engine>,
    /// The run folder to write.
    pub out: Option<Out>,
    /// Threads; nothing means one a core.
    pub threads: Option<usize>,
    /// Tables go to standard output as JSON.
    pub json: bool,
    /// Points whose hash a finished run folder holds are kept.
    pub is_sweep: bool,
    /// Set when the user interrupts: stop after the points at hand and keep them.
    pub interrupted: Arc<AtomicBool>,
}

/// Shows a bar, keeps runs, and passes the interrupt on.
struct Terminal<'a> {
    progress: Progress,
    kept: Option<&'a KeptRuns>,
    interrupted: &'a AtomicBool,
    made: Mutex<BTreeMap<String, RunTables>>,
}

impl Watch for Terminal<'_> {
    fn begin(&self, runs: usize) {
        self.progress.expect(runs as u64, 0.0);
    }
    fn expect(&self, work: f64) {
        self.progress.expect(0, work);
    }
    fn ended(&self, work: f64) {
        self.progress.ended(work);
    }
    fn done(&self, key: &str, run: &RunTables) {
        if let Some(kept) = self.kept {
            kept.keep(key, run);
            let mut made = self.made.lock().expect("no panic while a run is kept");
            made.insert(key.to_owned(), run.clone());
        }
    }
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// Does `job`.
pub fn run(job: &Job) -> anyhow::Result<ExitCode> {
    let (started, clock) = (machine::now(), Instant::now());
    // A folder that cannot be written is a fault before the work, not after it.
    let mut folder = job.out.as_ref().map(RunFolder::begin).transpose()?;
    let kept = folder.as_ref().map(|out| KeptRuns::of(out, job.is_sweep));
    let options = RunOptions {
        engines: job.engines.clone(),
        needs_all: false,
        threads: job.threads,
        curves: folder.is_some(),
        known: kept.as_ref().map(KeptRuns::read).unwrap_or_default(),
        published: Vec::new(),
        captures: folder.as_ref().map(|out| out.work("pcap")),
    };
    let watch = Terminal {
        progress: Progress::new(),
        kept: kept.as_ref(),
        interrupted: &job.interrupted,
        made: Mutex::new(BTreeMap::new()),
    };
    going_on(options.known.len());
    let outcome = run_points(&job.file, &options, &watch)?;
    watch.progress.finish();
    tell(&outcome, &job.file, folder.is_some());
    let computed_s = clock.elapsed().as_secs_f64();
    if let Some(mut out) = folder.take() {
        if let Some(kept) = kept
            .as_ref()
            .filter(|_| job.is_sweep || outcome.is_interrupted)
        {
            let made = watch.made.lock().expect("no panic while a run is kept");
            keep(&mut out, &outcome, kept, &options.known, &made)?;
        }
        out.adopt("pcap")?;
        write_tables(&mut out, job, &outcome)?;
        let info = info(job, &outcome, started, computed_s);
        let mut facts = subject(&info);
        facts.extend(outcome.facts.clone());
        let provenance = provenance(&info, facts);
        let report = report(&job.file, &outcome, provenance);
        out.write_page(&report)?;
        let path = out.finish(&info)?;
        if !report.answer.sentence.is_empty() {
            trammel_ground::say(&report.answer.sentence);
        }
        trammel_ground::say(&format!("{}", path.join("report.html").display()));
    }
    if job.out.is_none() {
        let answer = answer(&job.file, &outcome);
        if !answer.sentence.is_empty() {
            trammel_ground::say(&answer.sentence);
        }
    }
    show(job, &outcome)?;
    Ok(ExitCode::from(code(&outcome)))
}

fn code(outcome: &Outcome) -> u8 {
    if outcome.is_interrupted {
        INTERRUPTED
    } else if !outcome.failures.is_empty() {
        FAILED
    } else if outcome.lacks.is_some() {
        LACKS
    } else {
        DONE
    }
}

/// Notes, failures and what was left out, to the person at the terminal.
fn tell(outcome: &Outcome, file: &File, is_kept: bool) {
    const MOST: usize = 20;
    for note in outcome.notes.iter().take(MOST) {
        trammel_ground::say(&format!("note: {note}"));
    }
    for failure in outcome.failures.iter().take(MOST) {
        let Failure { point, seed, why } = failure;
        trammel_ground::say(&format!(
            "error: {}, point `{point}`, seed {seed}: {why}",
            file.name
        ));
    }
    let more =
        outcome.notes.len().saturating_sub(MOST) + outcome.failures.len().saturating_sub(MOST);
    if more > 0 {
        trammel_ground::say(&format!("and {more} more"));
    }
    if outcome.is_interrupted {
        let (all, made) = outcome.runs;
        let kept = if is_kept {
            "kept; the same command resumes with them"
        } else {
            "shown; with `-o DIR` they are kept, and the same command resumes with them"
        };
        trammel_ground::say(&format!(
            "interrupted: {made} of {all} runs are finished and {kept}"
        ));
    }
}

/// Writes the runs of this file into the folder, so that a later sweep finds them.
fn keep(
    out: &mut RunFolder,
    outcome: &Outcome,
    kept: &KeptRuns,
    known: &BTreeMap<String, RunTables>,
    made: &BTreeMap<String, RunTables>,
) -> anyhow::Result<()> {
    let find = |key: &String| made.get(key).or_else(|| known.get(key));
    let runs = outcome
        .keys
        .iter()
        .filter_map(|key| Some((key.as_str(), find(key)?)));
    kept.finish(out, runs)?;
    Ok(())
}

fn write_tables(out: &mut RunFolder, job: &Job, outcome: &Outcome) -> anyhow::Result<()> {
    for table in outcome.tables() {
        out.write_table(table)?;
    }
    for one in &outcome.traces {
        let point = &job.file.points[one.at];
        // Short curves are for the report only.
        if point.scenario.trace != Tracing::Off {
            let mut name = match point.scenario.repeat {
                1 => point.id.clone(),
                _ => format!("{}.{}", point.id, one.repeat),
            };
            if one.label != Label::Simulated {
                name = format!("{name}.{}", one.label.key());
            }
            out.write_trace(&name, &one.trace.entity, &one.trace.to_table())?;
        }
    }
    Ok(())
}

fn info(job: &Job, outcome: &Outcome, started: String, computed_s: f64) -> RunInfo {
    let seeds: BTreeSet<u64> = job
        .file
        .points
        .iter()
        .flat_map(|point| (0..point.scenario.repeat).map(|n| point.scenario.seed + u64::from(n)))
        .collect();
    RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: job.file.name.clone(),
        scenario_text: job.file.text.clone(),
        seeds: seeds.into_iter().collect(),
        machine: machine::facts(),
        started,
        wall_s: BTreeMap::from([("engines".to_owned(), (computed_s * 1e3).round() / 1e3)]),
        interrupted: outcome.is_interrupted,
    }
}

/// The tables as JSON, or the comparison for a person.
fn show(job: &Job, outcome: &Outcome) -> anyhow::Result<()> {
    let mut out = trammel_ground::stdout();
    if job.json {
        write_json(outcome.tables(), &mut out)?;
        return Ok(());
    }
    let table = &outcome.comparison;
    if job.out.is_none() && !table.is_empty() {
        write!(out, "{}", rounded(table))?;
    }
    Ok(())
}

/// `table` for a person's eyes: with no more digits than anybody reads. The files and `--json` have all.
fn rounded(table: &Table) -> Table {
    const DIGITS: usize = 4;
    let mut rounded = Table::new(table.name(), table.columns().to_vec());
    for row in table.rows() {
        let cells = row.cells().iter().map(|cell| match cell {
            Cell::Float(value) => Cell::Float(round_to(*value, DIGITS)),
            other => other.clone(),
        });
        rounded
            .push(cells.collect())
            .expect("the cells are of the same types");
    }
    rounded
}
