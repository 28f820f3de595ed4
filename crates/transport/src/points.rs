//! Every point and repeat of a file, by every engine, over the cores: what `run`, papers and tests
//! call.
//!
//! Nothing here touches the file system but to find the kernel that measures. Rows come in the
//! order of points and repeats whatever the number of threads; a run that fails or panics is
//! reported and leaves the others alone; after an interrupt the runs at hand are finished and the
//! rest is left out.

use super::comparison::comparison;
use super::harm;
use super::instrument::{Instrument, instrument, label};
use super::limits;
use super::look::{Eye, Look};
use super::phases;
use super::point_run::PointRun;
use super::predict::{Prediction, predict};
use super::run_tables::RunTables;
use super::simulate::simulate_and_capture;
use super::summary::summary;
use super::trace_of::{EntityTrace, Samples};
use anyhow::Context;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use trammel_core::label::Label;
use trammel_core::raised::Raised;
use trammel_ground::Unsupported;
use trammel_scenario::File;
use trammel_scenario::columns;
use trammel_scenario::columns::{
    APPS, DEVICES, FLOWS, GROUPS, LINKS, PREDICTIONS, STREAMS, WORKLOADS,
};
use trammel_scenario::model::{Engine, Scenario, Tracing};
use trammel_scenario::named;
use trammel_scenario::path::Trace;
use trammel_stats::table::{Cell, Table};

use super::run_options::with_curves;
pub use super::run_options::{RunOptions, run_key};

/// Whoever wants to know how a job goes on.
pub trait Watch: Sync {
    /// `runs` runs begin; those known already are not among them.
    fn begin(&self, _runs: usize) {}
    /// A run is done: its key and its rows.
    fn done(&self, _key: &str, _run: &RunTables) {}
    /// The runs that have begun weigh this much, about the seconds that one core takes.
    fn expect(&self, _work: f64) {}
    /// One of them starts on this thread.
    fn start(&self) {}
    /// One of them, of this weight, is done or has failed.
    fn ended(&self, _work: f64) {}
    /// A stream is sent and received.
    fn sent(&self) {}
    /// A run has failed.
    fn failed(&self, _failure: &Failure) {}
    /// The run of this key has failed, and would fail again wherever it is made.
    fn failed_for_good(&self, _key: &str, _why: &str) {}
    /// Whether somebody looks into runs while they go on.
    fn looks(&self) -> bool {
        false
    }
    /// A simulated run, of this key and called `title`, at an instant.
    fn look(&self, _key: &str, _title: &str, _look: &Look<'_>) {}
    /// Whether somebody wants to know what is done before all is done.
    fn is_followed(&self) -> bool {
        false
    }
    /// Whether that one wants to know it now.
    fn wants_outcome(&self) -> bool {
        false
    }
    /// What is done so far.
    fn so_far(&self, _outcome: &TransportOutcome) {}
    /// Whether to leave out what has not begun.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;
impl Watch for Unwatched {}

/// A run that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The point's name.
    pub point: String,
    /// The seed.
    pub seed: u64,
    /// Why.
    pub why: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { point, seed, why } = self;
        write!(f, "point `{point}`, seed {seed}: {why}")
    }
}

/// Samples over time of one entity in one run.
#[derive(Clone, Debug)]
pub struct PointTrace {
    /// The point's place in the file.
    pub at: usize,
    /// The repeat, from 0.
    pub repeat: u32,
    /// Which engine made it.
    pub label: Label,
    /// The samples.
    pub trace: EntityTrace,
}

impl PointTrace {
    /// What tells it from those of other runs; nothing where it is a short curve that is for the
    /// report alone, or a distribution.
    pub(crate) fn name(&self, file: &File) -> Option<String> {
        let point = &file.points[self.at];
        let is_over_time = !matches!(self.trace.samples, Samples::RoundTrips(_));
        if point.scenario.trace == Tracing::Off || !is_over_time {
            return None;
        }
        let name = match point.scenario.repeat {
            1 => point.id.clone(),
            _ => format!("{}.{}", point.id, self.repeat),
        };
        Some(match self.label {
            Label::Simulated => name,
            label => format!("{name}.{}", label.key()),
        })
    }
}

