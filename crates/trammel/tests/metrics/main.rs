//! `--metrics` of running commands: a strict reader takes every page, Prometheus does, and clients
//! that mean no good disturb nobody.

#![allow(clippy::print_stdout)]

mod hostile;
mod pages;
mod running;

use running::{Running, line};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use trammel_openmetrics::reader::Families;

/// What `promtool` says of a page in the older format, where it is installed.
fn promtool(page: &str) {
    let mut tool = Command::new("promtool");
    tool.args(["check", "metrics"]).stdin(Stdio::piped());
    tool.stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut tool) = tool.spawn() else {
        println!("skipped: promtool is missing: apt-get install prometheus");
        return;
    };
    let mut input = tool.stdin.take().expect("it is piped");
    input.write_all(page.as_bytes()).expect("it reads");
    drop(input);
    let said = tool.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.success() && text.is_empty(), "{text}\n{page}");
}

#[test]
fn a_receiver_and_a_sender_serve_what_they_count_while_they_run() {
    let mut recv = Running::start(&["recv", "--port", "0"]);
    let at = line(&mut recv.said, "listening on ");
    let send = Running::start(&[
        "send",
        &at,
        "--rate",
        "2000",
        "--size",
        "100",
        "--duration",
        "60s",
        "--round-trip",
        "--sleep",
    ]);
    let sent = send.until("trammel_send_round_trip_seconds_count", 50.0);
    let count = |families: &Families, name: &str, sample: &str| {
        let samples = &families[name].samples;
        let found = samples.iter().find(|(name, ..)| name == sample);
        found.map(|(.., value)| *value).expect("it is there")
    };
    let packets = count(&sent, "trammel_send_packets", "trammel_send_packets_total");
    let bytes = count(&sent, "trammel_send_bytes", "trammel_send_bytes_total");
    assert!(
        packets >= 50.0 && bytes >= 5000.0,
        "{packets} packets, {bytes} bytes"
    );
    let came = recv.until("trammel_recv_delay_variation_seconds_count", 50.0);
    assert_eq!(
        count(&came, "trammel_recv_flows", "trammel_recv_flows"),
        1.0
    );
    promtool(&send.page("text/plain"));
    promtool(&recv.page("text/plain"));
}

#[test]
fn a_sweep_serves_how_many_runs_are_made_and_how_long_they_take() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("s.toml");
    let text = "duration = '60 s'\nrepeat = 400\n[path]\nrate = '50 Mbit/s'\nrtt = '20 ms'\n\
                [[flow]]\nvariant = 'reno'\n";
    std::fs::write(&file, text).expect("the file can be written");
    let file = file.to_str().expect("it is UTF-8");
    let run = Running::start(&["sweep", file, "--engine", "simulate"]);
    let families = run.until("trammel_runs_total", 2.0);
    assert_eq!(families["trammel_runs_expected"].samples[0].2, 400.0);
    let (name, _, took) = families["trammel_run_duration_seconds"]
        .samples
        .iter()
        .find(|(name, ..)| name.ends_with("_sum"))
        .expect("a histogram has a sum");
    assert!(*took > 0.0, "{name} {took}");
    promtool(&run.page("text/plain"));
}

/// Without a calibration nothing is predicted or simulated: those runs are never made.
#[test]
fn runs_that_cannot_be_made_are_not_expected() {
    let run = Running::start(&["run", "examples/forwarding.toml"]);
    let families = run.until("trammel_runs_total", 1.0);
    assert_eq!(families["trammel_runs_expected"].samples[0].2, 12.0);
}

/// An address that another command has, whichever command asks for it.
#[test]
fn a_port_in_use_is_told_alike_by_all_commands() {
    let first = Running::start(&["recv", "--port", "0"]);
    let at = first.address.to_string();
    let click = "InfiniteSource(LIMIT 1) -> Discard";
    for words in [
        &["router", "-e", click][..],
        &["recv", "--port", "0"],
        &["run", "examples/paper-001.toml", "--engine", "predict"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let out = command.args(words).args(["--metrics", &at]).output();
        let out = out.expect("the program can be started");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(3), "{words:?}: {said}");
        let expected = format!(
            "error: --metrics: {at} cannot be listened on: Address already in use (os error 98); \
             give another port"
        );
        assert!(said.contains(&expected), "{words:?}: {said}");
    }
}

/// Nobody is sent to an address that is dead when its line is read.
#[test]
fn a_folder_that_is_refused_is_told_before_any_address() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("mine.txt"), "mine").expect("it can be written");
    let out = folder.path().to_str().expect("it is UTF-8");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.args(["run", "examples/paper-001.toml", "--engine", "predict"]);
    command.args(["-o", out, "--live", "--metrics", "0"]);
    let ran = command.output().expect("the program can be started");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("is not a run folder"), "{said}");
    assert!(!said.contains("http://"), "{said}");
}

#[test]
fn a_bench_serves_trials_by_device() {
    let bench = Running::start(&[
        "bench",
        "--model",
        "reference-1g",
        "--tests",
        "throughput,latency",
        "--quick",
    ]);
    let families = bench.until("trammel_bench_trials_total", 1.0);
    let trials = &families["trammel_bench_trials"].samples[0];
    assert!(trials.1.starts_with("device=\""), "{trials:?}");
    promtool(&bench.page("text/plain"));
}
