//! Measures every cell on this machine, one after the other and nothing beside it.

use super::card::{self, Lack};
use super::kept::KeptCell;
use super::live;
use super::modelled::{asked, key};
use super::outcome::ForwardingOutcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_ground::machine as this_machine;
use trammel_ground::progress::Progress;
use trammel_report::kept::Shelf;
use trammel_report::live::filling::Filling;
use trammel_report::run::Request;
use trammel_scenario::forwarding::{Point, Test};
use trammel_scenario::model::Engine;
use trammel_workbench::bench::Bench as Workbench;
use trammel_workbench::estimate::{Error, Subject};
use trammel_workbench::measure;
use trammel_workbench::traffic::Traffic;

/// Measures, one cell after the other and nothing beside it.
pub(super) fn measure_all(
    request: &Request,
    shelf: &Shelf<KeptCell>,
    filling: &Filling<'_, ForwardingOutcome<'_>>,
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
        progress.start();
        let cell = &outcome.cells[at];
        let (point, tested) = cell.of(file);
        if tested.card().is_some() && is_here(point) {
            measure_card(outcome, at, &request.interrupted)?;
            let card = &outcome.cells[at].card;
            filling.add(|so_far| so_far.cells[at].card.clone_from(card));
            progress.ended(1.0);
            continue;
        }
        let Some(Subject::Configuration(bench)) = tested.program() else {
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
            None => measure_one(bench, point, &cell.traffic(tested)),
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
        let cell = &outcome.cells[at];
        filling.add(|so_far| so_far.cells[at].clone_from(cell));
        if let Some(error) = failed {
            outcome.fail(at, error)?;
        }
        progress.ended(1.0);
    }
    progress.finish();
    Ok(())
}

/// Measures the live card for a cell.
fn measure_card(
    outcome: &mut ForwardingOutcome<'_>,
    at: usize,
    interrupted: &Arc<AtomicBool>,
) -> anyhow::Result<()> {
    let cell = &outcome.cells[at];
    let (point, tested) = cell.of(outcome.file);
    let Some(card) = tested.card() else {
        return Ok(());
    };
    match card::measure(card, tested, &asked(cell, point, interrupted)) {
        Ok((found, said)) => {
            outcome.cells[at].card.measured = Some(found);
            let name = &tested.name;
            for sentence in said {
                outcome.status.note(format!("before `{name}`: {sentence}"));
            }
        }
        Err(_) if interrupted.load(Ordering::SeqCst) => {}
        Err(Lack::Machine(why)) => {
            let text = format!("the live card cannot be tested here: {why}");
            outcome.status.lack(text);
        }
        Err(Lack::Failed(why)) => outcome.fail(at, Error::Other(why))?,
    }
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
