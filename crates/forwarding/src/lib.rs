//! A forwarding scenario carried out: predicted, simulated and measured, side by side.
//!
//! ```text
//! points × functions × frame sizes ─┬─ predict   operations × machine
//!                                   ├─ simulate  the same costs on a virtual clock, and a search over loads
//!                                   └─ measure   rings in memory, on this machine only and with nothing beside it
//! ```
//! Prediction and simulation are the same on every run, on any number of threads; what is measured
//! is not.
#![forbid(unsafe_code)]

mod comparison;
pub mod for_placement;
mod kept;
mod live;
mod outcome;
#[cfg(target_os = "linux")]
pub mod over_veth;
pub mod placement;
mod report;
mod row;
mod search;
mod tables;
mod text;

use kept::KeptCell;
use outcome::{Cell, ForwardingOutcome};
use rayon::prelude::*;
use search::Sought;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use trammel_cost::estimate::{Ports as Links, line_bits};
use trammel_cost::machine::Machine;
use trammel_ground::progress::Progress;
use trammel_ground::{Unsupported, machine as this_machine};
use trammel_report::Report;
use trammel_report::kept::Shelf;
use trammel_report::run::{self, Request, Status, Subject as Described};
use trammel_report::run_folder::RunInfo;
use trammel_router::diagnostic;
use trammel_scenario::ReadError;
use trammel_scenario::forwarding::{ForwardingFile, Point, Test, Tested};
use trammel_scenario::hash;
use trammel_scenario::model::Engine;
use trammel_stats::table::Table;
use trammel_workbench::bench::Bench as Workbench;
use trammel_workbench::calibrate::file::HOST;
use trammel_workbench::device::{Device, Ports};
use trammel_workbench::estimate::{At, Conditions, Error, Subject};
use trammel_workbench::inputs::Inputs;
use trammel_workbench::machines;
use trammel_workbench::measure;
use trammel_workbench::traffic::Traffic;

/// Packets of the run that tells where frames leave.
const LEAVING: u64 = 4096;
/// A share of frames below which it is not worth a note that they leave elsewhere.
const FEW: f64 = 0.001;

/// A forwarding file, and the engines that run it.
#[derive(Debug)]
pub struct Forwarding {
    /// The file.
    pub file: ForwardingFile,
    /// The engines of the command line; empty for the file's.
    pub engines: Vec<Engine>,
}

impl Described for Forwarding {
    type Run = KeptCell;
    type Outcome<'a> = ForwardingOutcome<'a>;

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
        shelf: &Shelf<KeptCell>,
        _: Option<PathBuf>,
    ) -> anyhow::Result<ForwardingOutcome<'a>> {
        carry_out(self, request, shelf)
    }
}

impl run::Outcome for ForwardingOutcome<'_> {
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

/// Every engine on every cell.
fn carry_out<'a>(
    job: &'a Forwarding,
    request: &Request,
    shelf: &Shelf<KeptCell>,
) -> anyhow::Result<ForwardingOutcome<'a>> {
    let file = &job.file;
    let mut outcome = ForwardingOutcome {
        file,
        machines: Vec::new(),
        cells: cells(file),
        status: Status::default(),
        tables: Vec::new(),
    };
    let (engines, is_asked) = match (job.engines.as_slice(), &file.first().engines) {
        ([], Some(of_file)) => (of_file.clone(), true),
        ([], None) => (
            vec![Engine::Predict, Engine::Simulate, Engine::Measure],
            false,
        ),
        (asked, _) => (asked.to_vec(), true),
    };
    for point in &file.points {
        let name = &point.scenario.machine;
        match machines::find(name) {
            Ok(machine) => outcome.machines.push(Some(machine)),
            Err(error) if error.downcast_ref::<Unsupported>().is_some() => {
                outcome.machines.push(None);
                let needs = [Engine::Predict, Engine::Simulate];
                let text = format!("{error:#}");
                if engines.iter().any(|e| needs.contains(e)) {
                    outcome.status.lack(text);
                }
            }
            Err(error) => return Err(error),
        }
    }
    let is_here = |point: &Point| point.scenario.machine.split(':').next() == Some(HOST);
    if engines.contains(&Engine::Measure) {
        for point in file.points.iter().filter(|point| !is_here(point)) {
            let name = &point.scenario.machine;
            let text = format!(
                "nothing is measured for `{name}`, which is not this machine; `machine = \
                 \"{HOST}\"` measures here"
            );
            if is_asked {
                outcome.status.lack(text);
            } else {
                outcome.status.note(text);
            }
        }
    }
    // A report without a number would say it less clearly.
    let models = [Engine::Predict, Engine::Simulate];
    let is_modelled = engines.iter().any(|engine| models.contains(engine))
        && outcome.machines.iter().any(Option::is_some);
    let is_measured = engines.contains(&Engine::Measure) && file.points.iter().any(is_here);
    if !is_modelled && !is_measured && !outcome.status.lacks.is_empty() {
        let all = outcome.status.lacks.join("; ");
        let (what, mend) = all
            .rsplit_once("; ")
            .unwrap_or((&all, "nothing can be run"));
        return Err(Unsupported::error(what, mend));
    }
    about_lists(&mut outcome, &engines);
    model(request, shelf, &engines, &mut outcome)?;
    if engines.contains(&Engine::Measure) {
        measure_all(request, shelf, &mut outcome, is_here)?;
    }
    about_frames(&mut outcome)?;
    let asked = [Engine::Simulate, Engine::Measure];
    let asked = asked.iter().filter(|one| engines.contains(one)).count();
    let cells = outcome.cells.iter();
    let made = cells
        .map(|cell| usize::from(cell.simulated.is_some()) + usize::from(cell.measured.is_some()));
    outcome.status.runs = (outcome.cells.len() * asked, made.sum());
    outcome.tables = tables::all(&outcome);
    Ok(outcome)
}

