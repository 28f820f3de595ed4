//! An experiment of a paper that computes streams at equal gaps, or sends and receives them on this
//! machine.
//!
//! A row of its table is one stream of one system: of ours and of other generators what was
//! measured here, of the paper's devices what it prints. Its answers speak of rows by system,
//! protocol and payload, `udp_1472.imposed_pps` or `trammel_udp_16.achieved_pps`; where rows or
//! columns sweep `pps` or `mbps`, each rate is a point.

#[cfg(target_os = "linux")]
mod measured;
mod show;

#[cfg(target_os = "linux")]
use measured::measure;

pub use show::summary;
pub(super) use show::{curves, highlights, sections};

use super::Paper;
use super::cell::Cell;
use super::choice::Choice;
use super::spec::{Answer, Experiment, Imposed, Names, Streams};
use anyhow::{Context, bail, ensure};
use trammel_core::label::Label;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{self, Row, Table};
use trammel_streams::achieved::{Achieved, COLUMNS};
use trammel_traffic::record::Protocol;
use trammel_transport::points::{Failure, Watch};

/// What our own sender and receiver are called.
pub const OURS: &str = "Trammel";

/// Bytes on the wire of Ethernet besides the IP packet: header and FCS, preamble and gap; and of a
/// frame without the latter, at least.
const FRAME_BYTES: u32 = 18;
const GAP_BYTES: u32 = 20;
const LEAST_FRAME_BYTES: u32 = 64;

/// What came of it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cells: Vec<Cell>,
    pub(super) table: Table,
    pub(super) notes: Vec<String>,
    pub(super) failures: Vec<Failure>,
    pub(super) lacks: bool,
    pub(super) is_interrupted: bool,
}

/// What a row is of, besides what was achieved.
#[derive(Clone, Debug)]
struct About {
    system: String,
    label: Label,
    path: &'static str,
    protocol: Protocol,
    bytes: u32,
    imposed_mbps: Option<f64>,
    imposed_pps: f64,
    wire_pps: Option<f64>,
    seconds: Option<f64>,
}

/// Its column, its type and its value.
type Column = (&'static str, table::CellType, fn(&About) -> table::Cell);

/// The columns before those of what was achieved.
const ABOUT: &[Column] = &[
    ("system", Text, |a| a.system.as_str().into()),
    ("label", Text, |a| a.label.key().into()),
    ("path", Text, |a| a.path.into()),
    ("protocol", Text, |a| word(a.protocol).into()),
    ("imposed_bytes", Int, |a| u64::from(a.bytes).into()),
    ("imposed_mbps", Float, |a| a.imposed_mbps.into()),
    ("imposed_pps", Float, |a| a.imposed_pps.into()),
    ("wire_pps", Float, |a| a.wire_pps.into()),
    ("imposed_s", Float, |a| a.seconds.into()),
];

fn word(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "tcp",
        _ => "udp",
    }
}

/// Packets a second that an Ethernet of `link_mbps` carries at most; each message of TCP is a
/// segment without options.
fn wire_pps(protocol: Protocol, bytes: u32, link_mbps: f64) -> f64 {
    let headers = if protocol == Protocol::Tcp { 40 } else { 28 };
    let frame = (bytes + headers + FRAME_BYTES).max(LEAST_FRAME_BYTES);
    link_mbps * 1e6 / (8.0 * f64::from(frame + GAP_BYTES))
}

/// Computes or measures, and takes the cells of the experiment's answers.
pub(super) fn run(
    paper: &Paper,
    experiment: &Experiment,
    wanted: &Streams,
    choice: &Choice,
    watch: &dyn Watch,
) -> anyhow::Result<Found> {
    let columns = ABOUT.iter().map(|(name, kind, _)| (*name, *kind));
    let columns: Vec<_> = columns
        .chain(COLUMNS.iter().map(|(name, kind, _)| (*name, *kind)))
        .collect();
    let mut found = Found {
        cells: Vec::new(),
        table: Table::with("streams", &columns),
        notes: Vec::new(),
        failures: Vec::new(),
        lacks: false,
        is_interrupted: false,
    };
    if wanted.is_measured {
        measure(wanted, choice, watch, &mut found);
    } else {
        for about in plan(wanted, OURS, Label::Predicted) {
            push(
                &mut found.table,
                &About {
                    system: String::new(),
                    ..about
                },
                None,
            );
        }
    }
    if let Some(file) = &wanted.published {
        published(paper, file, &mut found.table)?;
    }
    for answer in &experiment.answers {
        let cells = cells_of(answer, wanted, &found.table)?;
        found.cells.extend(cells);
    }
    Ok(found)
}

/// The streams of an experiment, in order.
fn plan(wanted: &Streams, system: &str, label: Label) -> Vec<About> {
    let mut all = Vec::new();
    for (protocol, bytes) in &wanted.kinds {
        for (at, value) in wanted.imposed.sweep().1.iter().enumerate() {
            let imposed_pps = wanted.imposed.pps(at, *bytes);
            let wire = wire_pps(*protocol, *bytes, wanted.link_mbps);
            all.push(About {
                system: system.to_owned(),
                label,
                path: "",
                protocol: *protocol,
                bytes: *bytes,
                imposed_mbps: matches!(wanted.imposed, Imposed::Mbps(_)).then_some(*value),
                imposed_pps,
                wire_pps: wire.is_finite().then(|| wire.min(imposed_pps)),
                seconds: None,
            });
        }
    }
    all
}

