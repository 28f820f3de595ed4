//! What came of a run, for Python.

use crate::table::Table;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use trammel_ground::machine;
use trammel_report::provenance::{provenance, subject};
use trammel_report::run_folder::{RunInfo, parquet_facts};
use trammel_scenario::model::Engine;
use trammel_transport::embedded::Embedded;

/// Tables, answer, notes, page and provenance of a run.
#[pyclass(frozen, module = "trammel._trammel")]
pub(crate) struct Outcome {
    run: Arc<Embedded>,
    /// What ran.
    #[pyo3(get)]
    engines: Vec<&'static str>,
    /// Where the numbers come from.
    #[pyo3(get)]
    provenance: Vec<(String, String)>,
    /// The same for a Parquet file: what is the same for the same run.
    #[pyo3(get)]
    parquet_facts: Vec<(String, String)>,
}

impl Outcome {
    /// What `engines` made of a scenario from `started` on.
    pub(crate) fn new(
        run: Embedded,
        engines: &[Engine],
        started: String,
        took: Duration,
    ) -> Outcome {
        let seconds = (took.as_secs_f64() * 1e3).round() / 1e3;
        let info = RunInfo {
            command: vec!["trammel.Scenario.run in Python".to_owned()],
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: run.file.name.clone(),
            scenario_text: run.file.text.clone(),
            seeds: run.file.seeds().into_iter().collect(),
            machine: machine::facts(),
            started,
            wall_s: BTreeMap::from([("engines".to_owned(), seconds)]),
            interrupted: run.outcome.is_interrupted,
        };
        let mut facts = subject(&info);
        facts.extend(run.outcome.facts.clone());
        Outcome {
            engines: engines.iter().map(|engine| engine.name()).collect(),
            parquet_facts: parquet_facts(&info.scenario, &info.scenario_text, &info.seeds),
            provenance: provenance(&info, facts).facts,
            run: Arc::new(run),
        }
    }
}

#[pymethods]
impl Outcome {
    /// The tables that have rows, in the order in which the command writes them.
    fn tables(&self, py: Python<'_>) -> Vec<Table> {
        let run = &self.run;
        py.detach(|| run.outcome.tables().cloned().map(Table::new).collect())
    }

    /// The samples over time that the scenario asks for, each named as the command's file.
    fn traces(&self, py: Python<'_>) -> Vec<Table> {
        let run = &self.run;
        let of = |(at, name)| Table::of_trace(run, at, name);
        py.detach(|| {
            let all: Vec<_> = run.traces().collect();
            all.into_par_iter().map(of).collect()
        })
    }

    /// The answer in a sentence.
    #[getter]
    fn answer(&self) -> String {
        self.run.answer()
    }

    /// What a reader must know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.run.outcome.notes.clone()
    }

    /// Why runs failed.
    #[getter]
    fn failures(&self) -> Vec<String> {
        self.run.failures().collect()
    }

    /// What this machine or package lacks for an engine that was asked for.
    #[getter]
    fn lacks(&self) -> Option<String> {
        self.run.outcome.lacks.clone()
    }

    /// Runs that were to be made, and those that were.
    #[getter]
    fn runs(&self) -> (usize, usize) {
        self.run.outcome.runs
    }

    /// The page.
    fn report(&self, py: Python<'_>) -> String {
        py.detach(|| self.run.report(self.provenance.clone()).to_html())
    }
}