/// Every point, function and frame size.
fn cells(file: &ForwardingFile) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (point, one) in file.points.iter().enumerate() {
        let scenario = &one.scenario;
        for (function, tested) in scenario.functions.iter().enumerate() {
            for frame in &scenario.sizes {
                let bits = line_bits(1.0, f64::from(*frame));
                cells.push(Cell {
                    point,
                    function,
                    frame: *frame,
                    line: tested.receiving as f64 * scenario.rate / bits,
                    predicted: None,
                    simulated: None,
                    measured: None,
                    live: None,
                });
            }
        }
    }
    cells
}

fn conditions(tested: &Tested, rate: f64) -> Conditions {
    Conditions {
        traffic: tested.traffic.clone(),
        ports: Links {
            count: tested.receiving as f64,
            bits_per_s: rate,
        },
        ..Conditions::default()
    }
}

/// Predicts and simulates.
fn model(
    request: &Request,
    shelf: &Shelf<KeptCell>,
    engines: &[Engine],
    outcome: &mut ForwardingOutcome<'_>,
) -> anyhow::Result<()> {
    let does = |engine| engines.contains(&engine);
    if !does(Engine::Predict) && !does(Engine::Simulate) {
        return Ok(());
    }
    let (file, machines) = (outcome.file, &outcome.machines);
    // How long the search of a cell takes is known when it has ended.
    let progress = Progress::new();
    progress.expect(outcome.cells.len() as u64, 0.0);
    // A prediction stands also where the simulation fails.
    let one = |cell: &Cell| -> (Option<At>, Option<Sought>, Option<Error>) {
        let (point, tested) = cell.of(file);
        let Some(machine) = &machines[cell.point] else {
            return (None, None, None);
        };
        if request.interrupted.load(Ordering::SeqCst) {
            return (None, None, None);
        }
        let under = conditions(tested, point.scenario.rate);
        let at = match tested.subject.at(f64::from(cell.frame), machine, &under) {
            Ok(at) => at,
            Err(error) => return (None, None, Some(error)),
        };
        let simulated = match &tested.subject {
            Subject::Configuration(bench) if does(Engine::Simulate) => {
                let key = || key(Engine::Simulate, cell, file, machine);
                let make = || {
                    let sought = simulate(cell, bench, (point, tested), machine, &under, &at)?;
                    Ok(KeptCell {
                        simulated: Some(sought),
                        ..KeptCell::default()
                    })
                };
                shelf.find_or_make(key, make).map(|kept| kept.simulated)
            }
            _ => Ok(None),
        };
        progress.ended(0.0);
        let at = Some(at).filter(|_| does(Engine::Predict));
        match simulated {
            Ok(sought) => (at, sought, None),
            Err(error) => (at, None, Some(error)),
        }
    };
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = request.threads {
        pool = pool.num_threads(threads);
    }
    let pool = pool.build()?;
    let found: Vec<_> = pool.install(|| outcome.cells.par_iter().map(one).collect());
    progress.finish();
    for (at, (predicted, simulated, error)) in found.into_iter().enumerate() {
        outcome.cells[at].predicted = predicted;
        outcome.cells[at].simulated = simulated;
        if let Some(error) = error {
            fail(outcome, at, error)?;
        }
    }
    outcome.status.is_interrupted = request.interrupted.load(Ordering::SeqCst);
    about_undeclared(outcome);
    Ok(())
}

