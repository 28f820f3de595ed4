//! The report of a bench run: for each test the form that its text mandates, then what was offered and by whom.

use super::{Job, text};
use crate::engine::run::provenance;
use crate::report::figure::{Axis, Figure, Mark, Series};
use crate::report::label::Label;
use crate::report::ticks::group_thousands;
use crate::report::{Answer, Block, Highlight, Note, NoteKind, Report, Section, TableView};
use crate::run_folder::RunInfo;
use trammel_bench::procedures::{Entry, Form};
use trammel_core::table::{CellType, Column, Row, Table};

/// The column of frame sizes; a graph over another one has a line for each size.
const FRAME_BYTES: &str = "frame_bytes";
/// How remarks begin on tests that cannot be made on a device.
pub(super) const LEFT_OUT: &str = "left out: ";
/// The colour of theoretical lines, after those of devices.
const THEORETICAL: usize = 5;

/// The whole report.
pub(super) fn report(job: &Job, tables: &[Table], remarks: &[String], info: &RunInfo) -> Report {
    let mut notes = Vec::new();
    if job.is_quick {
        notes.push(warning("Not compliant: this was a quick run, whose trials are shorter and fewer than the RFCs ask for."));
    }
    if info.interrupted {
        notes.push(warning(
            "Interrupted: the tables hold what was done by then.",
        ));
    }
    let faults = remarks.iter().filter(|remark| !is_left_out(remark));
    notes.extend(faults.map(|text| warning(text)));
    let mut sections = Vec::new();
    if !notes.is_empty() {
        sections.push(Section {
            heading: "What to know first".to_owned(),
            text: String::new(),
            blocks: notes,
        });
    }
    let table_of = |name: &str| tables.iter().find(|table| table.name() == name);
    sections.extend(table_of("verdicts").map(|table| Section {
        heading: "What was expected".to_owned(),
        text: String::new(),
        blocks: vec![view(table, true)],
    }));
    for (entry, _) in &job.tests {
        if let Some(table) = table_of(entry.about.name) {
            sections.push(test(entry, table));
        }
    }
    sections.extend(table_of("trials").map(|table| Section {
        heading: "Trials".to_owned(),
        text: "Every load that was offered, in order.".to_owned(),
        blocks: vec![view(table, false)],
    }));
    sections.extend(table_of("tester").map(|table| Section {
        heading: "Tester".to_owned(),
        text: "What the tester did against a wire, before the tests. A result from nine tenths of its ceiling on is marked as limited by the tester.".to_owned(),
        blocks: vec![view(table, true)],
    }));
    let left_out = remarks.iter().filter(|remark| is_left_out(remark));
    let left_out: Vec<&str> = left_out.map(String::as_str).collect();
    if !left_out.is_empty() {
        sections.push(Section {
            heading: "Left out".to_owned(),
            text: left_out.join("\n\n"),
            blocks: Vec::new(),
        });
    }
    let devices: Vec<String> = job.beds.iter().map(|bed| bed.device()).collect();
    let mut facts = vec![("devices".to_owned(), devices.join("; "))];
    for (entry, params) in &job.tests {
        let each: Vec<String> = params
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        facts.push((entry.about.name.to_owned(), each.join(", ")));
    }
    let first = table_of("throughput").and_then(|table| table.rows().next());
    Report {
        title: title(&devices),
        question: "What does the device do under the tests of RFC 2544 and its successors?"
            .to_owned(),
        answer: first.map(answer).unwrap_or_default(),
        highlights: table_of("throughput").map(highlights).unwrap_or_default(),
        sections,
        provenance: provenance(info, facts),
    }
}

/// Whether a remark says that a test cannot be made on a device, which is no fault.
fn is_left_out(remark: &str) -> bool {
    remark.starts_with(LEFT_OUT)
}

/// The first device, and how many more there are.
fn title(devices: &[String]) -> String {
    match devices {
        [] => "Bench".to_owned(),
        [device] => format!("Bench: {device}"),
        [first, more @ ..] => format!("Bench: {first}, and {} more", more.len()),
    }
}

fn warning(text: &str) -> Block {
    Block::Note(Note {
        kind: NoteKind::Warning,
        text: text.to_owned(),
    })
}

fn view(table: &Table, is_open: bool) -> Block {
    Block::Table(TableView {
        title: table.name().to_owned(),
        table: table.clone(),
        is_open,
    })
}

/// The statement of performance.
//= rfc2544 §26.1
//# The statement of performance MUST include a/ the measured maximum frame rate, b/ the size of the frame used, c/ the
//# theoretical limit of the media for that frame size, and d/ the type of protocol used in the test.
fn answer(row: Row<'_>) -> Answer {
    let label = Label::of_engine(row.text("label"));
    let (frame, device) = (row.text("frame"), row.text("device"));
    let fps = |column: &str| {
        let fps = row.float(column)?;
        Some(group_thousands(&format!("{fps:.0}")))
    };
    let protocol = match row.text("data_stream") {
        "plain" => "UDP over IPv4",
        other => other,
    };
    let of = format!(
        "{} frames/s that the media carry of frames of {frame} bytes ({protocol})",
        fps("line_fps").unwrap_or_default()
    );
    match fps("throughput_fps") {
        Some(most) => Answer {
            number: format!("{most} frames/s"),
            sentence: format!("{device} forwards {most} of the {of} without loss."),
            label,
        },
        None => Answer {
            number: String::new(),
            sentence: format!(
                "{device} loses frames at the least load that was tried, of the {of}."
            ),
            label,
        },
    }
}

