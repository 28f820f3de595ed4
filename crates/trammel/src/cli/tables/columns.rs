//! The columns of tables, read from one file a subject: name, type and meaning.
//!
//! ```text
//! tables of a scenario of routers        the subject
//! [events] the start or one event        a table, and what a row of it is
//! engine text                            a column; `words.tsv` says what it is
//! at_s number when it happens            a column that says it itself
//! + metrics                              the columns of a part of `parts.txt`
//! & decode flows totals                  tables of another subject
//! * number one metric                    all other columns
//! ```

use std::collections::BTreeMap;
use trammel_stats::table::CellType;

/// The files of subjects; those of `transport` and `bench` add to what the engines' code says.
const FILES: &[(&str, &str)] = &[
    ("transport", include_str!("transport.txt")),
    ("bench", include_str!("bench.txt")),
    ("forwarding", include_str!("forwarding.txt")),
    ("traffic", include_str!("traffic.txt")),
    ("routing", include_str!("routing.txt")),
    ("placement", include_str!("placement.txt")),
    ("estimate", include_str!("estimate.txt")),
    ("send", include_str!("send.txt")),
    ("decode", include_str!("decode.txt")),
    ("import", include_str!("import.txt")),
    ("traces", include_str!("traces.txt")),
    ("compare", include_str!("compare.txt")),
    ("paper", include_str!("paper.txt")),
    ("fidelity", include_str!("fidelity.txt")),
    ("conformance", include_str!("conformance.txt")),
    ("kernels", include_str!("kernels.txt")),
    ("sweep", include_str!("sweep.txt")),
];
const PARTS: &str = include_str!("parts.txt");
/// What columns are in every table that does not say it nearer.
const WORDS: &str = include_str!("words.tsv");
/// What documents say of columns: table and name, and the text. A test makes it of them, so that
/// the crate needs no file outside of it.
const DOCUMENTS: &str = include_str!("documents.tsv");

/// A column: its name, what it holds, and what its file says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: CellType,
    pub(super) text: &'static str,
}

/// A table of a subject.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) name: &'static str,
    /// What a row is.
    pub(super) row: &'static str,
    pub(super) columns: Vec<Column>,
    /// What columns of other names hold, and are.
    pub(super) others: Option<Column>,
}

/// The names of the subjects, and what their tables are.
pub(super) fn subjects() -> impl Iterator<Item = (&'static str, &'static str)> {
    let title = |text: &'static str| text.lines().next().unwrap_or_default();
    FILES.iter().map(move |(name, text)| (*name, title(text)))
}

/// The tables in the file of `subject`.
pub(super) fn of(subject: &str) -> Option<Vec<Described>> {
    let (_, text) = FILES.iter().find(|(name, _)| *name == subject)?;
    Some(read(text))
}

fn read(text: &'static str) -> Vec<Described> {
    let mut tables: Vec<Described> = Vec::new();
    for line in text.lines().skip(1) {
        if let Some((name, row)) = head(line) {
            tables.push(Described {
                name,
                row,
                columns: Vec::new(),
                others: None,
            });
            continue;
        }
        if let Some(line) = line.strip_prefix("& ") {
            let (subject, names) = line.split_once(' ').expect("a subject and its tables");
            let all = of(subject).expect("the subject has a file");
            let is_named = |one: &Described| names.split(' ').any(|name| name == one.name);
            tables.extend(all.into_iter().filter(is_named));
            continue;
        }
        let table = tables.last_mut().expect("a column is behind its table");
        if let Some(part) = line.strip_prefix("+ ") {
            let parts = read(PARTS);
            let part = parts.into_iter().find(|one| one.name == part);
            table
                .columns
                .extend(part.expect("the file of parts has it").columns);
            continue;
        }
        let column = column(line);
        if column.name == "*" {
            table.others = Some(column);
        } else {
            table.columns.push(column);
        }
    }
    tables
}

fn head(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('[')?.split_once("] ")
}

fn column(line: &'static str) -> Column {
    let mut words = line.splitn(3, ' ');
    let name = words.next().unwrap_or_default();
    let kind = match words.next() {
        Some("text") => CellType::Text,
        Some("integer") => CellType::Int,
        Some("number") => CellType::Float,
        Some("bool") => CellType::Bool,
        other => panic!("`{line}`: {other:?} is no type"),
    };
    let text = words.next().unwrap_or_default();
    Column { name, kind, text }
}

/// What columns are, by documents and words.
#[derive(Debug)]
pub(super) struct Meanings {
    documents: BTreeMap<&'static str, &'static str>,
    words: BTreeMap<&'static str, &'static str>,
}

impl Meanings {
    pub(super) fn new() -> Meanings {
        let rows = |text: &'static str| text.lines().filter_map(|line| line.split_once('\t'));
        Meanings {
            documents: rows(DOCUMENTS).collect(),
            words: rows(WORDS).collect(),
        }
    }

    /// What the column `name` of the table `of` is: documents say it nearest.
    pub(super) fn of(&self, of: &str, name: &str) -> Option<String> {
        // Both are defined in one table of the document.
        let document = if of == "groups" { "flows" } else { of };
        let of_document = self.documents.get(format!("{document}.{name}").as_str());
        let of_table = || self.words.get(format!("{of}.{name}").as_str());
        let said = of_document
            .or_else(of_table)
            .or_else(|| self.words.get(name));
        if let Some(text) = said {
            return Some((*text).to_owned());
        }
        let late = self.of(of, name.strip_prefix("late_")?)?;
        Some(format!("From the end of the warm-up on: {late}"))
    }

    /// The names that words are for.
    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.words.keys().copied()
    }
}
