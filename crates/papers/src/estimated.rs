//! An experiment of a paper that estimates or measures functions on a machine, by frame size and
//! flows.
//!
//! Its answers speak of functions by name, `_` standing for `-`: `basic.cycles`,
//! `bng_access.accesses`, `basic.link_mpps`. Where rows or columns sweep `frame`, each frame size
//! is a point; otherwise the first counts.

use super::Paper;
use super::cell::Cell;
use super::spec::{Answer, Estimated, Experiment, Functions, Names};
use anyhow::{Context, anyhow, bail, ensure};
use trammel_cost::estimate::{Estimate, Ports};
use trammel_cost::machine::Machine;
use trammel_router::diagnostic;
use trammel_stats::table::CellType::{Float, Text};
use trammel_stats::table::Table;
use trammel_workbench::bench::{Bench, Refused};
use trammel_workbench::estimate::{Conditions, Error, Subject};
use trammel_workbench::measure::{Measured, measure};
use trammel_workbench::traffic;
use trammel_workbench::traffic::Traffic;
use trammel_workbench::{estimate, samples};

/// What is known of a function at a frame size.
struct Found {
    function: String,
    frame: f64,
    flows: f64,
    cost: Cost,
}

enum Cost {
    Estimated(Box<Estimate>),
    Measured(Measured),
}

/// What is read from an estimate, and from a measurement.
type Metric = (fn(&Estimate) -> Option<f64>, fn(&Measured) -> Option<f64>);

/// The metrics, by their names.
const METRICS: &[(&str, Metric)] = &[
    ("cycles", (|e| Some(e.cycles.centre), |m| Some(m.cycles))),
    ("accesses", (|e| Some(e.accesses), |_| None)),
    (
        "mpps",
        (|e| Some(e.rate().pps / 1e6), |m| Some(m.pps / 1e6)),
    ),
    (
        "cpu_mpps",
        (|e| Some(e.cpu_pps() / 1e6), |m| Some(m.pps / 1e6)),
    ),
    (
        "low_mpps",
        (
            |e| Some(e.cpu_pps() * e.cycles.centre / e.cycles.high / 1e6),
            |m| Some(m.pps / (1.0 + m.spread) / 1e6),
        ),
    ),
    (
        "high_mpps",
        (
            |e| Some(e.cpu_pps() * e.cycles.centre / e.cycles.low / 1e6),
            |m| Some(m.pps / 1e6),
        ),
    ),
    ("link_mpps", (|e| limit(e, "link"), |_| None)),
    ("memory_mpps", (|e| limit(e, "memory"), |_| None)),
];

fn limit(estimate: &Estimate, what: &str) -> Option<f64> {
    let found = estimate.limits.iter().find(|limit| limit.what == what);
    Some(found?.pps / 1e6)
}

impl Found {
    fn metric(&self, (of_estimate, of_measured): &Metric) -> Option<f64> {
        match &self.cost {
            Cost::Estimated(estimate) => of_estimate(estimate),
            Cost::Measured(measured) => of_measured(measured),
        }
    }
}

/// Estimates or measures, and takes the cells of the experiment's answers.
pub(super) fn run(
    paper: &Paper,
    experiment: &Experiment,
    wanted: &Estimated,
) -> anyhow::Result<(Vec<Cell>, Table)> {
    ensure!(!wanted.frames.is_empty(), "`frames` is empty");
    // A measurement needs no constant of the machine, but one that nobody calibrated nobody looked
    // at either.
    let machine = trammel_workbench::machines::find(&wanted.machine)?;
    let subjects = subjects(paper, wanted, &machine)?;
    let mut all = Vec::new();
    for frame in &wanted.frames {
        for flows in &wanted.flows {
            let under = conditions(wanted, *frame, *flows)?;
            for (name, subject) in &subjects {
                let cost = match subject {
                    Subject::Configuration(bench) if wanted.is_measured => {
                        Cost::Measured(measure(bench, &under.traffic).map_err(said)?)
                    }
                    _ => {
                        let at = subject.at(*frame, &machine, &under).map_err(told)?;
                        Cost::Estimated(Box::new(at.estimate))
                    }
                };
                all.push(Found {
                    function: name.clone(),
                    frame: *frame,
                    flows: *flows,
                    cost,
                });
            }
        }
    }
    let mut cells = Vec::new();
    for answer in &experiment.answers {
        cells.extend(cells_of(answer, wanted, &all)?);
    }
    Ok((cells, table(&machine.full_name(), &all)))
}

