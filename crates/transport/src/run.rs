//! The subject *transport* in the pipeline that all subjects share.

use crate::answer::{answer, report};
use crate::look::Look;
use crate::plots::Plots;
use crate::points::{self, Failure, ListedRun, RunOptions, Unwatched, Watch, run_points};
use crate::qlog_of;
use crate::run_tables::RunTables;
use crate::trace_of::Samples;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_core::label::Label;
use trammel_ground::Unsupported;
use trammel_ground::progress::Progress;
use trammel_report::kept::{Ended, Shelf};
use trammel_report::live::Live;
use trammel_report::provenance::{provenance, subject};
use trammel_report::run::{Outcome, Request, Status, Subject, so_far};
use trammel_report::run_folder::{RunFolder, RunInfo, file_name};
use trammel_report::store::Store;
use trammel_report::{Answer, Report};
use trammel_scenario::File;
use trammel_scenario::model::{Engine, Scenario};
use trammel_stats::table::{Cell, Table, round_to};

/// A file of the subject transport, and the engines that run it.
#[derive(Debug)]
pub struct Transport {
    /// The file.
    pub file: File,
    /// The engines, in order; at least one.
    pub engines: Vec<Engine>,
}

impl Transport {
    /// `file` by the engines `asked`, or where none are, by its own.
    pub fn new(file: File, asked: &[Engine]) -> Transport {
        let of_file = || {
            let first = file.points.first();
            first.map(|point| point.scenario.engines.clone())
        };
        let mut engines = if asked.is_empty() {
            of_file().unwrap_or_default()
        } else {
            asked.to_vec()
        };
        engines.sort_unstable();
        engines.dedup();
        Transport { file, engines }
    }

    /// How its runs are made for a run folder.
    fn for_a_folder(&self) -> RunOptions {
        RunOptions {
            engines: self.engines.clone(),
            curves: true,
            ..RunOptions::default()
        }
    }

    /// Its runs, as a run folder needs them.
    pub fn list(&self) -> anyhow::Result<Vec<ListedRun>> {
        points::list_runs(&self.file, &self.for_a_folder(), &Unwatched)
    }

    /// Its runs that `store` does not have.
    pub fn missing_in(&self, store: &Store) -> anyhow::Result<Vec<ListedRun>> {
        missing_of(self.list()?, store)
    }

    /// How many runs it has, and those, of the keys `only` where given, that `store` does not have;
    /// where a kernel is missing, of those that are simulated.
    pub fn missing_here(
        &self,
        store: &Store,
        only: Option<&BTreeSet<String>>,
    ) -> anyhow::Result<(usize, Vec<ListedRun>)> {
        let mut runs = list_here(&self.file, &self.for_a_folder(), &Unwatched)?;
        let all = runs.len();
        runs.retain(|run| only.is_none_or(|only| only.contains(&run.key)));
        Ok((all, missing_of(runs, store)?))
    }

    /// Makes the runs of these keys that `store` does not have, and puts them there.
    pub fn put_runs(
        &self,
        keys: &[String],
        store: Store,
        threads: Option<usize>,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<PutRuns> {
        let mut only = BTreeSet::new();
        store.find_each::<RunTables>(keys, |key, found| {
            if found.is_none() {
                only.insert(key.to_owned());
            }
        })?;
        let shelf = Shelf::default().before(Some(store));
        let watch = Terminal {
            progress: Progress::new(),
            plots: None,
            page: None,
            shelf: &shelf,
            interrupted,
        };
        let options = RunOptions {
            threads,
            only: Some(only.clone()),
            ..self.for_a_folder()
        };
        let outcome = run_points(&self.file, &options, &watch)?;
        watch.progress.finish();
        if let Some(key) = only
            .difference(&outcome.keys)
            .next()
            .filter(|_| outcome.lacks.is_none())
        {
            anyhow::bail!(
                "`{}` has no run `{key}` in this build of the program; `trammel points` lists its \
                 runs",
                self.file.name
            );
        }
        if let Some(what) = outcome.lacks {
            let mend = "have the run made where that is not so";
            return Err(Unsupported::error(&what, mend));
        }
        Ok(PutRuns {
            failures: outcome.failures.iter().map(Failure::to_string).collect(),
            faults: shelf.faults(),
            is_interrupted: outcome.is_interrupted,
        })
    }
}

/// What came of runs that were put into a store.
#[derive(Debug)]
pub struct PutRuns {
    /// Why some failed.
    pub failures: Vec<String>,
    /// What was wrong with the store.
    pub faults: Vec<String>,
    /// Whether some were left out after an interrupt.
    pub is_interrupted: bool,
}

/// Shows a bar, plots and a page that fills itself, keeps runs, and passes the interrupt on.
struct Terminal<'a> {
    progress: Progress,
    plots: Option<Plots>,
    page: Option<Page<'a>>,
    shelf: &'a Shelf<RunTables>,
    interrupted: &'a AtomicBool,
}

