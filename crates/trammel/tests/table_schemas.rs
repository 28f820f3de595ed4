//! What commands write with `--json` against the JSON Schemas of tables in `share/schema`.

#[cfg(target_os = "linux")]
mod listening;

use jsonschema::Validator;
#[cfg(target_os = "linux")]
use listening::listening;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use trammel_stats::table::Table;
use trammel_traffic::log::{Session, Writer};
use trammel_traffic::record::{Instants, LoggedFlow, Protocol, Record};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema(name: &str) -> Value {
    let text = std::fs::read_to_string(root().join("share/schema").join(name));
    serde_json::from_str(&text.expect("it is there")).expect("it is JSON")
}

fn validator(name: &str) -> Validator {
    jsonschema::draft202012::new(&schema(name)).expect("it is a schema")
}

/// What `trammel` writes; `words` end with what asks for JSON.
fn written(words: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let output = command.args(words).current_dir(root()).output();
    let output = output.expect("the program can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|why| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{words:?}: {why}: {said}")
    })
}

fn fits(schema: &str, document: &Value, what: &str) {
    let faults: Vec<String> = validator(schema)
        .iter_errors(document)
        .map(|fault| format!("{} at {}", fault, fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{what} by {schema}: {faults:?}");
}

/// Columns of the sweeps of the scenarios here: their names are those of keys.
const SWEPT: [&str; 2] = ["rtt_s", "discipline"];

/// Each table and each column of `document` has a place in the schema of `subject`.
fn is_named(subject: &str, document: &Value) {
    let schema = schema(&format!("tables-{subject}.json"));
    let tables = document["tables"].as_object().expect("there are tables");
    for (table, rows) in tables {
        let about = &schema["properties"]["tables"]["properties"][table]["items"];
        assert!(about.is_object(), "{subject}: no table `{table}`");
        // All other columns are numbers of one kind.
        if about["additionalProperties"].get("$ref").is_none() {
            continue;
        }
        for row in rows.as_array().expect("a table has rows") {
            for name in row.as_object().expect("a row is an object").keys() {
                let is_known = about["properties"].get(name).is_some();
                assert!(
                    is_known || SWEPT.contains(&name.as_str()),
                    "{subject}: no column `{table}.{name}`"
                );
            }
        }
    }
}

/// What `words` write is as the schema of `subject` says, to the last column.
fn checked(subject: &str, words: &[&str]) -> Value {
    let made = written(words);
    fits("tables.json", &made, &words.join(" "));
    fits(&format!("tables-{subject}.json"), &made, &words.join(" "));
    is_named(subject, &made);
    made
}

/// Runs `words`, which write the run folder `out`, and checks its tables.
fn checked_folder(subject: &str, words: &[&str], out: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let done = command.args(words).arg("-o").arg(out).current_dir(root());
    let done = done.output().expect("the program can be started");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{words:?}: {said}");
    let tables = files(out, "csv").into_iter().map(|path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        (stem.unwrap_or_default().to_owned(), heads(&path))
    });
    let tables: BTreeMap<_, _> = tables.collect();
    assert!(!tables.is_empty(), "{words:?}: {said}");
    is_named(subject, &json!({ "tables": tables }));
}

fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).expect("there is a folder");
    let all = all.map(|entry| entry.expect("it can be read").path());
    all.filter(|path| path.extension().is_some_and(|is| is == end))
        .collect()
}

/// One row with the columns of a file of a table.
fn heads(path: &Path) -> Value {
    let file = std::fs::File::open(path).expect("it is there");
    let table = Table::read_csv_inferring("it", file).expect("it is a table");
    let row = table
        .columns()
        .iter()
        .map(|one| (one.name.as_str(), Value::Null));
    json!([row.collect::<BTreeMap<_, _>>()])
}

#[test]
fn tables_of_a_scenario_are_as_their_schema_says() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("s.toml");
    let text = "duration = '5 s'\nwarmup = '1 s'\nrepeat = 3\n[path]\nrate = '5 Mbit/s'\nrtt = \
                '20 ms'\n[[flow]]\nvariant = 'reno'\n[[flow]]\nvariant = 'cubic'\n[sweep]\n\
                'path.rtt' = ['20 ms', '40 ms']\n";
    std::fs::write(&file, text).expect("the file can be written");
    let file = file.to_str().expect("it is UTF-8");
    let made = written(&["run", file, "--engine", "predict,simulate", "--json"]);
    assert!(
        made["tables"]["flows"]
            .as_array()
            .is_some_and(|rows| rows.len() == 12)
    );
    fits("tables.json", &made, "run");
    fits("tables-transport.json", &made, "run");
    is_named("transport", &made);
    let mut wrong = made.clone();
    wrong["tables"]["flows"][0]["goodput_mbps"] = "much".into();
    assert!(!validator("tables-transport.json").is_valid(&wrong));
    wrong["tables"]["flows"][0]["goodput_mbps"] = 1.5.into();
    wrong["schema"] = "trammel/2".into();
    assert!(!validator("tables.json").is_valid(&wrong));
}