/// The functions with their names.
fn subjects(
    paper: &Paper,
    wanted: &Estimated,
    machine: &Machine,
) -> anyhow::Result<Vec<(String, Subject)>> {
    let read = |file: &str| {
        let path = paper.dir.join(file);
        let text = std::fs::read_to_string(&path);
        text.with_context(|| path.display().to_string())
            .map(|text| (path.display().to_string(), text))
    };
    let each = match &wanted.functions {
        Functions::List(file) => {
            let (path, text) = read(file)?;
            let all = estimate::functions(&text, &path, machine).map_err(told)?;
            return Ok(all
                .into_iter()
                .map(|function| (function.name.clone(), Subject::List(function)))
                .collect());
        }
        Functions::Files(each) => each,
    };
    let bench = |(name, file): &(String, String)| {
        let (path, text) = read(file)?;
        let bench = Bench::new(&text, &path, &[], &[samples::plain()]).map_err(said)?;
        Ok((name.clone(), Subject::Configuration(Box::new(bench))))
    };
    each.iter().map(bench).collect()
}

fn conditions(wanted: &Estimated, frame: f64, flows: f64) -> anyhow::Result<Conditions> {
    let vary = Some(&wanted.vary).filter(|vary| !vary.is_empty());
    let field = vary.map(|vary| traffic::field(vary)).transpose();
    Ok(Conditions {
        traffic: Traffic {
            frame: frame as usize,
            flows: flows as u32,
            field: field.map_err(anyhow::Error::msg)?,
            ..Traffic::default()
        },
        cores: wanted.cores,
        ports: Ports {
            count: wanted.ports,
            bits_per_s: wanted.gbps * 1e9,
        },
        remote: wanted.remote,
        values: Vec::new(),
    })
}

fn said(refused: Refused) -> anyhow::Error {
    match refused {
        Refused::Configuration(said) => anyhow!("{}", diagnostic::render(&said).trim_end()),
        Refused::Other(text) => anyhow!(text),
    }
}

fn told(error: Error) -> anyhow::Error {
    match error {
        Error::Refused(refused) => said(refused),
        Error::Other(text) => anyhow!(text),
    }
}

fn table(machine: &str, all: &[Found]) -> Table {
    let mut columns = vec![
        ("machine", Text),
        ("engine", Text),
        ("function", Text),
        ("frame_bytes", Float),
        ("flows", Float),
    ];
    columns.extend(METRICS.iter().map(|(name, _)| (*name, Float)));
    let mut table = Table::with("functions", &columns);
    for found in all {
        let engine = match found.cost {
            Cost::Estimated(_) => "predict",
            Cost::Measured(_) => "measure",
        };
        let mut row = vec![
            machine.into(),
            engine.into(),
            found.function.as_str().into(),
            found.frame.into(),
            found.flows.into(),
        ];
        row.extend(METRICS.iter().map(|(_, of)| found.metric(of).into()));
        table.push(row).expect("the row has a cell for each column");
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
            all.iter().find(same)?.metric(of)
        };
        for (row, of_row) in answer.rows.at(|key, names| swept(key, names, wanted, at))? {
            for (column, of_column) in answer
                .columns
                .at(|key, names| swept(key, names, wanted, at))?
            {
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

/// The name of a frame size.
fn swept(key: &str, names: &[String], wanted: &Estimated, at: usize) -> anyhow::Result<String> {
    if key != "frame" {
        bail!("an estimate sweeps `frame`, not `{key}`");
    }
    match names.get(at) {
        Some(name) => Ok(name.clone()),
        None if names.is_empty() => Ok(wanted.frames[at].to_string()),
        None => bail!("{} frames and {} names", wanted.frames.len(), names.len()),
    }
}
