//! Several run folders in one report: every metric of their summaries side by side.
//!
//! Rows are matched by engine, point, entity and metric; there is one comparison for each engine, and the
//! first run is the reference. Runs whose scenarios differ are compared as well, with a warning, because
//! that is often the question.

use crate::report::comparison::{BOUNDS, Comparison, Estimate, Row, Source};
use crate::report::label::Label;
use crate::report::{Answer, Block, Note, NoteKind, Provenance, Report, Section};
use crate::run_folder::{RunFolderError, RunInfo, read_info, read_tables};
use std::collections::BTreeMap;
use std::path::Path;
use trammel_core::table::CellType::{Float, Text};
use trammel_core::table::{Cell, Column, Table};

/// One run to compare.
#[derive(Clone, Debug)]
pub struct Run {
    /// The folder's name.
    pub name: String,
    /// Its `run.json`.
    pub info: RunInfo,
    /// Its `summary` table; nothing where the run made none.
    pub summary: Option<Table>,
}

impl Run {
    /// Reads the run folder `path`.
    pub fn read(path: &Path) -> Result<Run, RunFolderError> {
        let info = read_info(path).ok_or_else(|| RunFolderError::Foreign(path.to_owned()))?;
        let tables = read_tables(path)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Run {
            name: name.to_string_lossy().into_owned(),
            info,
            summary: tables.into_iter().find(|table| table.name() == "summary"),
        })
    }
}

/// What tells rows of `summary` apart.
const KEYS: [&str; 6] = ["engine", "point", "model", "entity", "metric", "unit"];

/// Engine, point, model, entity, metric and unit of a row of `summary`.
type Key = [String; 6];

/// A row of `summary` with the number of each run.
type Aligned = (Key, Vec<Option<Estimate>>);

/// The rows of all runs, in the order in which the first run that has them lists them.
fn align(runs: &[Run]) -> Vec<Aligned> {
    // Rows in the order in which the first run that has them lists them.
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let mut rows: Vec<Aligned> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        for row in run.summary.iter().flat_map(Table::rows) {
            let cell = |name| row.get(name).map(ToString::to_string).unwrap_or_default();
            let key = KEYS.map(cell);
            let place = *places.entry(key.clone()).or_insert_with(|| {
                rows.push((key, vec![None; runs.len()]));
                rows.len() - 1
            });
            rows[place].1[at] = row.float("mean").map(|value| Estimate {
                value,
                interval: row.float("ci_low").zip(row.float("ci_high")),
            });
        }
    }
    rows
}

/// The runs side by side as a table: a column with the mean of each run.
pub fn table(runs: &[Run]) -> Table {
    let mut columns: Vec<Column> = KEYS.iter().map(|key| Column::new(*key, Text)).collect();
    columns.extend(runs.iter().map(|run| Column::new(run.name.clone(), Float)));
    let mut table = Table::new("comparison", columns);
    for (key, values) in align(runs) {
        let cells = key.into_iter().map(Cell::from);
        let values = values
            .into_iter()
            .map(|value| Cell::from(value.map(|value| value.value)));
        table
            .push(cells.chain(values).collect())
            .expect("one column a key and a run");
    }
    table
}

/// The report that sets `runs` side by side.
pub fn compare(runs: &[Run]) -> Report {
    let rows = align(runs);
    let mut engines: Vec<String> = Vec::new();
    for (key, _) in &rows {
        if !engines.contains(&key[0]) {
            engines.push(key[0].clone());
        }
    }
    let comparisons = engines.iter().map(|engine| {
        // Numbers whose label nobody knows are not shown under another's.
        let Some(label) = Label::of_engine(engine) else {
            let text = format!("`{engine}` is no engine; its rows are not compared.");
            return warning(text);
        };
        let of_engine = rows.iter().filter(|(key, _)| key[0] == *engine);
        let sources = runs.iter().map(|run| Source {
            label,
            name: run.name.clone(),
        });
        Block::Comparison(Comparison {
            title: engine.clone(),
            caption: String::new(),
            keys: ["point", "model", "entity", "metric"]
                .map(String::from)
                .to_vec(),
            sources: sources.collect(),
            reference: Some(0),
            bounds: BOUNDS,
            rows: of_engine
                .map(|(key, values)| Row {
                    keys: key[1..5].to_vec(),
                    unit: key[5].clone(),
                    values: values.clone(),
                    verdict: None,
                })
                .collect(),
        })
    });
    let mut blocks: Vec<_> = warnings(runs).collect();
    blocks.extend(comparisons);
    let names: Vec<_> = runs.iter().map(|run| run.name.as_str()).collect();
    let facts = runs
        .iter()
        .map(|run| (run.name.clone(), run.info.command.join(" ")));
    Report {
        title: names.join(", "),
        question: "What differs between these runs?".to_owned(),
        answer: answer(runs, &rows),
        highlights: Vec::new(),
        sections: vec![Section {
            heading: "Runs side by side".to_owned(),
            text: String::new(),
            blocks,
        }],
        provenance: Provenance {
            facts: facts.collect(),
            scenario: String::new(),
        },
    }
}

