//! An experiment of a paper that tests a device: a model of it, or a router on this machine.
//!
//! The tests are those of `trammel bench`. Their rows stand in one table, by test and frame size.
//! The answers speak of tests by name, `_` standing for `-`, and of the columns of their tables:
//! `restart.restart_mean_ms`. Where rows or columns sweep `frame`, each frame size is a point;
//! otherwise the first row of a test counts.

use super::Paper;
use super::cell::Cell;
use super::choice::Choice;
use super::spec::{Answer, Device, Experiment, Names, Tested};
use anyhow::{Context, anyhow, bail};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel_bench::frames::Sizes;
use trammel_bench::procedures::{Bench, Entry, Error, FAMILY, Search};
use trammel_bench::testbed::{Testbed, Traffic};
use trammel_bench::trial::Failure;
use trammel_core::entry::{Params, Value};
use trammel_core::label::Label;
use trammel_ground::Unsupported;
use trammel_router::diagnostic;
use trammel_scenario::tree::Value as Given;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{self, Column, Table};
use trammel_testbeds::beds::built_device;
use trammel_testbeds::beds::configuration::Configuration;
use trammel_testbeds::beds::model;
use trammel_testbeds::beds::ports::{LONGEST_DELAY, Setting, Waits};
use trammel_testbeds::beds::ring::InMemory;
use trammel_testbeds::beds::self_test;
use trammel_testbeds::beds::self_test::SelfTest;
use trammel_testbeds::devices::dut::Dut;
use trammel_testbeds::devices::namespaces::Wish;
use trammel_testbeds::own_program;
use trammel_traffic::tester::Threads;
use trammel_traffic::tester::port::Way;
use trammel_traffic::tester::timing::TimedBy;
use trammel_transport::points::{Failure as Failed, Watch};
use trammel_workbench::bench::{Bench as Workbench, Refused};
use trammel_workbench::samples;

/// What came of it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cells: Vec<Cell>,
    pub(super) table: Table,
    /// Tests that the device has no way to do.
    pub(super) notes: Vec<String>,
    /// Tests that came to nothing.
    pub(super) failures: Vec<Failed>,
    pub(super) is_interrupted: bool,
}

/// The settings of an experiment for a choice: those that are always set, then the choice's.
pub(super) fn settings(experiment: &Experiment, is_full: bool) -> Vec<(String, Given)> {
    let choice = if is_full {
        &experiment.full
    } else {
        &experiment.quick
    };
    experiment.set.iter().chain(choice).cloned().collect()
}

/// Tests the device, and takes the cells of the experiment's answers.
pub(super) fn run(
    paper: &Paper,
    experiment: &Experiment,
    wanted: &Tested,
    choice: &Choice,
    watch: &dyn Watch,
) -> anyhow::Result<Found> {
    let given = settings(experiment, choice.is_full);
    let size = |bytes: &f64| Ok(Traffic::of(Sizes::of(*bytes as u32)?));
    let traffics: anyhow::Result<Vec<Traffic>> = wanted.frames.iter().map(size).collect();
    let traffics = traffics?;
    let (mut tables, mut notes, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_interrupted = false;
    let mut bed = bed(paper, wanted, &traffics, choice.is_full, &mut notes)?;
    let search = Search::of(&params("throughput", &given, choice.is_full)?.1);
    let mut bench = Bench::new(bed.as_mut(), traffics, search);
    for test in &wanted.tests {
        if watch.is_interrupted() {
            is_interrupted = true;
            break;
        }
        let (entry, params) = params(test, &given, choice.is_full)?;
        match bench.run(entry, &params) {
            Ok(table) => tables.push(table),
            Err(Error::Unable(why)) => {
                notes.push(format!("{}, `{test}` was left out: {why}.", wanted.device));
            }
            Err(why) => {
                let failure = Failed {
                    point: format!("{test}, {}", wanted.device),
                    seed: 1,
                    why: why.to_string(),
                };
                watch.failed(&failure);
                failures.push(failure);
            }
        }
    }
    let mut table = together(&tables);
    if let Some(file) = &wanted.published {
        published(paper, file, &mut table)?;
    }
    let mut cells = Vec::new();
    for answer in &experiment.answers {
        cells.extend(cells_of(answer, wanted, &table)?);
    }
    Ok(Found {
        cells,
        table,
        notes,
        failures,
        is_interrupted,
    })
}

/// The test `name` with its settings: those that are given, in the two-minute choice those of a
/// quick run, then the defaults.
fn params(
    name: &str,
    given: &[(String, Given)],
    is_full: bool,
) -> anyhow::Result<(&'static Entry, Params)> {
    let entry = FAMILY.get(name)?;
    let mut all: Vec<(String, Value)> = Vec::new();
    for (key, value) in given {
        let (test, setting) = key.split_once('.').with_context(|| {
            format!("`{key}` sets nothing of a test; write it as `throughput.width`")
        })?;
        if FAMILY.get(test)?.about.name == entry.about.name {
            let text = match value {
                Given::Text(text) => text.clone(),
                Given::Int(number) => number.to_string(),
                Given::Float(number) => number.to_string(),
                Given::Bool(is_so) => is_so.to_string(),
                _ => bail!("`{key}` is a text or a number"),
            };
            all.push((setting.to_owned(), Value::Text(text)));
        }
    }
    for (setting, text) in entry.quick.iter().filter(|_| !is_full) {
        if !all.iter().any(|(known, _)| known == setting) {
            all.push(((*setting).to_owned(), Value::Text((*text).to_owned())));
        }
    }
    let params = Params::resolve(&entry.about, &all).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        anyhow!("`{name}`: {}", faults.join("; "))
    })?;
    Ok((entry, params))
}

