//! `trammel bench` as a user meets it: all tests on the devices that need no ports, reports, exit
//! codes, going on after an interruption, bad input.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ROUTER: &str = "\
FromDevice(eth0) -> Strip(14) -> CheckIPHeader
  -> rt :: RadixIPLookup(198.18.0.0/16 0, 198.19.0.0/16 1, 0.0.0.0/0 1);
rt[0] -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue -> ToDevice(eth0);
rt[1] -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:b) -> Queue -> ToDevice(eth1);
";
/// It loses what comes while it holds a frame for ten milliseconds.
const SLOW: &str =
    "FromDevice(eth0) -> Queue(5) -> DelayUnqueue(10ms) -> Queue -> ToDevice(eth1);\n";
const DELAY: &str =
    "FromDevice(eth0) -> Queue(5000) -> DelayUnqueue(2ms) -> Queue -> ToDevice(eth1);\n";
const BOTH: &str = "\
FromDevice(eth0) -> Queue -> ToDevice(eth1);
FromDevice(eth1) -> Queue -> ToDevice(eth0);
";
/// The first port's frames at 10,000,000 bytes a second.
const SHAPED: &str = "\
FromDevice(eth0) -> Queue(100) -> BandwidthShaper(10000000Bps) -> ToDevice(eth1);
FromDevice(eth1) -> Queue -> ToDevice(eth0);
";
const ENDS: &str = "FromDevice(eth0) -> Discard; Idle -> ToDevice(eth1);\n";
const WRONG: &str = "FromDevice(eth0) -> CheckIPHeadr -> Queue -> ToDevice(eth1);\n";
/// Shorter than a quick run: the router is not optimised here.
const SHORT: &[&str] = &[
    "--quick",
    "--frame-sizes",
    "64",
    "--set",
    "throughput.width=0.2",
    "--set",
    "throughput.duration=5ms",
    "--set",
    "throughput.final_duration=5ms",
];

/// How many tests there are.
const TESTS: usize = 24;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ports =
        (0..4).map(|n| format!("FromDevice(p{n}) -> [{n}]s; s[{n}] -> Queue -> ToDevice(p{n});\n"));
    let switch = format!(
        "s :: EtherSwitch(TIMEOUT 300);\n{}",
        ports.collect::<String>()
    );
    for (name, text) in [
        ("router.click", ROUTER),
        ("slow.click", SLOW),
        ("delay.click", DELAY),
        ("ends.click", ENDS),
        ("wrong.click", WRONG),
        ("switch.click", &switch),
        ("both.click", BOTH),
        ("shaped.click", SHAPED),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command
        .arg("bench")
        .args(args)
        .current_dir(folder)
        .env("XDG_DATA_HOME", folder)
        .env("NO_COLOR", "1");
    command
}

