//! The JSON Schema against what `check` says: it takes every file that `check` takes, and refuses
//! most that it refuses.

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, InlineTable, Item};
use trammel::scenario::{Description, Reading, schema};

/// Whether the reader takes it.
fn is_sound(text: &str, dir: &Path) -> bool {
    Description::parse("t.toml", text, dir, &Reading::default()).is_ok()
}

fn json_of(text: &str) -> Option<Value> {
    let document: DocumentMut = text.parse().ok()?;
    Some(of_item(document.as_item()))
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => table
            .iter()
            .map(|(key, item)| (key.to_owned(), of_item(item)))
            .collect::<Map<_, _>>()
            .into(),
        Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| of_item(&Item::Table(table.clone())))
            .collect(),
    }
}

fn of_value(value: &toml_edit::Value) -> Value {
    let of_array = |array: &Array| array.iter().map(of_value).collect();
    let of_table = |table: &InlineTable| {
        let pairs = table
            .iter()
            .map(|(key, value)| (key.to_owned(), of_value(value)));
        Value::Object(pairs.collect())
    };
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(flag) => json!(flag.value()),
        toml_edit::Value::Datetime(date) => json!(date.value().to_string()),
        toml_edit::Value::Array(array) => of_array(array),
        toml_edit::Value::InlineTable(table) => of_table(table),
    }
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema::schema()).expect("it is a schema")
}

fn faults(validator: &Validator, text: &str) -> Vec<String> {
    let json = json_of(text).expect("it is TOML");
    let errors = validator.iter_errors(&json);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The scenario files of the examples and of the papers.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("examples"), root().join("papers")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn dir(path: &Path) -> &Path {
    path.parent().unwrap()
}

#[test]
fn every_example_and_every_scenario_of_a_paper_is_taken() {
    let validator = validator();
    let mut taken = 0;
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_example = path.starts_with(root().join("examples"));
        if is_example || is_sound(&text, dir(&path)) {
            let faults = faults(&validator, &text);
            assert_eq!(faults, [""; 0], "{}", path.display());
            taken += 1;
        }
    }
    assert!(taken >= 20, "{taken}");
}

#[test]
fn every_scenario_in_the_documents_is_taken() {
    let validator = validator();
    let mut taken = 0;
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            if is_sound(block, &root()) {
                let faults = faults(&validator, block);
                assert_eq!(faults, [""; 0], "{}:\n{block}", path.display());
                taken += 1;
            }
        }
    }
    // Others are parts of files.
    assert!(taken >= 2, "{taken}");
}

const TRANSPORT: &str = "duration = '10 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n\
    queue = { discipline = 'codel', target = '5 ms' }\n[[flow]]\nvariant = 'cubic'\n\
    params = { beta = 717 }\n";

#[test]
fn slips_of_the_hand_are_refused_as_check_refuses_them() {
    let validator = validator();
    assert!(is_sound(TRANSPORT, &root()));
    assert_eq!(faults(&validator, TRANSPORT), [""; 0]);
    for (right, slip) in [
        ("duration = '10 s'", "duration = 10"),
        ("duration = '10 s'", "duration = '10 Mbit/s'"),
        ("duration = '10 s'", "duration = '10 secs'"),
        ("duration", "durration"),
        ("'cubic'", "'cubik'"),
        ("'cubic'", "7"),
        ("'10 Mbit/s'", "'10 Mbits/s'"),
        ("'10 Mbit/s'", "'10 ms'"),
        ("'20 ms'", "'-20 ms'"),
        ("rtt = '20 ms'\n", ""),
        ("variant = 'cubic'\n", ""),
        ("'codel'", "'coddle'"),
        ("target", "tarrget"),
        ("target = '5 ms'", "alpha = 0.1"),
        ("beta", "betta"),
        ("717", "0.7"),
        ("[path]", "seed = 1.5\n[path]"),
        ("[path]", "repeat = 0\n[path]"),
        ("[path]", "subject = 'weather'\n[path]"),
        ("[path]", "engines = ['simulat']\n[path]"),
        ("[path]", "engines = 'simulate'\n[path]"),
        ("[path]", "trace = 'sometimes'\n[path]"),
        ("[path]", "jitter = '1 ms'\n[path]"),
    ] {
        assert!(TRANSPORT.contains(right));
        let text = TRANSPORT.replace(right, slip);
        assert!(!is_sound(&text, &root()), "check takes:\n{text}");
        // That a path has a rate or something in its place is more than a schema says.
        if !slip.is_empty() || right.contains("variant") {
            assert_ne!(faults(&validator, &text), [""; 0], "{text}");
        }
    }
    // What a sweep or a matrix sets may be left out.
    for text in [
        TRANSPORT.replace("rtt = '20 ms'\n", "") + "[sweep]\n'path.rtt' = ['10 ms', '20 ms']\n",
        TRANSPORT.replace("variant = 'cubic'\nparams = { beta = 717 }\n", "")
            + "[sweep]\n'flow.0.variant' = ['cubic', 'reno']\n",
    ] {
        assert!(is_sound(&text, &root()), "{text}");
        assert_eq!(faults(&validator, &text), [""; 0], "{text}");
    }
}

