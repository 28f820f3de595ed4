//! Several run folders in one report: every metric of their summaries side by side.
//!
//! Rows are matched by engine, swept parameters, entity and metric, whatever their points are
//! called; there is one comparison for each engine, and the first run is the reference. A parameter
//! that only some runs sweep is none of what is matched: where it has one value it is left out,
//! where it has several each is a column of its own. Runs whose scenarios differ are compared as
//! well, with a warning, because that is often the question.
//!
//! Runs that have no engine in common, such as a measured and a simulated one, are matched whatever
//! their engines are: each stands with the most real one that it has, under that one's label.
//!
//! Where a `summary` names systems (columns `system` and `label`: generators on one machine, the
//! devices of a paper), each is a column of its own: the runs of several machines become one table
//! of all their systems.

mod over_time;

use crate::comparison;
use crate::comparison::{BOUNDS, Comparison, Estimate, Source};
use crate::dots::{DotPlot, DotSeries};
use crate::run_folder::{RunFolderError, RunInfo, info_of, read_tables};
use crate::units;
use crate::{Answer, Block, Note, NoteKind, Provenance, Report, Section};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use trammel_core::label::Label;
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::{Cell, Column, Row, Table, format_float, round_to};

/// One run to compare.
#[derive(Clone, Debug)]
pub struct Run {
    /// The folder's name.
    pub name: String,
    /// Its `run.json`.
    pub info: RunInfo,
    /// Its `summary` table; nothing where the run made none.
    pub summary: Option<Table>,
    /// Where it is, for its traces; nothing for one that is in memory alone.
    pub folder: Option<PathBuf>,
}

impl Run {
    /// Reads the run folder `path`.
    pub fn read(path: &Path) -> Result<Run, RunFolderError> {
        let info = info_of(path)?;
        let tables = read_tables(path)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Run {
            name: name.to_string_lossy().into_owned(),
            info,
            summary: tables.into_iter().find(|table| table.name() == "summary"),
            folder: Some(path.to_owned()),
        })
    }
}

/// Digits of a number on the terminal.
const SHOWN_DIGITS: usize = 6;

/// What tells rows of `summary` apart.
const KEYS: [&str; 6] = ["engine", "point", "model", "entity", "metric", "unit"];

/// Engine, point, model, entity, metric and unit of a row of `summary`.
type Key = [String; 6];

/// The columns of a run's `summary` that are swept parameters: those between the point and what a
/// row is of.
fn swept(run: &Run) -> Vec<&str> {
    let columns = run.summary.iter().flat_map(Table::columns);
    let names = columns.map(|column| column.name.as_str());
    let behind = names.skip_while(|name| *name != "point").skip(1);
    behind
        .take_while(|name| !KEYS.contains(name) && !["system", "label"].contains(name))
        .collect()
}

/// What tells the points of a run apart, beside its name.
#[derive(Clone, Debug, Default)]
struct Parameters<'a> {
    /// Those that all runs sweep: rows are matched by them.
    shared: Vec<&'a str>,
    /// Those of this run alone that have several values: a column for each.
    own: Vec<&'a str>,
    /// Whether this run sweeps something that not all do.
    has_others: bool,
}