/// How many metrics of later runs lie within the small bound of the first run's.
fn answer(runs: &[Run], rows: &[Aligned]) -> Answer {
    let (mut near, mut all) = (0, 0);
    for (key, values) in rows {
        let Some(first) = values.first().copied().flatten() else {
            continue;
        };
        for other in values[1..]
            .iter()
            .flatten()
            .filter(|_| Label::of_engine(&key[0]).is_some())
        {
            all += 1;
            let is_near = (other.value - first.value).abs() <= BOUNDS.0 * first.value.abs();
            near += usize::from(is_near);
        }
    }
    let reference = runs.first().map_or("", |run| run.name.as_str());
    Answer {
        number: format!("{near} of {all}"),
        sentence: format!("{near} of {all} metrics lie within 5 % of those of {reference}."),
        label: None,
    }
}

fn warnings(runs: &[Run]) -> impl Iterator<Item = Block> {
    let differs = runs
        .windows(2)
        .any(|pair| pair[0].info.scenario_text != pair[1].info.scenario_text);
    let differs = differs.then(|| "The runs are of different scenarios.".to_owned());
    let partial = runs.iter().filter(|run| run.info.interrupted);
    let partial = partial.map(|run| format!("`{}` was interrupted: it holds a part.", run.name));
    let missing = runs.iter().filter(|run| run.summary.is_none());
    let missing = missing.map(|run| format!("`{}` has no table `summary`.", run.name));
    let texts = differs.into_iter().chain(partial).chain(missing);
    texts.map(warning)
}

fn warning(text: String) -> Block {
    let kind = NoteKind::Warning;
    Block::Note(Note { kind, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::RunFolder;

    fn run(folder: &Path, scenario: &str, mean: f64) -> Run {
        let columns = [
            ("engine", Text),
            ("point", Text),
            ("entity", Text),
            ("metric", Text),
            ("unit", Text),
            ("mean", Float),
        ];
        let mut summary = Table::with("summary", &columns);
        let texts = ["simulate", "p=0.1", "cubic", "goodput", "Mbit/s"];
        let cells = texts.iter().map(|text| (*text).into()).chain([mean.into()]);
        summary.push(cells.collect()).unwrap();
        let mut out = RunFolder::create(folder).unwrap();
        out.write_table(&summary).unwrap();
        let scenario_text = scenario.to_owned();
        let info = RunInfo {
            scenario_text,
            ..RunInfo::default()
        };
        Run::read(&out.finish(&info).unwrap()).unwrap()
    }

    #[test]
    fn rows_are_matched_and_the_first_run_is_the_reference() {
        let parent = tempfile::tempdir().unwrap();
        let first = run(&parent.path().join("before"), "same", 100.0);
        let second = run(&parent.path().join("after"), "same", 110.0);
        let report = compare(&[first, second]);
        let [Block::Comparison(comparison)] = &report.sections[0].blocks[..] else {
            panic!("one engine, no warnings");
        };
        assert_eq!(comparison.rows.len(), 1);
        assert_eq!(comparison.error(&comparison.rows[0], 1), Some(0.1));
        assert_eq!(report.answer.number, "0 of 1");
    }

    #[test]
    fn different_scenarios_are_said() {
        let parent = tempfile::tempdir().unwrap();
        let first = run(&parent.path().join("a"), "one", 1.0);
        let second = run(&parent.path().join("b"), "two", 1.0);
        let report = compare(&[first, second]);
        assert!(matches!(&report.sections[0].blocks[0], Block::Note(note)
            if note.text.contains("different scenarios")));
        assert!(Run::read(parent.path()).is_err(), "not a run folder");
    }
}
