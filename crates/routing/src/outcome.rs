//! What came of a file: each point with what the engines say of it.

use crate::predict::Predicted;
use crate::run::Run;
use trammel_core::label::Label;
use trammel_report::run::Status;
use trammel_scenario::routing::{Point, RoutingFile};
use trammel_stats::table::Table;

/// What the engines say of a point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ran {
    /// Of the start, then of each change.
    pub(crate) predicted: Option<Vec<Predicted>>,
    pub(crate) simulated: Option<Run>,
    pub(crate) measured: Option<Run>,
}

impl Ran {
    /// What runs gave, each with the word of its engine.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (&'static str, &Run)> {
        let all = [("simulate", &self.simulated), ("measure", &self.measured)];
        all.into_iter()
            .filter_map(|(engine, run)| Some((engine, run.as_ref()?)))
    }

    /// What happened, measured where it was.
    pub(crate) fn best(&self) -> Option<(Label, &Run)> {
        let measured = self.measured.as_ref().map(|run| (Label::Measured, run));
        measured.or_else(|| Some((Label::Simulated, self.simulated.as_ref()?)))
    }
}

/// What came of a file.
#[derive(Debug)]
pub struct Outcome<'a> {
    pub(crate) file: &'a RoutingFile,
    /// In the order of the file's points.
    pub(crate) ran: Vec<Ran>,
    pub(crate) status: Status,
    pub(crate) tables: Vec<Table>,
}

impl<'a> Outcome<'a> {
    /// Each point with what came of it.
    pub(crate) fn points(&self) -> impl Iterator<Item = (&'a Point, &Ran)> {
        self.file.points.iter().zip(&self.ran)
    }
}
