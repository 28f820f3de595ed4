//! What commands write with `--json` against the JSON Schemas of tables in `share/schema`.

use jsonschema::Validator;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn validator(name: &str) -> Validator {
    let text = std::fs::read_to_string(root().join("share/schema").join(name));
    let schema: Value = serde_json::from_str(&text.expect("it is there")).expect("it is JSON");
    jsonschema::draft202012::new(&schema).expect("it is a schema")
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
}

#[test]
fn tables_of_other_subjects_are_tables() {
    for words in [
        &[
            "run",
            "examples/traffic-poisson.toml",
            "--engine",
            "predict",
            "--json",
        ][..],
        &[
            "run",
            "examples/routers-ring.toml",
            "--engine",
            "predict",
            "--json",
        ],
        &["points", "examples/first.toml", "--json"],
    ] {
        fits("tables.json", &written(words), &words.join(" "));
    }
}
