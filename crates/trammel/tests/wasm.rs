//! The module for WebAssembly runs `examples/first.toml` in Node: its tables are those of the
//! native program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

#[test]
fn tables_are_those_of_the_native_program() {
    if let Some(what) = lacking() {
        eprintln!("skipped: {what}");
        return;
    }
    // A folder of its own: cargo holds the other one while it runs tests.
    let built = root().join("target/wasm");
    let build = Command::new(env!("CARGO"))
        .current_dir(root())
        .env("CARGO_TARGET_DIR", &built)
        .args(["build", "--quiet", "--locked"])
        .args(["--target", TARGET, "--package", "trammel-wasm"])
        .output()
        .expect("the program can be started");
    succeed("the build", &build);
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
        .arg(built.join(TARGET).join("debug/trammel_wasm.wasm"))
        .arg("examples/first.toml")
        .arg(&native)
        .output()
        .expect("the program can be started");
    succeed("WebAssembly", &node);
    let said = String::from_utf8_lossy(&node.stdout);
    assert!(said.contains("6 tables are equal"), "{said}");
}
