//! The report of imported files: who measured, what, and the curves.

use super::figures;
use super::point::Point;
use super::tables::{entity_column, shown};
use std::collections::{BTreeMap, BTreeSet};
use trammel_core::label::Label;
use trammel_report::words::list;
use trammel_report::{Answer, Block, Highlight, Note, NoteKind, Report, Section, TableView};
use trammel_stats::table::{Row, Table, format_float};

/// Digits that people see.
const DIGITS: usize = 4;

/// The page, but for where it is from.
pub(super) fn page(points: &[Point], tables: &[Table]) -> Report {
    let mut sections = Vec::new();
    let notes = points.iter().flat_map(|point| {
        let note = |text: &String| {
            let text = match points.len() {
                1 => text.clone(),
                _ => format!("{}: {text}", point.name),
            };
            let kind = NoteKind::Info;
            Block::Note(Note { kind, text })
        };
        point.imported.notes.iter().map(note)
    });
    let notes: Vec<Block> = notes.collect();
    let (figures, left_out) = figures::blocks(points);
    if !figures.is_empty() {
        let texts = left_out.into_iter().chain([inferred(tables)]);
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        sections.push(Section {
            heading: "Over time".to_owned(),
            text: texts.join(" "),
            blocks: figures,
        });
    }
    let mut blocks: Vec<Block> = shown(tables)
        .into_iter()
        .map(|table| {
            Block::Table(TableView {
                title: table.name().to_owned(),
                table: table.into_owned(),
                is_open: true,
            })
        })
        .collect();
    blocks.extend(notes);
    sections.push(Section {
        heading: "Numbers".to_owned(),
        text: who(points),
        blocks,
    });
    let title: Vec<&str> = points.iter().map(|point| point.file.as_str()).collect();
    Report {
        title: title.join(", "),
        question: match points {
            [only] => format!("What did {} show?", only.imported.by),
            _ => "What do these files show?".to_owned(),
        },
        answer: answer(points, tables),
        highlights: highlights(points, tables),
        sections,
        ..Report::default()
    }
}

/// Whose numbers they are.
fn who(points: &[Point]) -> String {
    let mut lines: Vec<String> = points
        .iter()
        .map(|point| {
            let imported = &point.imported;
            let label = imported.label.words();
            match points.len() {
                1 => format!("Numbers are {label}: {}.", imported.by),
                _ => format!("{}: {label}, {}.", point.name, imported.by),
            }
        })
        .collect();
    lines.dedup();
    lines.join(" ")
}

/// Whether a label is of what was not measured.
pub(super) fn is_inferred_by(label: &str) -> bool {
    matches!(label, "inferred" | "used")
}

/// What of the curves was not measured.
fn inferred(tables: &[Table]) -> String {
    let is_inferred = |column: &str| {
        let rows = tables.iter().flat_map(Table::rows);
        rows.into_iter().any(|row| is_inferred_by(row.text(column)))
    };
    let mut texts = Vec::new();
    if is_inferred("cwnd_label") {
        texts.push(
            "Windows are inferred: the most packets that the sender had in flight within two \
             acknowledgements. A sender that spaces its segments may have been allowed more.",
        );
    }
    if is_inferred("rtt_label") {
        texts.push(
            "Round trips of flows that were not captured at their sender are inferred from \
             timestamps.",
        );
    }
    texts.join(" ")
}

fn flows(tables: &[Table]) -> Vec<Row<'_>> {
    let flows = tables.iter().filter(|table| table.name() == "flows");
    flows.flat_map(Table::rows).collect()
}

/// A time in microseconds with a unit that suits it.
fn time(us: f64) -> String {
    match us.abs() {
        1e6.. => format!("{} s", format_float(us / 1e6, DIGITS)),
        1e3.. => format!("{} ms", format_float(us / 1e3, DIGITS)),
        _ => format!("{} µs", format_float(us, DIGITS)),
    }
}

/// The labels of the files, and who made the numbers of each.
fn labels(points: &[Point]) -> BTreeMap<Label, BTreeSet<&str>> {
    let mut labels: BTreeMap<Label, BTreeSet<&str>> = BTreeMap::new();
    for point in points {
        let by = labels.entry(point.imported.label).or_default();
        by.insert(&point.imported.by);
    }
    labels
}

