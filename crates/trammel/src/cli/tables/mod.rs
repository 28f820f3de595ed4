//! `trammel doc tables`: JSON Schemas of what commands write with `--json`, and so of the columns
//! of tables.
//!
//! Of flows and of tests of devices, names and types are those that the engines fill
//! (`scenario::columns`, the tests of `bench`). All other tables have a file here, which
//! `tests/table_schemas.rs` holds against what the commands write. The unit follows from the end of
//! a column's name. What a column is, its file says, or the documents: the rows of their tables
//! that begin with its name.

mod columns;

use columns::{Described, Meanings};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use trammel_bench::procedures;
use trammel_scenario::columns::{
    APPS, DEVICES, FLOWS, GROUPS, LINKS, PREDICTIONS, STREAMS, WORKLOADS,
};
use trammel_stats::table::{CellType, Column};
use trammel_transport::summary;

/// The subjects whose tables have a schema, and what they are.
pub(super) fn subjects() -> impl Iterator<Item = (&'static str, &'static str)> {
    columns::subjects()
}

/// What rows of a transport run begin with.
const RUN: &[(&str, CellType)] = &[
    ("engine", CellType::Text),
    ("point", CellType::Text),
    ("repeat", CellType::Int),
    ("seed", CellType::Int),
];

/// A column of a table of a subject, with what it is.
#[derive(Debug)]
pub(super) struct Explained {
    pub(super) subject: &'static str,
    pub(super) table: String,
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) text: String,
}

/// Every column of every table of every subject.
pub(super) fn explained() -> &'static [Explained] {
    // Whoever looks up one word may look up many.
    static ALL: LazyLock<Vec<Explained>> = LazyLock::new(|| {
        let mut all = Vec::new();
        for (subject, _) in subjects() {
            for (table, about) in tables(subject).unwrap_or_default() {
                let columns = about["items"]["properties"].as_object();
                for (name, column) in columns.into_iter().flatten() {
                    let word = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
                    all.push(Explained {
                        subject,
                        table: table.clone(),
                        name: name.clone(),
                        unit: word("x-unit"),
                        text: word("description"),
                    });
                }
            }
        }
        all
    });
    &ALL
}

/// The schema of the tables of all commands, or of those of `subject`; nothing where that is
/// unknown.
pub(super) fn schema(subject: Option<&str>) -> Option<Value> {
    let (title, tables) = match subject {
        None => ("tables of any command", Map::new()),
        Some(subject) => {
            let (_, title) = columns::subjects().find(|(name, _)| *name == subject)?;
            (title, tables(subject)?)
        }
    };
    let mut schema = json!({
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
    });
    if subject.is_none() {
        // Who reads the schema of all sees which are nearer.
        let subjects = subjects().map(|(name, title)| (name.to_owned(), title.into()));
        schema["x-subjects"] = Value::Object(subjects.collect());
    }
    Some(schema)
}

/// The tables of `subject`: what code says of them, then its file.
fn tables(subject: &str) -> Option<Map<String, Value>> {
    let meanings = Meanings::new();
    let mut tables = match subject {
        "transport" => transport(&meanings),
        "bench" => bench(&meanings),
        _ => Map::new(),
    };
    for described in columns::of(subject)? {
        // Columns of tests of devices are said once for all tables.
        let of = if subject == "bench" {
            subject
        } else {
            described.name
        };
        tables.insert(
            described.name.to_owned(),
            from_file(of, &described, &meanings),
        );
    }
    Some(tables)
}

fn from_file(of: &str, described: &Described, meanings: &Meanings) -> Value {
    let properties = described.columns.iter().map(|one| {
        let about = match one.text {
            "" => column((of, one.name), one.kind, meanings),
            text => said((one.name, one.kind), Some(text.to_owned())),
        };
        (one.name.to_owned(), about)
    });
    let others = match described.others {
        Some(one) => said((one.name, one.kind), Some(one.text.to_owned())),
        None => json!({ "$ref": "#/$defs/cell" }),
    };
    json!({
        "description": format!("A row is {}.", described.row),
        "type": "array",
        "items": {
            "type": "object",
            "properties": properties.collect::<Map<_, _>>(),
            "additionalProperties": others,
        },
    })
}

