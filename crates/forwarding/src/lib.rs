//! A forwarding scenario carried out: predicted, simulated and measured, side by side.
//!
//! ```text
//! points × functions × frame sizes ─┬─ predict   operations × machine
//!                                   ├─ simulate  the same costs on a virtual clock, and a search over loads
//!                                   └─ measure   rings in memory, on this machine only and with nothing beside it
//! ```
//! A NetFPGA card has engines of its own (`card`).
//!
//! Prediction and simulation are the same on every run, on any number of threads; what is measured
//! is not.
#![forbid(unsafe_code)]

mod card;
mod comparison;
pub mod for_placement;
mod kept;
mod live;
mod measured;
mod modelled;
mod notes;
mod outcome;
#[cfg(target_os = "linux")]
pub mod over_veth;
pub mod placement;
mod report;
mod row;
mod search;
mod tables;
mod text;

use card::CardCell;
use kept::KeptCell;
use outcome::{Cell, ForwardingOutcome};
use std::collections::BTreeSet;
use std::path::PathBuf;
use trammel_cost::estimate::line_bits;
use trammel_ground::Unsupported;
use trammel_report::Report;
use trammel_report::kept::Shelf;
use trammel_report::live::filling::Filling;
use trammel_report::run::{self, Request, Status, Subject as Described};
use trammel_report::run_folder::RunInfo;
use trammel_scenario::forwarding::{ForwardingFile, Point};
use trammel_scenario::model::Engine;
use trammel_stats::table::Table;
use trammel_workbench::calibrate::file::HOST;
use trammel_workbench::machines;

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
                // Cards need no constants of a machine.
                if point
                    .scenario
                    .functions
                    .iter()
                    .all(|one| one.card().is_some())
                {
                    continue;
                }
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
        && (outcome.machines.iter().any(Option::is_some) || !notes::cards(file).is_empty());
    let is_measured = engines.contains(&Engine::Measure) && file.points.iter().any(is_here);
    if !is_modelled && !is_measured && !outcome.status.lacks.is_empty() {
        let all = outcome.status.lacks.join("; ");
        let (what, mend) = all
            .rsplit_once("; ")
            .unwrap_or((&all, "nothing can be run"));
        return Err(Unsupported::error(what, mend));
    }
    notes::about_lists(&mut outcome, &engines);
    let info = run::so_far(job);
    let begin = || {
        let mut so_far = outcome.clone();
        so_far.status.is_going_on = true;
        so_far
    };
    let filling = Filling::new(
        request.live.as_ref(),
        begin,
        |so_far: &mut ForwardingOutcome<'_>| {
            so_far.status.runs = runs_of(so_far, &engines);
            so_far.tables = tables::all(so_far);
            report::report(so_far, &info)
        },
    );
    modelled::model(request, shelf, &engines, &filling, &mut outcome)?;
    notes::about_undeclared(&mut outcome);
    if engines.contains(&Engine::Measure) {
        measured::measure_all(request, shelf, &filling, &mut outcome, is_here)?;
    }
    notes::about_frames(&mut outcome)?;
    notes::about_cards(&mut outcome);
    outcome.status.runs = runs_of(&outcome, &engines);
    outcome.tables = tables::all(&outcome);
    Ok(outcome)
}

/// Runs that `engines` have to make, and those that are made.
fn runs_of(outcome: &ForwardingOutcome<'_>, engines: &[Engine]) -> (usize, usize) {
    let asked = [Engine::Simulate, Engine::Measure];
    let asked = asked.iter().filter(|one| engines.contains(one)).count();
    let cells = outcome.cells.iter();
    let made = cells.map(|cell| {
        let simulated = cell.simulated.is_some() || cell.card.simulated.is_some();
        let measured = cell.measured.is_some() || cell.card.measured.is_some();
        usize::from(simulated) + usize::from(measured)
    });
    (outcome.cells.len() * asked, made.sum())
}

/// Every point, function and frame size.
fn cells(file: &ForwardingFile) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (point, one) in file.points.iter().enumerate() {
        let scenario = &one.scenario;
        for (function, tested) in scenario.functions.iter().enumerate() {
            for frame in &scenario.sizes {
                let bits = line_bits(1.0, f64::from(*frame));
                let line = match tested.card() {
                    Some(card) => card::line_fps(card, tested, *frame),
                    None => tested.receiving as f64 * scenario.rate / bits,
                };
                cells.push(Cell {
                    point,
                    function,
                    frame: *frame,
                    line,
                    card: CardCell::default(),
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
