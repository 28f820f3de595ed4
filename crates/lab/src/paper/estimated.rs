//! An experiment of a paper that estimates functions: lists of operations, on a machine, by frame size.
//!
//! Its answers speak of functions by name, `_` standing for `-`: `basic.cycles`, `bng_access.accesses`, `basic.link_mpps`. Where
//! rows or columns sweep `frame`, each frame size is a point; otherwise the first counts.

use super::Paper;
use super::experiment::Cell;
use super::spec::{Answer, Estimated, Experiment, Names};
use anyhow::{Context, bail, ensure};
use trammel_core::table::CellType::{Float, Text};
use trammel_core::table::Table;
use trammel_cost::estimate::{Estimate, Load, Ports, estimate};
use trammel_cost::function;

use super::expression::Expression;

/// What is known of a function at a frame size.
struct Found {
    function: String,
    frame: f64,
    estimate: Estimate,
}

/// What is read from an estimate.
type Metric = fn(&Estimate) -> Option<f64>;

/// The metrics of an estimate, by their names.
const METRICS: &[(&str, Metric)] = &[
    ("cycles", |e| Some(e.cycles.centre)),
    ("accesses", |e| Some(e.accesses)),
    ("mpps", |e| Some(e.rate().pps / 1e6)),
    ("cpu_mpps", |e| Some(e.cpu_pps() / 1e6)),
    ("link_mpps", |e| limit(e, "link")),
    ("memory_mpps", |e| limit(e, "memory")),
];

fn limit(estimate: &Estimate, what: &str) -> Option<f64> {
    let found = estimate.limits.iter().find(|limit| limit.what == what);
    Some(found?.pps / 1e6)
}

/// Estimates, and takes the cells of the experiment's answers.
pub(super) fn run(
    paper: &Paper,
    experiment: &Experiment,
    wanted: &Estimated,
) -> anyhow::Result<(Vec<Cell>, Table)> {
    ensure!(!wanted.frames.is_empty(), "`frames` is empty");
    let machine = crate::machines::find(&wanted.machine)?;
    let path = paper.dir.join(&wanted.functions);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let functions = function::read(&text, &machine.profile)
        .map_err(|faults| anyhow::anyhow!("{}: {}", path.display(), faults.join("\n")))?;
    let mut all = Vec::new();
    for frame in &wanted.frames {
        for function in &functions {
            let load = Load {
                frame: *frame,
                cores: wanted.cores,
                remote: wanted.remote,
                ports: Ports {
                    count: wanted.ports,
                    bits_per_s: wanted.gbps * 1e9,
                },
                ..Load::default()
            };
            all.push(Found {
                function: function.name.clone(),
                frame: *frame,
                estimate: estimate(function, &machine, &load)?,
            });
        }
    }
    let mut cells = Vec::new();
    for answer in &experiment.answers {
        cells.extend(cells_of(answer, wanted, &all)?);
    }
    Ok((cells, table(&machine.full_name(), &all)))
}

fn table(machine: &str, all: &[Found]) -> Table {
    let mut columns = vec![
        ("machine", Text),
        ("function", Text),
        ("frame_bytes", Float),
    ];
    columns.extend(METRICS.iter().map(|(name, _)| (*name, Float)));
    let mut table = Table::with("functions", &columns);
    for found in all {
        let mut row = vec![
            machine.into(),
            found.function.as_str().into(),
            found.frame.into(),
        ];
        row.extend(METRICS.iter().map(|(_, of)| of(&found.estimate).into()));
        table.push(row).expect("a cell for each column");
    }
    table
}

fn cells_of(answer: &Answer, wanted: &Estimated, all: &[Found]) -> anyhow::Result<Vec<Cell>> {
    let is_swept = |names: &Names| matches!(names, Names::Swept(..));
    let points = if is_swept(&answer.rows) || is_swept(&answer.columns) {
        wanted.frames.len()
    } else {
        1
    };
    let mut cells = Vec::new();
    for at in 0..points {
        let frame = wanted.frames[at];
        let look = |function: &str, metric: &str, _: Option<(f64, f64)>| {
            let (_, of) = METRICS.iter().find(|(name, _)| *name == metric)?;
            let same = |found: &&Found| {
                found.function.replace('-', "_") == function && found.frame == frame
            };
            of(&all.iter().find(same)?.estimate)
        };
        for (row, of_row) in named(&answer.rows, wanted, at)? {
            for (column, of_column) in named(&answer.columns, wanted, at)? {
                let value = of_row.or(of_column).or(answer.value.as_ref());
                let value = value.context("an answer without a value")?.value(&look);
                let Some(value) = value else { continue };
                cells.push(Cell {
                    table: answer.table.clone(),
                    row: row.clone(),
                    column,
                    values: vec![value],
                    is_judged: answer.is_judged,
                });
            }
        }
    }
    Ok(cells)
}

/// The rows or columns of a point.
fn named<'a>(
    names: &'a Names,
    wanted: &Estimated,
    at: usize,
) -> anyhow::Result<Vec<(String, Option<&'a Expression>)>> {
    Ok(match names {
        Names::One(name) => vec![(name.clone(), None)],
        Names::Each(each) => each
            .iter()
            .map(|(name, value)| (name.clone(), Some(value)))
            .collect(),
        Names::Swept(key, names) if key == "frame" => match names.get(at) {
            Some(name) => vec![(name.clone(), None)],
            None if names.is_empty() => vec![(wanted.frames[at].to_string(), None)],
            None => bail!("{} frames and {} names", wanted.frames.len(), names.len()),
        },
        Names::Swept(key, _) => bail!("an estimate sweeps `frame`, not `{key}`"),
    })
}
