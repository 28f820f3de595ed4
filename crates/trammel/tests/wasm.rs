//! The module for WebAssembly runs `examples/first.toml` and random scenarios in Node: its tables
//! are those of the native program.

#[allow(dead_code, reason = "another test names the keys that were used")]
mod generator;

use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use trammel::scenario::model::Engine;
use trammel::transport::embedded::{self, Embedded};
use trammel::transport::points::{RunOptions, Unwatched};

const TARGET: &str = "wasm32-unknown-unknown";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the test lacks on this machine.
fn lacking() -> Option<&'static str> {
    let libraries = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    let has_target = libraries.is_ok_and(|output| {
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success() && Path::new(&path).exists()
    });
    if !has_target {
        return Some(
            "no target wasm32-unknown-unknown; `rustup target add wasm32-unknown-unknown`",
        );
    }
    let node = Command::new("node").arg("--version").output();
    (!node.is_ok_and(|output| output.status.success())).then_some("no node; install nodejs")
}

fn succeed(what: &str, output: &Output) {
    assert!(
        output.status.success(),
        "{what}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The module as the site has it. A folder of its own: cargo holds the other one while it runs
/// tests.
fn module() -> PathBuf {
    let built = root().join("target/wasm");
    let build = Command::new(env!("CARGO"))
        .current_dir(root())
        .env("CARGO_TARGET_DIR", &built)
        .args(["build", "--quiet", "--locked", "--profile", "playground"])
        .args(["--target", TARGET, "--package", "trammel-wasm"])
        .output()
        .expect("the program can be started");
    succeed("the build", &build);
    built.join(TARGET).join("playground/trammel_wasm.wasm")
}

/// Random scenarios, each with its text and what comes of it here, a line each.
fn random_scenarios(count: usize) -> String {
    let first = std::env::var("TRAMMEL_SEED").map_or(20_261_129, |text| text.parse().unwrap());
    eprintln!("seeds from {first}");
    let mut lines = String::new();
    let mut made = 0;
    for seed in first.. {
        if made == count {
            break;
        }
        let text = generator::scenario(seed).text;
        let engines = [Engine::Predict, Engine::Simulate];
        // A browser has no files beside the scenario.
        let Ok(file) = embedded::read("scenario.toml", &text, Path::new("/none"), &engines, None)
        else {
            continue;
        };
        let options = RunOptions {
            engines: engines.to_vec(),
            ..RunOptions::default()
        };
        let run = Embedded::run(file, options, &Unwatched).unwrap();
        let tables = run.outcome.tables();
        let tables = tables.map(|table| (table.name().to_owned(), Value::from(table.to_csv())));
        let mut native = json!({
            "tables": tables.collect::<Map<_, _>>(),
            "answer": run.answer(),
        });
        let failures: Vec<_> = run
            .failures()
            .map(|failure| format!("scenario.toml, {failure}"))
            .collect();
        if !failures.is_empty() {
            native["error"] = failures.join("\n").into();
        }
        writeln!(
            lines,
            "{}",
            json!({ "seed": seed, "text": text, "native": native })
        )
        .unwrap();
        made += 1;
    }
    lines
}

#[test]
fn random_scenarios_give_the_same_bytes() {
    if let Some(what) = lacking() {
        eprintln!("skipped: {what}");
        return;
    }
    const COUNT: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("scenarios.jsonl");
    std::fs::write(&list, random_scenarios(COUNT)).unwrap();
    let node = Command::new("node")
        .current_dir(root())
        .arg("crates/wasm/tests/random.mjs")
        .arg(module())
        .arg(&list)
        .output()
        .expect("the program can be started");
    succeed("WebAssembly", &node);
    let said = String::from_utf8_lossy(&node.stdout);
    assert_eq!(said.trim(), format!("{COUNT} scenarios are equal"));
}

#[test]
fn tables_are_those_of_the_native_program() {
    if let Some(what) = lacking() {
        eprintln!("skipped: {what}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let native = folder.path().join("native");
    let run = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .current_dir(root())
        .args([
            "run",
            "examples/first.toml",
            "--engine",
            "predict,simulate",
            "-o",
        ])
        .arg(&native)
        .output()
        .expect("the program can be started");
    succeed("the native run", &run);
    let node = Command::new("node")
        .current_dir(root())
        .arg("crates/wasm/tests/first.mjs")
        .arg(module())
        .arg("examples/first.toml")
        .arg(&native)
        .output()
        .expect("the program can be started");
    succeed("WebAssembly", &node);
    let said = String::from_utf8_lossy(&node.stdout);
    assert!(said.contains("6 tables are equal"), "{said}");
}
