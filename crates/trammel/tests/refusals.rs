//! What `trammel run` refuses, `trammel check` refuses before, with line and key: for scenarios put
//! together at random of what engines may refuse.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use trammel_core::rng::Rng;

/// Lines of `[path]` of which one of each group is taken, or none.
const PATH: &[&[&str]] = &[
    &[
        "jitter = '1 ms'",
        "jitter = { distribution = 'exponential', mean = 0.001 }",
    ],
    &[
        "reorder = { probability = 0.01, delay = '5 ms' }",
        "reorder = true",
        "grants = { every = '5 ms', packets = 8 }",
    ],
    &["overhead = '0 B'", "overhead = '38 B'"],
    &["burst = '3100 B'"],
    &[
        "schedule = [{ at = '100 ms', rate = '5 Mbit/s' }]",
        "schedule = [{ at = '100 ms', direction = 'both', delay = '30 ms' }]",
        "schedule = [{ at = '50 ms', down = true, outage = 'drop' }, { at = '60 ms', down = \
         false }]",
        "schedule = [{ at = '100 ms', direction = 'up', rate = '5 Mbit/s' }]",
    ],
    &["delay_limit = 100"],
    &[
        "loss = { model = 'bernoulli', probability = 0.01 }",
        "loss = { model = 'gilbert-elliott', p = 0.01, r = 0.1 }",
        "loss = { model = 'trace', packets = [3, 5] }",
    ],
    &[
        "queue = { limit = '100 packets' }",
        "queue = { limit = '100 kB' }",
        "queue = { discipline = 'codel', limit = '100 kB' }",
        "queue = { discipline = 'codel' }",
        "queue = { discipline = 'codel', ecn = true }",
        "queue = { discipline = 'fq_codel' }",
        "queue = { discipline = 'fq_codel', drop_batch = 1 }",
        "queue = { discipline = 'pie' }",
        "queue = { discipline = 'pie', dialect = 'linux' }",
        "queue = { discipline = 'red' }",
        "queue = { discipline = 'red', gentle = false }",
        "queue = { discipline = 'red', gentle = false, weight = 0.003 }",
        "queue = { discipline = 'threshold' }",
        "queue = { discipline = 'threshold', not_capable = 'drop' }",
        "queue = { discipline = 'pi' }",
        "queue = { discipline = 'cake' }",
        "queue = { discipline = 'cake', limit = '100 packets' }",
        "queue = { discipline = 'fq' }",
        "queue = { discipline = 'fq', flows = 16 }",
        "queue = { discipline = 'fq_pie' }",
        "queue = { discipline = 'fq_pie', alpha = 0.13 }",
        "queue = { discipline = 'policer', rate = '5 Mbit/s' }",
        "queue = { discipline = 'dualpi2', dialect = 'rfc-9332' }",
    ],
];
/// Lines of the flow.
const FLOW: &[&[&str]] = &[
    &["delayed_ack = 4", "delayed_ack = false"],
    &[
        "pacing = true",
        "pacing = false",
        "pacing_rate = '2 Mbit/s'",
        "sender_queue = 'fq'",
    ],
    &["kernel_variant = 'nosuch'", "kernel_variant = 'vegas'"],
    &["offload = true"],
];
const VARIANTS: &[&str] = &[
    "'reno'",
    "'bbr'",
    "'dctcp'",
    "'cubic'",
    "'cubic'\nparams = { hystart = false }",
    "'cubic'\nparams = { max_increment = 5 }",
];
/// What stands beside it.
const BESIDE: &[&[&str]] = &[
    &["[[flow]]\nname = 'second'\nvariant = 'reno'"],
    &["[[stream]]\ngap = '10 ms'"],
    &[
        "[[workload]]\nkind = 'on-off'\non = { distribution = 'exponential', mean = 1 }\n\
         off = { distribution = 'exponential', mean = 1 }",
        "[[workload]]\nkind = 'poisson'\nload = 0.1\n\
         size = { distribution = 'exponential', mean = 20000 }",
    ],
];
/// Lines of the whole file.
const TOP: &[&[&str]] = &[&["pcap = true"]];

/// One of each group, or none, a line each.
fn some(rng: &mut Rng, groups: &[&[&str]], one_in: u64) -> String {
    let mut text = String::new();
    for group in groups {
        if rng.below(one_in) == 0 {
            text += group[rng.below(group.len() as u64) as usize];
            text += "\n";
        }
    }
    text
}

fn scenario(rng: &mut Rng, measure: &str) -> String {
    let variant = VARIANTS[rng.below(VARIANTS.len() as u64) as usize];
    let top = some(rng, TOP, 12);
    let path = some(rng, PATH, 6);
    let flow = some(rng, FLOW, 6);
    let beside = some(rng, BESIDE, 8);
    format!(
        "duration = '200 ms'\n{top}[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n{path}[[flow]]\n\
         name = 'first'\nvariant = {variant}\n{flow}{beside}[measure]\n{measure}"
    )
}

