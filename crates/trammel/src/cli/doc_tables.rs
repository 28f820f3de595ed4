//! `trammel doc tables`: JSON Schemas of what commands write with `--json`, and so of the columns
//! of tables.
//!
//! Names and types are those that the engines fill (`scenario::columns`, the tests of `bench`); the
//! unit follows from the end of a column's name. What a column is, the documents say: the rows of
//! their tables that begin with its name.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use trammel_bench::procedures;
use trammel_scenario::columns::{
    APPS, DEVICES, FLOWS, GROUPS, LINKS, PREDICTIONS, STREAMS, WORKLOADS,
};
use trammel_stats::table::{CellType, Column};
use trammel_transport::summary;

/// The tables that have a schema of their own.
pub(super) const OF: [&str; 2] = ["transport", "bench"];

/// What documents say of columns: table and name, and the text. It is generated from the documents,
/// so that the crate needs no file outside of it.
const MEANINGS: &str = include_str!("columns.tsv");

/// What rows of a transport run begin with.
const RUN: &[(&str, CellType)] = &[
    ("engine", CellType::Text),
    ("point", CellType::Text),
    ("repeat", CellType::Int),
    ("seed", CellType::Int),
];

/// The schema of the tables of all commands, or of those of `subject`; nothing where that is
/// unknown.
pub(super) fn schema(subject: Option<&str>) -> Option<Value> {
    let meanings = meanings();
    let (title, tables) = match subject {
        None => ("tables of any command", Map::new()),
        Some("transport") => ("tables of a scenario of flows", transport(&meanings)),
        Some("bench") => ("tables of `trammel bench`", bench(&meanings)),
        Some(_) => return None,
    };
    Some(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Trammel `--json`: {title}"),
        "description": "One object a table, with its rows in order. An empty cell is null, and so \
            is an infinite number. Columns in which no row has a value may be missing; columns of \
            a sweep are named for what is swept.",
        "type": "object",
        "required": ["schema", "tables"],
        "properties": {
            "schema": { "const": "trammel/1" },
            "tables": {
                "type": "object",
                "properties": tables,
                "additionalProperties": { "$ref": "#/$defs/table" },
            },
        },
        "$defs": {
            "cell": { "type": ["string", "number", "boolean", "null"] },
            "table": {
                "type": "array",
                "items": { "type": "object", "additionalProperties": { "$ref": "#/$defs/cell" } },
            },
        },
    }))
}

fn transport(meanings: &BTreeMap<&str, &str>) -> Map<String, Value> {
    let of_runs = [
        ("flows", "one flow of one run", FLOWS),
        ("links", "one link of one run", LINKS),
        ("devices", "one port of a device in one run", DEVICES),
        (
            "workloads",
            "one workload and range of sizes of one run",
            WORKLOADS,
        ),
        ("streams", "one stream of datagrams of one run", STREAMS),
        ("apps", "the users of one application in one run", APPS),
        ("groups", "all flows of one run together", GROUPS),
    ];
    let mut tables = Map::new();
    for (name, what, columns) in of_runs {
        let columns = RUN.iter().chain(columns);
        tables.insert(name.to_owned(), table((name, what), columns, meanings));
    }
    let what = "what one model says of one flow at one point";
    let columns = RUN[..2].iter().chain(PREDICTIONS);
    tables.insert(
        "predictions".to_owned(),
        table(("predictions", what), columns, meanings),
    );
    let what = "one metric of one entity at one point: mean and interval over the repeats";
    let columns = RUN[..2].iter().chain(summary::COLUMNS);
    tables.insert(
        "summary".to_owned(),
        table(("summary", what), columns, meanings),
    );
    tables
}

fn bench(meanings: &BTreeMap<&str, &str>) -> Map<String, Value> {
    let tests = procedures::FAMILY.all().into_iter().map(|entry| {
        let columns = procedures::SHARED.iter().chain(entry.columns);
        let table = table(("bench", entry.about.summary), columns, meanings);
        (entry.about.name.to_owned(), table)
    });
    tests.collect()
}

/// A table whose rows are `what`; `of` is where the documents have its columns.
fn table<'a>(
    (of, what): (&str, &str),
    columns: impl Iterator<Item = &'a (&'a str, CellType)>,
    meanings: &BTreeMap<&str, &str>,
) -> Value {
    let properties =
        columns.map(|(name, kind)| ((*name).to_owned(), column((of, name), *kind, meanings)));
    json!({
        "description": format!("A row is {what}."),
        "type": "array",
        "items": {
            "type": "object",
            "properties": properties.collect::<Map<_, _>>(),
            "additionalProperties": { "$ref": "#/$defs/cell" },
        },
    })
}

