//! A routing scenario carried out: routers with their control software on a topology, predicted,
//! simulated and measured, side by side.
//!
//! ```text
//! points ─┬─ predict   bounds of convergence after the start and each change
//!         ├─ simulate  PW-OSPF in virtual time ─┬─ tables   probes follow the routes
//!         │                                     └─ devices  software, cards and frames
//!         └─ measure   software and cards on this machine, by the clock
//! ```
//! The first two are the same on every run, on any number of threads. Only `measure` needs an
//! operating system, and Linux.
#![forbid(unsafe_code)]

mod answer;
mod devices;
mod layout;
#[cfg_attr(not(target_os = "linux"), path = "live_elsewhere.rs")]
mod live;
mod notes;
mod outcome;
mod predict;
mod report;
mod run;
mod simulate;
mod tables;
mod text;

pub use predict::{Predicted, predict};
pub use simulate::simulate;

use live::{Measured, Unmeasured};
use outcome::{Outcome, Ran};
use rayon::prelude::*;
use run::Run;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use trammel_ground::progress::Progress;
use trammel_report::Report;
use trammel_report::kept::Shelf;
use trammel_report::live::filling::Filling;
use trammel_report::run::{self as pipeline, Request, Status, Subject};
use trammel_report::run_folder::RunInfo;
use trammel_scenario::model::Engine;
use trammel_scenario::routing::{Point, RoutingFile};
use trammel_stats::table::Table;

/// A routing file, and the engines that run it.
#[derive(Debug)]
pub struct Routing {
    /// The file.
    pub file: RoutingFile,
    /// The engines of the command line; empty for the file's.
    pub engines: Vec<Engine>,
}

impl Subject for Routing {
    type Run = Run;
    type Outcome<'a> = Outcome<'a>;

    fn name(&self) -> &str {
        &self.file.name
    }

    fn text(&self) -> &str {
        &self.file.text
    }

    fn seeds(&self) -> BTreeSet<u64> {
        let points = self.file.points.iter();
        points.map(|point| point.scenario.seed).collect()
    }

    fn carry_out<'a>(
        &'a self,
        request: &Request,
        shelf: &Shelf<Run>,
        _: Option<PathBuf>,
    ) -> anyhow::Result<Outcome<'a>> {
        carry_out(self, request, shelf)
    }
}

impl pipeline::Outcome for Outcome<'_> {
    fn status(&self) -> &Status {
        &self.status
    }

    fn tables(&self) -> Vec<&Table> {
        self.tables.iter().collect()
    }

    fn report(&self, info: &RunInfo) -> Report {
        report::report(self, info)
    }

    fn answer(&self) -> Option<trammel_report::Answer> {
        Some(self.status.preliminary(answer::answer(self)))
    }

    fn to_text(&self) -> String {
        text::all(self)
    }
}

