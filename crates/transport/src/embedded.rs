//! A scenario's text to its tables, its answer and its page: what a program gets that carries
//! Trammel inside of it, such as a browser or Python.
//!
//! Nothing is written and nothing is said: all that the command tells a person is in the result.

use crate::answer::{answer, report};
use crate::points::{Failure, RunOptions, TransportOutcome, Unwatched, Watch, run_points};
use crate::refusals::reading;
use crate::run::take_from;
use std::path::Path;
use trammel_report::run_folder::file_name;
use trammel_report::store::Store;
use trammel_report::{Provenance, Report};
use trammel_scenario::model::Engine;
use trammel_scenario::{File, ReadError};

/// A scenario and what came of it.
#[derive(Debug)]
pub struct Embedded {
    /// The scenario.
    pub file: File,
    /// Its tables, notes and failures.
    pub outcome: TransportOutcome,
}

/// Reads `text`, called `name` in messages, for `engines`, or where none are given, for its own;
/// files that it names are relative to `folder`. The seeds start at `seed`, where it is given.
pub fn read(
    name: &str,
    text: &str,
    folder: &Path,
    engines: &[Engine],
    seed: Option<u64>,
) -> Result<File, ReadError> {
    let reading = trammel_scenario::Reading {
        seed,
        ..reading(engines)
    };
    File::parse_with(name, text, folder, &reading)
}

/// Why a scenario is not run here; `place` says where a run was asked for: `module`, `package`.
pub fn refusal(name: &str, why: &ReadError, place: &str) -> String {
    match why {
        ReadError::Elsewhere { subject, .. } => format!(
            "{name}: subject `{subject}` is not in this {place}; give a scenario of subject \
             `transport`, or use the program"
        ),
        why => why.to_string(),
    }
}

impl Embedded {
    /// Runs every point of `file`, with short curves for the page.
    pub fn run(file: File, options: RunOptions, watch: &dyn Watch) -> anyhow::Result<Embedded> {
        let options = RunOptions {
            curves: true,
            ..options
        };
        let outcome = run_points(&file, &options, watch)?;
        Ok(Embedded { file, outcome })
    }

    /// What `store` has of the runs of `file`, as of a run that was interrupted where some are
    /// missing. Nothing is simulated or measured.
    pub fn gather(file: File, options: RunOptions, store: &Store) -> anyhow::Result<Embedded> {
        let mut options = RunOptions {
            curves: true,
            ..options
        };
        let missing = take_from(store, &file, &mut options, &Unwatched)?;
        let known = options.known.keys().chain(options.failed.keys());
        options.only = Some(known.cloned().collect());
        let mut outcome = run_points(&file, &options, &Unwatched)?;
        outcome.runs.0 += missing;
        outcome.is_interrupted = missing > 0;
        Ok(Embedded { file, outcome })
    }

    /// The answer in one sentence; empty where no question is answered.
    pub fn answer(&self) -> String {
        answer(&self.file, &self.outcome).sentence
    }

    /// Why runs failed, a line each.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        let failures = self.outcome.failures.iter();
        failures.map(Failure::to_string)
    }

    /// The places, among the traces of the outcome, of those that the scenario asks for, each named
    /// `POINT.ENTITY` as the command names its file.
    pub fn traces(&self) -> impl Iterator<Item = (usize, String)> {
        let all = self.outcome.traces.iter().enumerate();
        all.filter_map(|(at, one)| {
            let name = one.name(&self.file)?;
            let entity = file_name(&one.trace.entity);
            Some((at, format!("{}.{entity}", file_name(&name))))
        })
    }

    /// The page; `facts` say where the numbers come from.
    pub fn report(&self, facts: Vec<(String, String)>) -> Report {
        let provenance = Provenance {
            facts,
            scenario: self.file.text.clone(),
        };
        report(&self.file, &self.outcome, provenance)
    }
}
