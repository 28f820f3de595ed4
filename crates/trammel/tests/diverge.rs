//! `trammel diverge` as a user meets it: a flow that is alike to the end, one that parts, and what
//! cannot be compared.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

#[path = "../../qlog/tests/schema/mod.rs"]
mod schema;

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PATH: &str = "[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\nqueue = { limit = '60 packets' }\n";

fn diverge(folder: &Path, scenario: &str, args: &[&str]) -> Output {
    fs::write(folder.join("s.toml"), scenario).unwrap();
    Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["diverge", "s.toml"])
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What was found; nothing, with the reason printed, where this machine has no kernel.
fn found(folder: &Path, scenario: &str, args: &[&str]) -> Option<(Value, Option<i32>)> {
    let output = diverge(folder, scenario, &[args, &["--json"]].concat());
    if output.status.code() == Some(3) {
        println!("skipped: {}", said(&output).trim());
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text);
    let value = value.unwrap_or_else(|why| panic!("{why}: {text}{}", said(&output)));
    Some((value, output.status.code()))
}

#[test]
fn a_sender_without_losses_is_alike_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let flow = "[[flow]]\nvariant = 'vegas'\n";
    let scenario = format!("duration = '4 s'\n{PATH}{flow}");
    let Some((value, code)) = found(folder.path(), &scenario, &["--tolerance", "3ms"]) else {
        return;
    };
    assert_eq!(
        (code, &value["parting"]),
        (Some(0), &Value::Null),
        "{value}"
    );
    assert!(value["alike_segments"].as_u64() > Some(1000), "{value}");
}

#[test]
fn both_lose_the_same_packets() {
    let folder = tempfile::tempdir().unwrap();
    let loss = "loss = { model = 'bernoulli', probability = 0.005, direction = 'data' }\n";
    let flow = "[[flow]]\nvariant = 'reno'\n";
    let scenario = format!("duration = '3 s'\n{PATH}{loss}{flow}");
    let Some((value, _)) = found(folder.path(), &scenario, &["-o", "out"]) else {
        return;
    };
    let lost = value["lost_pkts"].as_u64().unwrap();
    assert!(lost > 3, "{value}");
    // A loss that the simulator did not have would part them within two round trips; a whole
    // recovery is alike at least.
    assert!(value["alike_segments"].as_u64() > Some(300), "{value}");
    for name in ["simulator.pcapng", "kernel.pcapng", "divergence.json"] {
        let bytes = fs::read(folder.path().join("out").join(name)).unwrap();
        assert!(bytes.len() > 200, "{name}");
    }
}

#[test]
fn two_that_are_not_the_same_part_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // The kernel runs another variant than the simulator.
    let flow = "[[flow]]\nvariant = 'cubic'\nkernel_variant = 'bbr'\n";
    let scenario = format!("duration = '3 s'\n{PATH}{flow}");
    let Some((value, code)) = found(folder.path(), &scenario, &[]) else {
        return;
    };
    assert_eq!(code, Some(1), "{value}");
    let parting = &value["parting"];
    assert!(parting["at_s"].as_f64() < Some(1.0), "{value}");
    assert!(!parting["mechanism"].as_str().unwrap().is_empty());
    let text = diverge(folder.path(), &scenario, &[]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for word in [
        "they diverge at",
        "mechanism: ",
        "cwnd",
        "simulator\n",
        "kernel\n",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let flow = "[[flow]]\nname = 'a'\nvariant = 'reno'\n";
    for (path, args, words) in [
        ("jitter = '2 ms'\n", &[][..], "path.jitter"),
        (
            "loss = { model = 'bernoulli', probability = 0.01, direction = 'both' }\n",
            &[][..],
            "path.loss",
        ),
        ("", &["--flow", "b"][..], "it has `a`"),
        ("", &["--point", "b"][..], "no such point"),
        ("", &["--until", "soon"][..], "soon"),
    ] {
        let scenario = format!("duration = '2 s'\n{PATH}{path}{flow}");
        let output = diverge(folder.path(), &scenario, args);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", said(&output));
        assert!(said(&output).contains(words), "{words}: {}", said(&output));
    }
}

/// The folder with a run of `flow` in it, and its log.
fn logged(folder: &Path, name: &str, flow: &str) -> String {
    let scenario = format!("duration = '6 s'\nqlog = true\n{PATH}{flow}");
    fs::write(folder.join("s.toml"), scenario).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["run", "s.toml", "--engine", "simulate", "-o", name])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    format!("{name}/qlog/base.flow.sqlog")
}

fn of_logs(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trammel"))
        .arg("diverge")
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn logs_of_runs_are_of_the_schema_and_diverge_where_their_windows_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let flow = |variant| format!("[[flow]]\nname = 'flow'\nstart = '0 s'\nvariant = '{variant}'\n");
    let cubic = logged(folder, "cubic", &flow("cubic"));
    let reno = logged(folder, "reno", &flow("reno"));
    for log in [&cubic, &reno] {
        let (faults, seen) = schema::faults(&fs::read(folder.join(log)).unwrap());
        assert!(faults.is_empty(), "{faults:#?}");
        assert!(seen.iter().all(|(_, n)| *n > 0), "{seen:?}");
    }
    let same = of_logs(folder, &[&cubic, &cubic]);
    assert_eq!(same.status.code(), Some(0), "{}", said(&same));
    assert!(String::from_utf8_lossy(&same.stdout).contains("they do not diverge"));
    let apart = of_logs(folder, &[&cubic, &reno, "--json"]);
    assert_eq!(apart.status.code(), Some(1), "{}", said(&apart));
    let found: Value = serde_json::from_slice(&apart.stdout).unwrap();
    // Both leave slow start by the queue; Reno halves, CUBIC keeps seven tenths.
    let window = &found["compared"][1];
    assert_eq!(window["name"], "congestion_window");
    let at = |which: &str| -> f64 { window["apart"][which].as_str().unwrap().parse().unwrap() };
    assert!(
        at("a") > 0.0 && at("b") > 0.0 && at("a") != at("b"),
        "{window}"
    );
    assert!(
        found["parting"]["apart"]["at_ms"].as_f64().unwrap() > 80.0,
        "{found}"
    );
}

#[test]
fn what_two_logs_cannot_have_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.sqlog"), "no log").unwrap();
    for (args, what) in [
        (&["a.sqlog"][..], "give a second log"),
        (&["a.sqlog", "b.sqlog"], "begins with `qlog_version`"),
        (&["b.sqlog", "a.sqlog"], "`b.sqlog` cannot be read"),
        (
            &["a.sqlog", "a.sqlog", "--seed", "3"],
            "`--seed` is for a scenario",
        ),
    ] {
        let output = of_logs(folder, args);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(what), "{}", said(&output));
    }
}