/// A page that fills itself, and the file that it is of.
struct Page<'a> {
    live: &'a Live,
    file: &'a File,
    info: RunInfo,
}

impl Page<'_> {
    fn refill(&self, outcome: &points::TransportOutcome) {
        let facts = provenance(&self.info, subject(&self.info));
        self.live.refill(&report(self.file, outcome, facts));
    }
}

impl Watch for Terminal<'_> {
    fn begin(&self, runs: usize) {
        self.progress.expect(runs as u64, 0.0);
    }
    fn expect(&self, work: f64) {
        self.progress.expect(0, work);
    }
    fn start(&self) {
        self.progress.start();
    }
    fn ended(&self, work: f64) {
        self.progress.ended(work);
    }
    fn looks(&self) -> bool {
        self.plots.is_some()
    }
    fn look(&self, key: &str, title: &str, look: &Look<'_>) {
        if let Some(plots) = &self.plots {
            plots.look(key, title, look);
        }
    }
    fn is_followed(&self) -> bool {
        self.page.is_some()
    }
    fn wants_outcome(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.live.is_due())
    }
    fn so_far(&self, outcome: &points::TransportOutcome) {
        if let Some(page) = &self.page {
            page.refill(outcome);
        }
    }
    fn done(&self, key: &str, run: &RunTables) {
        if let Some(plots) = &self.plots {
            plots.ended(key);
        }
        self.shelf.put(key, run);
    }
    fn failed_for_good(&self, key: &str, why: &str) {
        self.shelf.put_failure(key, why);
    }
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// Those of `runs` that `store` does not have.
fn missing_of(mut runs: Vec<ListedRun>, store: &Store) -> anyhow::Result<Vec<ListedRun>> {
    let keys: Vec<_> = runs.iter().map(|run| run.key.clone()).collect();
    let mut missing = BTreeSet::new();
    store.find_each::<RunTables>(&keys, |key, found| {
        if found.is_none() {
            missing.insert(key.to_owned());
        }
    })?;
    runs.retain(|run| missing.contains(&run.key));
    Ok(runs)
}

/// The runs of `file`. Where a kernel is missing, only what is simulated has a key.
fn list_here(
    file: &File,
    options: &RunOptions,
    watch: &dyn Watch,
) -> anyhow::Result<Vec<ListedRun>> {
    match points::list_runs(file, options, watch) {
        Err(why) if why.is::<Unsupported>() => {
            let mut here = options.clone();
            here.engines.retain(|engine| *engine != Engine::Measure);
            points::list_runs(file, &here, watch)
        }
        listed => listed,
    }
}

/// Takes what `store` has of the runs of `file`; gives how many it lacks. What is taken where a
/// kernel is missing is what is simulated, and the run says what it lacks.
pub(crate) fn take_from(
    store: &Store,
    file: &File,
    options: &mut RunOptions,
    watch: &dyn Watch,
) -> anyhow::Result<usize> {
    let mut known = BTreeMap::clone(&options.known);
    let mut missing = 0;
    let runs = list_here(file, options, watch)?.into_iter();
    let keys: Vec<_> = runs.map(|run| run.key).collect();
    store.find_each(&keys, |key, found| match found {
        Some(Ended::Run(tables)) => drop(known.insert(key.to_owned(), tables)),
        Some(Ended::Failed(why)) => drop(options.failed.insert(key.to_owned(), why)),
        None => missing += 1,
    })?;
    options.known = Arc::new(known);
    Ok(missing)
}