/// The share of the line at each frame size; of several devices, at the first.
fn highlights(table: &Table) -> Vec<Highlight> {
    let Some(first) = table.rows().next() else {
        return Vec::new();
    };
    let is_same = |row: Row<'_>, column| row.text(column) == first.text(column);
    let is_one = table
        .rows()
        .all(|row| is_same(row, "device") && is_same(row, "label"));
    let is_shown = |row: &Row<'_>| is_one || is_same(*row, "frame") && is_same(*row, "data_stream");
    let highlight = |row: Row<'_>| {
        let percent = row.float("of_line_percent")?;
        let note = row.text(if is_one { "data_stream" } else { "device" });
        Some(Highlight {
            name: format!("{} bytes", row.text("frame")),
            value: format!("{percent:.1}"),
            unit: "% of the line".to_owned(),
            label: Label::of_engine(row.text("label")),
            note: note.to_owned(),
        })
    };
    let rows = table.rows().filter(is_shown);
    rows.filter_map(highlight).take(7).collect()
}

/// A test's section: its graph where there is one, its sentences, its table.
fn test(entry: &'static Entry, table: &Table) -> Section {
    let about = &entry.about;
    let graph = match entry.form {
        Form::Graph {
            x,
            lines,
            is_percent,
        } => Some(Block::Figure(graph(entry, table, x, lines, is_percent))),
        Form::Table | Form::Statements => None,
    };
    let mut blocks: Vec<Block> = graph.into_iter().collect();
    // What is the same in all rows is said once, above them; the files have every column.
    let (same, rest) = text::parted(table);
    blocks.push(Block::Table(TableView {
        title: format!("{}{same}", table.name()),
        table: rest,
        is_open: true,
    }));
    let text = match entry.form {
        Form::Statements => statements(table),
        Form::Graph { .. } | Form::Table => format!("{}.", capital(about.summary)),
    };
    Section {
        heading: capital(about.name).replace('-', " "),
        text: format!("{text} {}.", about.references.join("; ")),
        blocks,
    }
}

/// A sentence for each row: what its own columns say.
fn statements(table: &Table) -> String {
    let shared = trammel_bench::procedures::SHARED;
    let sentence = |row: Row<'_>| {
        let own = table.columns().iter().zip(row.cells()).skip(shared.len());
        let said: Vec<String> = own
            .filter(|(_, cell)| !cell.to_string().is_empty())
            .map(|(column, cell)| match column.unit() {
                Some(unit) => format!("{} {cell} {unit}", column.title()),
                None => format!("{} {cell}", column.title()),
            })
            .collect();
        format!("{}: {}.", row.text("device"), said.join(", "))
    };
    table.rows().map(sentence).collect::<Vec<_>>().join("\n\n")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The graph of a test: a line for each device, kind of traffic and column.
fn graph(
    entry: &'static Entry,
    table: &Table,
    x: &str,
    lines: &[(&str, &str)],
    is_percent: bool,
) -> Figure {
    let axis = |name: &str| {
        let column = Column::new(name, CellType::Float);
        let axis = Axis::linear(&column.title(), column.unit().unwrap_or_default());
        if is_percent {
            return axis.with_range(0.0, 100.0);
        }
        axis
    };
    let mut by = vec!["device", "label", "data_stream"];
    if x != FRAME_BYTES {
        by.push("frame");
    }
    let name = entry.about.name;
    // Those of the media come first, where there are any.
    let (theoretical, measured): (Vec<_>, Vec<_>) =
        lines.iter().partition(|(_, what)| *what == "theoretical");
    let y = measured.first().map_or("", |(column, _)| column);
    let mut figure = Figure::new(name, &capital(name), axis(x), axis(y));
    let groups = table
        .group_by(&by)
        .expect("every test's table has the shared columns");
    for (nth, (column, what)) in theoretical.iter().chain(&measured).enumerate() {
        let is_theoretical = nth < theoretical.len();
        for (at, (key, rows)) in groups.iter().enumerate() {
            let point = |row: Row<'_>| Some((row.float(x)?, row.float(column)?));
            let points: Vec<_> = rows.rows().filter_map(point).collect();
            let key: Vec<String> = key.iter().map(ToString::to_string).collect();
            let label = Label::of_engine(&key[1]);
            let series = if is_theoretical {
                // That of the media is the same for all.
                if at > 0 {
                    continue;
                }
                Series::new(*what, Mark::Line, points).coloured(THEORETICAL)
            } else {
                let colour = at + groups.len() * (nth - theoretical.len());
                let several = measured.len() > 1;
                Series::new(
                    legend(&key, several.then_some(what)),
                    Mark::LinePoints,
                    points,
                )
                .coloured(colour)
            };
            figure = figure.with(match label.filter(|_| !is_theoretical) {
                Some(label) => series.labelled(label),
                None => series,
            });
        }
    }
    figure
}

/// What a line is in the legend: of which device, of what traffic where it is not the usual, and what, where there are several.
fn legend(key: &[String], what: Option<&str>) -> String {
    let (device, rest) = (&key[0], &key[2..]);
    let mut parts = vec![device.as_str()];
    parts.extend(
        rest.iter()
            .map(String::as_str)
            .filter(|part| *part != "plain"),
    );
    parts.extend(what);
    parts.join(", ")
}
