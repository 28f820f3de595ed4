//! `trammel bench`: tests of RFC 2544 and its successors on any device.
//!
//! ```text
//! options ─> testbeds (beds/) × tests (trammel_bench::procedures) ─> tables ─> text, JSON, run folder with its report
//! ```
//! A testbed is wrapped so that each trial is shown as it ends and none begins after an
//! interruption (`watched`).
#![forbid(unsafe_code)]

pub mod beds;
pub mod devices;
pub mod expect;
mod faults;
pub mod journal;
pub mod profile;
mod report;
mod summary;
mod text;
pub mod transfer;
mod watched;

use anyhow::Context;
use beds::self_test::SelfTest;
use expect::Expectation;
use journal::{Identity, Journal};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel_bench::procedures::{self, Bench, Entry, Error, Search};
use trammel_bench::rehearsal::Rehearsal;
use trammel_bench::testbed::{Testbed, Traffic};
use trammel_core::entry::Params;
use trammel_core::time::Span;
use trammel_ground::machine as this_machine;
use trammel_ground::whole_file;
use trammel_ground::{DONE, FAILED, INTERRUPTED, UNSUPPORTED, USAGE, progress, say};
use trammel_report::run_folder::{Out, RunFolder, RunFolderError, RunInfo};
use trammel_stats::table::{Table, write_json};
use watched::Watched;

/// What `trammel bench` asks for.
#[derive(Debug)]
pub struct BenchJob {
    /// The devices, one after the other.
    pub beds: Vec<Box<dyn Testbed>>,
    /// The tests, in their order, with their settings.
    pub tests: Vec<(&'static Entry, Params)>,
    /// What is offered.
    pub traffics: Vec<Traffic>,
    /// How throughput is searched.
    pub search: Search,
    /// What is known of the tester itself, where frames are real.
    pub tester: Option<SelfTest>,
    /// What trials that are kept must be of, to be this run's.
    pub identity: Identity,
    /// Settings are those of a short run, which no RFC knows.
    pub is_quick: bool,
    /// What a reader must know of where the devices' constants are from.
    pub note: Option<String>,
    /// What results are held against.
    pub expected: Vec<Expectation>,
    /// The capacity profile to write of the one device.
    pub profile: Option<profile::Wanted>,
    /// The run folder to write.
    pub out: Option<Out>,
    /// Tables go to standard output as JSON.
    pub json: bool,
    /// Set when the user interrupts: stop and keep what is done.
    pub interrupted: Arc<AtomicBool>,
}

impl BenchJob {
    /// All that results depend on, as text: a journal of the same settings is the same run's.
    fn settings(&self) -> String {
        let devices: Vec<String> = self.beds.iter().map(|bed| bed.device()).collect();
        let tests = self.tests.iter();
        let tests: Vec<_> = tests
            .map(|(entry, params)| (entry.about.name, params))
            .collect();
        format!(
            "{devices:?} {tests:?} {:?} {:?}",
            self.traffics, self.search
        )
    }
}

/// What came of all tests.
#[derive(Debug, Default)]
struct BenchOutcome {
    /// A table for each test that had a result.
    tables: Vec<Table>,
    /// Tests that cannot be made on a device, and why.
    unable: Vec<String>,
    /// What devices did to frames besides losing them.
    faults: Vec<String>,
    /// What went wrong.
    failures: Vec<String>,
    is_interrupted: bool,
    /// Something came otherwise than was expected.
    is_missed: bool,
}

impl BenchOutcome {
    /// What was left out, and what went wrong.
    fn remarks(&self) -> impl Iterator<Item = String> {
        let unable = self
            .unable
            .iter()
            .map(|why| format!("{}{why}", report::LEFT_OUT));
        let faults = self.faults.iter().map(|what| format!("warning: {what}"));
        let failures = self.failures.iter().map(|why| format!("error: {why}"));
        faults.chain(unable).chain(failures)
    }