#[test]
fn tables_of_a_bench_are_as_their_schema_says() {
    let made = written(&[
        "bench",
        "--model",
        "reference-1g",
        "--tests",
        "throughput,frame-loss",
        "--frame-sizes",
        "64",
        "--quick",
        "--json",
    ]);
    assert!(made["tables"]["throughput"].is_array(), "{made}");
    fits("tables.json", &made, "bench");
    fits("tables-bench.json", &made, "bench");
    is_named("bench", &made);
}

#[test]
fn tables_of_all_kinds_of_scenarios_are_as_their_schemas_say() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("f.toml");
    let router = root().join("examples/forwarding/ip-router.click");
    let text = format!(
        "subject = 'forwarding'\n[device]\nmachine = 'xeon-e5-2690v2:data-sheet'\n[[stream]]\n\
         from = 0\nsize = [64, 512]\n[[function]]\nfile = '{}'\n[bench]\ntests = ['throughput', \
         'latency', 'frame-loss', 'recovery']\n",
        router.display()
    );
    std::fs::write(&file, text).expect("the file can be written");
    let file = file.to_str().expect("it is UTF-8");
    let engines = ["--engine", "predict,simulate", "--json"];
    for (subject, file) in [
        ("forwarding", file),
        ("traffic", "examples/traffic-poisson.toml"),
        ("routing", "examples/routers-ring.toml"),
    ] {
        let made = checked(subject, &[&["run", file][..], &engines].concat());
        assert!(made["tables"].as_object().is_some_and(|all| all.len() >= 4));
    }
    checked("placement", &["place", "examples/placement.toml", "--json"]);
    let words = [
        "run",
        "examples/applications.toml",
        "--engine",
        "simulate",
        "--json",
    ];
    checked("transport", &words);
}

#[test]
fn tables_of_other_commands_are_as_their_schemas_say() {
    let machine = ["--machine", "xeon-e5-2690v2:data-sheet", "--json"];
    let (router, nat) = (
        "examples/forwarding/ip-router.click",
        "examples/forwarding/l2-switch-static.click",
    );
    for (words, table) in [
        (&["estimate", router][..], "functions"),
        (&["estimate", router, nat, "--chain", "pipelined"], "chain"),
        (&["estimate", router, "--beside", nat], "neighbours"),
    ] {
        let made = checked("estimate", &[words, &machine].concat());
        assert!(made["tables"][table].is_array(), "{words:?}: {made}");
    }
    checked("paper", &["paper", "baldi-2018", "--json"]);
    checked("sweep", &["points", "examples/first.toml", "--json"]);
    let plan = ["sweep-plan", "--runs", "1000", "--workers", "10", "--json"];
    checked("sweep", &plan);
    let files = "crates/formats/tests/files";
    for file in [
        "kernel.sender.pcap.gz",
        "two.json",
        "udp.json",
        "upload.flent.gz",
    ] {
        checked("import", &["import", &format!("{files}/{file}"), "--json"]);
    }
    let log = tempfile::tempdir().expect("a folder can be made");
    let log = log.path().join("r.log");
    write_log(&log);
    checked(
        "decode",
        &["decode", log.to_str().expect("it is UTF-8"), "--json"],
    );
}

/// A receiver's log of one flow.
fn write_log(path: &Path) {
    const START: i64 = 1_800_000_000_000_000_000;
    let mut writer = Writer::new(std::fs::File::create(path).expect("the file can be written"));
    let session = Session {
        instants: Instants::SentReceived,
        date_ns: START,
        host: "receiver".into(),
        clock: "CLOCK_REALTIME".into(),
        program: "trammel".into(),
        seed: 1,
    };
    writer.session(&session).expect("there is room");
    let flow = LoggedFlow {
        number: 0,
        protocol: Protocol::Udp,
        from: "192.0.2.1:4000".parse().ok(),
        to: "192.0.2.2:9000".parse().ok(),
        name: String::new(),
    };
    writer.flow(&flow).expect("there is room");
    for sequence in 0..500 {
        let start_ns = START + i64::try_from(sequence).expect("it is small") * 10_000_000;
        let record = Record {
            flow: 0,
            sequence,
            bytes: 100,
            start_ns,
            end_ns: start_ns + 1_000_000,
        };
        writer.record(&record).expect("there is room");
    }
}

/// Two flows, so that there is a total; of round trips, so that the sender has delays.
#[cfg(target_os = "linux")]
#[test]
fn tables_of_a_sender_are_as_their_schema_says() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(["recv", "--port", "0", "--flows", "2"]);
    command.stdout(std::process::Stdio::null());
    let (mut receiver, address, _said) = listening(&mut command);
    let to = address.to_string();
    let flows = ["--flows", "2", "--rate", "100", "--duration", "200ms"];
    let words = [&["send", &to, "--round-trip", "--json"], &flows[..]].concat();
    let made = checked("send", &words);
    let tables = made["tables"].as_object().expect("there are tables");
    let names: Vec<&String> = tables.keys().collect();
    assert_eq!(names, ["flows", "intervals", "streams", "total", "totals"]);
    receiver.wait().expect("it ends with its flows");
}