impl<'a> Parameters<'a> {
    /// Those of each run.
    fn of(runs: &'a [Run]) -> Vec<Parameters<'a>> {
        let all: Vec<Vec<&str>> = runs.iter().map(swept).collect();
        let is_shared = |name: &&str| all.iter().all(|names| names.contains(name));
        let of_run = |(run, names): (&'a Run, &Vec<&'a str>)| {
            let (shared, others): (Vec<_>, Vec<_>) = names.iter().copied().partition(is_shared);
            let has_several = |name: &&str| {
                let rows = run.summary.iter().flat_map(Table::rows);
                let values = rows.map(|row| row.get(name).map(ToString::to_string));
                values.collect::<BTreeSet<_>>().len() > 1
            };
            Parameters {
                shared,
                has_others: !others.is_empty(),
                own: others.into_iter().filter(has_several).collect(),
            }
        };
        runs.iter().zip(&all).map(of_run).collect()
    }

    /// By what rows of several runs are one: the shared parameters, or where nobody sweeps any, the
    /// point's name.
    fn matched(&self, is_swept: bool, row: Row<'_>) -> String {
        if is_swept {
            named(&self.shared, row)
        } else {
            text(row, "point")
        }
    }

    /// What a row's point is called.
    fn point(&self, row: Row<'_>) -> String {
        match (self.has_others, self.shared.is_empty()) {
            (false, _) => text(row, "point"),
            (true, true) => "base".to_owned(),
            (true, false) => named(&self.shared, row),
        }
    }
}

/// `name=value` of some columns of a row.
fn named(names: &[&str], row: Row<'_>) -> String {
    let all = names
        .iter()
        .map(|name| format!("{name}={}", text(row, name)));
    all.collect::<Vec<_>>().join(",")
}

fn text(row: Row<'_>, name: &str) -> String {
    row.get(name).map(ToString::to_string).unwrap_or_default()
}

/// The engines that stand side by side where the runs have none in common.
#[derive(Clone, Debug, Default)]
struct Crossed {
    /// That of each run; empty where the runs have an engine in common.
    of_runs: Vec<String>,
    /// What their rows are called.
    name: String,
}

impl Crossed {
    fn of(runs: &[Run]) -> Crossed {
        let all: Vec<BTreeSet<String>> = runs.iter().map(engines).collect();
        let is_common = |one: &String| all.iter().all(|engines| engines.contains(one));
        let has_common = all.iter().flatten().any(is_common);
        let has_one =
            |own: &BTreeSet<String>| own.iter().any(|one| Label::of_engine(one).is_some());
        if has_common || all.len() < 2 || !all.iter().all(has_one) {
            return Crossed::default();
        }
        // What was seen of real packets comes before what was computed.
        let rank = |engine: &&String| match Label::of_engine(engine) {
            Some(Label::Measured) => 0,
            Some(Label::LinuxVt) => 1,
            Some(Label::Simulated) => 2,
            Some(_) => 3,
            None => 4,
        };
        let most_real = |engines: &BTreeSet<String>| {
            let first = engines.iter().min_by_key(rank);
            first.cloned().unwrap_or_default()
        };
        let of_runs: Vec<String> = all.iter().map(most_real).collect();
        let mut names: Vec<&str> = Vec::new();
        for engine in &of_runs {
            if !names.contains(&engine.as_str()) {
                names.push(engine);
            }
        }
        let name = names.join(AND);
        Crossed { of_runs, name }
    }

    /// What a row of run `at` is matched by in place of its `engine`.
    fn engine(&self, at: usize, engine: String) -> String {
        match self.of_runs.get(at) {
            Some(own) if *own == engine => self.name.clone(),
            _ => engine,
        }
    }

    /// The label under which a row of run `at` stands, where engines are crossed.
    fn label(&self, at: usize, engine: &str) -> Option<Label> {
        self.of_runs.get(at).and(Label::of_engine(engine))
    }
}

/// Between the names of engines that stand side by side.
const AND: &str = ", ";

/// The engines of a run's numbers.
fn engines(run: &Run) -> BTreeSet<String> {
    let rows = run.summary.iter().flat_map(Table::rows);
    rows.map(|row| text(row, "engine")).collect()
}

/// The label of the first of `engine`'s names; nothing where one of them is no engine.
fn label_of(engine: &str) -> Option<Label> {
    let labels: Option<Vec<Label>> = engine.split(AND).map(Label::of_engine).collect();
    labels.and_then(|labels| labels.first().copied())
}

/// A row of `summary` with the number of each side.
type Aligned = (Key, Vec<Option<Estimate>>);

/// What stands in a column: a run, or where its `summary` names systems, one of these. What was
/// published is the same in every run that shows it, and stands once.
#[derive(Clone, Debug)]
struct Side {
    name: String,
    /// Its column's name, which no other column has.
    title: String,
    /// Its own label, where a row tells it; otherwise its engine's.
    label: Option<Label>,
}

impl Side {
    fn of(
        (at, run): (usize, &Run),
        crossed: &Crossed,
        parameters: &Parameters<'_>,
        row: Row<'_>,
    ) -> Side {
        let told = Label::of_engine(&text(row, "label"));
        let label = told.or_else(|| crossed.label(at, &text(row, "engine")));
        let run_name = if parameters.own.is_empty() {
            run.name.clone()
        } else {
            format!("{}: {}", run.name, named(&parameters.own, row))
        };
        let name = match (text(row, "system"), label) {
            (system, _) if system.is_empty() => run_name,
            (system, Some(Label::Published)) => system,
            (system, _) => format!("{run_name}: {system}"),
        };
        Side::new(name, label)
    }

