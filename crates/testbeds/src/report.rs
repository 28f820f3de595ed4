//! The report of a bench run: for each test the form that its text mandates, then what was offered
//! and by whom.

use super::{BenchJob, text};
use trammel_bench::frames::GAP_AND_PREAMBLE;
use trammel_bench::procedures::{Entry, Form, verdict};
use trammel_bench::search::Verdict;
use trammel_core::label::Label;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_report::provenance::provenance;
use trammel_report::run_folder::RunInfo;
use trammel_report::ticks::group_thousands;
use trammel_report::{Answer, Block, Highlight, Note, NoteKind, Report, Section, TableView};
use trammel_stats::table::{CellType, Column, Row, Table, round_to};

/// The column of frame sizes; a graph over another one has a line for each size.
const FRAME_BYTES: &str = "frame_bytes";
/// How remarks begin on tests that cannot be made on a device.
pub(super) const LEFT_OUT: &str = "left out: ";
/// Digits of a rate that is calculated: searches end within half a per cent.
const DIGITS: usize = 4;
/// The colour of theoretical lines, after those of devices.
const THEORETICAL: usize = 6;

/// The whole report.
pub(super) fn report(
    job: &BenchJob,
    tables: &[Table],
    remarks: &[String],
    info: &RunInfo,
) -> Report {
    let mut notes = Vec::new();
    if job.is_quick {
        notes.push(warning(
            "Not compliant: this was a quick run, with shorter and fewer trials \
                            than the RFCs require.",
        ));
    }
    if info.interrupted {
        notes.push(warning("Interrupted: the tables hold the finished trials."));
    }
    notes.extend(job.note.as_deref().map(warning));
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
        text: "Every offered load, in order.".to_owned(),
        blocks: vec![view(table, false)],
    }));
    sections.extend(table_of("tester").map(|table| {
        Section {
            heading: "Tester".to_owned(),
            text:
                "The tester measured on a wire, before the tests. Results above nine tenths of its \
               ceiling are marked as limited by the tester, and so are results where the tester's \
               own bursts may have caused the losses (columns `tester_…` of the \
               trials)."
                    .to_owned(),
            blocks: vec![view(table, true)],
        }
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
//# The statement of performance MUST include a/ the measured maximum frame rate, b/ the size of the
//# frame used, c/ the theoretical limit of the media for that frame size, and d/ the type of
//# protocol used in the test.
fn answer(row: Row<'_>) -> Answer {
    let label = Label::of_engine(row.text("label"));
    let (frame, device) = (row.text("frame"), row.text("device"));
    let line = row.float("line_fps");
    // What a calculation says of a device is not known to the frame; the line's rate is.
    let is_calculated = matches!(label, Some(Label::Predicted | Label::Simulated));
    let fps = |column: &str| {
        let exact = row.float(column)?;
        let fps = if is_calculated && Some(exact) != line {
            round_to(exact, DIGITS)
        } else {
            exact
        };
        Some(group_thousands(&format!("{fps:.0}")))
    };
    let protocol = match row.text("data_stream") {
        "plain" => "UDP over IPv4",
        other => other,
    };
    let of = format!(
        "{} frames/s of line rate at {frame} bytes ({protocol})",
        fps("line_fps").unwrap_or_default()
    );
    let is = |ended| row.text("verdict") == verdict(ended);
    let (number, sentence) = match fps("throughput_fps") {
        Some(most) if is(Verdict::Tester) => (
            format!("at least {most} frames/s"),
            format!(
                "Limited by the tester: zero-loss throughput of {device} is at least {most} of the \
                 {of}."
            ),
        ),
        Some(most) if is(Verdict::Unsteady) => {
            let [low, high] = ["searches_min_fps", "searches_max_fps"].map(fps);
            let (low, high) = (low.unwrap_or_default(), high.unwrap_or_default());
            (
                format!("{low} to {high} frames/s"),
                format!(
                    "Unsteady: searches found a zero-loss throughput of {device} from {low} to \
                     {high} of the {of}; the median is {most}."
                ),
            )
        }
        Some(most) => (
            format!("{most} frames/s"),
            format!("{device} forwards {most} of the {of} without loss."),
        ),
        None if is(Verdict::Tester) => (
            String::new(),
            format!(
                "Limited by the tester: it cannot offer the lowest load, of the {of}; {device} was \
                 not tested."
            ),
        ),
        None => (
            String::new(),
            format!("{device} loses frames at the lowest load, of the {of}."),
        ),
    };
    Answer {
        number,
        sentence,
        label,
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
        let is_testers = row.text("verdict") == verdict(Verdict::Tester);
        let note = match row.text("verdict") {
            ended if is_testers || ended == verdict(Verdict::Unsteady) => ended,
            _ => row.text(if is_one { "data_stream" } else { "device" }),
        };
        let least = if is_testers { "≥ " } else { "" };
        Some(Highlight {
            name: format!("{} bytes", row.text("frame")),
            value: format!("{least}{percent:.1}"),
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
    let swept = |name: &str| {
        let column = Column::new(name, CellType::Float);
        let values: Vec<f64> = table.rows().filter_map(|row| row.float(name)).collect();
        let unit = column.unit().unwrap_or_default();
        Axis::swept(&column.title(), unit, &values)
    };
    let mut by = vec!["device", "label", "data_stream"];
    if x != FRAME_BYTES {
        by.push("frame");
    }
    let name = entry.about.name;
    // Those of the media come first, where there are any.
    let (theoretical, measured): (Vec<_>, Vec<_>) =
        lines.iter().partition(|(_, what)| *what == "theoretical");
    let bends = !theoretical.is_empty() && x == FRAME_BYTES;
    let y = measured.first().map_or("", |(column, _)| column);
    let across = if is_percent { axis(x) } else { swept(x) };
    let mut figure = Figure::new(name, &capital(name), across, axis(y).from_zero());
    let groups = table
        .group_by(&by)
        .expect("every test's table has the shared columns");
    for (nth, (column, what)) in theoretical.iter().chain(&measured).enumerate() {
        let is_theoretical = nth < theoretical.len();
        for (at, (key, rows)) in groups.iter().enumerate() {
            let point = |row: Row<'_>| Some((row.float(x)?, row.float(column)?));
            let mut points: Vec<_> = rows.rows().filter_map(point).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            if is_theoretical && x == FRAME_BYTES {
                points = at_each_size(&points);
            }
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
                let name = legend(&key, several.then_some(what));
                let marks = Series::new(name.clone(), Mark::LinePoints, points);
                if bends {
                    // A straight line would run above the bent one of the media.
                    let line = at_each_size(&marks.points);
                    let (line, mark) = (Series::new(name, Mark::Line, line), Mark::Points);
                    let marks = Series { mark, ..marks }.coloured(colour).beside();
                    figure = figure.with(match label {
                        Some(label) => marks.labelled(label),
                        None => marks,
                    });
                    line.coloured(colour)
                } else {
                    marks.coloured(colour)
                }
            };
            figure = figure.with(match label.filter(|_| !is_theoretical) {
                Some(label) => series.labelled(label),
                None => series,
            });
        }
    }
    if bends {
        let text = "Marks are trials; between them lines follow the bytes a second on the wire.";
        return figure.captioned(text);
    }
    figure
}

/// The rate of the media at each size between those of `points`, size and frames a second: what
/// lies between two frames takes its time too, so that the rate is no straight line.
fn at_each_size(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    for pair in points.windows(2) {
        let [(from, fps), (to, last)] = [pair[0], pair[1]];
        // Bytes a second, gaps and preambles among them; of one line they are the same at both
        // ends.
        let bytes_of = |size: f64, fps: f64| fps * (size + GAP_AND_PREAMBLE);
        let (low, high) = (bytes_of(from, fps), bytes_of(to, last));
        let mut size = from;
        while size < to {
            let bytes = low + (high - low) * (size - from) / (to - from);
            all.push((size, bytes / (size + GAP_AND_PREAMBLE)));
            size += 1.0;
        }
    }
    all.extend(points.last());
    all
}

/// What a line is in the legend: of which device, of what traffic where it is not the usual, and
/// what, where there are several.
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

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_stats::table::Cell;

    /// The answer to one row of a throughput.
    fn answer_of(fps: Option<f64>, ended: Verdict) -> Answer {
        answer_by("measured", fps, ended)
    }

    fn answer_by(label: &str, fps: Option<f64>, ended: Verdict) -> Answer {
        let columns = [
            ("device", CellType::Text),
            ("label", CellType::Text),
            ("frame", CellType::Text),
            ("data_stream", CellType::Text),
            ("throughput_fps", CellType::Float),
            ("line_fps", CellType::Float),
            ("verdict", CellType::Text),
            ("searches_min_fps", CellType::Float),
            ("searches_max_fps", CellType::Float),
        ];
        let mut table = Table::with("throughput", &columns);
        let row: [Cell; 9] = [
            "wire".into(),
            label.into(),
            "64".into(),
            "plain".into(),
            fps.into(),
            1_488_095.2.into(),
            verdict(ended).into(),
            200_000.0.into(),
            300_000.0.into(),
        ];
        table.push(row.into()).unwrap();
        answer(table.rows().next().unwrap())
    }

    #[test]
    fn a_calculated_rate_has_no_more_digits_than_are_known() {
        let number = |label, fps| answer_by(label, Some(fps), Verdict::Between).number;
        let group = |text: &str| format!("{} frames/s", group_thousands(text));
        assert_eq!(number("simulated", 267_435.4), group("267400"));
        assert_eq!(number("measured", 267_435.4), group("267435"));
        assert_eq!(number("simulated", 1_488_095.2), group("1488095"));
    }

    #[test]
    fn the_headline_says_what_limited() {
        let found = answer_of(Some(270_275.4), Verdict::Between);
        assert!(
            found.sentence.starts_with("wire forwards 270"),
            "{}",
            found.sentence
        );
        let limited = answer_of(Some(270_275.4), Verdict::Tester);
        assert!(
            limited.sentence.starts_with("Limited by the tester: "),
            "{}",
            limited.sentence
        );
        assert!(
            limited.number.starts_with("at least "),
            "{}",
            limited.number
        );
        let unsteady = answer_of(Some(250_000.0), Verdict::Unsteady);
        assert!(
            unsteady.sentence.starts_with("Unsteady: "),
            "{}",
            unsteady.sentence
        );
        let none = answer_of(None, Verdict::FailedAtLeast);
        assert!(none.number.is_empty() && none.sentence.contains("loses frames"));
    }

    #[test]
    fn no_line_runs_above_that_of_the_media() {
        let columns = [
            ("device", CellType::Text),
            ("label", CellType::Text),
            ("data_stream", CellType::Text),
            ("frame_bytes", CellType::Float),
            ("throughput_fps", CellType::Float),
            ("line_fps", CellType::Float),
        ];
        let mut table = Table::with("throughput", &columns);
        let fps = |bytes: f64| 1e10 / (8.0 * (bytes + GAP_AND_PREAMBLE));
        for bytes in [64.0, 512.0, 1518.0] {
            let both = [fps(bytes).into(), fps(bytes).into()];
            let key = ["wire", "measured", "plain"].map(Cell::from);
            let row = key.into_iter().chain([bytes.into()]).chain(both);
            table.push(row.collect()).unwrap();
        }
        let entry = trammel_bench::procedures::find("throughput").unwrap();
        let lines = [
            ("line_fps", "theoretical"),
            ("throughput_fps", "throughput"),
        ];
        let figure = graph(entry, &table, FRAME_BYTES, &lines, false);
        let drawn: Vec<_> = figure
            .series
            .iter()
            .filter(|one| one.mark == Mark::Line)
            .collect();
        assert_eq!(drawn.len(), 2);
        for series in drawn {
            for (bytes, drawn) in &series.points {
                // Cells have nine digits.
                assert!(*drawn <= fps(*bytes) * (1.0 + 1e-7), "{bytes}: {drawn}");
            }
        }
        let marks = figure.series.iter().find(|one| one.is_beside).unwrap();
        assert_eq!(marks.points.len(), 3, "what was measured");
    }

    #[test]
    fn the_line_of_the_media_is_theirs_at_every_size() {
        let fps = |bytes: f64| 1e9 / (8.0 * (bytes + GAP_AND_PREAMBLE));
        let sizes = [64.0, 128.0, 1518.0];
        let all = at_each_size(&sizes.map(|bytes| (bytes, fps(bytes))));
        assert_eq!(all.len(), 1518 - 64 + 1);
        for (bytes, drawn) in all {
            assert!((drawn / fps(bytes) - 1.0).abs() < 1e-9, "{bytes}: {drawn}");
        }
        assert!(at_each_size(&[]).is_empty());
    }
}