fn trammel(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(args)
        .current_dir(folder)
        // No kernel is there: what is not refused ends with 3 at once.
        .env("XDG_CACHE_HOME", folder.join("nothing"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_passes_the_check_is_not_refused_by_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let (mut passed, mut refused) = (0, 0);
    for seed in 0..60 {
        let text = scenario(&mut Rng::new(seed, "scenario"), "");
        fs::write(folder.path().join("s.toml"), &text).unwrap();
        // It has no fault of its own: what is refused, an engine refuses.
        fs::write(
            folder.path().join("own.toml"),
            text.replace("[measure]", ""),
        )
        .unwrap();
        let own = trammel(folder.path(), &["check", "own.toml"]);
        assert_eq!(own.status.code(), Some(0), "{text}\n{}", said(&own));
        let check = trammel(folder.path(), &["check", "s.toml"]);
        let run = trammel(folder.path(), &["run", "s.toml", "--engine", "measure"]);
        let all = format!("seed {seed}:\n{text}\n{}\n{}", said(&check), said(&run));
        match check.status.code() {
            Some(0) => {
                assert_eq!(run.status.code(), Some(3), "{all}");
                passed += 1;
            }
            Some(2) => {
                assert_eq!(run.status.code(), Some(2), "{all}");
                assert!(said(&check).contains("s.toml:"), "line and key: {all}");
                refused += 1;
            }
            _ => panic!("{all}"),
        }
    }
    assert!(passed >= 5 && refused >= 15, "{passed} and {refused}");
}

#[test]
fn what_is_measured_on_a_host_is_checked_as_that() {
    let folder = tempfile::tempdir().unwrap();
    let flow = "[[flow]]\nvariant = 'reno'\n[measure]\nkernel = 'host'\n";
    for (path, line, key) in [
        ("jitter = '2 ms'", 5, "jitter"),
        ("queue.discipline = 'fq_codel'", 5, "fq_codel"),
        (
            "schedule = [{ at = '1 s', jitter = '5 ms' }]",
            5,
            "schedule",
        ),
        ("grants = { every = '5 ms', packets = 8 }", 5, "grants"),
        ("delay_limit = 100", 5, "delay_limit"),
    ] {
        let text =
            format!("duration = '2 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n{path}\n{flow}");
        fs::write(folder.path().join("s.toml"), &text).unwrap();
        for args in [&["check", "s.toml"][..], &["run", "s.toml"]] {
            let output = trammel(folder.path(), args);
            let text = said(&output);
            assert_eq!(output.status.code(), Some(2), "{args:?} {path}: {text}");
            assert!(
                text.contains(&format!("s.toml:{line}:")),
                "{args:?}: {text}"
            );
            assert!(text.contains(key), "{args:?}: {text}");
        }
        // The other engines have nothing against it.
        let simulated = trammel(folder.path(), &["run", "s.toml", "--engine", "simulate"]);
        assert_eq!(simulated.status.code(), Some(0), "{}", said(&simulated));
    }
}

#[test]
fn a_path_that_is_not_emulated_is_refused_when_its_streams_are_to_be_measured() {
    let folder = tempfile::tempdir().unwrap();
    let text = "subject = 'traffic'\nduration = '100 ms'\nengines = ['simulate', 'measure']\n\
                [path]\nrate = '8 Mbit/s'\ndelay = '20 ms'\njitter = '1 ms'\n[[stream]]\n\
                rate = '1 kpps'\n";
    fs::write(folder.path().join("s.toml"), text).unwrap();
    for args in [&["check", "s.toml"][..], &["run", "s.toml"]] {
        let output = trammel(folder.path(), args);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("s.toml:7:"), "{args:?}: {text}");
    }
    let simulated = trammel(folder.path(), &["run", "s.toml", "--engine", "simulate"]);
    assert_eq!(simulated.status.code(), Some(0), "{}", said(&simulated));
}

#[test]
fn every_refusal_of_a_file_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "duration = '2 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n\
                trace = 't.mahi'\nqueue.discipline = 'threshold'\n\
                [[flow]]\nvariant = 'reno'\ndelayed_ack = 4\n[[stream]]\ngap = '10 ms'\n\
                [measure]\n";
    fs::write(folder.path().join("s.toml"), text).unwrap();
    fs::write(folder.path().join("t.mahi"), "1\n2\n").unwrap();
    let output = trammel(folder.path(), &["check", "s.toml"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for line in [5, 6, 9, 10] {
        assert!(text.contains(&format!("s.toml:{line}:")), "{line}: {text}");
    }
}
