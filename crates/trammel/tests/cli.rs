//! The command as a user meets it: output, messages and exit codes.

use std::process::{Command, Output};

const CLEAN: &str = "[path]\nrate = '10 Mbit/s'\nrtt = '10 ms'\n[[flow]]\nvariant = 'reno'\n";

fn trammel(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command
        .args(args)
        .output()
        .expect("the program can be started")
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn a_clean_file_has_exit_code_0_and_a_faulty_one_2() {
    let (_folder, path) = file(CLEAN);
    let output = trammel(&["check", &path]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).ends_with("no fault, 1 point\n"));
    assert!(stdout(&output).is_empty());

    let (_folder, path) = file(&CLEAN.replace("rtt", "rttt"));
    let output = trammel(&["check", &path]);
    assert_eq!(code(&output), Some(2));
    assert!(
        stderr(&output).contains("did you mean `rtt`?"),
        "{}",
        stderr(&output)
    );
    assert!(
        !stderr(&output).contains('\u{1b}'),
        "colours without a terminal"
    );
}

#[test]
fn an_absent_file_is_a_usage_error() {
    let output = trammel(&["check", "/no/such/file.toml"]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).starts_with("error: `/no/such/file.toml` cannot be read"));
}

#[test]
fn check_writes_points_as_json_on_standard_output_only() {
    let (_folder, path) = file(&format!("{CLEAN}[sweep]\n'path.rtt' = ['1 ms', '2 ms']\n"));
    let output = trammel(&["check", "--json", &path]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "trammel/1");
    assert_eq!(json["points"][1]["point"], "rtt_s=2ms");
    assert_eq!(json["points"][1]["rtt_s"], 0.002);
}

#[test]
fn the_schema_is_json() {
    let output = trammel(&["check", "--schema"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        json["$defs"]["transport.path"]["properties"]["mtu"]["default"],
        1500
    );
    assert_eq!(trammel(&["doc", "schema"]).stdout, output.stdout);
}

#[test]
fn lists_and_documents_names() {
    assert!(stdout(&trammel(&["list", "variants"])).contains("reno"));
    assert!(stdout(&trammel(&["list", "presets"])).contains("satellite-626"));
    for kind in ["models", "disciplines", "losses", "distributions", "papers"] {
        assert_eq!(code(&trammel(&["list", kind])), Some(0), "{kind}");
    }
    let devices = stdout(&trammel(&["list", "devices"]));
    for model in ["reference-1g ", "click-pc-2009 "] {
        assert!(
            devices.lines().any(|line| line.starts_with(model)),
            "{devices}"
        );
    }
    let json = trammel(&["list", "variants", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(
        json["variants"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["name"] == "reno")
    );
    assert!(stdout(&trammel(&["doc", "variant", "newreno"])).starts_with("# reno\n"));
    assert!(stdout(&trammel(&["doc", "scenario"])).contains("## `flow`"));

    assert!(stdout(&trammel(&["list", "elements"])).contains("InfiniteSource"));
    assert!(stdout(&trammel(&["doc", "element", "Counter"])).contains("## Handlers"));

    let output = trammel(&["doc", "variant", "rneo"]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("did you mean `reno`?"));
    let output = trammel(&["doc", "varaint", "reno"]);
    assert!(stderr(&output).contains("did you mean `variant`?"));
}

#[test]
fn every_command_helps_with_an_example() {
    for command in [
        "run",
        "sweep",
        "paper",
        "calibrate",
        "packetdrill",
        "conformance",
        "diverge",
        "netfpga",
        "check",
        "graph",
        "list",
        "doc",
        "compare",
        "completions",
        "man",
    ] {
        let output = trammel(&[command, "--help"]);
        assert_eq!(code(&output), Some(0));
        assert!(
            ["Example", "Examples"].iter().any(|title| {
                stdout(&output).contains(&format!("{title}:\n  trammel {command}"))
            }),
            "{command}"
        );
    }
    assert!(stdout(&trammel(&["--help"])).contains("Exit codes:"));
    assert_eq!(code(&trammel(&["no-such-command"])), Some(2));
}

#[test]
fn completions_and_man_pages_are_made() {
    assert!(stdout(&trammel(&["completions", "bash"])).contains("_trammel"));
    assert!(stdout(&trammel(&["man"])).contains(".TH trammel 1"));
    let folder = tempfile::tempdir().unwrap();
    trammel(&["man", "--dir", &folder.path().display().to_string()]);
    assert!(folder.path().join("trammel-check.1").exists());
}