fn column((of, name): (&str, &str), kind: CellType, meanings: &BTreeMap<&str, &str>) -> Value {
    let word = match kind {
        CellType::Text => "string",
        CellType::Int => "integer",
        CellType::Float => "number",
        CellType::Bool => "boolean",
    };
    let mut about = json!({ "type": [word, "null"] });
    if let Some(unit) = Column::new(name, kind).unit() {
        about["x-unit"] = unit.into();
    }
    // Both are defined in one table of the document.
    let of = if of == "groups" { "flows" } else { of };
    let said = |name: &str| meanings.get(format!("{of}.{name}").as_str()).copied();
    let meaning = said(name).map(str::to_owned);
    let late = || {
        let of = said(name.strip_prefix("late_")?)?;
        Some(format!("From the end of the warm-up on: {of}"))
    };
    if let Some(text) = meaning.or_else(late) {
        about["description"] = text.into();
    }
    about
}

/// What documents say of columns.
fn meanings() -> BTreeMap<&'static str, &'static str> {
    let rows = MEANINGS.lines().filter_map(|line| line.split_once('\t'));
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Documents whose tables define columns.
    const DOCUMENTS: [&str; 3] = ["docs/metrics.md", "docs/applications.md", "docs/bench.md"];

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Compares a file with the text that it should have, or writes that.
    fn expect(path: &Path, wanted: &str) {
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(path, wanted).expect("the file can be written");
            return;
        }
        let is = fs::read_to_string(path).unwrap_or_default();
        assert!(is == wanted, "{}: UPDATE_DOCS=1 mends it", path.display());
    }

    /// Rows of two cells below the head `column`.
    #[test]
    fn the_meanings_are_those_of_the_documents() {
        let mut meanings: BTreeMap<String, String> = BTreeMap::new();
        for document in DOCUMENTS {
            let text = fs::read_to_string(root().join(document)).expect("it is there");
            let mut is_of_columns = false;
            let mut of = match document {
                "docs/applications.md" => "apps".to_owned(),
                "docs/bench.md" => "bench".to_owned(),
                _ => String::new(),
            };
            for line in text.lines() {
                if let (true, Some(title)) =
                    (document.ends_with("metrics.md"), line.strip_prefix("## "))
                {
                    of = title.to_lowercase();
                }
                let row = line.strip_prefix("| ");
                let Some(row) = row.and_then(|row| row.strip_suffix(" |")) else {
                    is_of_columns = false;
                    continue;
                };
                is_of_columns |= row.starts_with("column ");
                if !is_of_columns {
                    continue;
                }
                let cells: Vec<&str> = row.split(" | ").collect();
                let [names, text] = cells[..] else { continue };
                // What links elsewhere says it there.
                if text.contains("](") {
                    continue;
                }
                let is_name = |name: &&str| {
                    let is_plain =
                        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                    !name.is_empty() && name.chars().all(is_plain)
                };
                let names = names.split('`').skip(1).step_by(2);
                for name in names.filter(is_name) {
                    let known = meanings.entry(format!("{of}.{name}"));
                    known.or_insert_with(|| text.to_owned());
                }
            }
        }
        let lines = meanings
            .iter()
            .map(|(name, text)| format!("{name}\t{text}\n"));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/columns.tsv");
        expect(&path, &lines.collect::<String>());
    }

    #[test]
    fn the_files_are_those_that_the_program_writes() {
        let folder = root().join("share/schema");
        let all = [None].into_iter().chain(OF.map(Some));
        for subject in all {
            let name = match subject {
                None => "tables.json".to_owned(),
                Some(subject) => format!("tables-{subject}.json"),
            };
            let schema = schema(subject).expect("it is known");
            let text = serde_json::to_string_pretty(&schema).expect("it is JSON") + "\n";
            expect(&folder.join(&name), &text);
        }
    }

    #[test]
    fn columns_have_units_and_what_the_documents_say() {
        let schema = schema(Some("transport")).expect("it is known");
        let of = |table: &str, column: &str| {
            let path = format!("/properties/tables/properties/{table}/items/properties/{column}");
            schema
                .pointer(&path)
                .cloned()
                .unwrap_or_else(|| panic!("{path}"))
        };
        let recovery = of("links", "recovery_s");
        assert_eq!(
            (&recovery["x-unit"], &recovery["type"][0]),
            (&json!("s"), &json!("number"))
        );
        let text = recovery["description"].as_str().unwrap_or_default();
        assert!(text.starts_with("after an increase"), "{text}");
        let late = of("groups", "late_jain");
        let text = late["description"].as_str().unwrap_or_default();
        assert!(
            text.starts_with("From the end of the warm-up on: (Σx)²"),
            "{text}"
        );
    }
}