fn transport(meanings: &Meanings) -> Map<String, Value> {
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

fn bench(meanings: &Meanings) -> Map<String, Value> {
    let tests = procedures::FAMILY.all().into_iter().map(|entry| {
        let columns = procedures::SHARED.iter().chain(entry.columns);
        let name = entry.about.name;
        let row = format!(
            "one kind of traffic, or one step of it, in the test `{name}`: {}",
            entry.about.summary
        );
        (name.to_owned(), table(("bench", &row), columns, meanings))
    });
    tests.collect()
}

/// A table whose rows are `what`; `of` is where the documents have its columns.
fn table<'a>(
    (of, what): (&str, &str),
    columns: impl Iterator<Item = &'a (&'a str, CellType)>,
    meanings: &Meanings,
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

fn column((of, name): (&str, &str), kind: CellType, meanings: &Meanings) -> Value {
    said((name, kind), meanings.of(of, name))
}

/// Units of names that the tables' own rule does not know, which is for titles of pages.
const UNITS: [(&str, &str); 16] = [
    ("_per_s", "1/s"),
    ("_mpps", "Mpps"),
    ("mpps", "Mpps"),
    ("_gbps", "Gbit/s"),
    ("_ghz", "GHz"),
    ("_ppm", "ppm"),
    ("_ns", "ns"),
    ("_%", "%"),
    ("_frames", "frames"),
    ("cycles", "cycles"),
    ("cycles_low", "cycles"),
    ("cycles_high", "cycles"),
    ("bytes", "bytes"),
    ("pkts", "packets"),
    ("mbps", "Mbit/s"),
    ("seconds", "s"),
];

/// The unit of the numbers of the column `name`, by its end or by its whole name.
fn unit(name: &str) -> Option<&'static str> {
    let is_it = |unit: &&(&str, &str)| {
        if unit.0.starts_with('_') {
            name.ends_with(unit.0)
        } else {
            name == unit.0
        }
    };
    let own = UNITS.iter().find(is_it).map(|(_, unit)| *unit);
    own.or_else(|| Column::new(name, CellType::Float).unit())
}

/// The column `name` with what it is.
fn said((name, kind): (&str, CellType), text: Option<String>) -> Value {
    let word = match kind {
        CellType::Text => "string",
        CellType::Int => "integer",
        CellType::Float => "number",
        CellType::Bool => "boolean",
    };
    let mut about = json!({ "type": [word, "null"] });
    let is_number = matches!(kind, CellType::Int | CellType::Float);
    if let Some(unit) = unit(name).filter(|_| is_number) {
        about["x-unit"] = unit.into();
    }
    if let Some(text) = text {
        about["description"] = text.into();
    }
    about
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
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
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/tables/documents.tsv");
        expect(&path, &lines.collect::<String>());
    }

    #[test]
    fn the_files_are_those_that_the_program_writes() {
        let folder = root().join("share/schema");
        let all = subjects().map(|(name, _)| Some(name));
        for subject in [None].into_iter().chain(all) {
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
        assert_eq!(unit("dram_per_s"), Some("1/s"));
        assert_eq!(unit("busy_%"), Some("%"));
        assert_eq!(unit("metric"), None);
        let late = of("groups", "late_jain");
        let text = late["description"].as_str().unwrap_or_default();
        assert!(
            text.starts_with("From the end of the warm-up on: (Σx)²"),
            "{text}"
        );
    }
    #[test]
    fn every_column_has_a_meaning() {
        let all = explained().iter().filter(|one| one.text.is_empty());
        let without: Vec<_> = all
            .map(|one| format!("{}: {}.{}", one.subject, one.table, one.name))
            .collect();
        assert!(without.is_empty(), "{without:#?}");
    }

    #[test]
    fn every_word_is_of_a_column() {
        let mut used = BTreeSet::new();
        for one in explained() {
            used.insert(format!("{}.{}", one.subject, one.name));
            used.insert(one.name.clone());
        }
        let unused: Vec<_> = Meanings::new().names().collect();
        let unused: Vec<_> = unused
            .iter()
            .filter(|name| !used.contains(**name))
            .collect();
        assert!(unused.is_empty(), "{unused:?}");
    }
}
