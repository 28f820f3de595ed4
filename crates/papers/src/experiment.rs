//! Runs an experiment of a paper and takes the cells of its tables from what came.

use super::cell::{Cell, mean};
use super::choice::Choice;
use super::expression::Expression;
use super::spec::{Answer, Experiment, Gather};
use super::{Paper, estimated, streams, tested, transfers};
use anyhow::{Context, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use trammel_core::label::Label;
use trammel_scenario::File;
use trammel_scenario::Reading;
use trammel_scenario::model::Engine;
use trammel_scenario::tree::Value;
use trammel_stats::stats::spearman;
use trammel_stats::table::Table;
use trammel_transport::points::{Failure, RunOptions, TransportOutcome, Watch, run_points};
use trammel_transport::refusals::reading;
use trammel_transport::trace_of::Samples;

/// What came of an experiment.
#[derive(Debug)]
pub struct Done {
    /// Its place among the experiments of the paper.
    pub at: usize,
    /// The scenario that was run; nothing where functions were estimated.
    pub ran: Option<Ran>,
    /// The functions that were estimated, the streams that were sent, the device that was tested,
    /// the files that were transferred; nothing where a scenario was run.
    pub table: Option<Table>,
    /// The cells that it gives.
    pub cells: Vec<Cell>,
    /// What a reader must know of how it was done.
    pub notes: Vec<String>,
    /// Streams that came to nothing.
    pub failures: Vec<Failure>,
    /// Whether the machine lacks a program that was asked for.
    pub lacks: bool,
    /// Whether the user ended it early.
    pub is_interrupted: bool,
}

/// A scenario that was run.
#[derive(Debug)]
pub struct Ran {
    /// The file.
    pub file: File,
    /// What came of it.
    pub outcome: TransportOutcome,
}

/// Runs the experiment at `at` of `paper`.
pub fn run(paper: &Paper, at: usize, choice: &Choice, watch: &dyn Watch) -> anyhow::Result<Done> {
    let experiment = &paper.spec.experiments[at];
    if let Some(wanted) = &experiment.estimate {
        let (cells, functions) = estimated::run(paper, experiment, wanted)
            .with_context(|| format!("experiment `{}`", experiment.id))?;
        return Ok(Done {
            table: Some(functions),
            cells,
            ..Done::nothing(at)
        });
    }
    if let Some(wanted) = &experiment.streams {
        let found = streams::run(paper, experiment, wanted, choice, watch)
            .with_context(|| format!("experiment `{}`", experiment.id))?;
        return Ok(Done {
            table: Some(found.table),
            cells: found.cells,
            notes: found.notes,
            failures: found.failures,
            lacks: found.lacks,
            is_interrupted: found.is_interrupted,
            ..Done::nothing(at)
        });
    }
    if let Some(wanted) = &experiment.tested {
        let found = tested::run(paper, experiment, wanted, choice, watch)
            .with_context(|| format!("experiment `{}`", experiment.id))?;
        return Ok(Done {
            table: Some(found.table),
            cells: found.cells,
            notes: found.notes,
            failures: found.failures,
            is_interrupted: found.is_interrupted,
            ..Done::nothing(at)
        });
    }
    if let Some(wanted) = &experiment.transfers {
        let found = transfers::run(paper, experiment, wanted, choice, watch)
            .with_context(|| format!("experiment `{}`", experiment.id))?;
        return Ok(Done {
            table: Some(found.table),
            cells: found.cells,
            notes: found.notes,
            lacks: found.lacks,
            is_interrupted: found.is_interrupted,
            ..Done::nothing(at)
        });
    }
    let file = file(paper, experiment, choice)?;
    let options = RunOptions {
        engines: vec![engine(experiment)],
        threads: choice.threads,
        known: Arc::clone(&choice.known),
        ..RunOptions::default()
    };
    let outcome = run_points(&file, &options, watch)?;
    let cells = cells(paper, experiment, &file, &outcome);
    let cells = cells.with_context(|| format!("experiment `{}`", experiment.id))?;
    // What a guest's kernel only comes close to is told.
    let is_of_kernel = experiment.label == Label::LinuxVt;
    let notes = outcome.notes.iter().filter(|_| is_of_kernel).cloned();
    Ok(Done {
        notes: notes.collect(),
        ran: Some(Ran { file, outcome }),
        cells,
        ..Done::nothing(at)
    })
}

impl Done {
    /// Of the experiment at `at`, nothing yet.
    fn nothing(at: usize) -> Done {
        Done {
            at,
            ran: None,
            table: None,
            cells: Vec::new(),
            notes: Vec::new(),
            failures: Vec::new(),
            lacks: false,
            is_interrupted: false,
        }
    }
}

/// The scenario of `experiment` with its keys set.
pub fn file(paper: &Paper, experiment: &Experiment, choice: &Choice) -> anyhow::Result<File> {
    let path = paper.dir.join(&experiment.scenario);
    let of_choice = if choice.is_full {
        &experiment.full
    } else {
        &experiment.quick
    };
    let given = choice.kernel.iter().filter(|_| experiment.needs_kernel);
    let given = given.map(|source| ("measure.source".to_owned(), Value::Text(source.clone())));
    let set = experiment.set.iter().chain(of_choice).cloned();
    let set: Vec<_> = set.chain(given).collect();
    let engines = [engine(experiment)];
    let reading = Reading {
        set: &set,
        ..reading(&engines)
    };
    Ok(File::read_with(&path, &reading)?)
}

/// The engine that makes the numbers of `experiment`.
fn engine(experiment: &Experiment) -> Engine {
    match experiment.label {
        Label::Predicted => Engine::Predict,
        Label::LinuxVt => Engine::Measure,
        _ => Engine::Simulate,
    }
}

/// What the experiment gives for the cells of its answers.
fn cells(
    paper: &Paper,
    experiment: &Experiment,
    file: &File,
    outcome: &TransportOutcome,
) -> anyhow::Result<Vec<Cell>> {
    let numbers = Numbers {
        experiment,
        file,
        outcome,
        runs: runs(outcome),
    };
    let mut cells = Vec::new();
    for answer in &experiment.answers {
        let found = numbers.found(answer)?;
        match &answer.gather {
            Gather::None => cells.extend(found.into_iter().map(|(_, cell)| cell)),
            Gather::Mean => cells.extend(gathered(found, |all| {
                let means: Option<Vec<f64>> =
                    all.iter().map(|(_, cell)| mean(&cell.values)).collect();
                mean(&means?)
            })),
            Gather::Spearman {
                over,
                table,
                column,
            } => {
                cells.extend(gathered(found, |all| {
                    let mut ours = Vec::new();
                    let mut printed = Vec::new();
                    for (point, cell) in all {
                        let row = swept_text(file, *point, over)?;
                        let expected = paper.expected.iter().find(|expected| {
                            expected.table == *table
                                && expected.column == *column
                                && expected.row == row
                        });
                        printed.push(expected?.value);
                        ours.push(mean(&cell.values)?);
                    }
                    spearman(&ours, &printed)
                }));
            }
        }
    }
    Ok(cells)
}

/// The cells of one place made one.
fn gathered(
    found: Vec<(usize, Cell)>,
    together: impl Fn(&[(usize, Cell)]) -> Option<f64>,
) -> Vec<Cell> {
    let mut places: Vec<Vec<(usize, Cell)>> = Vec::new();
    for one in found {
        let same = |other: &&mut Vec<(usize, Cell)>| {
            let first = &other[0].1;
            (&first.table, &first.row, &first.column) == (&one.1.table, &one.1.row, &one.1.column)
        };
        match places.iter_mut().find(same) {
            Some(place) => place.push(one),
            None => places.push(vec![one]),
        }
    }
    let cells = places.into_iter().filter_map(|all| {
        let values = vec![together(&all)?];
        let first = all.into_iter().next()?.1;
        Some(Cell { values, ..first })
    });
    cells.collect()
}

fn swept_text<'a>(file: &'a File, point: usize, key: &str) -> Option<&'a str> {
    let swept = file.points[point]
        .swept
        .iter()
        .find(|swept| swept.key == key);
    swept.map(|swept| swept.text.trim_matches('"'))
}

