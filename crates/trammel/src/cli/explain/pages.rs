//! The tables of pages: of columns in metrics.md and applications.md, of words in glossary.md, of
//! verdicts in conformance.md, of other tools' words in compare; and the columns of all tables.
//!
//! A row of such a table is an explanation: what its first cell names, its second one means.

use super::super::tables;
use super::meaning::{Meaning, is_alike};
use std::sync::LazyLock;

const PAGES: [&str; 10] = [
    "docs/glossary.md",
    "docs/conformance.md",
    "docs/metrics.md",
    "docs/applications.md",
    "docs/compare/click.md",
    "docs/compare/d-itg.md",
    "docs/compare/iperf3.md",
    "docs/compare/mininet.md",
    "docs/compare/ns-3.md",
    "docs/compare/trex.md",
];

/// The first heading of tables whose rows explain something, and what.
const HEADS: [(&str, &str); 11] = [
    ("verdict", "verdict"),
    ("word", "word"),
    ("label", "label"),
    ("column", "column"),
    ("`answer`", "answer"),
    ("Click", "word of Click"),
    ("D-ITG", "word of D-ITG"),
    ("iperf3", "word of iperf3"),
    ("Mininet", "word of Mininet"),
    ("ns-3", "word of ns-3"),
    ("TRex", "word of TRex"),
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
    let mut found: Vec<Meaning> = Vec::new();
    for row in rows() {
        let Some(name) = row.names.iter().find(|name| is_named(word, name)) else {
            continue;
        };
        let page = row.page.trim_start_matches("docs/");
        found.push(Meaning {
            kind: row.kind.to_owned(),
            name: name.clone(),
            text: row.text.clone(),
            more: match row.heading.as_str() {
                "" => format!("docs/{page}"),
                heading => format!("docs/{page}, “{heading}”"),
            },
        });
    }
    if !found.iter().any(|one| one.kind == "column") {
        found.extend(columns(word));
    }
    found
}

/// The columns of this name that no page has a row of: a meaning for each text, with the tables
/// that it holds in.
fn columns(word: &str) -> Vec<Meaning> {
    let is_it = |name: &str| is_alike(word, name) || is_alike(word, without_unit(name));
    let mut found: Vec<(&tables::Explained, Vec<String>)> = Vec::new();
    for one in tables::explained() {
        if !is_it(&one.name) {
            continue;
        }
        let place = format!("`{}` ({})", one.table, one.subject);
        let same = |known: &(&tables::Explained, _)| {
            (&known.0.text, &known.0.name) == (&one.text, &one.name)
        };
        match found.iter().position(same) {
            Some(at) => found[at].1.push(place),
            None => found.push((one, vec![place])),
        }
    }
    let meaning = |(one, places): (&tables::Explained, Vec<String>)| {
        let unit = match one.unit.as_str() {
            "" => String::new(),
            unit => format!(", in {unit}"),
        };
        let places = places.join(", ");
        Meaning {
            kind: "column".to_owned(),
            text: format!("{}{unit}. Of {places}.", one.text.trim_end_matches('.')),
            more: format!("`trammel doc tables {}`", one.subject),
            name: one.name.clone(),
        }
    };
    found.into_iter().map(meaning).collect()
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
    // A word with another unit is another column.
    is_it(name) || (without_unit(word) == word && is_it(short))
}

/// `goodput` of `goodput_mbps`.
fn without_unit(name: &str) -> &str {
    const UNITS: [&str; 5] = ["_mbps", "_us", "_s", "_pkts", "_bytes"];
    let stem = UNITS.iter().find_map(|unit| name.strip_suffix(unit));
    stem.unwrap_or(name)
}

/// Every name in the pages and every column.
pub(super) fn words() -> Vec<String> {
    let names = rows().iter().flat_map(|row| row.names.iter().cloned());
    let mut names: Vec<String> = names.filter(|name| !name.contains('…')).collect();
    names.extend(tables::explained().iter().map(|one| one.name.clone()));
    names
}

/// The rows of all pages, which are read once.
fn rows() -> &'static [Row] {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(read_pages);
    &ROWS
}

/// The pieces of code in a cell, without the values that stand behind a word: `-O` of `-O 2`.
fn code_in(cell: &str) -> Vec<String> {
    let pieces = cell.split('`').skip(1).step_by(2);
    let words = pieces.map(|piece| piece.split([' ', '(']).next().unwrap_or_default());
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.dedup();
    words
}

fn read_pages() -> Vec<Row> {
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
                let is_of_others = kind.starts_with("word of");
                rows.push(Row {
                    page,
                    kind,
                    heading: heading.to_owned(),
                    names: if is_of_others {
                        code_in(names)
                    } else {
                        let names = names.split(", ").map(|name| name.replace(['`', '*'], ""));
                        names.map(|name| name.trim().to_owned()).collect()
                    },
                    text: match text.replace(" | ", "; ") {
                        text if is_of_others => format!("In Trammel: {text}"),
                        text => text,
                    },
                });
            }
        }
    }
    rows
}