fn carry_out<'a>(
    job: &'a Routing,
    request: &Request,
    shelf: &Shelf<Run>,
) -> anyhow::Result<Outcome<'a>> {
    let file = &job.file;
    let engines = match (job.engines.as_slice(), &file.first().engines) {
        ([], Some(of_file)) => of_file.clone(),
        ([], None) => vec![Engine::Predict, Engine::Simulate],
        (asked, _) => asked.to_vec(),
    };
    let mut status = Status::default();
    let is_predicted = engines.contains(&Engine::Predict);
    let is_simulated = engines.contains(&Engine::Simulate);
    let is_measured = engines.contains(&Engine::Measure);
    let progress = Progress::new();
    let work = |point: &Point| point.scenario.duration.as_secs_f64();
    let all: f64 = file.points.iter().map(work).sum();
    if is_simulated {
        progress.expect(file.points.len() as u64, all);
    }
    if is_measured {
        progress.expect(file.points.len() as u64, all);
    }
    let stop = || request.interrupted.load(Ordering::SeqCst);
    let info = pipeline::so_far(job);
    let asked = file.points.len() * (usize::from(is_simulated) + usize::from(is_measured));
    let nothing = || Outcome {
        file,
        ran: file.points.iter().map(|_| Ran::default()).collect(),
        status: Status {
            is_going_on: true,
            ..Status::default()
        },
        tables: Vec::new(),
    };
    let filling = Filling::new(
        request.live.as_ref(),
        nothing,
        move |so_far: &mut Outcome<'_>| {
            so_far.status.runs = (asked, made(&so_far.ran));
            so_far.tables = tables::all(so_far);
            report::report(so_far, &info)
        },
    );
    let run_one = |point: &Point| -> (Ran, Option<String>) {
        let scenario = &point.scenario;
        let mut ran = Ran {
            predicted: is_predicted.then(|| predict(scenario)),
            ..Ran::default()
        };
        if !is_simulated || stop() {
            return (ran, None);
        }
        let key = scenario.key();
        if let Some(run) = shelf.find(&key) {
            progress.skipped(work(point));
            ran.simulated = Some(run);
            return (ran, None);
        }
        progress.start();
        let made = simulate(scenario, &stop);
        progress.ended(work(point));
        match made {
            Ok(Some(report)) => {
                let run = Run::new(scenario, &report);
                shelf.put(&key, &run);
                ran.simulated = Some(run);
                (ran, None)
            }
            Ok(None) => (ran, None),
            Err(why) => (ran, Some(format!("point `{}`: {why:#}", point.id))),
        }
    };
    let one = |at: usize| -> (Ran, Option<String>) {
        let made = run_one(&file.points[at]);
        filling.add(|so_far| so_far.ran[at] = made.0.clone());
        made
    };
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = request.threads {
        pool = pool.num_threads(threads);
    }
    let found: Vec<_> = pool.build()?.install(|| {
        (0..file.points.len())
            .into_par_iter()
            .with_max_len(1)
            .map(one)
            .collect()
    });
    let (mut ran, failures): (Vec<Ran>, Vec<Option<String>>) = found.into_iter().unzip();
    status.failures.extend(failures.into_iter().flatten());
    if is_measured {
        let run = Measuring {
            file,
            shelf,
            progress: &progress,
            filling: &filling,
            stop: &stop,
        };
        run.all(&mut ran, &mut status);
    }
    progress.finish();
    status.is_interrupted = stop();
    status.runs = (asked, made(&ran));
    for point in &file.points {
        for note in notes::of(&point.scenario, is_simulated) {
            status.note(note);
        }
    }
    let mut outcome = Outcome {
        file,
        ran,
        status,
        tables: Vec::new(),
    };
    outcome.tables = tables::all(&outcome);
    let compared = outcome.tables.iter();
    let compared = compared.filter(|table| table.name() == "comparison");
    outcome.status.warnings = compared.flat_map(report::broken).collect();
    Ok(outcome)
}

/// Runs that were made.
fn made(ran: &[Ran]) -> usize {
    ran.iter().map(|one| one.runs().count()).sum()
}

/// What the measurement of all points needs.
struct Measuring<'a, 'b> {
    file: &'a RoutingFile,
    shelf: &'a Shelf<Run>,
    progress: &'a Progress,
    filling: &'a Filling<'b, Outcome<'b>>,
    stop: &'a dyn Fn() -> bool,
}

impl Measuring<'_, '_> {
    /// Measures each point that is not on the shelf, one after the other: each has the whole
    /// machine.
    fn all(&self, ran: &mut [Ran], status: &mut Status) {
        for (at, ran) in ran.iter_mut().enumerate() {
            if (self.stop)() {
                return;
            }
            self.one(at, ran, status);
            let measured = &ran.measured;
            self.filling
                .add(|so_far| so_far.ran[at].measured.clone_from(measured));
        }
    }

    fn one(&self, at: usize, ran: &mut Ran, status: &mut Status) {
        let point = &self.file.points[at];
        let (shelf, progress, stop) = (self.shelf, self.progress, self.stop);
        let scenario = &point.scenario;
        let (key, seconds) = (
            format!("{}-measured", scenario.key()),
            scenario.duration.as_secs_f64(),
        );
        if let Some(run) = shelf.find(&key) {
            progress.skipped(seconds);
            ran.measured = Some(run);
            return;
        }
        progress.begin(seconds);
        let made = live::measure(scenario, stop);
        progress.ended(seconds);
        match made {
            Ok(Some(Measured { report, remarks })) => {
                let run = Run::new(scenario, &report);
                shelf.put(&key, &run);
                for remark in remarks {
                    status.note(remark);
                }
                ran.measured = Some(run);
            }
            Ok(None) => {}
            Err(Unmeasured::Lack(why)) => status.lack(why),
            Err(Unmeasured::Failed(why)) => {
                status.failures.push(format!("point `{}`: {why}", point.id));
            }
        }
    }
}

/// Prepares this process for `measure` where `file` or `engines` ask for it: without root, it makes
/// a user namespace. To be called while the process has one thread.
pub fn prepare(file: &RoutingFile, engines: &[Engine]) {
    let of_file = file.first().engines.as_deref().unwrap_or_default();
    let asked = if engines.is_empty() { of_file } else { engines };
    if asked.contains(&Engine::Measure) {
        live::prepare();
    }
}
