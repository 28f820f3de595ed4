//! What came of a traffic run, point by point and engine by engine.

use super::offered::Moment;
use super::queueing::{Passage, Queueing};
use super::runs::Run;
use trammel_report::run::Status;
use trammel_scenario::model::Engine;
use trammel_scenario::traffic::TrafficFile;
use trammel_stats::table::Table;

/// What theory says.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The moments of each stream.
    pub moments: Vec<Vec<Moment>>,
    /// What is said of the path.
    pub queueing: Queueing,
    /// What is said of each stream's way over it.
    pub passages: Vec<Passage>,
}

/// What came of one point.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// By theory.
    pub predicted: Option<Predicted>,
    /// In virtual time, by repeat.
    pub simulated: Vec<(u32, Run)>,
    /// Of real packets, by repeat.
    pub measured: Vec<(u32, Run)>,
}

impl Ran {
    /// The runs by the engines that make them.
    pub(crate) fn by_engine(&self) -> [(Engine, &[(u32, Run)]); 2] {
        [
            (Engine::Simulate, &self.simulated),
            (Engine::Measure, &self.measured),
        ]
    }
}

/// What came of everything.
#[derive(Clone, Debug)]
pub struct StreamsOutcome<'a> {
    /// The scenario.
    pub file: &'a TrafficFile,
    /// By point.
    pub ran: Vec<Ran>,
    /// How it went.
    pub status: Status,
    /// Its tables.
    pub tables: Vec<Table>,
}