fn bench(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn tables(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
    value["tables"].clone()
}

/// The names of the tests with a table, and what is said of the others.
fn made(output: &Output) -> (Vec<String>, Vec<String>) {
    let tables = tables(output);
    let names = tables.as_object().unwrap().keys().cloned();
    let left_out = said(output);
    let left_out = left_out
        .lines()
        .filter_map(|line| line.strip_prefix("left out: `"));
    (
        names
            .filter(|name| !["trials", "summary"].contains(&name.as_str()))
            .collect(),
        left_out
            .filter_map(|line| Some(line.split_once('`')?.0.to_owned()))
            .collect(),
    )
}

/// Durations that are short in a debug build, of all tests.
const SHORT_TESTS: &[&str] = &[
    "latency.duration=20ms",
    "latency.tag_after=10ms",
    "frame-loss.duration=5ms",
    "back-to-back.longest=1ms",
    "back-to-back.repeats=1",
    "system-recovery.duration=5ms",
    "system-recovery.watch=20ms",
    "constant-load.duration=10ms",
    "overload.duration=5ms",
    "single-frame.repeats=2",
    "single-frame.steady_duration=10ms",
    "forwarding.duration=5ms",
    "congestion-control.duration=5ms",
    "latency-rfc8219.duration=20ms",
    "latency-rfc8219.tag_after=10ms",
    "pdv.duration=20ms",
    "ipdv.duration=20ms",
    "service-configuration.duration=20ms",
    "service-performance.duration=20ms",
    "tcp-transfer.bytes=1MB",
];

fn all_tests(device: &[&str]) -> Vec<String> {
    let mut args: Vec<String> = device
        .iter()
        .chain(SHORT)
        .map(|&arg| arg.to_owned())
        .collect();
    args.extend(["--tests", "all", "--json"].map(str::to_owned));
    for setting in SHORT_TESTS {
        args.extend(["--set".to_owned(), (*setting).to_owned()]);
    }
    args
}

fn all_on(folder: &Path, device: &[&str]) -> Output {
    let args = all_tests(device);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    bench(folder, &args)
}

/// What needs a device that can be reset, or a switch.
const RESETS: [&str; 2] = ["reset", "restart"];
const SWITCHES: [&str; 3] = ["address-caching", "address-learning", "congestion-control"];
/// What needs real hosts.
const HOSTS: [&str; 2] = ["ftp-transfer", "http-transfer"];

#[test]
fn every_test_is_made_in_virtual_time_or_says_why_not() {
    let folder = folder();
    let output = all_on(folder.path(), &["--simulate", "router.click"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (tests, mut left_out) = made(&output);
    left_out.sort();
    let all = RESETS.iter().chain(&SWITCHES).chain(&HOSTS);
    let mut expected: Vec<_> = all.copied().collect();
    expected.sort_unstable();
    assert_eq!(left_out, expected);
    assert_eq!(tests.len() + left_out.len(), TESTS, "{tests:?}");
    let tables = tables(&output);
    for (name, rows) in tables.as_object().unwrap() {
        for row in rows.as_array().unwrap() {
            assert_eq!(row["label"], "simulated", "{name}");
        }
    }
    let latency = &tables["latency"][0];
    assert_eq!(latency["latency_of"], "store and forward");
    assert_eq!(latency["value_of"], "tagged frame");
    assert!(tables["ipdv"][0]["ipdv_max_ms"].is_number());
    assert!(tables["overload-burst"][0]["came_after_bytes"].is_number());
}

#[test]
fn a_switch_in_virtual_time_learns_addresses_and_is_congested() {
    let folder = folder();
    let tests = SWITCHES.join(",");
    let mut args = vec!["--simulate", "switch.click", "--json", "--tests", &tests];
    args.extend(SHORT);
    args.extend(["--set", "congestion-control.duration=5ms"]);
    args.extend(["--set", "address-caching.most=64"]);
    let output = bench(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let tables = tables(&output);
    let congested = &tables["congestion-control"][0];
    assert_eq!(congested["back_pressure"], false, "{congested}");
    assert!(
        congested["congested_loss_percent"].as_f64().unwrap() > 20.0,
        "{congested}"
    );
    for row in tables["address-caching"].as_array().unwrap() {
        assert_eq!(
            (&row["passed"], &row["flooded_monitor"]),
            (&true.into(), &0.into()),
            "{row}"
        );
    }
}

#[test]
fn an_estimate_has_no_latencies_and_goes_on_with_the_rest() {
    let folder = folder();
    let output = all_on(folder.path(), &["--estimate", "router.click"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (tests, left_out) = made(&output);
    assert_eq!(
        tests.len() + left_out.len(),
        TESTS,
        "{tests:?} {left_out:?}"
    );
    let latencies = ["latency", "latency-rfc8219", "pdv", "ipdv"];
    let all = RESETS.iter().chain(&SWITCHES).chain(&HOSTS);
    for test in all.chain(&latencies).chain(&["tcp-transfer"]) {
        assert!(
            left_out.iter().any(|one| one == test),
            "{test}: {left_out:?}"
        );
    }
    let tables = tables(&output);
    assert_eq!(tables["throughput"][0]["label"], "predicted");
    // It has no buffers, and the first of a burst finds nothing before it.
    assert_eq!(tables["single-frame"][0]["lost"], 0);
}

#[test]
fn a_file_over_simulated_tcp_is_as_fast_as_the_line_or_the_device() {
    let folder = folder();
    let args = [
        "--simulate",
        "both.click",
        "--simulate",
        "router.click",
        "--model",
        "click-pc-2009",
        "--model",
        "reference-1g",
        "--rate",
        "1 Gbit/s",
        "--quick",
        "--json",
        "--tests",
        "tcp-transfer",
        "--set",
        "tcp-transfer.bytes=5 MB",
    ];
    let output = bench(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let rows = tables(&output)["tcp-transfer"].clone();
    let hosts = "linux-6, cubic, first window 10 x 1448 bytes";
    let devices = [
        ("simulated", ""),
        ("simulated", ", ACKs past the device"),
        ("modelled", ""),
        ("modelled", ", the device a delay"),
    ];
    for (row, (label, how)) in rows.as_array().unwrap().iter().zip(devices) {
        assert_eq!(
            (row["label"].as_str(), row["hosts"].as_str()),
            (Some(label), Some(&*format!("{hosts}{how}")))
        );
        // 1448 bytes of each 1538 on a line of 1 Gbit/s, which all of them fill.
        let most = 1000.0 * 1448.0 / 1538.0;
        let goodput = row["goodput_mbps"].as_f64().unwrap();
        assert!((0.97 * most..most).contains(&goodput), "{row}");
        assert!(
            row["wire_goodput_mbps"].as_f64().unwrap() >= goodput,
            "{row}"
        );
        assert_eq!(row["retransmissions"], 0, "{row}");
    }
    assert_eq!(rows.as_array().unwrap().len(), devices.len());
    // Short: a shaper is looked at all the time.
    let file = ["--set", "tcp-transfer.bytes=200 KB"];
    let shaped = [&["--simulate", "shaped.click"], &args[8..14], &file].concat();
    let output = bench(folder.path(), &shaped);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let row = tables(&output)["tcp-transfer"][0].clone();
    // 10 MB/s of frames, of which 1448 bytes in 1514 are the file's; what overflows comes again.
    let most = 80.0 * 1448.0 / 1514.0;
    let goodput = row["goodput_mbps"].as_f64().unwrap();
    assert!((0.9 * most..1.02 * most).contains(&goodput), "{row}");
    assert!(row["of_wire_percent"].as_f64().unwrap() < 10.0, "{row}");
    let ends = [&["--simulate", "ends.click"], &args[8..]].concat();
    let output = bench(folder.path(), &ends);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        said(&output).contains("no segment of TCP comes out of ends.click"),
        "{}",
        said(&output)
    );
}

#[test]
#[ignore = "long: it measures, so the machine must have a core to spare"]
fn rings_measure_and_a_delay_is_as_long_as_it_is() {
    let folder = folder();
    let mut args = vec!["--ring", "delay.click", "--rate", "10 Mbit/s", "--json"];
    args.extend([
        "--tests",
        "constant-load",
        "--set",
        "constant-load.duration=100ms",
    ]);
    args.extend(["--set", "constant-load.loads=0.5"]);
    args.extend(SHORT);
    let output = bench(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let row = tables(&output)["constant-load"][0].clone();
    assert_eq!(row["label"], "measured");
    // No frame comes before its time; how much later it comes is the machine's.
    let least = row["latency_least_us"]
        .as_f64()
        .unwrap_or_else(|| panic!("{row}"));
    assert!((2000.0..4000.0).contains(&least), "{row}");
}

/// Where the processor limits, what is found by a search in virtual time is what the cost model
/// says. The searches are narrower than the 0.5 % that is asked for, since each has a width of its
/// own.
#[test]
fn simulated_throughput_is_the_estimated_one_within_the_search_width() {
    let folder = folder();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/forwarding");
    for graph in [
        folder.path().join("router.click"),
        examples.join("ip-router.click"),
        examples.join("l2-switch-learning.click"),
    ] {
        let graph = graph.to_str().unwrap();
        let mut args = vec!["--estimate", graph, "--simulate", graph, "--json"];
        args.extend(["--machine", "xeon-e5-2690v2", "--rate", "400 Gbit/s"]);
        args.extend(["--frame-sizes", "64,512"]);
        for setting in [
            "throughput.width=0.002",
            "throughput.duration=20ms",
            "throughput.final_duration=100ms",
        ] {
            args.extend(["--set", setting]);
        }
        let output = bench(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let rows = tables(&output)["throughput"].clone();
        let found = |label: &str, frame: u64| {
            let mut rows = rows.as_array().unwrap().iter();
            let row = rows.find(|row| row["label"] == label && row["frame_bytes"] == frame);
            let row = row.unwrap_or_else(|| panic!("{graph}: {label}, {frame} bytes"));
            assert_eq!(row["verdict"], "found", "{row}");
            row["throughput_fps"].as_f64().unwrap()
        };
        for frame in [64, 512] {
            let (estimated, simulated) = (found("predicted", frame), found("simulated", frame));
            let error = simulated / estimated - 1.0;
            assert!(
                error.abs() <= 0.005,
                "{graph}, {frame} bytes: {simulated} of {estimated}"
            );
        }
    }
}

#[test]
fn the_same_in_virtual_time_is_the_same_in_every_byte() {
    let folder = folder();
    let mut args = vec![
        "--simulate",
        "router.click",
        "--json",
        "--tests",
        "latency,frame-loss",
    ];
    args.extend(SHORT);
    args.extend([
        "--set",
        "latency.duration=20ms",
        "--set",
        "latency.tag_after=10ms",
    ]);
    args.extend(["--set", "frame-loss.duration=5ms"]);
    let [first, second] = [0; 2].map(|_| bench(folder.path(), &args).stdout);
    assert!(!first.is_empty() && first == second);
}

#[test]
fn a_run_folder_has_the_report_and_is_replaced_by_the_next_run() {
    let folder = folder();
    let mut args = vec![
        "--simulate",
        "router.click",
        "--estimate",
        "router.click",
        "-o",
        "out",
    ];
    args.extend(SHORT);
    for _ in 0..2 {
        let output = bench(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(said(&output).contains("about "), "{}", said(&output));
        let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
        assert!(page.contains("Not compliant"));
        // Of several devices, each number at the top says whose it is.
        let notes = page.split("<dd class=\"note\">").skip(1);
        let notes = notes.filter_map(|rest| rest.split_once("</dd>"));
        let named = notes.filter(|(note, _)| note.contains("router.click"));
        assert_eq!(named.count(), 2);
        for file in [
            "throughput.csv",
            "trials.csv",
            "run.json",
            "figures/throughput.svg",
        ] {
            assert!(folder.path().join("out").join(file).exists(), "{file}");
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    let hidden = left.iter().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with('.')
    });
    assert_eq!(hidden.count(), 0, "nothing is left beside the folder");
}

#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    use std::io::{BufRead, BufReader};
    let folder = folder();
    // Timers are set, so every frame is simulated: long enough to be interrupted.
    let args = [
        "--simulate",
        "slow.click",
        "--quick",
        "-o",
        "out",
        "--frame-sizes",
        "64,128",
        "--set",
        "throughput.width=0.05",
        "--set",
        "throughput.duration=20ms",
        "--set",
        "throughput.final_duration=50ms",
    ];
    let mut run = command(folder.path(), &args)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("about "), "{first}");
    // The journal has a trial: its first line is its head.
    let journal = folder.path().join(".out.trials.jsonl");
    while std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < 2 {
        if let Some(status) = run.try_wait().unwrap() {
            panic!("it ended before it could be interrupted: {status}");
        }
        std::thread::yield_now();
    }
    let id = run.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("Interrupted"));
    let left = std::fs::read(&journal).unwrap();
    let output = bench(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).contains("resuming an interrupted run"),
        "{}",
        said(&output)
    );
    assert!(!journal.exists());
    // What was answered from the journal is as if it had been made.
    let kept = std::fs::read(folder.path().join("out/throughput.csv")).unwrap();
    let fresh = bench(folder.path(), &[&args[..4], &["anew"], &args[5..]].concat());
    assert_eq!(fresh.status.code(), Some(0));
    assert_eq!(
        kept,
        std::fs::read(folder.path().join("anew/throughput.csv")).unwrap()
    );
    // Trials of a file that was changed meanwhile are none of this run's, though its name is the
    // same.
    std::fs::write(&journal, left).unwrap();
    let changed = SLOW.replace("10ms", "5ms");
    std::fs::write(folder.path().join("slow.click"), changed).unwrap();
    let other = said(&bench(folder.path(), &args));
    assert!(
        other.contains("are for other files, programs or options: all are repeated"),
        "{other}"
    );
    assert!(!other.contains("resuming"), "{other}");
}

/// Processor time that a process has had, in the kernel's ticks.
fn ticks(id: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let behind_name = stat.rsplit_once(')').unwrap().1;
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    let [user, system] = [11, 12].map(|at: usize| fields[at].parse::<u64>().unwrap());
    user + system
}

#[test]
fn an_interrupt_in_the_middle_of_a_long_trial_ends_it_and_nothing_of_it_counts() {
    let hour = [
        "throughput.duration=1h",
        "throughput.final_duration=1h",
        "throughput.width=0.2",
    ];
    for (name, device) in [
        // Timers are set, so every frame is simulated.
        ("simulated", &["--simulate", "slow.click"][..]),
        ("ring", &["--ring", "router.click", "--rate", "10 Mbit/s"]),
        ("model", &["--model", "click-pc-2009"]),
    ] {
        let folder = folder();
        let mut args = [device, &["--quick", "--frame-sizes", "64", "-o", "out"]].concat();
        for setting in &hour {
            args.extend(["--set", setting]);
        }
        let mut run = command(folder.path(), &args)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let journal = folder.path().join(".out.trials.jsonl");
        // The first trial begins when there is a journal, and then has had a third of a second.
        let mut begun = None;
        while begun.is_none_or(|begun| ticks(run.id()) < begun + 30) {
            if begun.is_none() && journal.exists() {
                begun = Some(ticks(run.id()));
            }
            if let Some(status) = run.try_wait().unwrap() {
                panic!("{name}: it ended before it could be interrupted: {status}");
            }
            std::thread::yield_now();
        }
        let told = std::time::Instant::now();
        let id = run.id().to_string();
        let kill = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(kill.success());
        assert_eq!(run.wait().unwrap().code(), Some(130), "{name}");
        // About a second; more where the machine does something else.
        let took = told.elapsed();
        assert!(
            took < std::time::Duration::from_secs(20),
            "{name}: {took:?}"
        );
        let kept = std::fs::read_to_string(&journal).unwrap();
        assert_eq!(kept.lines().count(), 1, "{name}: only its head: {kept}");
        let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
        assert!(page.contains("Interrupted"), "{name}");
        let trials = std::fs::read_to_string(folder.path().join("out/trials.csv")).unwrap();
        assert_eq!(trials.lines().count(), 1, "{name}: {trials}");
    }
}

#[test]
fn networks_versions_of_ip_mixes_and_broadcasts_are_offered_without_ports() {
    const ROUTER6: &str = "\
FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> GetIP6Address(24)
  -> rt :: LookupIP6Route(2001:2:0:8000::/50 ::0 0, 2001:2:0:c000::/50 ::0 1);
rt[0] -> EtherEncap(0x86DD, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue -> ToDevice(eth0);
rt[1] -> EtherEncap(0x86DD, 2:0:0:0:0:1, 2:0:0:0:0:b) -> Queue -> ToDevice(eth1);
";
    let folder = folder();
    std::fs::write(folder.path().join("router6.click"), ROUTER6).unwrap();
    for (file, options, stream) in [
        ("router.click", &["--networks", "256"][..], "256 networks"),
        ("router.click", &["--modifier", "broadcast"], "broadcast"),
        (
            "router6.click",
            &["-6", "--networks", "256"],
            "IPv6, 256 networks",
        ),
    ] {
        let mut args = vec![
            "--simulate",
            file,
            "--estimate",
            file,
            "--ring",
            file,
            "--json",
        ];
        // So slow that any machine bears it on rings.
        args.extend([
            "--rate",
            "10 Mbit/s",
            "--frame-sizes",
            "imix:bbg,128",
            "--quick",
        ]);
        args.extend(["--set", "throughput.duration=20ms"]);
        args.extend(["--set", "throughput.final_duration=50ms"]);
        args.extend(options);
        let output = bench(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let rows = tables(&output)["throughput"].as_array().unwrap().clone();
        assert_eq!(rows.len(), 6, "{rows:?}");
        for row in &rows {
            assert_eq!(row["data_stream"], stream);
            let bytes = row["frame_bytes"].as_f64().unwrap();
            let share = if stream == "broadcast" { 0.99 } else { 1.0 };
            let line = share * 10e6 / (8.0 * (bytes + 20.0));
            let found = row["line_fps"].as_f64().unwrap();
            assert!((found / line - 1.0).abs() < 1e-6, "{row}");
            // Nothing in the way of a processor: what the line carries comes through.
            if row["label"] != "measured" {
                assert!(row["of_line_percent"].as_f64().unwrap() > 90.0, "{row}");
            }
        }
    }
}

#[test]
fn bad_input_is_told_and_nothing_is_written() {
    let folder = folder();
    let cases: &[(&[&str], &str)] = &[
        (
            &["--simulate", "router.click", "--tests", "thruput"],
            "no test is called `thruput`; did you mean `throughput`?",
        ),
        (
            &["--simulate", "router.click", "--tests", "submarine"],
            "`trammel list tests` shows all",
        ),
        (
            &["--simulate", "router.click", "--tests", ""],
            "no test is called ``",
        ),
        (
            &["--simulate", "router.click", "--frame-sizes", "63"],
            "a frame of 63 bytes cannot be sent",
        ),
        (
            &["--simulate", "router.click", "--frame-sizes", "big"],
            "`big` is not a frame size",
        ),
        (
            &["--simulate", "router.click", "--frame-sizes", ""],
            "`` is not a frame size",
        ),
        (
            &["--simulate", "router.click", "--set", "throughput.widht=1"],
            "did you mean `width`?",
        ),
        (
            &["--simulate", "router.click", "--set", "latency.repeats=1"],
            "the test `latency` does not run",
        ),
        (
            &["--simulate", "router.click", "--set", "width=1"],
            "is not a setting",
        ),
        (
            &[
                "--simulate",
                "router.click",
                "--tests",
                "tcp-transfer",
                "--set",
                "tcp-transfer.bytes=0 B",
            ],
            "give at least 1 byte",
        ),
        (
            &["--simulate", "router.click", "--rate", "0 bit/s"],
            "give a rate above 0",
        ),
        (
            &["--simulate", "router.click", "--machine", "abacus"],
            "abacus",
        ),
        (&["--simulate", "absent.click"], "absent.click"),
        (&["--simulate", "wrong.click"], "CheckIPHeadr"),
        (&[], "no device is given"),
    ];
    for (args, expected) in cases {
        let output = bench(folder.path(), &[args, &["-o", "out"][..]].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(
            said(&output).contains(expected),
            "{args:?}: {}",
            said(&output)
        );
        assert!(!folder.path().join("out").exists(), "{args:?}");
    }
}

#[test]
fn a_device_that_forwards_nothing_has_no_result() {
    let folder = folder();
    let devices = ["--simulate", "--ring", "--estimate"];
    let mut args = vec!["--json"];
    args.extend(devices.iter().flat_map(|device| [*device, "ends.click"]));
    args.extend(SHORT);
    let output = bench(folder.path(), &args);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(
        said(&output)
            .matches("ends.click forwards no frame")
            .count(),
        devices.len()
    );
}

#[test]
fn tests_are_listed_and_documented() {
    let list = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["list", "tests"])
        .output();
    let list = String::from_utf8(list.unwrap().stdout).unwrap();
    assert_eq!(list.lines().count(), TESTS, "{list}");
    let doc = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["doc", "test", "latency"])
        .output();
    insta::assert_snapshot!(String::from_utf8(doc.unwrap().stdout).unwrap());
}

#[test]
fn a_person_reads_a_column_for_each_size() {
    let folder = folder();
    let output = bench(
        folder.path(),
        &[
            "--estimate",
            "router.click",
            "--rate",
            "10 Gbit/s",
            "--quick",
        ],
    );
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}
