//! Estimates as a user asks for them: corrected by a live run, and of chains.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Three quarters of the packets are counted, one is painted.
const LIVE: &str = "\
s :: InfiniteSource(LIMIT 6400, LENGTH 300, BURST 8, STOP true) -> c :: Classifier(0/ff, -);
c[0] -> Discard;
c[1] -> rr :: RoundRobinSwitch;
rr[0] -> a :: Counter -> d :: Discard;
rr[1] -> Null -> d;
rr[2] -> Null -> d;
rr[3] -> Paint(1) -> d;
";
const A: &str = "FromDevice(a) -> Strip(14) -> CheckIPHeader -> DecIPTTL -> Unstrip(14) -> Queue \
                 -> ToDevice(b);\n";
const B: &str = "FromDevice(c) -> EtherMirror -> k :: Counter -> Queue -> ToDevice(d);\n";
const AB: &str = "FromDevice(a) -> Strip(14) -> CheckIPHeader -> DecIPTTL -> Unstrip(14) -> \
                  EtherMirror -> Counter -> Queue -> ToDevice(d);\n";
/// Pushes 4 bytes in front of the IP header, and drops every other packet.
const LONGER: &str = "FromDevice(a) -> rr :: RoundRobinSwitch -> VLANEncap(5) -> Queue -> \
                      ToDevice(b); rr[1] -> Discard;\n";
const TAGGED: &str = "FromDevice(c) -> v :: Classifier(12/8100, -) -> VLANDecap -> Queue -> \
                      ToDevice(d); v[1] -> Discard;\n";