/// Values that stand in place of others.
fn replacements() -> Vec<toml_edit::Value> {
    let text = |text: &str| toml_edit::Value::from(text);
    let mut all: Vec<_> = [
        "10 Mbits/s",
        "10 ms",
        "1 Mbit/s",
        "100 B",
        "2 bdp",
        "50 %",
        "cubik",
        "reno",
        "-1 s",
        "",
    ]
    .into_iter()
    .map(text)
    .collect();
    all.extend([10.into(), 0.5.into(), (-1).into(), true.into()]);
    all.push(toml_edit::Value::Array(Array::new()));
    all.push(toml_edit::Value::InlineTable(InlineTable::new()));
    all
}

/// Whether a sweep of `document` sets what lies at `path`, so that what stands there is never read.
fn is_overwritten(document: &DocumentMut, path: &[String]) -> bool {
    if document.contains_key("matrix") && path[0] == "flow" {
        return true;
    }
    let mut keys = Vec::new();
    if let Some(sweep) = document.get("sweep") {
        collect(sweep, &mut Vec::new(), &mut keys);
    }
    keys.iter().any(|key| {
        let key: Vec<&str> = key.iter().flat_map(|part| part.split('.')).collect();
        // `zip` and its number stand before the keys that vary together.
        let key = if key[0] == "zip" {
            key.get(2..)
        } else {
            Some(&key[..])
        };
        // A table of a list goes by its number, its name, or `*`.
        let is_same = |(a, b): (&&str, &String)| *a == b || b.parse::<usize>().is_ok();
        key.is_some_and(|key| !key.is_empty() && key.iter().zip(path).all(is_same))
    })
}

/// The text with each value replaced, each key misspelt, and each key removed, one at a time.
fn mutated(text: &str) -> Vec<String> {
    let document: DocumentMut = text.parse().unwrap();
    let mut paths = Vec::new();
    collect(document.as_item(), &mut Vec::new(), &mut paths);
    paths.retain(|path| !is_overwritten(&document, path));
    let mut all = Vec::new();
    // All values at every place would take minutes: each place gets some, and the next one others.
    const EACH: usize = 5;
    let values = replacements();
    let mut next = values.into_iter().cycle();
    for path in paths {
        let (key, place) = path.split_last().unwrap();
        for replacement in next.by_ref().take(EACH) {
            let mut document = document.clone();
            let table = at(document.as_item_mut(), place);
            table.insert(key, Item::Value(replacement));
            all.push(document.to_string());
        }
        let mut without = document.clone();
        at(without.as_item_mut(), place).remove(key);
        all.push(without.to_string());
        let mut misspelt = document.clone();
        let table = at(misspelt.as_item_mut(), place);
        let value = table.remove(key).unwrap();
        table.insert(&format!("{key}x"), value);
        all.push(misspelt.to_string());
    }
    all
}

fn collect(item: &Item, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    if let Some(table) = item.as_table_like() {
        for (key, item) in table.iter() {
            path.push(key.to_owned());
            paths.push(path.clone());
            collect(item, path, paths);
            path.pop();
        }
    } else if let Some(tables) = item.as_array_of_tables() {
        for (n, table) in tables.iter().enumerate() {
            path.push(n.to_string());
            collect(&Item::Table(table.clone()), path, paths);
            path.pop();
        }
    }
}

/// The table at a path of keys and numbers.
fn at<'a>(item: &'a mut Item, path: &[String]) -> &'a mut dyn toml_edit::TableLike {
    let Some((first, rest)) = path.split_first() else {
        return item.as_table_like_mut().expect("a table");
    };
    if item.is_array_of_tables() {
        let tables = item.as_array_of_tables_mut().unwrap();
        let table = tables.get_mut(first.parse().unwrap()).unwrap();
        let Some((second, rest)) = rest.split_first() else {
            return table;
        };
        return at(table.get_mut(second).unwrap(), rest);
    }
    at(
        item.as_table_like_mut().unwrap().get_mut(first).unwrap(),
        rest,
    )
}

#[test]
fn what_check_takes_the_schema_takes_and_most_of_what_it_refuses_the_schema_refuses() {
    let validator = validator();
    let (mut refused, mut seen, mut too_strict) = (0, 0, Vec::new());
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        if !path.starts_with(root().join("examples")) || text.len() > 6_000 {
            continue;
        }
        for text in mutated(&text) {
            let is_valid = validator.is_valid(&json_of(&text).expect("it is TOML"));
            if !is_sound(&text, dir(&path)) {
                refused += 1;
                seen += usize::from(!is_valid);
            } else if !is_valid {
                let faults = faults(&validator, &text).join("\n");
                too_strict.push(format!("{}: {faults}", path.display()));
            }
        }
    }
    assert_eq!(too_strict, [""; 0], "check takes these");
    assert!(refused > 1_000, "{refused}");
    // The others are of ranges of numbers with units, of names, and of keys that go together.
    let share = f64::from(seen as u32) / f64::from(refused as u32);
    eprintln!("of {refused} files that `check` refuses, the schema refuses {seen}");
    assert!(share > 0.8, "{seen} of {refused}");
}
