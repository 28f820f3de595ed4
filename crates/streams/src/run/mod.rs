//! A traffic scenario carried out: predicted, simulated and measured, side by side.
//!
//! ```text
//! points ─┬─ predict   moments of each stream, the theory of queues for the path
//!         ├─ simulate  the streams through a path in virtual time ──┐
//!         └─ measure   real packets through a path in user space ───┴─ one decoder
//! ```
//! Prediction and simulation are the same on every run, on any number of threads; what is measured
//! is not. A point is predicted once and run once for each seed; what a sweep has kept of an
//! earlier one is not made again.

pub mod account;
mod alike;
mod answer;
#[cfg(target_os = "linux")]
mod bed;
mod charts;
pub mod compared;
#[cfg(target_os = "linux")]
pub mod measure;
pub mod offered;
mod outcome;
mod path_counts;
pub mod queueing;
mod report;
pub mod runs;
pub mod simulate;
pub mod summary;
pub mod tables;
mod text;
mod wire;

pub use outcome::{Predicted, Ran, StreamsOutcome};
pub use path_counts::PathCounts;

use account::Account;
use rayon::prelude::*;
use runs::Run;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
#[cfg(target_os = "linux")]
use trammel_ground::Unsupported;
#[cfg(target_os = "linux")]
use trammel_ground::machine as this_machine;
use trammel_ground::progress::Progress;
use trammel_report::Report;
use trammel_report::kept::Shelf;
use trammel_report::live::filling::Filling;
use trammel_report::run::{self, Request, Status, Subject};
use trammel_report::run_folder::RunInfo;
use trammel_scenario::model::Engine;
use trammel_scenario::traffic::{Point, Traffic, TrafficFile};
use trammel_stats::table::Table;

/// A traffic file, and the engines that run it.
#[derive(Debug)]
pub struct Streams {
    /// The file.
    pub file: TrafficFile,
    /// The engines of the command line; empty for the file's.
    pub engines: Vec<Engine>,
}

/// What came of the simulation.
#[derive(Debug)]
pub struct Simulation {
    /// Of each stream.
    pub account: Account,
    /// Of the path.
    pub path: PathCounts,
}

impl Subject for Streams {
    type Run = Run;
    type Outcome<'a> = StreamsOutcome<'a>;

    fn name(&self) -> &str {
        &self.file.name
    }

    fn text(&self) -> &str {
        &self.file.text
    }

    fn seeds(&self) -> BTreeSet<u64> {
        self.file.points.iter().flat_map(Point::seeds).collect()
    }

    fn carry_out<'a>(
        &'a self,
        request: &Request,
        shelf: &Shelf<Run>,
        _: Option<PathBuf>,
    ) -> anyhow::Result<StreamsOutcome<'a>> {
        carry_out_with(self, request, shelf)
    }
}

impl run::Outcome for StreamsOutcome<'_> {
    fn status(&self) -> &Status {
        &self.status
    }

    fn tables(&self) -> Vec<&Table> {
        self.tables.iter().collect()
    }

    fn report(&self, info: &RunInfo) -> Report {
        report::report(self, info)
    }

    fn to_text(&self) -> String {
        text::all(self)
    }
}

/// Every engine at every point; nothing of it is kept.
pub fn carry_out<'a>(job: &'a Streams, request: &Request) -> anyhow::Result<StreamsOutcome<'a>> {
    carry_out_with(job, request, &Shelf::default())
}

fn carry_out_with<'a>(
    job: &'a Streams,
    request: &Request,
    shelf: &Shelf<Run>,
) -> anyhow::Result<StreamsOutcome<'a>> {
    let file = &job.file;
    let engines = match (job.engines.as_slice(), &file.first().engines) {
        ([], Some(of_file)) => of_file.clone(),
        ([], None) => vec![Engine::Predict, Engine::Simulate],
        (asked, _) => asked.to_vec(),
    };
    let mut outcome = StreamsOutcome {
        file,
        ran: Vec::new(),
        status: Status::default(),
        tables: Vec::new(),
    };
    predict_all(&engines, &mut outcome);
    let info = run::so_far(job);
    let begin = || {
        let mut so_far = outcome.clone();
        so_far.status.is_going_on = true;
        so_far
    };
    let filling = Filling::new(
        request.live.as_ref(),
        begin,
        |so_far: &mut StreamsOutcome<'_>| {
            so_far.status.runs = runs_of(so_far, &engines);
            so_far.tables = tables::all(so_far);
            report::report(so_far, &info)
        },
    );
    if engines.contains(&Engine::Simulate) {
        simulate_all(job, request, shelf, &filling, &mut outcome)?;
    }
    if engines.contains(&Engine::Measure) {
        measure_all(job, request, shelf, &filling, &mut outcome);
    }
    outcome.status.is_interrupted = request.interrupted.load(Ordering::SeqCst);
    outcome.status.runs = runs_of(&outcome, &engines);
    outcome.tables = tables::all(&outcome);
    Ok(outcome)
}

