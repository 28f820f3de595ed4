//! The tables of pages: of columns in metrics.md and applications.md, of words in glossary.md.
//!
//! A row of such a table is an explanation: what its first cell names, its second one means.

use super::meaning::{Meaning, is_alike};
use trammel_scenario::columns::{self, Columns};
use trammel_stats::table::{CellType, Column};

const PAGES: [&str; 3] = [
    "docs/glossary.md",
    "docs/metrics.md",
    "docs/applications.md",
];

/// The first heading of tables whose rows explain something, and what.
const HEADS: [(&str, &str); 4] = [
    ("word", "word"),
    ("label", "label"),
    ("column", "column"),
    ("`answer`", "answer"),
];

/// The tables of a run of transport, by their files.
const TABLES: [(&str, Columns); 7] = [
    ("flows", columns::FLOWS),
    ("groups", columns::GROUPS),
    ("links", columns::LINKS),
    ("devices", columns::DEVICES),
    ("streams", columns::STREAMS),
    ("workloads", columns::WORKLOADS),
    ("apps", columns::APPS),
];

/// A row of a page's table.
struct Row {
    page: &'static str,
    kind: &'static str,
    heading: String,
    names: Vec<String>,
    text: String,
}

/// What the pages say of `word`.
pub(super) fn find(word: &str) -> Vec<Meaning> {
    let rows = rows();
    let mut found: Vec<Meaning> = Vec::new();
    for row in &rows {
        let Some(name) = row.names.iter().find(|name| is_named(word, name)) else {
            continue;
        };
        let page = row.page.trim_start_matches("docs/");
        found.push(Meaning {
            kind: row.kind.to_owned(),
            name: name.clone(),
            text: row.text.clone(),
            more: format!("docs/{page}, “{}”", row.heading),
        });
    }
    if !found.iter().any(|one| one.kind == "column") {
        found.extend(column(word));
    }
    found
}

/// A column that no page has a row of: its tables and its unit.
fn column(word: &str) -> Option<Meaning> {
    let all = TABLES.iter().flat_map(|(table, columns)| {
        let columns = columns.iter();
        columns.map(move |(name, _)| (*table, *name))
    });
    let is_it = |name: &str| is_alike(word, name) || is_alike(word, without_unit(name));
    let of: Vec<(&str, &str)> = all.filter(|(_, name)| is_it(name)).collect();
    let (_, name) = *of.first()?;
    let column = Column::new(name.to_owned(), CellType::Float);
    let mut tables: Vec<&str> = of.iter().map(|(table, _)| *table).collect();
    tables.dedup();
    let tables: Vec<String> = tables.iter().map(|table| format!("{table}.csv")).collect();
    let unit = column
        .unit()
        .map_or(String::new(), |unit| format!(" in {unit}"));
    Some(Meaning {
        kind: "column".to_owned(),
        name: name.to_owned(),
        text: format!("{}{unit}, of {}.", column.title(), tables.join(", ")),
        more: "docs/metrics.md".to_owned(),
    })
}

/// Whether a word is the name in a row: as it stands, without its unit, or by its pattern
/// (`rtt_…_us`).
fn is_named(word: &str, name: &str) -> bool {
    let is_pattern = |pattern: &str| {
        let parts = pattern.split_once('…');
        parts.is_some_and(|(head, tail)| {
            let rest = word.strip_prefix(head);
            !head.is_empty() && rest.is_some_and(|rest| rest.ends_with(tail))
        })
    };
    let short = without_unit(name);
    let is_it = |name: &str| is_alike(word, name) || is_pattern(name);
    is_it(name) || is_it(short)
}

/// `goodput` of `goodput_mbps`.
fn without_unit(name: &str) -> &str {
    const UNITS: [&str; 5] = ["_mbps", "_us", "_s", "_pkts", "_bytes"];
    let stem = UNITS.iter().find_map(|unit| name.strip_suffix(unit));
    stem.unwrap_or(name)
}

/// Every name in the pages and every column.
pub(super) fn words() -> Vec<String> {
    let names = rows().into_iter().flat_map(|row| row.names);
    let mut names: Vec<String> = names.filter(|name| !name.contains('…')).collect();
    for (_, columns) in TABLES {
        names.extend(columns.iter().map(|(name, _)| (*name).to_owned()));
    }
    names
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for page in PAGES {
        let text = trammel_library::text(page).unwrap_or_default();
        let (mut heading, mut kind) = ("", None);
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                heading = title;
            }
            let cells = line
                .strip_prefix("| ")
                .and_then(|row| row.strip_suffix(" |"));
            let Some((names, text)) = cells.and_then(|row| row.split_once(" | ")) else {
                kind = None;
                continue;
            };
            let Some(kind) = kind else {
                // The first row of a table: what those below explain, or nothing of ours.
                let mut heads = HEADS.iter();
                let head = heads.find(|(head, _)| *head == names);
                kind = Some(head.map(|(_, kind)| *kind));
                continue;
            };
            if let (Some(kind), false) = (kind, names.starts_with("---")) {
                let names = names.split(", ").map(|name| name.replace(['`', '*'], ""));
                rows.push(Row {
                    page,
                    kind,
                    heading: heading.to_owned(),
                    names: names.map(|name| name.trim().to_owned()).collect(),
                    text: text.replace(" | ", "; "),
                });
            }
        }
    }
    rows
}
