//! An experiment of a paper that transfers files through devices on this machine.
//!
//! A row of its table is one transfer. Its answers speak of protocol and device, whatever is no
//! letter or digit standing as `_`: `ftp_kernel.seconds`, `http_router_click.mbps`; a value for
//! each repetition.

use super::Paper;
use super::cell::Cell;
use super::choice::Choice;
use super::spec::{Answer, Experiment, Names, Transfers};
use super::tested::{dut, published};
use anyhow::{Context, bail};
use trammel_core::label::Label;
use trammel_ground::Unsupported;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Row, Table};
use trammel_testbeds::own_program;
use trammel_testbeds::transfer::{Path, Protocol, transfer};
use trammel_transport::points::Watch;

/// The columns of its table.
const COLUMNS: &[(&str, trammel_stats::table::CellType)] = &[
    ("device", Text),
    ("label", Text),
    ("protocol", Text),
    ("server", Text),
    ("bytes", Int),
    ("repeat", Int),
    ("seconds", Float),
    ("mbps", Float),
];

/// What came of it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cells: Vec<Cell>,
    pub(super) table: Table,
    /// What the machine lacks, and what was left out for it.
    pub(super) notes: Vec<String>,
    pub(super) lacks: bool,
    pub(super) is_interrupted: bool,
}

/// Transfers every file, and takes the cells of the experiment's answers.
pub(super) fn run(
    paper: &Paper,
    experiment: &Experiment,
    wanted: &Transfers,
    choice: &Choice,
    watch: &dyn Watch,
) -> anyhow::Result<Found> {
    let (bytes, times) = if choice.is_full {
        (wanted.bytes.1, wanted.times.1)
    } else {
        (wanted.bytes.0, wanted.times.0)
    };
    let mut found = Found {
        cells: Vec::new(),
        table: Table::with("transfers", COLUMNS),
        notes: Vec::new(),
        lacks: false,
        is_interrupted: false,
    };
    for through in &wanted.through {
        let device = dut(paper, through)?;
        let path = match Path::new(&device, false, &own_program()) {
            Ok(path) => path,
            Err(why) => {
                found.lacks = true;
                let note = format!("No file was transferred through {through}: {why:#}.");
                found.notes.push(note);
                continue;
            }
        };
        for name in &wanted.protocols {
            let protocol = Protocol::named(name)
                .with_context(|| format!("`{name}` is no protocol of transfers"))?;
            for repeat in 0..times {
                let one = match transfer(&path, protocol, bytes, &|| watch.is_interrupted()) {
                    Ok(one) => one,
                    Err(_) if watch.is_interrupted() => {
                        found.is_interrupted = true;
                        return Ok(found);
                    }
                    Err(why) if why.is::<Unsupported>() => {
                        found.lacks = true;
                        let note = format!("{} was left out: {why:#}.", name.to_uppercase());
                        if !found.notes.contains(&note) {
                            found.notes.push(note);
                        }
                        break;
                    }
                    Err(why) => return Err(why.context(format!("{name} through {through}"))),
                };
                let row = vec![
                    device.name().into(),
                    Label::Measured.key().into(),
                    protocol.name().into(),
                    one.server.into(),
                    one.bytes.into(),
                    u64::from(repeat).into(),
                    one.seconds.into(),
                    one.mbps().into(),
                ];
                found
                    .table
                    .push(row)
                    .expect("the row has a cell for each column");
            }
        }
    }
    if let Some(file) = &wanted.published {
        published(paper, file, &mut found.table)?;
    }
    for answer in &experiment.answers {
        let cells = cells_of(answer, &found.table)?;
        found.cells.extend(cells);
    }
    Ok(found)
}

/// By what an answer names a row.
fn key(row: Row<'_>) -> String {
    let name = format!("{} {}", row.text("protocol"), row.text("device"));
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

fn cells_of(answer: &Answer, table: &Table) -> anyhow::Result<Vec<Cell>> {
    let none = |key: &str, _: &[String]| bail!("transfers sweep nothing, not `{key}`");
    let is_swept = |names: &Names| matches!(names, Names::Swept(..));
    if is_swept(&answer.rows) || is_swept(&answer.columns) {
        none("", &[])?;
    }
    let mut repeats: Vec<i64> = table.rows().filter_map(|row| row.int("repeat")).collect();
    repeats.sort_unstable();
    repeats.dedup();
    let mut cells = Vec::new();
    for (row, of_row) in answer.rows.at(none)? {
        for (column, of_column) in answer.columns.at(none)? {
            let value = of_row.or(of_column).or(answer.value.as_ref());
            let value = value.context("an answer without a value")?;
            let of_repeat = |repeat: &i64| {
                let look = |transfer: &str, metric: &str, _: Option<(f64, f64)>| {
                    let mut rows = table
                        .rows()
                        .filter(|row| row.int("repeat") == Some(*repeat));
                    rows.find(|row| key(*row) == transfer)?.float(metric)
                };
                value.value(&look)
            };
            let values: Vec<f64> = repeats.iter().filter_map(of_repeat).collect();
            if !values.is_empty() {
                cells.push(Cell {
                    table: answer.table.clone(),
                    row: row.clone(),
                    column,
                    values,
                    is_judged: answer.is_judged,
                });
            }
        }
    }
    Ok(cells)
}
