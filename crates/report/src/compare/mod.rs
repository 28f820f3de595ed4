//! Several run folders in one report: every metric of their summaries side by side.
//!
//! Rows are matched by engine, swept parameters, entity and metric, whatever their points are
//! called; there is one comparison for each engine, and the first run is the reference. A parameter
//! that only some runs sweep is none of what is matched: where it has one value it is left out,
//! where it has several each is a column of its own. Runs that sweep nothing in common, such as a
//! sweep and the import of its points, are matched by the names of points where some are the same.
//! Runs whose scenarios differ are compared as well, with a warning, because that is often the
//! question.
//!
//! Runs that have no engine in common, such as a measured and a simulated one, are matched whatever
//! their engines are: each stands with the most real one that it has, under that one's label.
//!
//! Where a `summary` names systems (columns `system` and `label`: generators on one machine, the
//! devices of a paper), each is a column of its own: the runs of several machines become one table
//! of all their systems. Each is compared with the same system of the first run. Columns of one run
//! are not compared with each other.
//!
//! Runs of subjects that have no metrics in a `summary` (networks of routers, placements,
//! estimates) are compared by the numbers of their tables.

mod align;
mod difference;
mod engines;
mod furthest;
mod over_time;
mod points;
mod references;
mod run;
mod sides;
mod tables;

use crate::comparison;
use crate::comparison::{BOUNDS, Comparison, Source};
use crate::run_folder::{RunFolderError, info_of, read_tables};
use crate::units;
use crate::{Block, Note, NoteKind, Provenance, Report, Section};
use align::align;
use difference::{answer, differences, reference_name};
use engines::label_of;
use furthest::furthest;
use run::KEYS;
use sides::sides;
use std::path::PathBuf;
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::{Cell, Column, Table};

pub use difference::{Difference, Verdict, judge};
pub use run::Run;

/// Reads the run folders `paths`, whose names are those of the folders.
///
/// Where none has a `summary` of metrics, each gets one of the numbers of its tables.
///
/// # Errors
///
/// One is missing, no run folder, or damaged.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Run>, RunFolderError> {
    let (mut runs, mut tables) = (Vec::new(), Vec::new());
    for path in paths {
        let info = info_of(path)?;
        let own = read_tables(path)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        let mut summaries = own.iter().filter(|table| table.name() == "summary");
        runs.push(Run {
            name: name.to_string_lossy().into_owned(),
            info,
            summary: summaries.find(|table| tables::has_metrics(table)).cloned(),
            folder: Some(path.clone()),
        });
        tables.push(own);
    }
    if runs.iter().all(|run| run.summary.is_none()) {
        tables::fill(&mut runs, &tables);
    }
    Ok(runs)
}

/// The runs side by side as a table: a column with the mean of each side.
pub fn table(runs: &[Run]) -> Table {
    let sides = sides(runs);
    let mut columns: Vec<Column> = KEYS.iter().map(|key| Column::new(*key, Text)).collect();
    columns.extend(
        sides
            .iter()
            .map(|side| Column::new(side.title.clone(), Float)),
    );
    let mut table = Table::new("comparison", columns);
    for (key, values) in align(runs, &sides) {
        let cells = key.into_iter().map(Cell::from);
        let values = values
            .into_iter()
            .map(|value| Cell::from(value.map(|value| value.value)));
        table
            .push(cells.chain(values).collect())
            .expect("the table has a column for each key and each side");
    }
    table
}

/// The report that sets `runs` side by side; numbers that differ by no more than `bound` are alike.
pub fn compare(runs: &[Run], bound: f64) -> Report {
    let sides = sides(runs);
    let rows = align(runs, &sides);
    let mut engines: Vec<String> = Vec::new();
    for (key, _) in &rows {
        if !engines.contains(&key[0]) {
            engines.push(key[0].clone());
        }
    }
    let comparisons = engines.iter().map(|engine| {
        // Numbers whose label nobody knows are not shown under another's.
        let Some(label) = label_of(engine) else {
            return warning(if engine.is_empty() {
                "Numbers of no engine are not compared.".to_owned()
            } else {
                format!("`{engine}` is not an engine; its rows are not compared.")
            });
        };
        let of_engine = rows.iter().filter(|(key, _)| key[0] == *engine);
        let shown = references::shown(&sides, &rows, engine);
        let place = |at: usize| shown.iter().position(|other| *other == at);
        let references = shown
            .iter()
            .map(|at| references::reference(&sides, &shown, *at).and_then(place));
        let references: Vec<Option<usize>> = references.collect();
        let reference = references.iter().copied().flatten().min();
        let sources = shown.iter().zip(references).map(|(at, against)| {
            let side = &sides[*at];
            let source = Source::new(side.label.unwrap_or(label), &side.title);
            match against.filter(|_| against != reference) {
                Some(against) => source.against(against),
                None => source,
            }
        });
        Block::Comparison(Comparison {
            title: engine.clone(),
            caption: String::new(),
            keys: ["point", "model", "entity", "metric"]
                .map(String::from)
                .to_vec(),
            sources: sources.collect(),
            reference,
            bounds: (bound, BOUNDS.1.max(bound)),
            rows: of_engine
                .map(|(key, values)| comparison::Row {
                    keys: [&key[1..4], &[units::spoken(&key[4])]].concat(),
                    unit: key[5].clone(),
                    values: shown.iter().map(|at| values[*at]).collect(),
                    verdict: None,
                })
                .collect(),
        })
    });
    let all = differences(&sides, &rows);
    let mut blocks: Vec<_> = warnings(runs).collect();
    blocks.extend(furthest(reference_name(runs, &sides, &all), &sides, &all).map(Block::Dots));
    blocks.extend(comparisons);
    let names: Vec<_> = runs.iter().map(|run| run.name.as_str()).collect();
    let facts = runs
        .iter()
        .map(|run| (run.name.clone(), run.info.command.join(" ")));
    Report {
        title: names.join(", "),
        question: "What differs between these runs?".to_owned(),
        answer: answer(runs, &sides, &all, bound),
        highlights: Vec::new(),
        sections: [Section {
            heading: "Runs compared".to_owned(),
            text: String::new(),
            blocks,
        }]
        .into_iter()
        .chain(over_time::section(runs))
        .collect(),
        provenance: Provenance {
            facts: facts.collect(),
            scenario: String::new(),
        },
    }
}

fn warnings(runs: &[Run]) -> impl Iterator<Item = Block> {
    let differs = runs
        .windows(2)
        .any(|pair| pair[0].info.scenario_text != pair[1].info.scenario_text);
    let differs = differs.then(|| "The runs are of different scenarios.".to_owned());
    let partial = runs.iter().filter(|run| run.info.interrupted);
    let partial = partial.map(|run| format!("`{}` was interrupted and is partial.", run.name));
    let missing = runs.iter().filter(|run| run.summary.is_none());
    let missing = missing.map(|run| format!("`{}` has no `summary` of metrics.", run.name));
    let texts = differs.into_iter().chain(partial).chain(missing);
    texts.map(warning)
}

fn warning(text: String) -> Block {
    let kind = NoteKind::Warning;
    Block::Note(Note { kind, text })
}

#[cfg(test)]
mod tests;