/// The repeats of each point that were run, by the point's name.
fn runs(outcome: &TransportOutcome) -> BTreeMap<String, BTreeSet<i64>> {
    let mut runs: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for row in outcome.flows.rows() {
        runs.entry(row.text("point").to_owned())
            .or_default()
            .extend(row.int("repeat"));
    }
    runs
}

struct Numbers<'a> {
    experiment: &'a Experiment,
    file: &'a File,
    outcome: &'a TransportOutcome,
    runs: BTreeMap<String, BTreeSet<i64>>,
}

impl Numbers<'_> {
    /// The cells of every point for `answer`, with the point's place.
    fn found(&self, answer: &Answer) -> anyhow::Result<Vec<(usize, Cell)>> {
        let mut cells = Vec::new();
        for at in 0..self.file.points.len() {
            let rows = answer.rows.at(|key, names| self.swept(key, names, at))?;
            let columns = answer.columns.at(|key, names| self.swept(key, names, at))?;
            for (row, of_row) in &rows {
                for (column, of_column) in &columns {
                    let value = of_row.or(*of_column).or(answer.value.as_ref());
                    let value = value.context("an answer without a value")?;
                    let values = self.values(value, at);
                    if !values.is_empty() {
                        let cell = Cell {
                            table: answer.table.clone(),
                            row: row.clone(),
                            column: column.clone(),
                            values,
                            is_judged: answer.is_judged,
                        };
                        cells.push((at, cell));
                    }
                }
            }
        }
        Ok(cells)
    }

    /// The name of the value that a swept key has at a point.
    fn swept(&self, key: &str, names: &[String], at: usize) -> anyhow::Result<String> {
        let Some(text) = swept_text(self.file, at, key) else {
            bail!("`{}` does not sweep `{key}`", self.file.name);
        };
        if names.is_empty() {
            return Ok(text.to_owned());
        }
        let mut axis: Vec<&str> = Vec::new();
        for point in 0..self.file.points.len() {
            let value = swept_text(self.file, point, key).unwrap_or_default();
            if !axis.contains(&value) {
                axis.push(value);
            }
        }
        ensure!(
            axis.len() == names.len(),
            "`{key}` has {} values and {} names",
            axis.len(),
            names.len()
        );
        let place = axis.iter().position(|value| *value == text);
        Ok(names[place.unwrap_or_default()].clone())
    }

    /// The value at a point, one for each repeat that was run.
    fn values(&self, value: &Expression, at: usize) -> Vec<f64> {
        let point = &self.file.points[at].id;
        if self.experiment.label == Label::Predicted {
            let look = |flow: &str, metric: &str, _| {
                let model = self.experiment.model.as_deref().unwrap_or_default();
                let rows = self.outcome.predictions.rows();
                let mut rows = rows.filter(|row| row.text("point") == point);
                rows.find(|row| row.text("model") == model && row.text("flow") == flow)?
                    .float(metric)
            };
            return value.value(&look).into_iter().collect();
        }
        let repeats = self.runs.get(point).into_iter().flatten();
        let values = repeats.filter_map(|repeat| {
            value.value(&|flow, metric, between| match between {
                Some(between) => self.between(at, *repeat, flow, between),
                None => self.metric(point, *repeat, flow, metric),
            })
        });
        values.collect()
    }

    fn metric(&self, point: &str, repeat: i64, flow: &str, metric: &str) -> Option<f64> {
        let is_all = flow == "all";
        let table: &Table = if is_all {
            &self.outcome.groups
        } else {
            &self.outcome.flows
        };
        let mut rows = table.rows().filter(|row| {
            row.text("point") == point
                && row.int("repeat") == Some(repeat)
                && (is_all || row.text("flow") == flow)
        });
        rows.next()?.float(metric)
    }

    /// Megabits a second of payload acknowledged between two instants of a traced run.
    fn between(&self, at: usize, repeat: i64, flow: &str, (from, to): (f64, f64)) -> Option<f64> {
        let traces = &self.outcome.traces;
        let trace = traces.iter().find(|one| {
            one.at == at && i64::from(one.repeat) == repeat && one.trace.entity == flow
        })?;
        let Samples::Flow(samples) = &trace.trace.samples else {
            return None;
        };
        let acked = |until: f64| {
            let before = samples
                .iter()
                .take_while(|sample| sample.time.as_secs_f64() <= until);
            before.last().map_or(0, |sample| sample.bytes_acked)
        };
        Some((acked(to) - acked(from)) as f64 * 8e-6 / (to - from))
    }
}