/// What came of a file.
#[derive(Debug)]
pub struct Carried<'a> {
    file: &'a File,
    outcome: points::TransportOutcome,
    status: Status,
}

impl Subject for Transport {
    type Run = RunTables;
    type Outcome<'a> = Carried<'a>;

    fn name(&self) -> &str {
        &self.file.name
    }

    fn text(&self) -> &str {
        &self.file.text
    }

    fn seeds(&self) -> BTreeSet<u64> {
        self.file.seeds()
    }

    fn carry_out<'a>(
        &'a self,
        request: &Request,
        shelf: &Shelf<RunTables>,
        captures: Option<PathBuf>,
    ) -> anyhow::Result<Carried<'a>> {
        let plots = request.has_plots.then(Plots::default);
        let watch = Terminal {
            progress: plots
                .as_ref()
                .map_or_else(Progress::new, |plots| Progress::under(plots.picture())),
            plots,
            page: request.live.as_ref().map(|live| Page {
                live,
                file: &self.file,
                info: so_far(self),
            }),
            shelf,
            interrupted: &request.interrupted,
        };
        let mut options = RunOptions {
            engines: self.engines.clone(),
            threads: request.threads,
            curves: request.out.is_some() || request.live.is_some(),
            known: Arc::clone(shelf.known()),
            captures,
            ..RunOptions::default()
        };
        // What is captured is in no store.
        let captures_packets = options.captures.is_some() && self.file.captures_packets();
        if let (Some(store), false) = (shelf.store(), captures_packets) {
            take_from(store, &self.file, &mut options, &watch)?;
        }
        let outcome = run_points(&self.file, &options, &watch)?;
        watch.progress.finish();
        for key in &outcome.keys {
            shelf.claim(key);
        }
        let status = Status {
            notes: outcome.notes.clone(),
            failures: outcome.failures.iter().map(Failure::to_string).collect(),
            has_noted_lack: outcome.lacks.is_some(),
            runs: outcome.runs,
            is_interrupted: outcome.is_interrupted,
            ..Status::default()
        };
        Ok(Carried {
            file: &self.file,
            outcome,
            status,
        })
    }
}

impl Outcome for Carried<'_> {
    fn status(&self) -> &Status {
        &self.status
    }

    fn tables(&self) -> Vec<&Table> {
        self.outcome.tables().collect()
    }

    fn write_files(&self, out: &mut RunFolder) -> anyhow::Result<()> {
        for one in &self.outcome.traces {
            let point = &self.file.points[one.at];
            if let Some(name) = one.name(self.file) {
                out.write_trace(&name, &one.trace.entity, &one.trace.to_table())?;
                if let (true, Samples::Flow(samples), true) = (
                    point.scenario.qlog,
                    &one.trace.samples,
                    one.label != Label::Simulated && one.repeat == 0,
                ) {
                    // The kernel tells samples; the simulator's log has its packets too.
                    let (flow, payload) = (&one.trace.entity, payload_bytes(&point.scenario));
                    let mut log = Vec::new();
                    qlog_of::write(&mut log, one.label, flow, payload, samples, &[])?;
                    let flow = file_name(flow);
                    out.write(&format!("qlog/{name}.{flow}.sqlog"), &log)?;
                }
            }
        }
        Ok(())
    }

    fn report(&self, info: &RunInfo) -> Report {
        let mut facts = subject(info);
        facts.extend(self.outcome.facts.clone());
        report(self.file, &self.outcome, provenance(info, facts))
    }

    fn answer(&self) -> Option<Answer> {
        Some(answer(self.file, &self.outcome))
    }

    fn to_text(&self) -> String {
        let table = &self.outcome.comparison;
        if table.is_empty() {
            String::new()
        } else {
            rounded(table).to_string()
        }
    }
}

/// Payload of a full segment with timestamps.
fn payload_bytes(scenario: &Scenario) -> u32 {
    const HEADERS: u32 = 52;
    let mtus = scenario.topology.lines().map(|line| line.mtu);
    mtus.min().unwrap_or(1500).saturating_sub(HEADERS)
}

/// `table` for a person's eyes: with no more digits than anybody reads. The files and `--json` have
/// all.
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