/// Everything that came of a file.
#[derive(Clone, Debug)]
pub struct TransportOutcome {
    /// One row a flow and run.
    pub flows: Table,
    /// One row a link and run.
    pub links: Table,
    /// One row a port of a device and run.
    pub devices: Table,
    /// One row a workload, range of sizes and run.
    pub workloads: Table,
    /// One row a stream and run.
    pub streams: Table,
    /// One row an application and run.
    pub apps: Table,
    /// One row a run.
    pub groups: Table,
    /// One row a model, flow and point.
    pub predictions: Table,
    /// One row a metric: mean and interval over the repeats.
    pub summary: Table,
    /// One row a metric: all engines.
    pub comparison: Table,
    /// Samples over time, where they were kept.
    pub traces: Vec<PointTrace>,
    /// What a reader must know: models that do not apply, engines left out.
    pub notes: Vec<String>,
    /// Runs that came to nothing.
    pub failures: Vec<Failure>,
    /// What this build lacks to do all that was asked.
    pub lacks: Option<String>,
    /// Whose kernels have measured, and what of them was set.
    pub facts: Vec<(String, String)>,
    /// Runs that were to be made, and those that were.
    pub runs: (usize, usize),
    /// The keys of all runs of the file.
    pub keys: BTreeSet<String>,
    /// Whether runs were left out after an interrupt.
    pub is_interrupted: bool,
    /// Whether runs go on: this is what was done so far.
    pub is_going_on: bool,
}

impl TransportOutcome {
    /// The tables, in the order in which they are written; empty ones are left out.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        let all = [
            &self.flows,
            &self.links,
            &self.devices,
            &self.workloads,
            &self.streams,
            &self.apps,
            &self.groups,
            &self.predictions,
            &self.summary,
            &self.comparison,
        ];
        all.into_iter().filter(|table| !table.is_empty())
    }
}

/// One run of a file.
struct PointJob<'a> {
    /// The point's place in the file; nothing for a flow alone.
    at: Option<usize>,
    /// Which engine makes it.
    label: Label,
    /// The point's name.
    point: &'a str,
    repeat: u32,
    scenario: Cow<'a, Scenario>,
    key: String,
    curves: bool,
}

impl PointJob<'_> {
    fn seed(&self) -> u64 {
        self.scenario.seed_of(self.repeat)
    }

    /// What it is to a person.
    fn title(&self) -> String {
        let of = match self.at {
            Some(_) => self.point.to_owned(),
            None => format!("{}, a flow alone", self.point),
        };
        match self.scenario.repeat {
            1 => of,
            _ => format!("{of}, seed {}", self.seed()),
        }
    }

    fn work(&self) -> f64 {
        work(&self.scenario, self.label)
    }
}

/// The seconds that a run takes, about: what the clock says where it goes by the clock, else by the
/// packets that the narrowest line carries.
pub fn work(scenario: &Scenario, label: Label) -> f64 {
    const PACKET_BITS: f64 = 12_000.0;
    // Of one core; a guest has to boot.
    const SIMULATED_S: f64 = 1e-6;
    const IN_A_GUEST_S: f64 = 5e-6;
    const BOOT_S: f64 = 0.5;
    let seconds = scenario.duration.as_secs_f64();
    let rates = named::lines(scenario).into_iter().map(|(_, line)| {
        let trace = line.trace.as_ref().map(Trace::mean_rate);
        trace.unwrap_or(line.rate).as_bps() as f64
    });
    let packets = seconds * rates.fold(f64::INFINITY, f64::min).min(1e12) / PACKET_BITS;
    match label {
        Label::Measured => seconds,
        Label::LinuxVt => BOOT_S + packets * IN_A_GUEST_S,
        _ => packets * SIMULATED_S,
    }
}

/// What came of a job.
#[derive(Clone)]
enum Made {
    Run(Box<RunTables>),
    Failed {
        why: String,
        lacks: bool,
    },
    LeftOut,
    /// It is not done yet.
    Missing,
}

/// Runs every point of `file`.
pub fn run_points(
    file: &File,
    options: &RunOptions,
    watch: &dyn Watch,
) -> anyhow::Result<TransportOutcome> {
    let mut notes = Vec::new();
    let mut lacks = None;
    let interrupted = || watch.is_interrupted();
    let instrument = instrument(file, options, &mut notes, &mut lacks, &interrupted)?;
    if let Some(what) = lacks.as_ref().filter(|_| options.needs_all) {
        return Err(Unsupported::error(
            what,
            "without it there is nothing to compare with",
        ));
    }
    if options.captures.is_none() && file.captures_packets() {
        notes.push(
            "captures and logs need a folder: give `-o DIR`; `pcap` and `qlog` are left out"
                .to_owned(),
        );
    }
    let mut jobs = jobs_of(file, options, instrument.as_ref());
    if let Some(only) = &options.only {
        jobs.retain(|job| only.contains(&job.key));
    }
    let job = Job {
        file,
        options,
        instrument: instrument.as_ref(),
        runs: &jobs,
        notes: &notes,
        lacks: &lacks,
    };
    let made = in_pool(options.threads, || make(&job, watch))?;
    Ok(job.outcome(made, watch.is_interrupted()))
}