/// How many streams will be sent.
pub fn count(wanted: &Streams, choice: &Choice) -> u64 {
    let streams = wanted.kinds.len() * wanted.imposed.sweep().1.len();
    if wanted.is_measured {
        (streams * (1 + choice.peers.len())) as u64
    } else {
        0
    }
}

fn push(table: &mut Table, about: &About, achieved: Option<&Achieved>) {
    let mut row: Vec<_> = ABOUT.iter().map(|(.., of)| of(about)).collect();
    let of = |of: fn(&Achieved) -> table::Cell| achieved.map_or(table::Cell::Empty, of);
    row.extend(COLUMNS.iter().map(|(.., column)| of(*column)));
    table.push(row).expect("the row has a cell for each column");
}

#[cfg(not(target_os = "linux"))]
fn measure(_: &Streams, _: &Choice, _: &dyn Watch, found: &mut Found) {
    found.lacks = true;
    let note = "No stream was sent: this requires Linux.";
    found.notes.push(note.to_owned());
}

/// Adds what the paper's devices attained, as `file` says.
fn published(paper: &Paper, file: &str, table: &mut Table) -> anyhow::Result<()> {
    let path = paper.dir.join(file);
    let of = || format!("`{}`", path.display());
    let text = std::fs::File::open(&path).with_context(of)?;
    let printed = Table::read_csv_inferring("devices", text).with_context(of)?;
    for (n, row) in printed.rows().enumerate() {
        let number = |name: &str| row.float(name).filter(|number| *number >= 0.0);
        let whole = |name: &str| number(name).filter(|number| *number <= f64::from(u16::MAX));
        let (Some(bytes), Some(imposed_pps), Some(pps)) = (
            whole("payload_bytes"),
            number("imposed_pps"),
            number("achieved_pps"),
        ) else {
            bail!(
                "{}, line {}: `payload_bytes`, `imposed_pps` and `achieved_pps` are numbers",
                of(),
                n + 2
            );
        };
        let protocol = match row.text("protocol") {
            "tcp" => Protocol::Tcp,
            "udp" => Protocol::Udp,
            other => bail!(
                "{}, line {}: `{other}` is neither `tcp` nor `udp`",
                of(),
                n + 2
            ),
        };
        let about = About {
            system: row.text("system").to_owned(),
            label: Label::Published,
            path: "",
            protocol,
            bytes: bytes as u32,
            imposed_mbps: None,
            imposed_pps,
            wire_pps: None,
            seconds: None,
        };
        let achieved = Achieved {
            bytes: Some(bytes),
            pps: Some(pps),
            ..Achieved::default()
        };
        let (of_about, of_achieved) = (ABOUT.iter(), COLUMNS.iter());
        let mut cells: Vec<_> = of_about.map(|(.., of)| of(&about)).collect();
        // Counts are not printed: 0 would be no statement of the paper's.
        cells.extend(of_achieved.map(|(name, _, of)| match *name {
            "payload_bytes" | "achieved_pps" | "achieved_mbps" => of(&achieved),
            _ => table::Cell::Empty,
        }));
        table
            .push(cells)
            .expect("the row has a cell for each column");
    }
    Ok(())
}

/// By what an answer names a row.
fn key(row: Row<'_>) -> String {
    let system: String = row
        .text("system")
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .map(str::to_ascii_lowercase)
        .collect::<Vec<_>>()
        .join("_");
    let bytes = row.int("imposed_bytes").unwrap_or_default();
    let name = format!("{system}_{}_{bytes}", row.text("protocol"));
    name.trim_start_matches('_').to_owned()
}

fn cells_of(answer: &Answer, wanted: &Streams, table: &Table) -> anyhow::Result<Vec<Cell>> {
    let (sweep, rates) = wanted.imposed.sweep();
    let is_swept = |names: &Names| matches!(names, Names::Swept(..));
    let points = if is_swept(&answer.rows) || is_swept(&answer.columns) {
        rates.len()
    } else {
        1
    };
    let name = |at: usize| {
        move |key: &str, names: &[String]| -> anyhow::Result<String> {
            ensure!(key == sweep, "these streams sweep `{sweep}`, not `{key}`");
            match names.get(at) {
                Some(name) => Ok(name.clone()),
                None if names.is_empty() => Ok(rates[at].to_string()),
                None => bail!("{} rates and {} names", rates.len(), names.len()),
            }
        }
    };
    let mut cells = Vec::new();
    for (at, imposed) in rates.iter().enumerate().take(points) {
        let look = |stream: &str, metric: &str, _: Option<(f64, f64)>| {
            let mut rows = table.rows().filter(|row| key(*row) == stream);
            let column = format!("imposed_{sweep}");
            rows.find(|row| row.float(&column) == Some(*imposed))?
                .float(metric)
        };
        for (row, of_row) in answer.rows.at(name(at))? {
            for (column, of_column) in answer.columns.at(name(at))? {
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