/// The label of all files, where they have one.
fn one_label(points: &[Point]) -> Option<Label> {
    let labels = labels(points);
    let first = labels.keys().next().copied();
    first.filter(|_| labels.len() == 1)
}

/// What there is in the tables, such as `2 flows, 1 stream and 4 results`.
fn counts(tables: &[Table]) -> String {
    let tables = shown(tables).into_iter();
    let counts = tables
        .filter(|table| table.name() != "groups")
        .map(|table| {
            let of = match entity_column(table.name()) {
                "" => "result",
                of => of,
            };
            let s = if table.len() == 1 { "" } else { "s" };
            format!("{} {of}{s}", table.len())
        });
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() {
        return "no result".to_owned();
    }
    list(&counts)
}

fn answer(points: &[Point], tables: &[Table]) -> Answer {
    let label = one_label(points);
    let rows = flows(tables);
    if let [flow] = rows[..]
        && points.len() == 1
        && let Some(goodput) = flow.float("goodput_mbps")
    {
        let mut parts = Vec::new();
        parts.extend(
            flow.float("rtt_mean_us")
                .map(|us| format!("a round trip of {} in the mean", time(us))),
        );
        parts.extend(
            flow.int("retransmissions_pkts")
                .map(|again| format!("{again} retransmissions")),
        );
        let with = if parts.is_empty() {
            String::new()
        } else {
            format!(" with {}", parts.join(" and "))
        };
        let number = format!("{} Mbit/s", format_float(goodput, DIGITS));
        return Answer {
            sentence: format!("{} gets {number}{with}.", flow.text("flow")),
            number,
            label,
        };
    }
    let groups = tables.iter().find(|table| table.name() == "groups");
    let group = groups.and_then(|table| table.rows().next());
    let single = points.len() == 1 && points.iter().all(|point| point.imported.runs.len() == 1);
    if let Some(row) = group.filter(|_| single && !rows.is_empty())
        && let Some(goodput) = row.float("goodput_mbps")
    {
        let number = format!("{} Mbit/s", format_float(goodput, DIGITS));
        let jain = row.float("jain").map_or(String::new(), |jain| {
            format!(
                ", shared with a fairness index of {}",
                format_float(jain, DIGITS)
            )
        });
        return Answer {
            sentence: format!("{} flows get {number} together{jain}.", rows.len()),
            number,
            label,
        };
    }
    Answer {
        number: String::new(),
        sentence: format!("{}.", counts(tables)),
        label,
    }
}

/// Of files of several labels, whose numbers have which.
fn of_each_label(points: &[Point]) -> Vec<Highlight> {
    let all = labels(points).into_iter().map(|(label, by)| {
        let files = points.iter().filter(|point| point.imported.label == label);
        let files = files.count();
        Highlight {
            name: label.words().to_owned(),
            value: files.to_string(),
            unit: if files == 1 { "file" } else { "files" }.to_owned(),
            label: Some(label),
            note: by.into_iter().collect::<Vec<_>>().join(", "),
        }
    });
    all.collect()
}

fn highlights(points: &[Point], tables: &[Table]) -> Vec<Highlight> {
    let label = one_label(points);
    if label.is_none() {
        return of_each_label(points);
    }
    let rows = flows(tables);
    let [flow] = rows[..] else { return Vec::new() };
    let one = |name: &str, column: &str, scale: f64, unit: &str, note: &str| {
        let value = flow.float(column)? * scale;
        Some(Highlight {
            name: name.to_owned(),
            value: format_float(value, DIGITS),
            unit: unit.to_owned(),
            label: label.filter(|_| !note.ends_with("inferred")),
            note: note.to_owned(),
        })
    };
    let is_inferred = |column: &str| is_inferred_by(flow.text(column));
    let mean = |is_inferred: bool| {
        if is_inferred {
            "in the mean, inferred"
        } else {
            "in the mean"
        }
    };
    let (window, rtt) = (is_inferred("cwnd_label"), is_inferred("rtt_label"));
    [
        one("goodput", "goodput_mbps", 1.0, "Mbit/s", "in the mean"),
        one("round trip", "rtt_mean_us", 1e-3, "ms", mean(rtt)),
        one("window", "cwnd_mean_pkts", 1.0, "packets", mean(window)),
        one("loss", "loss", 100.0, "%", "of the packets sent"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