/// All that is to be made of a file.
struct Job<'a> {
    file: &'a File,
    options: &'a RunOptions,
    instrument: Option<&'a Instrument>,
    runs: &'a [PointJob<'a>],
    /// What is known before the first run.
    notes: &'a [String],
    lacks: &'a Option<String>,
}

impl Job<'_> {
    /// What came of it, where this came of its runs.
    fn outcome(&self, made: Vec<Made>, has_interrupt: bool) -> TransportOutcome {
        let Job {
            file,
            options,
            instrument,
            runs: jobs,
            ..
        } = *self;
        let (mut notes, mut lacks) = (self.notes.to_vec(), self.lacks.clone());
        notes.extend(instrument.iter().copied().flat_map(Instrument::warnings));
        let mut runs: Vec<(usize, u32, Label, Box<RunTables>)> = Vec::with_capacity(jobs.len());
        let mut alone: BTreeMap<&str, f64> = BTreeMap::new();
        // One that comes while a first guest boots leaves out all that was to be measured.
        let is_unmeasured =
            options.engines.contains(&Engine::Measure) && instrument.is_none() && lacks.is_none();
        let (mut failures, mut done) = (Vec::new(), 0);
        let mut is_interrupted = is_unmeasured && has_interrupt;
        let mut is_going_on = false;
        for (job, made) in jobs.iter().zip(made) {
            done += usize::from(matches!(made, Made::Run(_)));
            match made {
                Made::Run(run) => match job.at {
                    Some(at) => runs.push((at, job.repeat, job.label, run)),
                    None => {
                        alone.extend(
                            harm::goodput_mbps(&run.flows).map(|mbps| (job.key.as_str(), mbps)),
                        );
                    }
                },
                Made::LeftOut => is_interrupted = true,
                Made::Missing => is_going_on = true,
                Made::Failed { why, lacks: true } => {
                    if !notes.contains(&why) {
                        notes.push(why.clone());
                    }
                    lacks = Some(why);
                }
                Made::Failed { why, lacks: false } => {
                    failures.push(Failure {
                        point: job.point.to_owned(),
                        seed: job.seed(),
                        why,
                    });
                }
            }
        }
        for (at, repeat, label, run) in &mut runs {
            let scenario = &file.points[*at].scenario;
            let key = |scenario: &Scenario, seed| match (*label, instrument) {
                (Label::LinuxVt | Label::Measured, Some(instrument)) => {
                    instrument.key(scenario, seed)
                }
                _ => run_key(scenario, seed),
            };
            add_harm(scenario, *repeat, run, &alone, &key);
        }
        let predictions = if options.engines.contains(&Engine::Predict) {
            predictions(file, &mut notes)
        } else {
            Vec::new()
        };
        let traces = runs.iter().flat_map(|(at, repeat, label, run)| {
            let (at, repeat, label) = (*at, *repeat, *label);
            let all = run.traces.iter().cloned();
            all.map(move |trace| PointTrace {
                at,
                repeat,
                label,
                trace,
            })
        });
        let traces = traces.collect();
        let tables: Vec<_> = runs
            .iter()
            .map(|(at, repeat, label, run)| PointRun {
                at: *at,
                repeat: *repeat,
                label: *label,
                tables: run,
            })
            .collect();
        let predicted = prediction_table(file, &predictions);
        let summary = summary(file, &tables, &predicted);
        let comparison = comparison(file, &summary, &predicted, &options.published);
        let leading = columns::leading_run(&file.points);
        let swept = columns::swept(&file.points);
        let gather = |name: &str, columns, pick: fn(&RunTables) -> &Table| {
            let rows = tables.iter().map(|run| {
                let point = &file.points[run.at];
                let mut cells = vec![Cell::from(run.label.engine()), point.id.as_str().into()];
                cells.extend(columns::cells_of(&point.swept, &swept));
                cells.push(Cell::from(run.repeat));
                cells.push(Cell::from(point.scenario.seed_of(run.repeat)));
                (cells, pick(run.tables))
            });
            columns::gather(name, &leading, columns, rows)
        };
        let flows = gather("flows", FLOWS, |run| &run.flows);
        notes.extend(limits::notes(file, &flows));
        notes.extend(phases::notes(file, &flows));
        TransportOutcome {
            flows,
            links: gather("links", LINKS, |run| &run.links),
            devices: gather("devices", DEVICES, |run| &run.devices),
            workloads: gather("workloads", WORKLOADS, |run| &run.workloads),
            streams: gather("streams", STREAMS, |run| &run.streams),
            apps: gather("apps", APPS, |run| &run.apps),
            groups: gather("groups", GROUPS, |run| &run.groups),
            predictions: columns::without_empty_columns(&predicted),
            summary,
            comparison,
            traces,
            notes,
            failures,
            lacks,
            facts: instrument.map_or_else(Vec::new, |instrument| instrument.facts(file)),
            runs: (jobs.len(), done),
            keys: jobs.iter().map(|job| job.key.clone()).collect(),
            is_interrupted,
            is_going_on,
        }
    }
}