/// Runs that `engines` have to make, and those that are made.
fn runs_of(outcome: &StreamsOutcome<'_>, engines: &[Engine]) -> (usize, usize) {
    let points = outcome.file.points.iter();
    let each: usize = points.map(|point| point.seeds().count()).sum();
    let asked = [Engine::Simulate, Engine::Measure];
    let asked = asked.iter().filter(|one| engines.contains(one)).count();
    let ran = outcome.ran.iter();
    let made = ran.map(|one| one.simulated.len() + one.measured.len());
    (each * asked, made.sum())
}

/// What theory says of `traffic`.
pub fn predict(traffic: &Traffic) -> Predicted {
    let queueing = queueing::path(traffic);
    let streams = traffic.streams.iter();
    Predicted {
        moments: streams.clone().map(offered::moments).collect(),
        passages: streams
            .map(|stream| queueing::passage(stream, traffic, &queueing))
            .collect(),
        queueing,
    }
}

/// What comes of `traffic` in virtual time; an error where `stop` says so before the end.
pub fn simulate(traffic: &Traffic, stop: &dyn Fn() -> bool) -> anyhow::Result<Simulation> {
    let run = simulate::simulate(traffic, stop)?;
    let link = &run.link;
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let bits = |bytes: u64| bytes as f64 * 8.0 / run.capacity_bits;
    let second = 8.0 / traffic.path.line.rate.as_bps() as f64;
    let own_ns = link.sent_bytes as f64 * second * 1e9;
    let wait_ns = (link.wait_ns as f64 - own_ns).max(0.0);
    let path = PathCounts {
        load: bits(link.arrived_bytes),
        utilisation: (run.carried_bits / run.capacity_bits).min(1.0),
        wait_mean_us: (link.sent_pkts > 0).then(|| wait_ns / link.sent_pkts as f64 / 1e3),
        dropped: share(link.overflow_pkts + link.early_pkts, link.arrived_pkts),
        lost: share(link.lost_pkts, link.sent_pkts),
        peak_pkts: link.peak_pkts,
    };
    let numbers = (0..traffic.streams.len() as u32).map(|number| {
        let is_there = run.report.flows.iter().any(|flow| flow.number == number);
        is_there.then_some(number)
    });
    let numbers: Vec<Option<u32>> = if run.report.flows.len() == traffic.streams.len() {
        (0..traffic.streams.len() as u32).map(Some).collect()
    } else {
        numbers.collect()
    };
    Ok(Simulation {
        account: Account::new(run.report, &numbers, &run.sent, run.notes),
        path,
    })
}

/// Predicts every point, of which a prediction has no repeats.
fn predict_all(engines: &[Engine], outcome: &mut StreamsOutcome<'_>) {
    let points = outcome.file.points.par_iter();
    let is_asked = engines.contains(&Engine::Predict);
    let all = points.map(|point| Ran {
        predicted: is_asked.then(|| predict(&point.scenario)),
        ..Ran::default()
    });
    outcome.ran = all.collect();
}

/// What came of a run that was to be made.
enum Made {
    Run(Box<Run>),
    Failed(String),
    LeftOut,
}