/// The name by which what `engine` finds of a cell is known: a hash of all that decides its
/// numbers, the files that its configuration reads included.
fn key(engine: Engine, cell: &Cell, file: &ForwardingFile, machine: &impl Debug) -> String {
    let (point, tested) = cell.of(file);
    let one = &point.scenario;
    let mut inputs = Inputs::default();
    if let Subject::Configuration(bench) = &tested.subject {
        inputs.file(Path::new(&bench.name));
    }
    hash::digest(&(
        (engine.name(), machine, cell.frame, inputs.sum()),
        (&tested.subject, &tested.traffic, tested.receiving),
        (one.rate, one.ring, one.pattern, &one.bench, one.seed),
    ))
}

fn simulate(
    cell: &Cell,
    bench: &Workbench,
    (point, tested): (&Point, &Tested),
    machine: &Machine,
    under: &Conditions,
    at: &At,
) -> Result<Sought, Error> {
    let scenario = &point.scenario;
    let ports = Ports {
        rate: scenario.rate,
        ring: scenario.ring,
        pattern: scenario.pattern,
        seed: scenario.seed,
    };
    let traffic = traffic(tested, cell.frame);
    let mut device = Device::new(bench, machine, &traffic, under, ports)?;
    let about = at.estimate.cpu_pps();
    let stamped = device.stamped(machine);
    search::seek(&mut device, stamped, &scenario.bench, about, cell.line)
}

fn traffic(tested: &Tested, frame: u32) -> Traffic {
    Traffic {
        frame: frame as usize,
        ..tested.traffic.clone()
    }
}

/// Measures, one cell after the other and nothing beside it.
fn measure_all(
    request: &Request,
    shelf: &Shelf<KeptCell>,
    outcome: &mut ForwardingOutcome<'_>,
    is_here: impl Fn(&Point) -> bool,
) -> anyhow::Result<()> {
    let file = outcome.file;
    let this_machine = this_machine::facts();
    let progress = Progress::new();
    progress.expect(outcome.cells.len() as u64, outcome.cells.len() as f64);
    for at in 0..outcome.cells.len() {
        if request.interrupted.load(Ordering::SeqCst) {
            outcome.status.is_interrupted = true;
            break;
        }
        let cell = &outcome.cells[at];
        let (point, tested) = cell.of(file);
        let Subject::Configuration(bench) = &tested.subject else {
            progress.skipped(1.0);
            continue;
        };
        if !is_here(point) {
            progress.skipped(1.0);
            continue;
        }
        let key = || key(Engine::Measure, cell, file, &this_machine);
        let key = shelf.keeps().then(key);
        let kept = key.as_ref().and_then(|key| shelf.find(key));
        let (found, failed) = match kept {
            Some(kept) => (kept, None),
            None => measure_one(bench, point, &traffic(tested, cell.frame)),
        };
        if let Some(measured) = &found.measured
            && measured.pps > cell.line
        {
            outcome.status.note(
                "throughputs measured above line rate are left out of the comparison: rings in \
                 memory have no link"
                    .to_owned(),
            );
        }
        let is_whole = failed.is_none() && !request.interrupted.load(Ordering::SeqCst);
        if let Some(key) = key.filter(|_| is_whole) {
            shelf.put(&key, &found);
        }
        outcome.cells[at].measured = found.measured;
        outcome.cells[at].live = found.live;
        if let Some(error) = failed {
            fail(outcome, at, error)?;
        }
        progress.ended(1.0);
    }
    progress.finish();
    Ok(())
}

/// What this machine takes for `traffic`, and what it does under loads where that is asked; the
/// error is of what is not there.
fn measure_one(bench: &Workbench, point: &Point, traffic: &Traffic) -> (KeptCell, Option<Error>) {
    let mut found = KeptCell::default();
    let measured = match measure::measure(bench, traffic) {
        Ok(measured) => measured,
        Err(error) => return (found, Some(Error::Refused(error))),
    };
    let (scenario, about) = (&point.scenario, measured.pps);
    found.measured = Some(measured);
    let asked = &scenario.bench;
    if asked.tests.iter().all(|test| *test == Test::Throughput) {
        return (found, None);
    }
    match live::measure(
        bench,
        traffic,
        scenario.pattern,
        scenario.ring,
        asked,
        about,
    ) {
        Ok(live) => {
            found.live = Some(live);
            (found, None)
        }
        Err(error) => (found, Some(error)),
    }
}

