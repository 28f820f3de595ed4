//! What a user should know of a run's numbers.

use super::card;
use super::outcome::{Cell, ForwardingOutcome};
use trammel_scenario::forwarding::{ForwardingFile, Point, Test, Tested};
use trammel_scenario::model::Engine;
use trammel_workbench::bench::{Bench as Workbench, Refused};
use trammel_workbench::estimate::{Error, Subject};

/// Packets of the run that tells where frames leave.
const LEAVING: u64 = 4096;
/// A share of frames below which it is not worth a note that they leave elsewhere.
const FEW: f64 = 0.001;

/// The names of functions that are cards.
pub(super) fn cards(file: &ForwardingFile) -> Vec<String> {
    let functions = file.points.iter();
    let functions = functions.flat_map(|point| &point.scenario.functions);
    let cards = functions.filter(|tested| tested.card().is_some());
    let mut names: Vec<String> = cards.map(|tested| format!("`{}`", tested.name)).collect();
    names.sort();
    names.dedup();
    names
}

/// Notes what the engines of a card stand for.
pub(super) fn about_cards(outcome: &mut ForwardingOutcome<'_>) {
    let names = cards(outcome.file);
    if names.is_empty() {
        return;
    }
    let names = names.join(", ");
    if outcome
        .cells
        .iter()
        .any(|cell| cell.card.measured.is_some())
    {
        outcome.status.note(card::note(&names));
    }
    let asks = |point: &Point| {
        let is_card = point
            .scenario
            .functions
            .iter()
            .any(|one| one.card().is_some());
        is_card && point.scenario.bench.tests.contains(&Test::Recovery)
    };
    if outcome.file.points.iter().any(asks) {
        let text = format!("{names}: recovery is tested by `trammel bench`, not here");
        outcome.status.note(text);
    }
}

/// Notes what is not in an estimate.
pub(super) fn about_undeclared(outcome: &mut ForwardingOutcome<'_>) {
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
pub(super) fn about_lists(outcome: &mut ForwardingOutcome<'_>, engines: &[Engine]) {
    let others: Vec<&str> = engines
        .iter()
        .filter(|engine| **engine != Engine::Predict)
        .map(|engine| engine.name())
        .collect();
    let functions = outcome.file.points.iter();
    let functions = functions.flat_map(|point| &point.scenario.functions);
    let mut lists: Vec<String> = functions
        .filter(|tested| matches!(tested.program(), Some(Subject::List(_))))
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
pub(super) fn about_frames(outcome: &mut ForwardingOutcome<'_>) -> anyhow::Result<()> {
    let mut notes = Vec::new();
    let mut last = None;
    for at in 0..outcome.cells.len() {
        let cell = &outcome.cells[at];
        let (_, tested) = cell.of(outcome.file);
        let Some(Subject::Configuration(bench)) = tested.program() else {
            continue;
        };
        if last.replace((cell.point, cell.function)) == Some((cell.point, cell.function)) {
            continue;
        }
        match leaving(bench, cell, tested) {
            Ok(found) => notes.extend(found),
            Err(error) => outcome.fail(at, Error::Refused(error))?,
        }
    }
    for note in notes {
        outcome.status.note(note);
    }
    Ok(())
}

fn leaving(bench: &Workbench, cell: &Cell, tested: &Tested) -> Result<Option<String>, Refused> {
    let ways_out = bench.outlets();
    if ways_out.is_empty() {
        return Ok(None);
    }
    let (_, tally) = bench.run(&cell.traffic(tested), LEAVING)?;
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
