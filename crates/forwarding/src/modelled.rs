//! Predicts and simulates every cell.

use super::card::{self, Asked};
use super::kept::KeptCell;
use super::outcome::{Cell, ForwardingOutcome};
use super::search::{self, Sought};
use rayon::prelude::*;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_cost::estimate::Ports as Links;
use trammel_cost::machine::Machine;
use trammel_ground::progress::Progress;
use trammel_report::kept::Shelf;
use trammel_report::live::filling::Filling;
use trammel_report::run::Request;
use trammel_scenario::forwarding::{ForwardingFile, Point, Tested};
use trammel_scenario::hash;
use trammel_scenario::model::Engine;
use trammel_workbench::bench::Bench as Workbench;
use trammel_workbench::device::{Device, Ports};
use trammel_workbench::estimate::{At, Conditions, Error, Subject};
use trammel_workbench::inputs::Inputs;

/// Predicts and simulates.
pub(super) fn model(
    request: &Request,
    shelf: &Shelf<KeptCell>,
    engines: &[Engine],
    filling: &Filling<'_, ForwardingOutcome<'_>>,
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
        let (Some(machine), Some(subject)) = (&machines[cell.point], tested.program()) else {
            // A card's run is made below.
            if tested.card().is_none() {
                progress.skipped(0.0);
            }
            return (None, None, None);
        };
        if request.interrupted.load(Ordering::SeqCst) {
            return (None, None, None);
        }
        progress.start();
        let under = conditions(tested, point.scenario.rate);
        let at = match subject.at(f64::from(cell.frame), machine, &under) {
            Ok(at) => at,
            Err(error) => {
                progress.ended(0.0);
                return (None, None, Some(error));
            }
        };
        let simulated = match subject {
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
    let all = outcome.cells.par_iter().enumerate();
    let seen = |(at, cell): (usize, &Cell)| {
        let found = one(cell);
        filling.add(|so_far| {
            so_far.cells[at].predicted.clone_from(&found.0);
            so_far.cells[at].simulated.clone_from(&found.1);
        });
        found
    };
    let found: Vec<_> = pool.install(|| all.map(seen).collect());
    let of_card = |(at, cell): (usize, &Cell)| {
        let (point, tested) = cell.of(file);
        if tested.card().is_some() {
            progress.start();
        }
        let found = card::model(tested, engines, &asked(cell, point, &request.interrupted));
        if tested.card().is_some() {
            progress.ended(0.0);
        }
        filling.add(|so_far| so_far.cells[at].card.clone_from(&found.0));
        found
    };
    let all = outcome.cells.par_iter().enumerate();
    let of_cards: Vec<_> = pool.install(|| all.map(of_card).collect());
    progress.finish();
    for (at, (of_card, why)) in of_cards.into_iter().enumerate() {
        outcome.cells[at].card = of_card;
        if let Some(why) = why {
            outcome.fail(at, Error::Other(why))?;
        }
    }
    for (at, (predicted, simulated, error)) in found.into_iter().enumerate() {
        outcome.cells[at].predicted = predicted;
        outcome.cells[at].simulated = simulated;
        if let Some(error) = error {
            outcome.fail(at, error)?;
        }
    }
    outcome.status.is_interrupted = request.interrupted.load(Ordering::SeqCst);
    Ok(())
}

/// What the card of a cell is asked.
pub(super) fn asked<'a>(
    cell: &Cell,
    point: &'a Point,
    interrupted: &'a Arc<AtomicBool>,
) -> Asked<'a> {
    Asked {
        frame: cell.frame,
        pattern: point.scenario.pattern,
        bench: &point.scenario.bench,
        interrupted,
    }
}

/// The name by which what `engine` finds of a cell is known: a hash of all that decides its
/// numbers, the files that its configuration reads included.
pub(super) fn key(
    engine: Engine,
    cell: &Cell,
    file: &ForwardingFile,
    machine: &impl Debug,
) -> String {
    let (point, tested) = cell.of(file);
    let one = &point.scenario;
    let mut inputs = Inputs::default();
    if let Some(Subject::Configuration(bench)) = tested.program() {
        inputs.file(Path::new(&bench.name));
    }
    hash::digest(&(
        (engine.name(), machine, cell.frame, inputs.sum()),
        (tested.program(), &tested.traffic, tested.receiving),
        (one.rate, one.ring, one.pattern, &one.bench, one.seed),
    ))
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
    let traffic = cell.traffic(tested);
    let mut device = Device::new(bench, machine, &traffic, under, ports)?;
    let about = at.estimate.cpu_pps();
    let stamped = device.stamped(machine);
    search::seek(&mut device, stamped, &scenario.bench, about, cell.line)
}
