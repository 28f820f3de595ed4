//! `trammel diverge` as a user meets it: a flow that is alike to the end, one that parts, and what
//! cannot be compared.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

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