/// The device with a tester around it: the one place that knows how each kind is tried.
fn bed(
    paper: &Paper,
    wanted: &Tested,
    traffics: &[Traffic],
    is_full: bool,
    notes: &mut Vec<String>,
) -> anyhow::Result<Box<dyn Testbed>> {
    match &wanted.device {
        Device::Model(text) => model::find(text, &Arc::default()),
        Device::Ring(file) => {
            let path = paper.dir.join(file);
            let of = || format!("`{}`", path.display());
            let text = std::fs::read_to_string(&path).with_context(of)?;
            let name = path.display().to_string();
            let bench = Workbench::new(&text, &name, &[], &[samples::plain()]);
            let bench = bench.map_err(|refused| match refused {
                Refused::Configuration(said) => anyhow!("{}", diagnostic::render(&said).trim_end()),
                Refused::Other(text) => anyhow!(text),
            })?;
            let rate = wanted.gbps * 1e9;
            let of = Configuration {
                bench,
                rate,
                interrupted: Arc::default(),
            };
            Ok(Box::new(InMemory::new(of)))
        }
        Device::Built(text) => {
            let dut = dut(paper, text)?;
            let rate = wanted.gbps * 1e9;
            built(dut, traffics, rate, is_full, notes).map_err(|why| match why
                .downcast::<trammel_io::error::Error>(
            ) {
                Ok(error) => Unsupported::error(
                    &format!("{text} cannot be tested here: {error}"),
                    &error.mend().unwrap_or_default(),
                ),
                Err(why) => anyhow!(why),
            })
        }
    }
}

/// The device that `text` names, as `--dut` does; Click files lie beside the paper.
pub(super) fn dut(paper: &Paper, text: &str) -> anyhow::Result<Dut> {
    match text.parse::<Dut>().map_err(anyhow::Error::msg)? {
        Dut::Click(file) => Ok(Dut::Click(paper.dir.join(file))),
        Dut::NetFpga(card) => Ok(Dut::NetFpga(card.beside(&paper.dir))),
        other => Ok(other),
    }
}

/// A device between namespaces, after the tester has measured itself against a wire.
fn built(
    dut: Dut,
    traffics: &[Traffic],
    line_bps: f64,
    is_full: bool,
    notes: &mut Vec<String>,
) -> Result<Box<dyn Testbed>, Failure> {
    let way = Way::AfPacket;
    let (trial, waits) = if is_full {
        (self_test::FULL, Waits::FULL)
    } else {
        (self_test::QUICK, Waits::QUICK)
    };
    // An interruption is seen between two tests.
    let interrupted = Arc::new(AtomicBool::new(false));
    let tester = SelfTest::measure(
        way,
        traffics,
        trial,
        Threads::default(),
        &|| (),
        &interrupted,
    )?;
    let tester = tester.ok_or("the tester did not measure itself")?;
    let alone = tester.sentences();
    notes.push(format!("Before {}: {}.", dut.name(), alone.join("; ")));
    let wish = Wish {
        dut,
        traffics: traffics.to_vec(),
        way,
        is_bridged: false,
        own: own_program(),
    };
    let setting = |ports| Setting {
        ports,
        line_bps,
        waits,
        longest_delay: LONGEST_DELAY,
        threads: Threads::default(),
        timed_by: TimedBy::Tester,
        tester: Some(tester.clone()),
        interrupted: Arc::clone(&interrupted),
    };
    Ok(Box::new(built_device::bed(&wish, setting)?))
}