const DEAF: &str = "RatedSource -> Queue -> ToDevice(d);\n";
const DEAD: &str = "FromDevice(a) -> Discard;\n";
const LISTS: &str = "\
[[function]]
name = 'first'
operations = ['io_mem(64, 0)', 'parse(8)', 'mem_io(64, 0)']
[[function]]
name = 'second'
operations = ['io_mem(64, 0)', 'parse(16)', 'mem_io(64, 0)']
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("live.click", LIVE),
        ("a.click", A),
        ("b.click", B),
        ("ab.click", AB),
        ("longer.click", LONGER),
        ("tagged.click", TAGGED),
        ("deaf.click", DEAF),
        ("dead.click", DEAD),
        ("lists.toml", LISTS),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn trammel(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.current_dir(folder).env("XDG_DATA_HOME", folder);
    command
        .args(args)
        .output()
        .expect("the program can be started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The rows of a table that `args` give as JSON.
fn rows(folder: &Path, table: &str, args: &[&str]) -> Vec<Value> {
    let mut args = args.to_vec();
    args.extend(["--json", "--frame-sizes", "64"]);
    // Whole cycles, so that sums can be told.
    if !args.contains(&"--machine") {
        args.extend(["--machine", "xeon-e5-2690v2"]);
    }
    let output = trammel(folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    all["tables"][table]
        .as_array()
        .expect("it is there")
        .clone()
}

/// What `args` are refused with: a line, and exit code 2.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = trammel(folder, args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

fn number(row: &Value, key: &str) -> f64 {
    row[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

fn is_near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} {b}");
}

/// A run of `live.click`, whose counters are `run.toml`.
fn run() -> tempfile::TempDir {
    let folder = folder();
    let args = ["router", "live.click", "--counters", "run.toml"];
    let output = trammel(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    folder
}

/// Where no machine is named it is this one, or the one of a data sheet, and never one that was
/// fitted; an interval has a width or is not there.
#[test]
fn the_machine_that_is_meant_is_this_one_or_a_data_sheet_s() {
    let folder = folder();
    let estimate = |args: &[&str]| {
        let args = [&["estimate", "a.click", "--frame-sizes", "64"], args].concat();
        let output = trammel(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        (text, stderr(&output))
    };
    let row = |text: &str| -> Value {
        let all: Value = serde_json::from_str(text).unwrap();
        all["tables"]["functions"][0].clone()
    };
    let (text, said) = estimate(&["--json"]);
    let found = row(&text);
    assert_eq!(found["machine"], "xeon-e5-2690v2:data-sheet");
    assert_eq!(found["origin"], "data-sheet");
    assert!(
        number(&found, "low_cycles") < 0.8 * number(&found, "high_cycles"),
        "{found}"
    );
    assert!(
        said.contains("not calibrated") && said.contains("`trammel calibrate`"),
        "{said}"
    );

    let (text, said) = estimate(&["--json", "--machine", "xeon-e5-2690v2"]);
    let found = row(&text);
    assert_eq!(
        (&found["origin"], said.as_str()),
        (&Value::from("fitted"), "")
    );
    assert!(
        found["low_cycles"].is_null() && found["high_cycles"].is_null(),
        "{found}"
    );
    let (text, _) = estimate(&["--machine", "xeon-e5-2690v2"]);
    assert!(
        text.contains("machine: fitted (") && text.contains("not known"),
        "{text}"
    );

    let machines = folder.path().join("trammel/machines");
    std::fs::create_dir_all(&machines).unwrap();
    let host = include_str!("../../cost/src/machines/epyc-7532.toml");
    std::fs::write(machines.join("host.toml"), host).unwrap();
    let (text, said) = estimate(&["--json"]);
    let name = row(&text)["machine"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(name.starts_with("host:"), "{name}");
    assert_eq!(said, "");
    // A calibration that cannot be read is a fault, and no reason for another machine.
    std::fs::write(machines.join("host.toml"), "title = 1").unwrap();
    let broken = trammel(folder.path(), &["estimate", "a.click"]);
    assert_eq!(broken.status.code(), Some(2), "{}", stderr(&broken));
    assert!(stderr(&broken).contains("host.toml"), "{}", stderr(&broken));
}

#[test]
fn a_run_replaces_visits_batches_and_frames() {
    let folder = run();
    let args = ["estimate", "live.click", "--refine", "run.toml"];
    let refined = rows(folder.path(), "refinement", &args);
    let of = |element: &str| {
        let row = refined.iter().find(|row| row["element"] == element);
        row.unwrap_or_else(|| panic!("{element}: {refined:?}"))
    };
    // The source gives 8 at a time where the estimate has full batches.
    assert_eq!(number(of("s"), "batch_assumed_pkts"), 32.0);
    assert_eq!(number(of("s"), "batch_counted_pkts"), 8.0);
    assert_eq!(number(of("a"), "visits_counted"), 0.25);
    assert_eq!(number(of("d"), "visits_counted"), 1.0);
    assert_eq!(number(of("a"), "batch_counted_pkts"), 2.0);
    assert!(refined.iter().all(|row| row["corrected_by"] == "estimated"));

    let functions = rows(folder.path(), "functions", &args);
    let cost = |what: &str| {
        let row = functions.iter().find(|row| row["what_if"] == what);
        row.unwrap_or_else(|| panic!("{what}: {functions:?}"))
    };
    let after = cost("refine");
    // 300 bytes in memory have 304 with their FCS.
    assert_eq!(number(after, "frame_bytes"), 304.0);
    let sum: f64 = refined
        .iter()
        .map(|row| number(row, "corrected_cycles"))
        .sum();
    is_near(number(after, "cost_cycles"), sum);
    // Nothing but the calls differs: of the counter, half a call of 20 cycles for each of a quarter
    // of the packets in place of a thirty-second part of one or more.
    let counter = of("a");
    let call = |batch: &str| 0.25 * 20.0 / number(counter, batch);
    let change = number(counter, "corrected_cycles") - number(counter, "estimated_cycles");
    let of_calls = call("batch_counted_pkts") - call("batch_assumed_pkts");
    // That machine takes whole cycles for each operation.
    assert!((change - of_calls).abs() <= 0.25, "{change} {of_calls}");
}

#[test]
fn what_a_correction_changes_adds_up() {
    let folder = run();
    let args = ["estimate", "live.click", "--refine", "run.toml"];
    let output = trammel(folder.path(), &args);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |start: &str| {
        let found = text.lines().find(|line| line.starts_with(start));
        found
            .unwrap_or_else(|| panic!("{start}: {text}"))
            .to_owned()
    };
    let last = |start: &str| -> f64 {
        let line = line(start);
        line.split_whitespace().last().unwrap().parse().unwrap()
    };
    let kinds = ["frame bytes", "visits", "packets a call", "tables, and"];
    let sum: f64 = kinds.iter().map(|kind| last(kind)).sum();
    assert!(
        (sum - last("cycles a packet, then corrected")).abs() < 0.3,
        "{text}"
    );
    // The machine of the estimate is not the one that ran.
    assert!(text.contains("note: cycles were counted on "), "{text}");
    assert!(text.contains("\ncorrected\n"), "{text}");
}

#[test]
fn cycles_of_the_machine_that_ran_stand_for_its_constants() {
    let folder = run();
    let counters = std::fs::read_to_string(folder.path().join("run.toml")).unwrap();
    let processor = counters.lines().find(|line| line.starts_with("processor"));
    let processor = processor.unwrap().split_once(" = ").unwrap().1;
    // A machine with that processor, where a call takes 20 cycles and a byte of what elements do
    // none.
    let machine = format!(
        "title = {processor}\ndefault = 'a'\n[profile.a]\norigin = 'measured'\nsource = 'here'\n\
         clock_mhz = 1000\nlevels = [{{ name = 'L1', kib = 32, cycles = 5 }}]\n\
         memory = {{ latency_ns = 100, parallel = 10 }}\neo.call = {{ packet = 0, call = 20 }}\n{}",
        [
            "driver", "io_mem", "mem_io", "parse", "deparse", "classify", "work", "copy", "ring"
        ]
        .map(|eo| {
            let constants = match eo {
                "driver" => "packet = 0, call = 0, line = 0",
                "io_mem" | "mem_io" => "base = 0, line = 0",
                "classify" => "fixed = 0, step = 0",
                "work" => "instruction = 0",
                "copy" => "fixed = 0, line = 0",
                "ring" => "packet = 0, call = 0",
                _ => "word = 0",
            };
            format!("eo.{eo} = {{ {constants} }}\n")
        })
        .concat()
    );
    std::fs::write(folder.path().join("here.toml"), machine).unwrap();
    let changed: String = counters
        .split("[[element]]")
        .map(|part| {
            let is_counter = part.contains("name = \"a\"\n");
            let lines = part.lines().map(|line| match line.starts_with("cycles") {
                true if is_counter => "cycles = 16000.0\n".to_owned(),
                true => "cycles = 0.0\n".to_owned(),
                false => format!("{line}\n"),
            });
            lines.collect::<String>()
        })
        .collect::<Vec<_>>()
        .join("[[element]]");
    std::fs::write(folder.path().join("changed.toml"), changed).unwrap();
    let args = [
        "estimate",
        "live.click",
        "--machine",
        "here.toml",
        "--refine",
        "changed.toml",
    ];
    let refined = rows(folder.path(), "refinement", &args);
    let row = refined.iter().find(|row| row["element"] == "a").unwrap();
    assert_eq!(row["corrected_by"], "counted");
    // A quarter of 6400 packets took 10 cycles each, and half a call was to be paid for each.
    assert_eq!(number(row, "corrected_cycles"), 0.25 * (10.0 + 0.5 * 20.0));
    assert_eq!(
        refined.iter().find(|row| row["element"] == "s").unwrap()["corrected_by"],
        "estimated",
        "a source stands for a device"
    );
}

#[test]
fn runs_that_are_of_no_use_are_refused_in_a_line() {
    let folder = run();
    let at = folder.path();
    let counters = std::fs::read_to_string(at.join("run.toml")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).unwrap();
    write("empty.toml", "");
    write("cut.toml", &counters[..counters.len() / 2]);
    write("other.toml", &counters.replace("\"a\"", "\"b\""));
    write("class.toml", &counters.replace("\"Paint\"", "\"Null\""));
    let idle = LIVE.replace("LIMIT 6400", "LIMIT 0");
    write("idle.click", &idle);
    let args = ["router", "idle.click", "--counters", "idle.toml"];
    assert_eq!(trammel(at, &args).status.code(), Some(0));
    for (run, said) in [
        ("none.toml", "none.toml: No such file or directory"),
        (
            "empty.toml",
            "empty.toml: it is empty; `trammel router FILE --counters RUN` writes one",
        ),
        ("cut.toml", "truncated"),
        (
            "other.toml",
            "other.toml: it has no 'a :: Counter', which live.click has; count a run of this \
             configuration",
        ),
        (
            "class.toml",
            "was of class Null, and is of Paint in live.click",
        ),
        (
            "idle.toml",
            "idle.toml: no packet came in while it was counted",
        ),
        ("lists.toml", "lists.toml: it is no file of counters"),
    ] {
        let found = refused(at, &["estimate", "live.click", "--refine", run]);
        assert!(found.contains(said), "{found}");
    }
    let found = refused(at, &["estimate", "a.click", "--refine", "run.toml"]);
    assert!(found.contains("which a.click has"), "{found}");
    let found = refused(at, &["estimate", "lists.toml", "--refine", "run.toml"]);
    assert!(
        found.contains("a list of operations has no elements"),
        "{found}"
    );
}

#[test]
fn a_chain_on_one_core_is_the_graph_that_joins_its_functions() {
    let folder = folder();
    let chain = |files: &[&str], how: &str| {
        let mut args = vec!["estimate", "--chain", how];
        args.extend(files);
        rows(folder.path(), "chain", &args)
    };
    let alone = |file: &str| {
        let rows = rows(folder.path(), "functions", &["estimate", file]);
        number(&rows[0], "cost_cycles")
    };
    let joined = chain(&["a.click", "b.click"], "run-to-completion");
    is_near(number(&joined[2], "cost_cycles"), alone("ab.click"));
    is_near(
        number(&joined[2], "alone_cycles"),
        alone("a.click") + alone("b.click"),
    );
    let sum = number(&joined[0], "cost_cycles") + number(&joined[1], "cost_cycles");
    is_near(sum, alone("ab.click"));
    for how in ["run-to-completion", "pipelined"] {
        let one = chain(&["a.click"], how);
        is_near(number(&one[1], "cost_cycles"), alone("a.click"));
    }
}

#[test]
fn the_slowest_stage_is_the_rate_of_a_pipeline() {
    let folder = folder();
    let lists = ["lists.toml#first", "lists.toml#second"];
    let chain = |how: &str| {
        let args = ["estimate", lists[0], lists[1], "--chain", how];
        rows(folder.path(), "chain", &args)
    };
    // The paper's machine: 35 cycles in and 39 out, 5 for eight bytes, and half of a ring of 11.
    let cycles = |row: &Value| number(row, "cost_cycles");
    let one = chain("run-to-completion");
    assert_eq!(
        one.iter().map(cycles).collect::<Vec<_>>(),
        [40.0, 49.0, 89.0]
    );
    assert_eq!(number(&one[2], "alone_cycles"), 79.0 + 84.0);
    let two = chain("pipelined");
    assert_eq!(
        two.iter().map(cycles).collect::<Vec<_>>(),
        [45.5, 89.5, 135.0]
    );
    assert_eq!(two[2]["bound_by"], "stage 2 (second)");
    is_near(number(&two[2], "rate_mpps"), 3686.4 / 89.5);
}

#[test]
fn what_leaves_a_function_comes_to_the_next() {
    let folder = folder();
    let args = [
        "estimate",
        "longer.click",
        "tagged.click",
        "--chain",
        "run-to-completion",
    ];
    let found = rows(folder.path(), "chain", &args);
    assert_eq!(
        (number(&found[0], "share"), number(&found[1], "share")),
        (1.0, 0.5)
    );
    let args = [&args[..], &["--shares", "--frame-sizes", "64"]].concat();
    let output = trammel(folder.path(), &args);
    let text = String::from_utf8(output.stdout).unwrap();
    // The tag is there, so every second packet of all is stripped of it and none is discarded.
    let decap = text.lines().find(|line| line.contains("VLANDecap"));
    assert!(decap.unwrap_or_default().contains(" 0.500 "), "{text}");
    assert!(!text.contains("2/Discard"), "{text}");
}

#[test]
fn chains_that_cannot_be_are_refused_in_a_line() {
    let folder = folder();
    for (args, said) in [
        (
            &["lists.toml", "a.click"][..],
            "name the one of the chain: lists.toml#first, #second",
        ),
        (&["lists.toml#frist"], "did you mean `first`?"),
        (
            &["a.click", "deaf.click"],
            "deaf.click: it has no FromDevice",
        ),
        (
            &["dead.click", "a.click"],
            "dead.click: none of its packets leaves by a ToDevice, so a.click receives none",
        ),
        (
            &["a.click", "b.click", "--cores", "2"],
            "each function has one core",
        ),
        (
            &["a.click", "none.click"],
            "none.click: No such file or directory",
        ),
    ] {
        let args = [&["estimate", "--chain", "pipelined"], args].concat();
        let found = refused(folder.path(), &args);
        assert!(found.contains(said), "{found}");
    }
}

#[test]
fn elements_that_no_frame_comes_to_are_named() {
    let folder = folder();
    let nat = "FromDevice(a) -> c :: Classifier(12/9999, -);\n\
               c[0] -> Strip(14) -> CheckIPHeader -> rw :: IPRewriter(pattern 1.0.0.1 1024-65535 - \
               - 0 0) -> Discard;\n\
               c[1] -> Queue -> ToDevice(b);\n";
    std::fs::write(folder.path().join("nat.click"), nat).unwrap();
    let output = trammel(
        folder.path(),
        &["estimate", "nat.click", "--frame-sizes", "64"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let left_out = text
        .lines()
        .find(|line| line.starts_with("no frame reached"));
    let left_out = left_out.unwrap_or_else(|| panic!("{text}"));
    assert!(left_out.contains("'rw :: IPRewriter'"), "{left_out}");
    assert!(left_out.contains(":: CheckIPHeader'"), "{left_out}");
    assert!(left_out.contains("`--sample FILE`"), "{left_out}");
    let output = trammel(
        folder.path(),
        &["estimate", "a.click", "--frame-sizes", "64"],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("no frame reached"), "{text}");
}
