//! What came of a forwarding run, function by function and frame size by frame size.

use super::live::Live;
use super::row::Row;
use super::search::Sought;
use trammel_cost::machine::Machine;
use trammel_report::run::Status;
use trammel_scenario::forwarding::{ForwardingFile, Point, Tested};
use trammel_scenario::model::Engine;
use trammel_stats::table::Table;
use trammel_workbench::estimate::At;
use trammel_workbench::measure::Measured;

/// What came of one function at one frame size.
#[derive(Debug)]
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
}

impl Cell {
    pub(super) fn of<'a>(&self, file: &'a ForwardingFile) -> (&'a Point, &'a Tested) {
        let point = &file.points[self.point];
        (point, &point.scenario.functions[self.function])
    }

    /// Trials by the engines that make them.
    pub(super) fn trials(&self) -> [(&'static str, &[Row]); 2] {
        let simulated = self.simulated.as_ref().map(|sought| &sought.trials[..]);
        let measured = self.live.as_ref().map(|live| &live.trials[..]);
        [
            (Engine::Simulate.name(), simulated.unwrap_or_default()),
            (Engine::Measure.name(), measured.unwrap_or_default()),
        ]
    }
}

/// What came of everything.
#[derive(Debug)]
pub struct ForwardingOutcome<'a> {
    pub(super) file: &'a ForwardingFile,
    /// The machine of each point, where there is one.
    pub(super) machines: Vec<Option<Machine>>,
    pub(super) cells: Vec<Cell>,
    pub(super) status: Status,
    pub(super) tables: Vec<Table>,
}
