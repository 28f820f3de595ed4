//! What came of a forwarding run, function by function and frame size by frame size.

use super::card::CardCell;
use super::live::Live;
use super::row::Row;
use super::search::Sought;
use trammel_cost::machine::Machine;
use trammel_report::run::Status;
use trammel_router::diagnostic;
use trammel_scenario::ReadError;
use trammel_scenario::forwarding::{ForwardingFile, Point, Tested};
use trammel_scenario::model::Engine;
use trammel_stats::table::Table;
use trammel_workbench::bench::Refused;
use trammel_workbench::estimate::{At, Error};
use trammel_workbench::measure::Measured;
use trammel_workbench::traffic::Traffic;

/// What came of one function at one frame size.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// The place of its point.
    pub(super) point: usize,
    /// The place of its function.
    pub(super) function: usize,
    pub(super) frame: u32,
    /// Frames a second that the links carry; infinite where they do not limit.
    pub(super) line: f64,
    pub(super) predicted: Option<At>,
    pub(super) simulated: Option<Sought>,
    pub(super) measured: Option<Measured>,
    /// What this machine did under loads, where that was asked.
    pub(super) live: Option<Live>,
    /// What engines say of a card, where it is one.
    pub(super) card: CardCell,
}

impl Cell {
    pub(super) fn of<'a>(&self, file: &'a ForwardingFile) -> (&'a Point, &'a Tested) {
        let point = &file.points[self.point];
        (point, &point.scenario.functions[self.function])
    }

    /// The traffic of its function, in frames of its size.
    pub(super) fn traffic(&self, tested: &Tested) -> Traffic {
        Traffic {
            frame: self.frame as usize,
            ..tested.traffic.clone()
        }
    }

    /// Trials by the engines that make them.
    pub(super) fn trials(&self) -> [(&'static str, &[Row]); 2] {
        let (simulated, measured) = (&self.card.simulated, &self.card.measured);
        let simulated = simulated.as_ref().map(|found| &found.trials[..]);
        let measured = measured.as_ref().map(|found| &found.trials[..]);
        let program = self.simulated.as_ref().map(|sought| &sought.trials[..]);
        let here = self.live.as_ref().map(|live| &live.trials[..]);
        let (simulated, measured) = (simulated.or(program), measured.or(here));
        [
            (Engine::Simulate.name(), simulated.unwrap_or_default()),
            (Engine::Measure.name(), measured.unwrap_or_default()),
        ]
    }
}

/// What came of everything.
#[derive(Clone, Debug)]
pub struct ForwardingOutcome<'a> {
    pub(super) file: &'a ForwardingFile,
    /// The machine of each point, where there is one.
    pub(super) machines: Vec<Option<Machine>>,
    pub(super) cells: Vec<Cell>,
    pub(super) status: Status,
    pub(super) tables: Vec<Table>,
}

impl ForwardingOutcome<'_> {
    /// Keeps that a cell failed; a wrong configuration ends the run, since it is wrong at every
    /// size.
    pub(super) fn fail(&mut self, at: usize, error: Error) -> anyhow::Result<()> {
        let cell = &self.cells[at];
        let (point, tested) = cell.of(self.file);
        let why = match error {
            Error::Refused(Refused::Configuration(said)) => {
                let text = diagnostic::render(&said);
                let problems = trammel_scenario::diagnose::Problems {
                    file: tested.name.clone(),
                    text: String::new(),
                    list: Vec::new(),
                    beside: vec![text],
                };
                return Err(ReadError::Faults(Box::new(problems)).into());
            }
            Error::Refused(Refused::Other(text)) | Error::Other(text) => text,
        };
        let text = format!(
            "point `{}`, function `{}`, {} bytes: {why}",
            point.id, tested.name, cell.frame
        );
        self.status.failures.push(text);
        Ok(())
    }
}