    fn new(name: String, label: Option<Label>) -> Side {
        let title = name.clone();
        Side { name, title, label }
    }

    fn is(&self, other: &Side) -> bool {
        (&self.name, self.label) == (&other.name, other.label)
    }
}

/// All sides: of each run in turn, then what was published.
fn sides(runs: &[Run]) -> Vec<Side> {
    let (mut own, mut published) = (Vec::new(), Vec::new());
    let crossed = Crossed::of(runs);
    for (run, parameters) in runs.iter().enumerate().zip(Parameters::of(runs)) {
        let before = own.len();
        for row in run.1.summary.iter().flat_map(Table::rows) {
            let side = Side::of(run, &crossed, &parameters, row);
            let all = match side.label {
                Some(Label::Published) => &mut published,
                _ => &mut own,
            };
            if !all.iter().any(|other: &Side| other.is(&side)) {
                all.push(side);
            }
        }
        // A run without a number has its column as well.
        if own.len() == before {
            own.push(Side::new(run.1.name.clone(), None));
        }
    }
    own.extend(published);
    let mut taken = KEYS.map(String::from).to_vec();
    for side in &mut own {
        let mut number = 2;
        while taken.contains(&side.title) {
            side.title = format!("{} ({number})", side.name);
            number += 1;
        }
        taken.push(side.title.clone());
    }
    own
}

/// The rows of all runs, in the order in which the first run that has them lists them.
fn align(runs: &[Run], sides: &[Side]) -> Vec<Aligned> {
    let all = Parameters::of(runs);
    let is_swept = all
        .iter()
        .any(|parameters| parameters.has_others || !parameters.shared.is_empty());
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let mut rows: Vec<Aligned> = Vec::new();
    let crossed = Crossed::of(runs);
    for (run, parameters) in runs.iter().enumerate().zip(&all) {
        for row in run.1.summary.iter().flat_map(Table::rows) {
            let key = |point: String| {
                let mut key = KEYS.map(|name| text(row, name));
                key[0] = crossed.engine(run.0, text(row, "engine"));
                key[1] = point;
                key
            };
            let place = places
                .entry(key(parameters.matched(is_swept, row)))
                .or_insert_with(|| {
                    rows.push((key(parameters.point(row)), vec![None; sides.len()]));
                    rows.len() - 1
                });
            let side = Side::of(run, &crossed, parameters, row);
            let at = sides.iter().position(|other| other.is(&side));
            let Some(at) = at else { continue };
            rows[*place].1[at] = row.float("mean").map(|value| Estimate {
                value,
                interval: row.float("ci_low").zip(row.float("ci_high")),
            });
        }
    }
    rows
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
        // A system has numbers of one engine only; a run stands in all comparisons.
        let has_number = |at: &usize| {
            let mut values = of_engine.clone().map(|(_, values)| values[*at]);
            sides[*at].label.is_none() || values.any(|value| value.is_some())
        };
        let shown: Vec<usize> = (0..sides.len()).filter(has_number).collect();
        let sources = shown.iter().map(|at| {
            let side = &sides[*at];
            Source::new(side.label.unwrap_or(label), &side.title)
        });
        Block::Comparison(Comparison {
            title: engine.clone(),
            caption: String::new(),
            keys: ["point", "model", "entity", "metric"]
                .map(String::from)
                .to_vec(),
            sources: sources.collect(),
            reference: Some(0),
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
    let all = differences(&rows);
    let mut blocks: Vec<_> = warnings(runs).collect();
    blocks.extend(furthest(&sides, &all).map(Block::Dots));
    blocks.extend(comparisons);
    let names: Vec<_> = runs.iter().map(|run| run.name.as_str()).collect();
    let facts = runs
        .iter()
        .map(|run| (run.name.clone(), run.info.command.join(" ")));
    Report {
        title: names.join(", "),
        question: "What differs between these runs?".to_owned(),
        answer: answer(&sides, &all, bound),
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

/// A metric of the first run beside that of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Engine, point, model, entity, metric and unit.
    pub key: [String; 6],
    /// The other's place among the sides.
    side: usize,
    /// The first run's number.
    pub first: f64,
    /// The other's; nothing where it has none.
    pub other: Option<f64>,
}

impl Difference {
    /// How far the other is from the first, as a share of the first.
    pub fn share(&self) -> f64 {
        match self.other {
            Some(other) if other == self.first => 0.0,
            Some(other) => (other - self.first).abs() / self.first.abs(),
            None => f64::INFINITY,
        }
    }
}

/// Each metric of the first run beside the others' of the same engine.
fn differences(rows: &[Aligned]) -> Vec<Difference> {
    let mut all = Vec::new();
    for (key, values) in rows {
        let Some(first) = values.first().copied().flatten() else {
            continue;
        };
        if label_of(&key[0]).is_none() {
            continue;
        }
        // Programs of different kinds know different things.
        let is_crossed = key[0].contains(AND);
        for (side, other) in values.iter().enumerate().skip(1) {
            if is_crossed && other.is_none() {
                continue;
            }
            all.push(Difference {
                key: key.clone(),
                side,
                first: first.value,
                other: other.map(|other| other.value),
            });
        }
    }
    all
}

/// The metrics that lie furthest from the first run's, each a row, each other side a mark: by how
/// many per cent.
fn furthest(sides: &[Side], all: &[Difference]) -> Option<DotPlot> {
    const MOST: usize = 24;
    let percent = |one: &Difference| {
        let percent = (one.other? - one.first) / one.first.abs() * 100.0;
        percent.is_finite().then_some(percent)
    };
    // Those of one metric stand together.
    let of_metrics = all.chunk_by(|a, b| a.key == b.key);
    let sized = of_metrics.map(|of| {
        let sizes = of.iter().filter_map(percent).map(f64::abs);
        (of, sizes.fold(0.0, f64::max))
    });
    let mut rows: Vec<(&[Difference], f64)> = sized.filter(|(_, size)| *size > 0.0).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    rows.truncate(MOST);
    let first_key = &rows.first()?.0[0].key;
    let several_engines = rows.iter().any(|(of, _)| of[0].key[0] != first_key[0]);
    let name = |key: &[String; 6]| {
        let metric = units::spoken(&key[4]);
        let parts = [key[1].as_str(), &key[2], &key[3], &metric];
        let engine = several_engines.then_some(key[0].as_str());
        let parts = parts.into_iter().chain(engine);
        // A run of one point calls it so.
        let parts = parts.filter(|part| !part.is_empty() && *part != "base");
        parts.collect::<Vec<_>>().join(", ")
    };
    let label = |side: &Side| side.label.or_else(|| label_of(&first_key[0]));
    let series = sides.iter().enumerate().skip(1).filter_map(|(at, side)| {
        let value = |of: &[Difference]| of.iter().find(|one| one.side == at).and_then(percent);
        Some(DotSeries {
            name: side.title.clone(),
            label: label(side)?,
            values: rows.iter().map(|(of, _)| value(of)).collect(),
        })
    });
    let first = sides.first()?;
    Some(DotPlot {
        id: "differences".to_owned(),
        title: format!("Largest differences from {}", first.title),
        unit: "%".to_owned(),
        rows: rows.iter().map(|(of, _)| name(&of[0].key)).collect(),
        series: series.collect(),
    })
}

/// What a person at a terminal, or a script, learns of `runs`.
#[derive(Debug)]
pub struct Verdict {
    /// Metrics that both runs of a pair have.
    pub compared: usize,
    /// Metrics that lie further apart than the bound, the furthest first; those that a run lacks
    /// are the last.
    pub apart: Vec<Difference>,
    /// The names of the sides.
    titles: Vec<String>,
}

/// Which metrics of `runs` lie within `bound` of the first run's.
pub fn judge(runs: &[Run], bound: f64) -> Verdict {
    let sides = sides(runs);
    // What was published is shown beside the runs, and is no run.
    let is_run = |side: usize| sides[side].label != Some(Label::Published);
    let all = differences(&align(runs, &sides));
    let all: Vec<_> = all.into_iter().filter(|one| is_run(one.side)).collect();
    let compared = all.iter().filter(|one| one.other.is_some()).count();
    let mut apart: Vec<_> = all.into_iter().filter(|one| one.share() > bound).collect();
    apart.sort_by(|one, other| {
        let lacks = one.other.is_none().cmp(&other.other.is_none());
        lacks.then_with(|| other.share().total_cmp(&one.share()))
    });
    Verdict {
        compared,
        apart,
        titles: sides.into_iter().map(|side| side.title).collect(),
    }
}

impl Verdict {
    /// The `most` metrics that lie furthest apart, a line each.
    pub fn table(&self, most: usize) -> Table {
        let mut columns: Vec<Column> = KEYS.iter().map(|key| Column::new(*key, Text)).collect();
        for (name, kind) in [
            ("run", Text),
            ("first", Float),
            ("this", Float),
            ("difference_percent", Float),
        ] {
            columns.push(Column::new(name, kind));
        }
        let mut table = Table::new("apart", columns);
        for one in self.apart.iter().take(most) {
            let percent = one.other.map(|other| {
                let percent = (other - one.first) / one.first.abs() * 100.0;
                (percent * 10.0).round() / 10.0
            });
            let cells = one.key.iter().map(|text| Cell::from(text.as_str()));
            let cells = cells.chain([
                self.titles[one.side].as_str().into(),
                round_to(one.first, SHOWN_DIGITS).into(),
                one.other.map(|other| round_to(other, SHOWN_DIGITS)).into(),
                percent.filter(|percent| percent.is_finite()).into(),
            ]);
            table
                .push(cells.collect())
                .expect("the row has a cell for each column");
        }
        table
    }
}

/// How many metrics of later runs lie within the bound of the first run's.
fn answer(sides: &[Side], all: &[Difference], bound: f64) -> Answer {
    let both = all.iter().filter(|one| one.other.is_some());
    let near = both.clone().filter(|one| one.share() <= bound).count();
    let all = both.count();
    let reference = sides.first().map_or("", |side| side.title.as_str());
    if all == 0 {
        return Answer {
            sentence: "The runs have no metric in common, so nothing is compared.".to_owned(),
            ..Answer::default()
        };
    }
    let bound = format_float(bound * 100.0, 4);
    Answer {
        number: format!("{near} of {all}"),
        sentence: format!("{near} of {all} metrics are within {bound} % of those of {reference}."),
        label: None,
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
        let report = compare(&[first, second], BOUNDS.0);
        let [Block::Dots(plot), Block::Comparison(comparison)] = &report.sections[0].blocks[..]
        else {
            panic!("one engine, no warnings");
        };
        assert_eq!(plot.rows, ["p=0.1, cubic, goodput"]);
        assert_eq!(plot.series[0].values, [Some(10.0)]);
        assert_eq!(comparison.rows.len(), 1);
        assert_eq!(comparison.error(&comparison.rows[0], 1), Some(0.1));
        assert_eq!(report.answer.number, "0 of 1");
    }

    #[test]
    fn runs_without_a_common_engine_are_matched_under_their_own_labels() {
        let parent = tempfile::tempdir().unwrap();
        let simulated = run(&parent.path().join("simulated"), "same", 100.0);
        let mut measured = run(&parent.path().join("measured"), "same", 90.0);
        let summary = measured.summary.as_mut().unwrap();
        let mut other = Table::new("summary", summary.columns().to_vec());
        for row in summary.rows() {
            let mut cells = row.cells().to_vec();
            cells[0] = "measure".into();
            other.push(cells).unwrap();
        }
        measured.summary = Some(other);
        let runs = [measured, simulated];
        let report = compare(&runs, BOUNDS.0);
        let comparison = report.sections[0]
            .blocks
            .iter()
            .find_map(|block| match block {
                Block::Comparison(comparison) => Some(comparison),
                _ => None,
            });
        let comparison = comparison.unwrap();
        assert_eq!(comparison.title, "measure, simulate");
        let labels: Vec<Label> = comparison.sources.iter().map(|it| it.label).collect();
        assert_eq!(labels, [Label::Measured, Label::Simulated]);
        assert_eq!(judge(&runs, 0.05).compared, 1);
        assert_eq!(table(&runs).len(), 1);
    }

    #[test]
    fn systems_have_columns_of_their_own_and_what_is_published_stands_once() {
        let parent = tempfile::tempdir().unwrap();
        let run = |name: &str, pps: f64| {
            let columns = ["engine", "point", "metric", "unit", "system", "label"];
            let mut columns: Vec<_> = columns.map(|name| (name, Text)).into();
            columns.push(("mean", Float));
            let mut summary = Table::with("summary", &columns);
            for (system, label, mean) in [
                ("Trammel", "measured", pps),
                ("Soekris", "published", 4331.0),
            ] {
                let texts = ["measure", "80000", "achieved", "packets/s", system, label];
                let cells = texts.iter().map(|text| (*text).into()).chain([mean.into()]);
                summary.push(cells.collect()).unwrap();
            }
            let mut out = RunFolder::create(parent.path().join(name)).unwrap();
            out.write_table(&summary).unwrap();
            Run::read(&out.finish(&RunInfo::default()).unwrap()).unwrap()
        };
        let runs = [run("one", 80_000.0), run("two", 40_000.0)];
        let report = compare(&runs, BOUNDS.0);
        let [Block::Dots(_), Block::Comparison(comparison)] = &report.sections[0].blocks[..] else {
            panic!("one engine, no warnings");
        };
        let sources: Vec<_> = comparison
            .sources
            .iter()
            .map(|it| (it.label, it.name.as_str()))
            .collect();
        let wanted = [
            (Label::Measured, "one: Trammel"),
            (Label::Measured, "two: Trammel"),
            (Label::Published, "Soekris"),
        ];
        assert_eq!(sources, wanted);
        assert_eq!(comparison.rows.len(), 1);
        assert_eq!(comparison.error(&comparison.rows[0], 1), Some(-0.5));
        assert_eq!(table(&runs).columns().len(), KEYS.len() + 3);
    }

    #[test]
    fn rows_are_matched_by_parameters_and_not_by_the_names_of_points() {
        let parent = tempfile::tempdir().unwrap();
        // Source and rate of each point, and its goodput.
        let run = |name: &str, swept: &[&'static str], points: &[(&[&str], f64)]| {
            let mut columns = vec![("engine", Text), ("point", Text)];
            columns.extend(swept.iter().map(|name| (*name, Text)));
            columns.extend(["entity", "metric", "unit"].map(|name| (name, Text)));
            columns.push(("mean", Float));
            let mut summary = Table::with("summary", &columns);
            for (values, mean) in points {
                let id = format!("{name}-{}", values.join("-"));
                let mut cells: Vec<Cell> = vec!["measure".into(), id.into()];
                cells.extend(values.iter().map(|value| Cell::from(*value)));
                cells.extend(["cubic", "goodput", "Mbit/s"].map(Cell::from));
                cells.push((*mean).into());
                summary.push(cells).unwrap();
            }
            let mut out = RunFolder::create(parent.path().join(name)).unwrap();
            out.write_table(&summary).unwrap();
            Run::read(&out.finish(&RunInfo::default()).unwrap()).unwrap()
        };
        let numbers = |runs: &[Run]| -> Vec<Vec<Option<f64>>> {
            align(runs, &sides(runs))
                .into_iter()
                .map(|(_, values)| values.into_iter().map(|one| Some(one?.value)).collect())
                .collect()
        };
        let old = run("old", &[], &[(&[], 100.0)]);
        let new = run("new", &["source"], &[(&["../linux"], 90.0)]);
        assert_eq!(numbers(&[old.clone(), new]), [[Some(100.0), Some(90.0)]]);
        let trees = [(&["packaged"][..], 100.0), (&["../linux"], 90.0)];
        let both = [old, run("both", &["source"], &trees)];
        let names: Vec<String> = sides(&both).into_iter().map(|side| side.name).collect();
        assert_eq!(
            names,
            ["old", "both: source=packaged", "both: source=../linux"]
        );
        assert_eq!(numbers(&both), [[Some(100.0), Some(100.0), Some(90.0)]]);
        // What both sweep is matched.
        let rates = [(&["1"][..], 1.0), (&["2"], 2.0)];
        let few = run("few", &["rate_bps"], &rates);
        let more = [(&["2", "a"][..], 20.0), (&["1", "a"], 10.0)];
        let more = run("more", &["rate_bps", "source"], &more);
        assert_eq!(
            numbers(&[few, more]),
            [[Some(1.0), Some(10.0)], [Some(2.0), Some(20.0)]]
        );
    }

    #[test]
    fn names_that_are_taken_are_numbered() {
        let parent = tempfile::tempdir().unwrap();
        // A folder may be called as a column is, and two systems of one name may have two labels.
        let engine = run(&parent.path().join("engine"), "same", 1.0);
        let columns = ["engine", "point", "metric", "unit", "system", "label"];
        let mut columns: Vec<_> = columns.map(|name| (name, Text)).into();
        columns.push(("mean", Float));
        let mut summary = Table::with("summary", &columns);
        for label in ["measured", "simulated"] {
            let texts = ["measure", "1", "rate", "pps", "S", label];
            let cells = texts.iter().map(|text| (*text).into()).chain([1.0.into()]);
            summary.push(cells.collect()).unwrap();
        }
        let two = Run {
            name: "two".to_owned(),
            info: RunInfo::default(),
            summary: Some(summary),
            folder: None,
        };
        let table = table(&[engine, two]);
        let names: Vec<_> = table.columns()[KEYS.len()..]
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        assert_eq!(names, ["engine (2)", "two: S", "two: S (2)"]);
    }

    #[test]
    fn a_verdict_names_what_lies_apart_and_what_a_run_lacks() {
        let parent = tempfile::tempdir().unwrap();
        let runs = [100.0, 104.0, 90.0].map(|mean| {
            let folder = parent.path().join(format!("of-{mean}"));
            run(&folder, "same", mean)
        });
        assert_eq!(judge(&runs[..2], 0.05).apart, []);
        let verdict = judge(&runs, 0.05);
        assert_eq!((verdict.compared, verdict.apart.len()), (2, 1));
        let table = verdict.table(9);
        let row = table.rows().next().unwrap();
        assert_eq!(row.text("run"), "of-90");
        assert_eq!(row.float("difference_percent"), Some(-10.0));
        let mut lacking = runs[1].clone();
        lacking.summary = None;
        let verdict = judge(&[runs[0].clone(), lacking], 0.05);
        assert_eq!((verdict.compared, verdict.apart.len()), (0, 1));
    }

    #[test]
    fn different_scenarios_are_said() {
        let parent = tempfile::tempdir().unwrap();
        let first = run(&parent.path().join("a"), "one", 1.0);
        let second = run(&parent.path().join("b"), "two", 1.0);
        let report = compare(&[first, second], BOUNDS.0);
        assert!(matches!(&report.sections[0].blocks[0], Block::Note(note)
            if note.text.contains("different scenarios")));
        assert!(Run::read(parent.path()).is_err(), "not a run folder");
    }
}
