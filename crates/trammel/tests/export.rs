//! `trammel export`: what it writes is read by the programs that it is for, where they are here.

#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn trammel(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let output = command.args(words).current_dir(root()).output();
    output.expect("the program can be started")
}

fn text(words: &[&str]) -> String {
    let output = trammel(words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

/// A run folder of two flows with samples.
fn folder(within: &Path) -> PathBuf {
    let file = within.join("two.toml");
    let scenario = "duration = '5 s'\ntrace = '100 ms'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n\
                    [[flow]]\nname = 'a'\nvariant = 'cubic'\n[[flow]]\nname = 'b'\nvariant = \
                    'reno'\nstart = '1 s'\n";
    std::fs::write(&file, scenario).expect("the file can be written");
    let out = within.join("out");
    let [file, path] = [&file, &out].map(|path| path.to_str().expect("it is UTF-8"));
    text(&["run", file, "--engine", "simulate", "-o", path]);
    out
}

/// The goodputs of the flows of a run folder, Mbit/s.
fn goodputs(folder: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(folder.join("flows.csv")).expect("it is there");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let at = head.iter().position(|name| *name == "goodput_mbps");
    let at = at.expect("the column is there");
    lines
        .map(|row| row[at].parse().expect("a number"))
        .collect()
}

#[test]
fn flent_reads_a_run_and_finds_the_same_rates() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let folder = folder(within.path());
    let file = within.path().join("run.flent.gz");
    let [of, to] = [&folder, &file].map(|path| path.to_str().expect("it is UTF-8"));
    text(&["export", of, "--as", "flent", "-o", to]);
    // Once more over its own file.
    text(&["export", of, "--as", "flent", "-o", to]);
    let Ok(flent) = Command::new("flent")
        .args(["-i", to, "-f", "summary"])
        .output()
    else {
        println!("skipped: flent is missing: apt-get install flent");
        return;
    };
    let said = String::from_utf8_lossy(&flent.stdout).into_owned();
    assert!(flent.status.success(), "{said}");
    for (at, goodput) in goodputs(&folder).iter().enumerate() {
        let series = format!("TCP upload::{} ", at + 1);
        let mut lines = said.lines().map(str::trim_start);
        let line = lines.find(|line| line.starts_with(&series));
        let line = line.unwrap_or_else(|| panic!("no `{series}`: {said}"));
        let mean = line.split(':').next_back().and_then(|rest| {
            let mut words = rest.split_whitespace();
            words.next()?.parse::<f64>().ok()
        });
        let mean = mean.unwrap_or_else(|| panic!("no mean: {line}"));
        assert!(
            (mean - goodput).abs() < 0.006,
            "{mean} for {goodput}: {said}"
        );
    }
    assert!(said.contains("simulated"), "{said}");
}

#[test]
fn a_result_in_iperf3s_shape_has_the_runs_rates() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let folder = folder(within.path());
    let of = folder.to_str().expect("it is UTF-8");
    let file: Value = serde_json::from_str(&text(&["export", of, "--as", "iperf3"])).expect("JSON");
    let streams = file["end"]["streams"]
        .as_array()
        .expect("there are streams");
    for (stream, goodput) in streams.iter().zip(goodputs(&folder)) {
        let bps = stream["receiver"]["bits_per_second"]
            .as_f64()
            .expect("a rate");
        assert!((bps / 1e6 - goodput).abs() < 1e-3, "{bps} for {goodput}");
    }
    let intervals = file["intervals"].as_array().expect("there are intervals");
    let bytes = |one: &Value| one["sum"]["bytes"].as_f64().expect("bytes");
    let sum: f64 = intervals.iter().map(bytes).sum();
    let received = bytes(&serde_json::json!({ "sum": file["end"]["sum_received"] }));
    // Each interval is rounded to a byte.
    let most = intervals.len() as f64 * streams.len() as f64;
    assert!((sum - received).abs() <= most, "{sum} of {received}");
    assert_eq!(file["trammel"]["label"], "simulated");
}