/// How a run is named that decides its numbers by a scenario and a seed.
type KeyOf<'a> = &'a dyn Fn(&Scenario, u64) -> String;

/// The runs of a file by all engines, those of one engine after those of another.
fn jobs_of<'a>(
    file: &'a File,
    options: &RunOptions,
    instrument: Option<&Instrument>,
) -> Vec<PointJob<'a>> {
    let mut all = Vec::new();
    if options.engines.contains(&Engine::Simulate) {
        all.extend(jobs(file, options.curves, &|_| Label::Simulated, &run_key));
    }
    if let Some(instrument) = instrument {
        let key = |scenario: &Scenario, seed| instrument.key(scenario, seed);
        all.extend(jobs(file, options.curves, &label, &key));
    }
    all
}

/// A run of a file, as others may make it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRun {
    /// The name by which it is known: a hash of all that decides its result.
    pub key: String,
    /// Which engine makes it.
    pub label: Label,
    /// The point's name; for a flow alone that of the point to whose harm it belongs.
    pub point: String,
    /// The repeat, from 0.
    pub repeat: u32,
    /// The seed.
    pub seed: u64,
    /// The seconds that it takes on one core, roughly.
    pub expected_s: f64,
}

/// The runs of `file` by the engines of `options`, each key once.
pub(crate) fn list_runs(
    file: &File,
    options: &RunOptions,
    watch: &dyn Watch,
) -> anyhow::Result<Vec<ListedRun>> {
    let (mut notes, mut lacks) = (Vec::new(), None);
    let interrupted = || watch.is_interrupted();
    let instrument = instrument(file, options, &mut notes, &mut lacks, &interrupted)?;
    if let Some(what) = lacks {
        return Err(Unsupported::error(
            &what,
            "or leave it out by `--engine predict,simulate`",
        ));
    }
    let mut seen = BTreeSet::new();
    let jobs = jobs_of(file, options, instrument.as_ref()).into_iter();
    let jobs = jobs.filter(|job| seen.insert(job.key.clone()));
    Ok(jobs
        .map(|job| ListedRun {
            label: job.label,
            point: job.point.to_owned(),
            repeat: job.repeat,
            seed: job.seed(),
            expected_s: job.work(),
            key: job.key,
        })
        .collect())
}

/// A run that the simulator makes of a file.
#[derive(Clone, Debug)]
pub struct SimulatedRun<'a> {
    /// The name by which [`RunOptions::known`] takes its tables.
    pub key: String,
    /// What it runs.
    pub scenario: Cow<'a, Scenario>,
    /// With which seed.
    pub seed: u64,
    /// Whether short curves are kept of it for a report.
    pub curves: bool,
}

/// The runs that the simulator makes of `file` for a report, each key once, in their order.
pub fn simulated_runs(file: &File) -> Vec<SimulatedRun<'_>> {
    let mut seen = BTreeSet::new();
    let jobs = jobs(file, true, &|_| Label::Simulated, &run_key).into_iter();
    let jobs = jobs.filter(|job| seen.insert(job.key.clone()));
    jobs.map(|job| SimulatedRun {
        seed: job.seed(),
        key: job.key,
        scenario: job.scenario,
        curves: job.curves,
    })
    .collect()
}