    /// Whether any test could be made.
    fn has_results(&self) -> bool {
        let mut tables = self.tables.iter();
        tables.any(|table| procedures::find(table.name()).is_some())
    }

    fn code(&self) -> u8 {
        match self {
            _ if self.is_interrupted => INTERRUPTED,
            _ if !self.failures.is_empty() || !self.has_results() => UNSUPPORTED,
            _ if self.is_missed => FAILED,
            _ => DONE,
        }
    }
}

/// This program, for configurations that it runs.
pub fn own_program() -> String {
    let path = trammel_ground::program::own().unwrap_or_else(|_| "trammel".into());
    path.to_string_lossy().into_owned()
}

/// Does `job`.
pub fn run(mut job: BenchJob) -> anyhow::Result<ExitCode> {
    let started = this_machine::now();
    // Settings that cannot be are told before anything is written.
    let (trials, length) = rehearse(&job)?;
    if watched::is_set(&job.interrupted) {
        say("interrupted before the first trial: nothing was written");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let folder = job.out.as_ref().map(RunFolder::begin).transpose()?;
    say(&format!("about {trials} trials, {}", spoken(length)));
    if job.is_quick {
        say(
            "quick: trials are shorter and fewer than the RFCs require; the results do not comply \
             with them",
        );
    }
    let mut journal = match &job.out {
        Some(out) => Some(
            Journal::open(
                &out.dir,
                &job.identity,
                &job.settings(),
                job.tester.as_ref(),
            )
            .with_context(|| {
                format!(
                    "the trials of `{}` cannot be kept beside it",
                    out.dir.display()
                )
            })?,
        ),
        None => None,
    };
    if let Some(kept) = journal.as_ref().map(Journal::kept).filter(|kept| *kept > 0) {
        say(&format!(
            "resuming an interrupted run: {kept} trials are kept"
        ));
    }
    let mut outcome = carry_out(&mut job, trials, &mut journal);
    judge(&job, &mut outcome);
    if let Some(wanted) = job.profile.as_ref().filter(|_| !outcome.is_interrupted) {
        match write_profile(&job, wanted, &outcome.tables) {
            Ok(()) => say(&format!("{}", wanted.path.display())),
            Err(why) => outcome.failures.push(format!("no profile: {why:#}")),
        }
    }
    for remark in outcome.remarks() {
        say(&remark);
    }
    if outcome.is_interrupted {
        say("interrupted: finished trials are kept");
    }
    let written = folder.map(|folder| write(folder, &job, &outcome, started));
    let is_written = matches!(written, Some(Ok(())));
    if let Some(Err(why)) = &written {
        say(&format!("error: {why}; the tables are on standard output"));
    }
    if let Some(journal) = journal.filter(|_| is_written && !outcome.is_interrupted) {
        journal.close()?;
    }
    let mut out = trammel_ground::stdout();
    if job.json {
        write_json(&outcome.tables, &mut out)?;
    } else if !is_written {
        write!(out, "{}", text::all(&outcome.tables))?;
    }
    Ok(ExitCode::from(match written {
        Some(Err(_)) => USAGE,
        _ => outcome.code(),
    }))
}

/// Writes the run folder.
fn write(
    mut folder: RunFolder,
    job: &BenchJob,
    outcome: &BenchOutcome,
    started: String,
) -> Result<(), RunFolderError> {
    for table in &outcome.tables {
        folder.write_table(table)?;
    }
    let info = RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: this_machine::facts(),
        started,
        interrupted: outcome.is_interrupted,
        ..RunInfo::default()
    };
    let remarks: Vec<String> = outcome.remarks().collect();
    let report = report::report(job, &outcome.tables, &remarks, &info);
    folder.write_page(&report)?;
    let path = folder.finish(&info)?;
    if !report.answer.sentence.is_empty() {
        say(&report.answer.sentence);
    }
    say(&format!("{}", path.join("report.html").display()));
    Ok(())
}

/// Adds to the tables of tests what they say together: `summary`, and `verdicts` where something is
/// expected.
fn judge(job: &BenchJob, outcome: &mut BenchOutcome) {
    let tests = job.tests.iter().map(|(entry, _)| *entry);
    let summary = summary::summary(tests, &outcome.tables);
    if !job.expected.is_empty() {
        let (verdicts, is_all) = expect::verdicts(&job.expected, &outcome.tables);
        outcome.tables.push(verdicts);
        outcome.is_missed = !is_all;
    }
    outcome.tables.push(summary);
}

fn write_profile(job: &BenchJob, wanted: &profile::Wanted, tables: &[Table]) -> anyhow::Result<()> {
    let throughput = tables.iter().find(|table| table.name() == "throughput");
    let (Some(throughput), [bed]) = (throughput, &job.beds[..]) else {
        anyhow::bail!("it needs one device and the test `throughput`");
    };
    let (device, label) = (bed.device(), bed.label());
    let profile = profile::profile(&device, label, &job.traffics, throughput, wanted.clock_hz)?;
    let text = profile.write();
    Ok(whole_file::replace(&wanted.path, text.as_bytes())?)
}

/// A length as people say it.
fn spoken(length: Span) -> String {
    let seconds = length.as_secs_f64().ceil() as u64;
    let (hours, minutes) = (seconds / 3600, seconds % 3600 / 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (hours @ ..48, minutes) => format!("{hours} h {minutes} min"),
        (hours, _) => format!("{} days {} h", hours / 24, hours % 24),
    }
}

/// Trials that the job will make, about, and how long they take by the clock on the wall.
fn rehearse(job: &BenchJob) -> anyhow::Result<(u64, Span)> {
    let (mut trials, mut length) = (0, Span::ZERO);
    for bed in &job.beds {
        let mut rehearsal = Rehearsal::new(bed.as_ref());
        let mut bench = Bench::new(&mut rehearsal, job.traffics.clone(), job.search);
        for (entry, params) in &job.tests {
            match bench.run(entry, params) {
                Ok(_) | Err(Error::Unable(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let (made, taken) = rehearsal.total();
        (trials, length) = (trials + made, length + taken);
    }
    Ok((trials, length))
}

fn carry_out(job: &mut BenchJob, trials: u64, journal: &mut Option<Journal>) -> BenchOutcome {
    let mut outcome = BenchOutcome::default();
    outcome
        .tables
        .extend(job.tester.as_ref().map(SelfTest::table));
    let bar = progress::bar(trials);
    for bed in &mut job.beds {
        let name = bed.device();
        let mut watched = Watched::new(bed.as_mut(), &job.interrupted, &bar, journal);
        let mut bench = Bench::new(&mut watched, job.traffics.clone(), job.search);
        for (entry, params) in &job.tests {
            let why = |error: &Error| format!("`{}` on {name}: {error}", entry.about.name);
            match bench.run(entry, params) {
                Ok(table) => add(&mut outcome.tables, table),
                Err(error @ Error::Unable(_)) => outcome.unable.push(why(&error)),
                Err(_) if watched::is_set(&job.interrupted) => {
                    outcome.is_interrupted = true;
                    break;
                }
                Err(error) => outcome.failures.push(why(&error)),
            }
        }
        add(&mut outcome.tables, bench.trials());
        if outcome.is_interrupted {
            break;
        }
    }
    bar.finish_and_clear();
    let trials = outcome.tables.iter().find(|table| table.name() == "trials");
    outcome.faults = trials.map(faults::sentences).unwrap_or_default();
    let latency = outcome
        .tables
        .iter()
        .find(|table| table.name() == "latency");
    let growing = latency.map(faults::growing).unwrap_or_default();
    outcome.faults.extend(growing);
    outcome
}

/// Adds the rows of a test on another device to those that it has.
fn add(tables: &mut Vec<Table>, table: Table) {
    match tables.iter_mut().find(|known| known.name() == table.name()) {
        Some(known) => known
            .append(table)
            .expect("tables of one test have its columns"),
        None => tables.push(table),
    }
}