/// Folders of two runs and of what compares them, and the samples over time.
#[test]
fn tables_of_run_folders_are_as_their_schemas_say() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let at = |name: &str| folder.path().join(name);
    let text = "duration = '3 s'\ntrace = '100 ms'\n[path]\nrate = '5 Mbit/s'\nrtt = '20 ms'\n\
                [[flow]]\nvariant = 'cubic'\n[[flow]]\nvariant = 'bbr3'\n[[workload]]\nkind = \
                'poisson'\nsize = '20 KB'\nload = 0.1\n";
    std::fs::write(at("s.toml"), text).expect("the file can be written");
    let file = at("s.toml");
    let file = file.to_str().expect("it is UTF-8");
    let words = ["run", file, "--engine", "predict,simulate"];
    checked_folder("transport", &words, &at("a"));
    checked_folder("transport", &words, &at("b"));
    let capture = "crates/formats/tests/files/kernel.sender.pcap.gz";
    checked_folder("import", &["import", capture], &at("c"));
    let [a, b] = [at("a"), at("b")].map(|path| path.to_str().expect("it is UTF-8").to_owned());
    checked_folder("compare", &["compare", &a, &b], &at("ab"));
    checked("compare", &["compare", &a, &b, "--json"]);
    let suite = ["conformance", "tcp", "--case", "1"];
    checked_folder("conformance", &suite, &at("d"));
    let traces = schema("tables-traces.json");
    let known = |kind: &str, name: &str| {
        let tables = &traces["properties"]["tables"]["properties"];
        tables[kind]["items"]["properties"].get(name).is_some()
    };
    let mut seen = 0;
    for path in ["a", "c"]
        .iter()
        .flat_map(|run| files(&at(run).join("traces"), "csv"))
    {
        let heads = heads(&path);
        let names: Vec<_> = heads[0].as_object().expect("a row").keys().collect();
        let kinds = [
            "flow",
            "queue",
            "delivered",
            "completions",
            "round_trips",
            "link",
        ];
        let is_of = |kind: &&str| names.iter().all(|name| known(kind, name));
        assert!(kinds.iter().any(is_of), "{}: {names:?}", path.display());
        seen += 1;
    }
    assert!(seen >= 4, "{seen}");
}

/// What looks like a column in these files is none of a run folder or of `--json`: tables of pages
/// and of the terminal, what a sweep keeps of a run, and keys of scenarios.
const SHOWN: [&str; 7] = [
    "keys.rs",
    "forwarding/src/report.rs",
    "papers/src/devices.rs",
    "papers/src/page.rs",
    "streams/src/page.rs",
    "streams/src/run/runs.rs",
    "transport/src/answer/experience.rs",
];

/// The columns that the sources write, by how they write them: `("name", Float)`. So a column that
/// no example here fills is named too.
#[test]
fn every_column_of_the_sources_is_in_a_schema() {
    let mut known = std::collections::BTreeSet::new();
    for path in files(&root().join("share/schema"), "json") {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let schema = schema(name);
        let tables = schema["properties"]["tables"]["properties"].as_object();
        for table in tables.into_iter().flat_map(serde_json::Map::values) {
            let columns = table["items"]["properties"].as_object();
            known.extend(columns.expect("it has columns").keys().cloned());
        }
    }
    let mut missing = Vec::new();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))
        .expect("there are crates")
        .map(|entry| entry.expect("it can be read").path().join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_source = path.extension().is_some_and(|end| end == "rs");
            let is_shown = SHOWN.iter().any(|shown| path.ends_with(shown));
            if !is_source || is_shown || path.ends_with("tests.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("it is UTF-8");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let code: Vec<&str> = code.lines().filter(is_code).collect();
            let code = code.join("\n");
            for name in columns_in(&code) {
                // Titles for people have blanks.
                if !known.contains(name) && !name.contains(' ') {
                    missing.push(format!("{}: {name}", path.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The names in what looks like a column.
fn columns_in(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("(\"") {
        let Some((name, rest)) = code[at + 2..].split_once('"') else {
            continue;
        };
        let Some(rest) = rest.strip_prefix(',') else {
            continue;
        };
        let rest = rest.trim_start();
        let kind = rest.strip_prefix("CellType::").unwrap_or(rest);
        let is_kind = ["Text", "Int", "Float", "Bool"].iter().any(|word| {
            let rest = kind.strip_prefix(word);
            rest.is_some_and(|rest| rest.starts_with([')', ',']))
        });
        if is_kind {
            found.push(name);
        }
    }
    found
}