/// The runs of a file by one engine, in the order of points and repeats.
fn jobs<'a>(
    file: &'a File,
    curves: bool,
    label: &dyn Fn(&Scenario) -> Label,
    run_key: KeyOf<'_>,
) -> Vec<PointJob<'a>> {
    let (shown, repeats) = if curves {
        let points = super::answer::shown_points(file);
        (points, super::answer::shown_repeats(file))
    } else {
        (Vec::new(), 0)
    };
    let mut jobs = Vec::new();
    let mut alone = BTreeSet::new();
    for (at, point) in file.points.iter().enumerate() {
        let scenario = &point.scenario;
        let label = label(scenario);
        for repeat in 0..scenario.repeat {
            let seed = scenario.seed_of(repeat);
            let curves = shown.contains(&at) && repeat < repeats;
            let key = run_key(scenario, seed);
            jobs.push(PointJob {
                at: Some(at),
                label,
                point: &point.id,
                repeat,
                scenario: Cow::Borrowed(scenario),
                key: if curves { with_curves(&key) } else { key },
                curves,
            });
            if !scenario.solo {
                continue;
            }
            for index in 0..scenario.flows.len() {
                let scenario = harm::alone(scenario, index);
                let key = run_key(&scenario, seed);
                if alone.insert(key.clone()) {
                    let (at, point, curves) = (None, point.id.as_str(), false);
                    let scenario = Cow::Owned(scenario);
                    jobs.push(PointJob {
                        at,
                        label,
                        point,
                        repeat,
                        scenario,
                        key,
                        curves,
                    });
                }
            }
        }
    }
    jobs
}

/// Fills in what each flow of a run lost to the others, where it also ran alone.
fn add_harm(
    scenario: &Scenario,
    repeat: u32,
    run: &mut RunTables,
    alone: &BTreeMap<&str, f64>,
    run_key: KeyOf<'_>,
) {
    if !scenario.solo {
        return;
    }
    let seed = scenario.seed_of(repeat);
    let goodput = |index| {
        let key = run_key(&harm::alone(scenario, index), seed);
        alone.get(key.as_str()).copied()
    };
    let goodputs: Vec<_> = (0..scenario.flows.len()).map(goodput).collect();
    run.flows = harm::with_harm(&run.flows, &goodputs);
}

/// Does `work` in a pool of `threads` threads; where there are none, as in WebAssembly, on the
/// caller's own.
fn in_pool<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    if cfg!(target_family = "wasm") {
        return Ok(work());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build();
    Ok(pool.context("no threads can be started")?.install(work))
}

fn make(of: &Job<'_>, watch: &dyn Watch) -> Vec<Made> {
    let Job {
        runs: jobs,
        options,
        instrument,
        ..
    } = *of;
    let is_known = |job: &PointJob<'_>| {
        options.known.contains_key(&job.key) || options.failed.contains_key(&job.key)
    };
    let to_make = || jobs.iter().filter(|job| !is_known(job));
    watch.begin(to_make().count());
    watch.expect(to_make().map(PointJob::work).sum());
    let so_far = SoFar::of(of);
    let make = |job: &PointJob<'_>| {
        if let Some(run) = options.known.get(&job.key) {
            return Made::Run(Box::new(run.clone()));
        }
        if let Some(why) = options.failed.get(&job.key) {
            let why = why.clone();
            return Made::Failed { why, lacks: false };
        }
        if watch.is_interrupted() {
            return Made::LeftOut;
        }
        watch.start();
        // A run shares nothing that a panic could leave half changed.
        let run = catch_unwind(AssertUnwindSafe(|| {
            let captures = options.captures.as_deref();
            // Of a point's first run; those of its flows alone have the same name.
            let captures = captures.filter(|_| job.repeat == 0 && job.at.is_some());
            let captures = captures.map(|folder| (folder, job.point));
            let stop = || watch.is_interrupted();
            match instrument {
                Some(instrument) if job.label != Label::Simulated => {
                    let (scenario, seed) = (&job.scenario, job.seed());
                    // Beside those of the simulator, as its traces are called.
                    let name = format!("{}.{}", job.point, job.label.key());
                    let captures = captures.map(|(folder, _)| (folder, name.as_str()));
                    instrument.measure(scenario, seed, job.curves, captures, &stop)
                }
                _ => {
                    let (scenario, seed) = (&job.scenario, job.seed());
                    let title = job.title();
                    let eye = |look: &Look<'_>| watch.look(&job.key, &title, look);
                    let eye = watch.looks().then_some(&eye as Eye<'_>);
                    simulate_and_capture(scenario, seed, job.curves, captures, &stop, eye)
                }
            }
        }));
        let (why, lacks) = match run {
            Ok(Ok(run)) => {
                watch.done(&job.key, &run);
                watch.ended(job.work());
                return Made::Run(Box::new(run));
            }
            // A guest that was told to stop is none that failed.
            Ok(Err(_)) if watch.is_interrupted() => return Made::LeftOut,
            Ok(Err(error)) => (
                format!("{error:#}"),
                error.downcast_ref::<Unsupported>().is_some(),
            ),
            Err(panic) => (words_of(panic.as_ref()), false),
        };
        if !lacks {
            if job.label == Label::Simulated {
                watch.failed_for_good(&job.key, &why);
            }
            let point = job.point.to_owned();
            watch.failed(&Failure {
                point,
                seed: job.seed(),
                why: why.clone(),
            });
        }
        watch.ended(job.work());
        Made::Failed { why, lacks }
    };
    // What goes by the clock on the wall has the machine for itself, when all else is done.
    let is_alone = |job: &PointJob<'_>| job.label == Label::Measured;
    let make = |at: usize, job: &PointJob<'_>| {
        let made = make(job);
        so_far.add(at, &made, watch);
        made
    };
    let made: Vec<Option<Made>> = jobs
        .par_iter()
        .enumerate()
        .with_max_len(1)
        .map(|(at, job)| (!is_alone(job)).then(|| make(at, job)))
        .collect();
    let made = jobs.iter().zip(made).enumerate();
    made.map(|(at, (job, made))| made.unwrap_or_else(|| make(at, job)))
        .collect()
}