/// A file's name and a trace's with a command in them, exported and run as a script.
#[test]
fn a_name_is_no_command_of_a_script() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let trace = within.path().join("t\n>PWNED #");
    std::fs::write(trace, "1\n2\n").expect("the file can be written");
    let file = within.path().join("u\n>PWNED #.toml");
    let scenario = "duration = '5 s'\n[path]\nrtt = '30 ms'\ntrace = \"t\\n>PWNED #\"\n\
                    [[flow]]\nvariant = 'reno'\n";
    std::fs::write(&file, scenario).expect("the file can be written");
    let of = file.to_str().expect("it is UTF-8");
    for format in ["tc", "mahimahi", "containerlab"] {
        let script = text(&["export", of, "--as", format]);
        let begins = |line: &str| line.trim_start().starts_with(">PWNED");
        assert!(!script.lines().any(begins), "{format}: {script}");
        let path = within.path().join("script");
        std::fs::write(&path, &script).expect("the file can be written");
        // Neither `tc` nor `mm-delay` is found: only what the shell itself does.
        let shell = Command::new("/bin/sh")
            .arg(&path)
            .args(["e0", "e1"])
            .env("PATH", "/nonexistent")
            .current_dir(within.path())
            .output();
        shell.expect("there is a shell");
        assert!(!within.path().join("PWNED").exists(), "{format}");
    }
}

#[test]
fn what_cannot_be_exported_is_told() {
    for (words, why) in [
        (
            ["export", "examples/parking-lot.toml", "--as", "tc"],
            "[path]",
        ),
        (["export", "examples/wifi.toml", "--as", "tc"], "wireless"),
        (
            ["export", "examples/router", "--as", "flent"],
            "no run folder",
        ),
        (
            ["export", "examples/first.toml", "--as", "iperf3"],
            "no folder",
        ),
        (
            ["export", "examples/forwarding.toml", "--as", "tc"],
            "a scenario of flows",
        ),
    ] {
        let output = trammel(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {said}");
    }
}

/// The real `tc` takes each command: where the kernel has no module of a qdisc it says so after it
/// has understood the words.
#[test]
fn tc_understands_every_command() {
    let within = tempfile::tempdir().expect("a folder can be made");
    let file = within.path().join("p.toml");
    let mut lacking = Vec::new();
    for queue in [
        "queue = { limit = 50 }",
        "queue = { limit = '60 KB' }",
        "queue = { discipline = 'codel', ecn = true }",
        "queue = { discipline = 'fq_codel', target = '7 ms', flows = 64 }",
        "queue = { discipline = 'pie' }",
        "queue = { discipline = 'fq_pie' }",
        "queue = { discipline = 'fq' }",
        "queue = { discipline = 'red', limit = 100 }",
        "loss = { probability = 0.01 }\njitter = '2 ms'",
        "grants = { every = '10 ms', packets = 8 }",
        "loss = { model = 'gilbert-elliott', p = 0.01, r = 0.3 }",
    ] {
        let scenario = format!(
            "duration = '5 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '30 ms'\n{queue}\n[[flow]]\n\
             variant = 'reno'\n"
        );
        std::fs::write(&file, scenario).expect("the file can be written");
        let script = text(&["export", file.to_str().expect("UTF-8"), "--as", "tc"]);
        let commands = script.lines().filter(|line| line.starts_with("tc qdisc"));
        for command in commands {
            // By itself, since its parent may be one that this kernel lacks.
            let alone = command
                .replace("\"$out\"", "lo")
                .replace("\"$back\"", "lo")
                .replace("parent 1:1", "root")
                .replace("parent 2:1", "root")
                .replace("qdisc add", "qdisc replace");
            let ran = Command::new("unshare")
                .args(["-n", "sh", "-c", &alone])
                .output();
            let Ok(ran) = ran else {
                println!("skipped: unshare is missing");
                return;
            };
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            let is_denied = ["not permitted", "not found", "unshare failed"];
            if is_denied.iter().any(|why| said.contains(why)) {
                println!("skipped: qdiscs in a namespace need root and tc: {said}");
                return;
            }
            if said.contains("qdisc kind is unknown") {
                lacking.extend(
                    alone
                        .split(' ')
                        .skip_while(|word| *word != "handle")
                        .nth(2)
                        .map(str::to_owned),
                );
                continue;
            }
            assert!(ran.status.success(), "{queue}: {alone}: {said}");
        }
    }
    lacking.sort();
    lacking.dedup();
    if !lacking.is_empty() {
        println!(
            "skipped: this kernel lacks {}; their words were taken",
            lacking.join(", ")
        );
    }
}