/// Keeps that a cell failed; a wrong configuration ends the run, since it is wrong at every size.
fn fail(outcome: &mut ForwardingOutcome<'_>, at: usize, error: Error) -> anyhow::Result<()> {
    let cell = &outcome.cells[at];
    let (point, tested) = cell.of(outcome.file);
    let why = match error {
        Error::Refused(trammel_workbench::bench::Refused::Configuration(said)) => {
            let text = diagnostic::render(&said);
            let problems = trammel_scenario::diagnose::Problems {
                file: tested.name.clone(),
                text: String::new(),
                list: Vec::new(),
                beside: vec![text],
            };
            return Err(ReadError::Faults(Box::new(problems)).into());
        }
        Error::Refused(trammel_workbench::bench::Refused::Other(text)) | Error::Other(text) => text,
    };
    let text = format!(
        "point `{}`, function `{}`, {} bytes: {why}",
        point.id, tested.name, cell.frame
    );
    outcome.status.failures.push(text);
    Ok(())
}

/// Notes what is not in an estimate.
fn about_undeclared(outcome: &mut ForwardingOutcome<'_>) {
    let mut notes = Vec::new();
    for cell in &outcome.cells {
        let (_, tested) = cell.of(outcome.file);
        let undeclared = cell.predicted.iter().flat_map(|at| &at.undeclared);
        let each: Vec<String> = undeclared
            .map(|one| format!("'{} :: {}'", one.name, one.class))
            .collect();
        if !each.is_empty() {
            notes.push(format!(
                "`{}`: {} declare no operations, so what they cost is neither predicted nor \
                 simulated",
                tested.name,
                each.join(", ")
            ));
        }
    }
    for note in notes {
        outcome.status.note(note);
    }
}

/// Notes that lists of operations are predicted only.
fn about_lists(outcome: &mut ForwardingOutcome<'_>, engines: &[Engine]) {
    let others: Vec<&str> = engines
        .iter()
        .filter(|engine| **engine != Engine::Predict)
        .map(|engine| engine.name())
        .collect();
    let functions = outcome.file.points.iter();
    let functions = functions.flat_map(|point| &point.scenario.functions);
    let mut lists: Vec<String> = functions
        .filter(|tested| matches!(tested.subject, Subject::List(_)))
        .map(|tested| format!("`{}`", tested.name))
        .collect();
    lists.sort();
    lists.dedup();
    if !lists.is_empty() && !others.is_empty() {
        outcome.status.note(format!(
            "{} {} predicted only: a list of operations cannot run",
            lists.join(", "),
            if lists.len() == 1 { "is" } else { "are" }
        ));
    }
}

/// Notes frames that do not leave, or leave elsewhere than the stream says.
fn about_frames(outcome: &mut ForwardingOutcome<'_>) -> anyhow::Result<()> {
    let mut notes = Vec::new();
    let mut last = None;
    for at in 0..outcome.cells.len() {
        let cell = &outcome.cells[at];
        let (_, tested) = cell.of(outcome.file);
        let Subject::Configuration(bench) = &tested.subject else {
            continue;
        };
        if last.replace((cell.point, cell.function)) == Some((cell.point, cell.function)) {
            continue;
        }
        match leaving(bench, tested, cell.frame) {
            Ok(found) => notes.extend(found),
            Err(error) => fail(outcome, at, Error::Refused(error))?,
        }
    }
    for note in notes {
        outcome.status.note(note);
    }
    Ok(())
}

fn leaving(
    bench: &Workbench,
    tested: &Tested,
    frame: u32,
) -> Result<Option<String>, trammel_workbench::bench::Refused> {
    let ways_out = bench.outlets();
    if ways_out.is_empty() {
        return Ok(None);
    }
    let (_, tally) = bench.run(&traffic(tested, frame), LEAVING)?;
    let given = tally.given as f64;
    let text = |share: f64, what: &str| {
        format!(
            "`{}`: {:.1} % of {} frames {what}",
            tested.name,
            100.0 * share,
            tally.given
        )
    };
    let missing = 1.0 - tally.sent as f64 / given;
    if missing > FEW {
        return Ok(Some(text(
            missing,
            "leave by no device: the function drops them, and the numbers show that cost",
        )));
    }
    if tested.leaves_by.is_empty() {
        return Ok(None);
    }
    // Rings are counted in the order of the ways in, then those out.
    let first = bench.inlets().len();
    let elsewhere = (0..ways_out.len()).filter(|port| !tested.leaves_by.contains(port));
    let elsewhere: u64 = elsewhere
        .map(|port| tally.sent_by.get(first + port).copied().unwrap_or(0))
        .sum();
    let share = elsewhere as f64 / given;
    Ok((share > FEW).then(|| text(share, "leave by another port than `to` says")))
}