/// What is done so far, for whoever wants to know it before the end.
struct SoFar<'a> {
    of: &'a Job<'a>,
    made: Mutex<BTreeMap<usize, Made>>,
}

impl<'a> SoFar<'a> {
    fn of(of: &'a Job<'a>) -> SoFar<'a> {
        SoFar {
            of,
            made: Mutex::default(),
        }
    }

    /// Run number `at` is done: it is kept for the next who asks, and told to who asks now.
    fn add(&self, at: usize, made: &Made, watch: &dyn Watch) {
        if !watch.is_followed() {
            return;
        }
        let locked = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        locked().insert(at, made.clone());
        if watch.wants_outcome() {
            let known = locked().clone();
            let all = (0..self.of.runs.len()).map(|at| known.get(&at).cloned());
            let all = all.map(|made| made.unwrap_or(Made::Missing));
            watch.so_far(&self.of.outcome(all.collect(), watch.is_interrupted()));
        }
    }
}

/// What a panic said, or a plug-in that could not go on.
fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(Raised(text)) = Raised::of(panic) {
        return text.clone();
    }
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "a panic without words".to_owned());
    format!("a fault of Trammel: {text}")
}

/// What the models say of every point; reasons why one does not apply are noted once.
fn predictions(file: &File, notes: &mut Vec<String>) -> Vec<(usize, Prediction)> {
    let mut all = Vec::new();
    for (at, point) in file.points.iter().enumerate() {
        let (predictions, refusals) = predict(&point.scenario);
        all.extend(predictions.into_iter().map(|prediction| (at, prediction)));
        for refusal in refusals {
            let note = if file.points.len() == 1 {
                refusal
            } else {
                format!("{refusal} (at `{}`)", point.id)
            };
            notes.push(note);
        }
    }
    all
}

fn prediction_table(file: &File, predictions: &[(usize, Prediction)]) -> Table {
    let tables: Vec<_> = predictions
        .iter()
        .map(|(at, prediction)| (*at, prediction.to_table()))
        .collect();
    let swept = columns::swept(&file.points);
    let rows = tables.iter().map(|(at, table)| {
        let point = &file.points[*at];
        let mut cells = vec![Cell::from("predict"), Cell::from(point.id.as_str())];
        cells.extend(columns::cells_of(&point.swept, &swept));
        (cells, table)
    });
    columns::gather_all(
        "predictions",
        &columns::leading(&file.points),
        PREDICTIONS,
        rows,
    )
}

/// Runs a scenario that was built from Rust.
pub trait RunScenario {
    /// Runs all its repeats by its engines. Everything wrong with it is in the error.
    fn run(self) -> anyhow::Result<TransportOutcome>;
}

impl RunScenario for Scenario {
    fn run(self) -> anyhow::Result<TransportOutcome> {
        let options = RunOptions {
            engines: self.engines.clone(),
            ..RunOptions::default()
        };
        run_points(&File::of(self)?, &options, &Unwatched)
    }
}