/// The rows of all tests in one table: what was tested by which test, then every number that some
/// test tells.
fn together(tables: &[Table]) -> Table {
    let mut columns = vec![
        Column::new("device", Text),
        Column::new("label", Text),
        Column::new("test", Text),
        Column::new("frame_bytes", Float),
    ];
    for column in tables.iter().flat_map(Table::columns) {
        let is_known = columns.iter().any(|known| known.name == column.name);
        if matches!(column.cell_type, Float | Int) && !is_known {
            columns.push(Column::new(column.name.as_str(), Float));
        }
    }
    let mut together = Table::new("tested", columns.clone());
    for table in tables {
        for row in table.rows() {
            let cell = |column: &Column| match column.name.as_str() {
                "device" | "label" => row.text(&column.name).into(),
                "test" => table.name().into(),
                number => table::Cell::from(row.float(number)),
            };
            let cells = columns.iter().map(cell).collect();
            together
                .push(cells)
                .expect("the row has a cell for each column");
        }
    }
    together
}

/// Adds the rows of a file beside the paper: what it says, labelled published, in the columns that
/// both have.
pub(super) fn published(paper: &Paper, file: &str, table: &mut Table) -> anyhow::Result<()> {
    let path = paper.dir.join(file);
    let of = || format!("`{}`", path.display());
    let text = std::fs::File::open(&path).with_context(of)?;
    let printed = Table::read_csv_inferring("published", text).with_context(of)?;
    let unknown = |column: &&Column| table.columns().iter().all(|one| one.name != column.name);
    if let Some(column) = printed.columns().iter().find(unknown) {
        bail!("{}: there is no column `{}`", of(), column.name);
    }
    for row in printed.rows() {
        let cell = |column: &Column| match column.name.as_str() {
            "label" => Label::Published.key().into(),
            name => row.get(name).cloned().unwrap_or(table::Cell::Empty),
        };
        let cells: Vec<_> = table.columns().iter().map(cell).collect();
        table.push(cells).with_context(of)?;
    }
    Ok(())
}

fn cells_of(answer: &Answer, wanted: &Tested, table: &Table) -> anyhow::Result<Vec<Cell>> {
    let is_swept = |names: &Names| matches!(names, Names::Swept(..));
    let points: Vec<Option<usize>> = if is_swept(&answer.rows) || is_swept(&answer.columns) {
        (0..wanted.frames.len()).map(Some).collect()
    } else {
        vec![None]
    };
    let mut cells = Vec::new();
    for at in points {
        let look = |test: &str, metric: &str, _: Option<(f64, f64)>| {
            let mut rows = table.rows();
            let row = rows.find(|row| {
                let frame = at.map(|at| wanted.frames[at]);
                row.text("label") != Label::Published.key()
                    && row.text("test").replace('-', "_") == test
                    && frame.is_none_or(|frame| row.float("frame_bytes") == Some(frame))
            })?;
            row.float(metric)
        };
        let name = |key: &str, names: &[String]| swept(key, names, wanted, at.unwrap_or(0));
        for (row, of_row) in answer.rows.at(name)? {
            for (column, of_column) in answer.columns.at(name)? {
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
fn swept(key: &str, names: &[String], wanted: &Tested, at: usize) -> anyhow::Result<String> {
    if key != "frame" {
        bail!("tests sweep `frame`, not `{key}`");
    }
    match names.get(at) {
        Some(name) => Ok(name.clone()),
        None if names.is_empty() => Ok(wanted.frames[at].to_string()),
        None => bail!("{} frames and {} names", wanted.frames.len(), names.len()),
    }
}