/// Simulates every run that is not known.
fn simulate_all(
    job: &Streams,
    request: &Request,
    shelf: &Shelf<Run>,
    filling: &Filling<'_, StreamsOutcome<'_>>,
    outcome: &mut StreamsOutcome<'_>,
) -> anyhow::Result<()> {
    let file = &job.file;
    let runs: Vec<(usize, u32, u64)> = file
        .points
        .iter()
        .enumerate()
        .flat_map(|(at, point)| (0..).zip(point.seeds()).map(move |(n, seed)| (at, n, seed)))
        .collect();
    let progress = Progress::new();
    // What a run costs goes with the time that it simulates.
    let work = |at: usize| file.points[at].scenario.duration.as_secs_f64();
    let all = runs.iter().map(|(at, ..)| work(*at)).sum();
    progress.expect(runs.len() as u64, all);
    let one = |(at, repeat, seed): &(usize, u32, u64)| -> Made {
        let is_known = std::cell::Cell::new(false);
        if request.interrupted.load(Ordering::SeqCst) {
            return Made::LeftOut;
        }
        progress.start();
        let made = file.with_seed(&file.points[*at], *seed, |traffic| {
            let key = traffic.key();
            if let Some(run) = shelf.find(&key) {
                is_known.set(true);
                return Ok(run);
            }
            let stop = || request.interrupted.load(Ordering::SeqCst);
            let of = simulate(traffic, &stop)?;
            let run = Run::new(traffic, &of.account, Some(of.path));
            shelf.put(&key, &run);
            anyhow::Ok(run)
        });
        if is_known.get() {
            progress.skipped(work(*at));
        } else {
            progress.ended(work(*at));
        }
        match made.map_err(anyhow::Error::from).and_then(|made| made) {
            Ok(run) => {
                filling.add(|so_far| {
                    let runs = &mut so_far.ran[*at].simulated;
                    runs.push((*repeat, run.clone()));
                    runs.sort_by_key(|(repeat, _)| *repeat);
                });
                Made::Run(Box::new(run))
            }
            // A run that was told to stop is none that failed.
            Err(_) if request.interrupted.load(Ordering::SeqCst) => Made::LeftOut,
            Err(why) => Made::Failed(format!("{why:#}")),
        }
    };
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = request.threads {
        pool = pool.num_threads(threads);
    }
    let made: Vec<Made> = pool
        .build()?
        .install(|| runs.par_iter().with_max_len(1).map(one).collect());
    progress.finish();
    for ((at, repeat, seed), made) in runs.into_iter().zip(made) {
        match made {
            Made::Run(run) => {
                run.notes()
                    .for_each(|note| outcome.status.note(note.to_owned()));
                outcome.ran[at].simulated.push((repeat, *run));
            }
            Made::Failed(why) => {
                let text = format!("point `{}`, seed {seed}: {why}", file.points[at].id);
                outcome.status.failures.push(text);
            }
            Made::LeftOut => {}
        }
    }
    Ok(())
}

/// Measures, run by run: nothing else of ours runs beside it.
#[cfg(target_os = "linux")]
fn measure_all(
    job: &Streams,
    request: &Request,
    shelf: &Shelf<Run>,
    filling: &Filling<'_, StreamsOutcome<'_>>,
    outcome: &mut StreamsOutcome<'_>,
) {
    let file = &job.file;
    let machine = this_machine::facts();
    let progress = Progress::new();
    // Streams end, and receivers wait for what is still on its way.
    let seconds = |point: &Point| point.scenario.duration.as_secs_f64() + 1.0;
    for point in &file.points {
        let runs = point.seeds().count();
        progress.expect(runs as u64, runs as f64 * seconds(point));
    }
    for (at, point) in file.points.iter().enumerate() {
        for (repeat, seed) in (0..).zip(point.seeds()) {
            if request.interrupted.load(Ordering::SeqCst) {
                progress.finish();
                return;
            }
            progress.begin(seconds(point));
            let made = file.with_seed(point, seed, |traffic| {
                // What another machine has measured is not what this one would.
                let key = trammel_scenario::hash::digest(&(traffic.key(), &machine));
                if let Some(run) = shelf.find(&key) {
                    return Ok(run);
                }
                let account = measure::measure(traffic, &request.interrupted)?;
                let run = Run::new(traffic, &account, None);
                // One that was cut short is told, and made anew by the next sweep.
                if !request.interrupted.load(Ordering::SeqCst) {
                    shelf.put(&key, &run);
                }
                anyhow::Ok(run)
            });
            progress.ended(seconds(point));
            match made.map_err(anyhow::Error::from).and_then(|made| made) {
                Ok(run) => {
                    run.notes()
                        .for_each(|note| outcome.status.note(note.to_owned()));
                    filling.add(|so_far| so_far.ran[at].measured.push((repeat, run.clone())));
                    outcome.ran[at].measured.push((repeat, run));
                }
                Err(why) if why.downcast_ref::<Unsupported>().is_some() => {
                    // It is lacking at every point.
                    outcome
                        .status
                        .lacks
                        .push(format!("nothing is measured: {why:#}"));
                    progress.finish();
                    return;
                }
                Err(why) => {
                    let text = format!(
                        "point `{}`, seed {seed}, is not measured: {why:#}",
                        point.id
                    );
                    outcome.status.failures.push(text);
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn measure_all(
    _: &Streams,
    _: &Request,
    _: &Shelf<Run>,
    _: &Filling<'_, StreamsOutcome<'_>>,
    outcome: &mut StreamsOutcome<'_>,
) {
    let text = "nothing is measured: namespaces need Linux; `--engine predict,simulate` runs here";
    outcome.status.lacks.push(text.to_owned());
}
