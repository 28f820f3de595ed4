//! Engine `measure` with the host's own TCP: beside the simulator, what it refuses, and what is
//! left of it.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATH: &str = "[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n";
const HOST: &str = "[measure]\nkernel = 'host'\n";

fn command(folder: &tempfile::TempDir, scenario: &str, args: &[&str]) -> Command {
    fs::write(folder.path().join("s.toml"), scenario).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command
        .args(["run", "s.toml"])
        .args(args)
        .current_dir(folder.path())
        .env("NO_COLOR", "1");
    command
}

fn run(scenario: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    command(&folder, scenario, args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The number of the one row of an engine.
fn number(tables: &Value, table: &str, engine: &str, column: &str) -> f64 {
    let rows = tables[table].as_array().unwrap();
    let row = rows.iter().find(|row| row["engine"] == engine);
    let row = row.unwrap_or_else(|| panic!("no row of {engine} in {table}: {rows:?}"));
    row[column].as_f64().unwrap()
}

#[test]
fn the_host_s_numbers_stand_beside_the_simulator_s() {
    let flow = "[[flow]]\nname = 'a'\nvariant = 'reno'\n";
    let scenario = format!("duration = '6 s'\nwarmup = '1 s'\n{PATH}{flow}{HOST}");
    let output = run(&scenario, &["--engine", "simulate,measure", "--json"]);
    if output.status.code() == Some(3) {
        println!("skipped: {}", said(&output).trim());
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |engine: &str, column: &str| number(&all["tables"], "flows", engine, column);
    // What other tests take of the machine may cost it, never bring it anything.
    let (ours, simulated) = (
        of("measure", "goodput_mbps"),
        of("simulate", "goodput_mbps"),
    );
    assert!(
        ours > 0.5 * simulated && ours < 1.02 * simulated,
        "{ours} Mbit/s measured, {simulated} simulated"
    );
    let least = of("measure", "rtt_min_us");
    assert!(
        least >= 40_000.0,
        "no path is shorter than its delay: {least} us"
    );
    let link = |column: &str| number(&all["tables"], "links", "measure", column);
    assert!(link("utilisation") <= 1.001, "{}", link("utilisation"));
    assert!(link("queue_mean_pkts") > 0.0);
}

#[test]
fn what_an_emulated_path_is_not_is_refused_by_its_key() {
    let flow = "[[flow]]\nvariant = 'reno'\n";
    for (path, key) in [
        ("jitter = '2 ms'\n", "jitter = '2 ms'"),
        ("[path.queue]\ndiscipline = 'fq_codel'\n", "[path.queue]"),
    ] {
        let scenario = format!("duration = '2 s'\n{PATH}{path}{flow}{HOST}");
        let output = run(&scenario, &["--engine", "measure"]);
        assert_eq!(output.status.code(), Some(2), "{key}: {}", said(&output));
        let text = said(&output);
        assert!(text.contains(key), "{key}: {text}");
        assert!(text.contains("kernel = \"linux\""), "{key}: {text}");
    }
}

#[test]
fn a_variant_that_the_host_lacks_is_told_with_the_way_out() {
    let available = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = fs::read_to_string(available).unwrap();
    let lacking = ["vegas", "nv", "cdg", "lp"];
    let Some(lacking) = lacking
        .iter()
        .find(|name| !available.split_whitespace().any(|one| one == **name))
    else {
        println!("skipped: this host's kernel has all congestion controls");
        return;
    };
    let flow = format!("[[flow]]\nvariant = '{lacking}'\n");
    let scenario = format!("duration = '2 s'\n{PATH}{flow}{HOST}");
    let output = run(&scenario, &["--engine", "simulate,measure"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains(lacking), "{text}");
    assert!(text.contains("kernel = \"linux\""), "{text}");
}

/// Processes whose parent is `of`.
fn children(of: u32) -> Vec<u32> {
    let mut all = Vec::new();
    if let Ok(tasks) = fs::read_dir(format!("/proc/{of}/task")) {
        for task in tasks.flatten() {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(
                text.split_whitespace()
                    .filter_map(|word| word.parse::<u32>().ok()),
            );
        }
    }
    all
}

/// Whether it runs; what has ended and was not waited for does not.
fn runs(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .starts_with(" Z")
    })
}

fn until<T>(what: &str, is_so: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = is_so() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn nothing_is_left_when_it_is_interrupted_or_killed() {
    let flow = "[[flow]]\nvariant = 'reno'\n";
    let scenario = format!("duration = '600 s'\n{PATH}{flow}{HOST}");
    for signal in ["-INT", "-KILL"] {
        let folder = tempfile::tempdir().unwrap();
        let mut parent: Child = command(&folder, &scenario, &["--engine", "measure", "-o", "out"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let number = parent.id();
        let child = until("it starts a process", || {
            children(number)
                .first()
                .copied()
                .or_else(|| (!runs(number)).then_some(0))
        });
        if child == 0 {
            println!("skipped: this host's TCP cannot be measured");
            parent.wait().unwrap();
            return;
        }
        let sent = Command::new("kill")
            .args([signal, &number.to_string()])
            .status();
        assert!(sent.unwrap().success());
        parent.wait().unwrap();
        until("the process that measures ends", || {
            (!runs(child)).then_some(())
        });
    }
}
