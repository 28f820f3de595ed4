//! Forwarding scenarios as a user meets them: faults, the three engines side by side, exit codes.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use trammel::scenario::ReadError;
use trammel::scenario::forwarding::ForwardingFile;
use trammel::scenario::{Description, Reading};

const ROUTER: &str = "\
FromDevice(eth0) -> Strip(14) -> CheckIPHeader
  -> rt :: RadixIPLookup(198.18.0.0/16 0, 198.19.0.0/16 1, 0.0.0.0/0 1);
rt[0] -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue -> ToDevice(eth0);
rt[1] -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:b) -> Queue -> ToDevice(eth1);
";
const WRONG: &str = "FromDevice(eth0) -> CheckIPHeadr -> Queue -> ToDevice(eth1);\n";
const LISTS: &str = "\
[[function]]
name = 'basic'
operations = ['io_mem(30, frame - 30)', 'parse(6)', 'mem_io(30, frame - 30)']
[[function]]
name = 'other'
operations = ['parse(6)']
";
/// Short trials: the router is not optimised here.
const SMALL: &str = "\
subject = 'forwarding'
[device]
file = 'router.click'
machine = 'xeon-e5-2690v2'
[[stream]]
from = 0
to = 1
size = [64, 512]
[bench]
tests = ['latency', 'frame-loss', 'recovery']
latency_at = [0.5]
loss_at = ['200 %']
frames = 8000
";

/// A folder with Click files, lists and the scenario `f.toml`.
fn folder(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("router.click", ROUTER),
        ("wrong.click", WRONG),
        ("lists.toml", LISTS),
        ("f.toml", text),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join("f.toml").display().to_string();
    (folder, path)
}

/// Runs with a data folder of its own, in which this machine is `host` or was never calibrated.
fn trammel(home: &Path, host: Option<&str>, args: &[&str]) -> Output {
    if let Some(host) = host {
        let machines = home.join("trammel/machines");
        std::fs::create_dir_all(&machines).unwrap();
        std::fs::write(machines.join("host.toml"), host).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.env("XDG_DATA_HOME", home).args(args);
    command.output().expect("the program can be started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {}", stderr(output)))
}

/// A machine that any host may be taken for: no number of it is checked here.
fn some_host() -> String {
    let machine = trammel_cost::machines::find("xeon-e5-2690v2").unwrap();
    trammel_cost::machine_writer::write(&machine, &[])
}

fn rows<'a>(json: &'a Value, table: &str) -> &'a [Value] {
    let rows = json["tables"][table].as_array();
    rows.unwrap_or_else(|| panic!("no table `{table}`"))
}

/// The faults of `text`, each its headline, reason and advice.
fn faults(text: &str) -> Vec<String> {
    let (folder, _) = folder(text);
    match ForwardingFile::parse("f.toml", text, folder.path(), &Reading::default()) {
        Ok(_) => Vec::new(),
        Err(ReadError::Faults(problems)) => {
            let list = problems.list.iter();
            let dir = format!("{}/", folder.path().display());
            list.map(|p| format!("{} | {} | {}", p.what, p.why, p.help).replace(&dir, ""))
                .collect()
        }
        Err(other) => vec![other.to_string()],
    }
}

#[test]
fn what_is_wrong_is_said_whole() {
    let head = "subject = 'forwarding'\n";
    let stream = "[[stream]]\nsize = 64\n";
    let device = "[device]\nmachine = 'xeon-e5-2690v2'\nfile = 'router.click'\n";
    for (text, expected) in [
        (
            head.to_owned(),
            &[
                "the file needs `stream` | what comes in | add `stream`, a list of `stream` tables",
                "nothing forwards | no Click file and no list of operations | give `file` in \
                 `[device]`, or `[[function]]` tables",
            ][..],
        ),
        (
            format!("{head}{device}[[stream]]\nsize = 32\n"),
            &[
                "`stream.size` cannot be `32` | must be from 64 to 9216 | meaning: frame size with \
                 FCS; each value of a list is tested",
            ],
        ),
        (
            format!("{head}{device}[[stream]]\nsiz = 64\n"),
            &[
                "`stream` needs `size` | frame size with FCS; each value of a list is tested | add \
                 `size`, a frame size in bytes such as `64`, or a list of them",
                "`stream` has no key `siz` | unknown key | did you mean `size`?",
            ],
        ),
        (
            format!("{head}{device}[[stream]]\nsize = '64 ms'\n"),
            &[
                "`stream.size` must be a size such as `64 KB` | `64 ms` is a time | meaning: frame \
                 size with FCS; each value of a list is tested",
            ],
        ),
        (
            format!("{head}{device}[[stream]]\nsize = []\n"),
            &[
                "`stream.size` is empty | an empty list | give a frame size in bytes such as `64`, \
                 or a list of them",
            ],
        ),
        (
            format!("{head}{device}[[stream]]\nsize = [64, 64]\n"),
            &["the size 64 is there twice | each is tested once | leave one out"],
        ),
        (
            format!("{head}{device}{stream}flows = 100\n"),
            &[
                "100 flows differ in nothing | `router.click` gets the same frame again and again \
                 | add `vary`, for example `vary = \"ip.dst\"`",
            ],
        ),
        (
            format!("{head}{device}{stream}flows = 100\nvary = 'ip.dts'\n"),
            &[
                "`stream.vary` cannot be `ip.dts` | `ip.dts` is not a field in which flows can \
                 differ; there are ether.dst, ether.src, vlan, mpls, ip.dst, ip.src, port.src | \
                 meaning: what flows differ in: ether.dst, ether.src, vlan, mpls, ip.dst, ip.src, \
                 port.src",
            ],
        ),
        (
            format!("{head}{device}{stream}flows = 2\nvary = 'mpls'\n"),
            &[
                "`router.click` cannot be tested | 'FromDevice@1': a sample frame has no `mpls` to \
                 tell flows apart | `frames` or `sample` say what comes in by devices",
            ],
        ),
        (
            format!("{head}{device}{stream}from = 1\nto = 2\n"),
            &[
                "`router.click` has no port 1 by which packets come in | there is port 0 only | \
                 ports are counted in the order of the Click file",
                "`router.click` has no port 2 by which packets leave | there are 0 to 1 | ports \
                 are counted in the order of the Click file",
            ],
        ),
        (
            format!("{head}{device}ports = 2\n{stream}from = 2\n"),
            &[
                "there is no port 2 | the device's ports are 0 to 1 | raise `device.ports`, or \
                 give another port",
                "`router.click` has no port 2 by which packets come in | there is port 0 only | \
                 ports are counted in the order of the Click file",
            ],
        ),
        (
            format!("{head}[device]\nfile = 'ruter.click'\n{stream}"),
            &[
                "`ruter.click` cannot be read | there is no such file | files are looked for \
                 beside this one: `ruter.click`",
            ],
        ),
        (
            format!("{head}[device]\nfile = 'wrong.click'\n{stream}"),
            &["`wrong.click` cannot run | what the router says is below | mend it there"],
        ),
        (
            format!("{head}[device]\nlist = 'lists.toml#basik'\n{stream}"),
            &["`lists.toml` has no function `basik` | unknown name | did you mean `basic`?"],
        ),
        (
            format!("{head}{device}list = 'lists.toml'\n{stream}"),
            &[
                "a function is either a Click file or a list | both are given | keep one of `file` \
                 and `list`",
            ],
        ),
        (
            format!("{head}{device}[[function]]\nlist = 'lists.toml'\n{stream}"),
            &[
                "`device` names a function, and `[[function]]` tables others | either one or \
                 several | move it to a `[[function]]` of its own",
            ],
        ),
        (
            format!(
                "{head}{stream}[[function]]\nlist = 'lists.toml'\n[[function]]\n\
                 list = 'lists.toml#basic'\n"
            ),
            &[
                "two functions are called `basic` | tables name them apart | give one of them \
                 another `name`",
            ],
        ),
        (
            format!("{head}{device}frames = ['0200']\n{stream}"),
            &["a frame of 2 bytes cannot be | an Ethernet header takes 14 | give the whole frame"],
        ),
        (
            format!("{head}{device}{stream}[[stream]]\nfrom = 0\nsize = 128\n"),
            &[
                "this stream says no port | there are 2 streams | give each its own `from`; a \
                 single stream without one comes in at every port",
                "streams differ in `size` | all have that of the first | give both the same; a mix \
                 of sizes is not simulated yet",
            ],
        ),
        (
            format!("{head}{device}{stream}[bench]\ntests = ['latncy']\n"),
            &[
                "`bench.tests` cannot be `latncy` | must be one of `throughput`, `latency`, \
                 `frame-loss`, `recovery` | did you mean `latency`?",
            ],
        ),
        (
            format!("{head}{device}{stream}[sweep]\n'device.rat' = ['1 Gbit/s']\n"),
            &["`device.rat` cannot be swept | no such key | did you mean `device.rate`?"],
        ),
        (
            format!(
                "{head}{device}{stream}[[published]]\nfunction = 'ruter'\nsize = 64\nvalue = 3\n\
                 source = 'here'\n"
            ),
            &["no function is called `ruter` | unknown name | did you mean `router`?"],
        ),
    ] {
        let found = faults(&text);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn an_unknown_machine_is_told_with_the_nearest() {
    let text = SMALL.replace("2690v2", "2690v3");
    let found = faults(&text);
    let start = "`device.machine` cannot be used | no machine is called `xeon-e5-2690v3`; did you \
                 mean `xeon-e5-2690v2`?";
    assert!(found.len() == 1 && found[0].starts_with(start), "{found:?}");
}

#[test]
fn a_wrong_click_file_is_shown_as_the_router_shows_it() {
    let text = "subject = 'forwarding'\n[device]\nfile = 'wrong.click'\n[[stream]]\nsize = 64\n";
    let (folder, path) = folder(text);
    let output = trammel(folder.path(), None, &["check", &path]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("`wrong.click` cannot run"), "{said}");
    assert!(said.contains("wrong.click:1:21"), "{said}");
    assert!(said.contains("CheckIPHeader"), "{said}");
    assert!(said.trim_end().ends_with("f.toml: 1 fault"), "{said}");
}

/// The trial of `engine` at a share of the maximum.
fn trial<'a>(json: &'a Value, engine: &str, test: &str, load: f64) -> &'a Value {
    let mut trials = rows(json, "trials").iter();
    let row =
        trials.find(|row| row["engine"] == engine && row["test"] == test && row["load"] == load);
    row.unwrap_or_else(|| panic!("{engine} {test} {load}"))
}

/// Twice as much as can be done: half of it is lost, but for what rings hold.
fn loses_half(json: &Value, engine: &str) -> bool {
    let loss = trial(json, engine, "frame-loss", 2.0)["loss"].as_f64();
    loss.is_some_and(|loss| (0.3..0.55).contains(&loss))
}

#[test]
fn all_engines_stand_side_by_side() {
    let (folder, path) = folder(&SMALL.replace("xeon-e5-2690v2", "host"));
    let host = some_host();
    let run = || {
        let output = trammel(folder.path(), Some(&host), &["run", &path, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json(&output)
    };
    // The machine is others' too: a maximum that was found while they had it is none.
    let mut runs = (0..4).map(|_| run());
    let json = runs.find(|json| loses_half(json, "measure"));
    let json = json.expect("of twice the maximum, half is lost");
    assert_eq!(json["schema"], "trammel/1");
    for engine in ["predict", "simulate", "measure"] {
        let of_engine = rows(&json, "functions")
            .iter()
            .filter(|r| r["engine"] == engine);
        let of_engine: Vec<&Value> = of_engine.collect();
        assert_eq!(of_engine.len(), 2, "{engine}");
        for row in of_engine {
            assert_eq!(row["function"], "router");
            assert!(row["rate_mpps"].as_f64().unwrap() > 0.0, "{row}");
            assert!(row["cost_cycles"].as_f64().unwrap() > 0.0, "{row}");
            let origin = if engine == "measure" {
                "measured"
            } else {
                "fitted"
            };
            assert_eq!(row["origin"], origin);
        }
    }
    let comparison = rows(&json, "comparison");
    let metrics: Vec<&str> = comparison
        .iter()
        .filter_map(|r| r["metric"].as_str())
        .collect();
    let of_size = [
        "throughput",
        "cost",
        "latency_p50_at_50",
        "latency_p99_at_50",
        "loss_at_200",
        "recovery_loss_from_110",
        "recovery_delay_from_110",
    ];
    assert_eq!(metrics, of_size.repeat(2));
    for row in comparison
        .iter()
        .filter(|row| row["metric"] == "throughput")
    {
        let number = |name: &str| {
            row[name]
                .as_f64()
                .unwrap_or_else(|| panic!("{name}: {row}"))
        };
        let (measured, predicted) = (number("measured"), number("predicted"));
        assert_eq!(row["reference"], "measured");
        // A fitted machine does not know how far off it is.
        assert!(
            row["predicted_low"].is_null() && row["predicted_high"].is_null(),
            "{row}"
        );
        let error = predicted / measured - 1.0;
        assert!((number("predicted_error") - error).abs() < 1e-6, "{row}");
        let error = number("simulated") / measured - 1.0;
        assert!((number("simulated_error") - error).abs() < 1e-6, "{row}");
    }
    for engine in ["simulate", "measure"] {
        let at = |test: &str, load: f64| trial(&json, engine, test, load);
        let number = |row: &Value, name: &str| row[name].as_f64().unwrap_or(-1.0);
        assert!(loses_half(&json, engine), "{engine}");
        let latency = at("latency", 0.5);
        let (p50, p99) = (
            number(latency, "latency_p50_us"),
            number(latency, "latency_p99_us"),
        );
        assert!(0.0 < p50 && p50 <= p99, "{latency}");
        let recovery = at("recovery", 1.1);
        assert!(number(recovery, "recovery_loss_us") >= 0.0, "{recovery}");
        // Windows tell what was measured from what was simulated once.
        assert_eq!(recovery["windows"].is_number(), engine == "measure");
    }
}

#[test]
fn the_simulated_maximum_is_the_estimate_where_the_processor_limits() {
    let (folder, path) = folder(&SMALL.replace("frames = 8000", "frames = 40000"));
    let output = trammel(folder.path(), None, &["run", &path, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("nothing is measured for `xeon-e5-2690v2`"));
    let json = json(&output);
    let rates = rows(&json, "comparison")
        .iter()
        .filter(|row| row["metric"] == "throughput");
    let errors: Vec<f64> = rates
        .map(|row| {
            assert_eq!(row["reference"], "simulated");
            row["predicted_error"].as_f64().unwrap()
        })
        .collect();
    assert_eq!(errors.len(), 2);
    // The search ends at half a percent, and 128 of 40,000 frames may be under way.
    assert!(errors.iter().all(|error| error.abs() < 0.01), "{errors:?}");
}

#[test]
fn links_limit_what_the_processor_does_not() {
    let slow = SMALL
        .replace("ports", "")
        .replace("machine =", "rate = '100 Mbit/s'\nmachine =");
    let (folder, path) = folder(&slow);
    let output = trammel(folder.path(), None, &["run", &path, "--json"]);
    let json = json(&output);
    assert_eq!(rows(&json, "functions").len(), 4);
    for row in rows(&json, "functions") {
        assert_eq!(row["bound_by"], "link", "{row}");
        let frame = row["frame_bytes"].as_f64().unwrap();
        let line_mpps = 100.0 / ((frame + 20.0) * 8.0);
        let rate = row["rate_mpps"].as_f64().unwrap();
        assert!((rate / line_mpps - 1.0).abs() < 0.01, "{row}");
    }
}

#[test]
fn predict_and_simulate_are_the_same_twice_and_on_any_threads() {
    let (folder, path) = folder(SMALL);
    let run = |threads: &str| {
        let args = [
            "run",
            &path,
            "--json",
            "--threads",
            threads,
            "-e",
            "predict,simulate",
        ];
        let output = trammel(folder.path(), None, &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output.stdout
    };
    let once = run("1");
    assert!(once == run("2") && once == run("1"));
}

#[test]
fn a_host_that_was_not_calibrated_is_measured_all_the_same() {
    let one = SMALL
        .replace("xeon-e5-2690v2", "host")
        .replace("[64, 512]", "64");
    let (folder, path) = folder(&one);
    let output = trammel(folder.path(), None, &["run", &path, "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("run `trammel calibrate`"),
        "{}",
        stderr(&output)
    );
    let json = json(&output);
    let engines: Vec<&str> = rows(&json, "functions")
        .iter()
        .filter_map(|r| r["engine"].as_str())
        .collect();
    assert_eq!(engines, ["measure"]);
}

#[test]
fn an_engine_that_needs_a_calibration_says_the_one_command_and_writes_no_empty_report() {
    let (folder, path) = folder(&SMALL.replace("xeon-e5-2690v2", "host"));
    let out = folder.path().join("out");
    for engines in ["simulate", "predict", "predict,simulate"] {
        let args = ["run", &path, "-e", engines, "-o", out.to_str().unwrap()];
        let output = trammel(folder.path(), None, &args);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let said = stderr(&output);
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert!(
            said.contains("it was not calibrated yet; run `trammel calibrate`"),
            "{said}"
        );
        assert!(output.stdout.is_empty() && !out.exists());
    }
}

#[test]
fn measuring_another_machine_is_refused_where_it_was_asked() {
    let (folder, path) = folder(SMALL);
    let output = trammel(folder.path(), None, &["run", &path, "-e", "measure"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("`machine = \"host\"` measures here"));
}

#[test]
fn lists_are_predicted_and_stand_beside_what_was_printed() {
    let text = "\
subject = 'forwarding'
[device]
machine = 'xeon-e5-2690v2'
[[stream]]
size = 64
[[function]]
list = 'lists.toml'
[[published]]
function = 'basic'
size = 64
metric = 'cycles'
value = 100
source = 'a paper'
";
    let (folder, path) = folder(text);
    let output = trammel(folder.path(), None, &["run", &path, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output)
            .contains("`basic`, `other` are predicted only: a list of operations cannot run")
    );
    let json = json(&output);
    assert_eq!(rows(&json, "functions").len(), 2);
    let printed = rows(&json, "comparison")
        .iter()
        .find(|row| row["published"] == 100.0)
        .unwrap();
    // 35 for the frame's lines in, 10 for six bytes parsed, 39 out: a fact of the machine and the
    // list.
    let error = printed["predicted"].as_f64().unwrap() / 100.0 - 1.0;
    assert!(
        (printed["predicted_error"].as_f64().unwrap() - error).abs() < 1e-6,
        "{printed}"
    );
    assert_eq!(printed["reference"], "published");
}

#[test]
fn a_sweep_has_a_point_for_each_value_and_its_column() {
    let text = format!(
        "{SMALL}[sweep]\n'device.machine' = ['xeon-e5-2690v2', 'xeon-e5-2690v2:printed']\n"
    );
    let (folder, path) = folder(&text);
    let output = trammel(
        folder.path(),
        None,
        &["run", &path, "--json", "-e", "predict"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json = json(&output);
    let machines = rows(&json, "functions")
        .iter()
        .map(|row| row["machine"].as_str().unwrap());
    let machines: Vec<&str> = machines.collect();
    // The swept machine is called as the file calls it.
    let (fitted, printed) = ("xeon-e5-2690v2", "xeon-e5-2690v2:printed");
    assert_eq!(machines, [fitted, fitted, printed, printed]);
}

#[test]
fn frames_that_go_elsewhere_are_told() {
    let (folder, path) = folder(&SMALL.replace("to = 1", "to = 0"));
    let output = trammel(folder.path(), None, &["run", &path, "-e", "predict"]);
    assert!(
        stderr(&output)
            .contains("`router`: 100.0 % of 4096 frames leave by another port than `to` says"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_run_folder_has_tables_figures_and_a_report() {
    let (folder, path) = folder(SMALL);
    let out = folder.path().join("out").display().to_string();
    let output = trammel(folder.path(), None, &["run", &path, "-o", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for file in [
        "run.json",
        "functions.csv",
        "trials.csv",
        "comparison.csv",
        "summary.csv",
        "figures/throughput-0.svg",
        "report.html",
    ] {
        assert!(Path::new(&out).join(file).is_file(), "{file}");
    }
    let report = std::fs::read_to_string(Path::new(&out).join("report.html")).unwrap();
    assert!(report.contains("With frames of 64 bytes <code>router</code> is predicted to forward"));
    assert!(report.contains("fitted"), "the machine's origin is told");
}

/// The names of the kept runs of `folder/out`, and its trials.
fn kept(folder: &Path) -> (Vec<String>, String) {
    let out = folder.join("out");
    let runs = std::fs::read_dir(out.join("points")).unwrap().flatten();
    let mut names: Vec<_> = runs
        .map(|run| run.file_name().into_string().unwrap())
        .collect();
    names.sort();
    (
        names,
        std::fs::read_to_string(out.join("trials.csv")).unwrap(),
    )
}

#[test]
fn a_sweep_reuses_cells_until_a_file_that_the_configuration_names_changes() {
    let (folder, path) = folder(SMALL);
    let here = folder.path();
    let router = ROUTER.replacen('\n', " // routes.txt\n", 1);
    std::fs::write(here.join("router.click"), router).unwrap();
    std::fs::write(here.join("routes.txt"), "one").unwrap();
    let out = here.join("out").display().to_string();
    let sweep = || {
        let args = ["sweep", &path, "-o", &out, "--engine", "simulate"];
        let output = trammel(here, None, &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    assert!(!sweep().contains("resuming"));
    let first = kept(here);
    assert_eq!(first.0.len(), 2, "a run for each frame size");
    assert!(sweep().contains("resuming with 2 finished runs"));
    assert_eq!(kept(here), first);
    std::fs::write(here.join("routes.txt"), "two").unwrap();
    sweep();
    let changed = kept(here);
    assert!(changed.0.iter().all(|name| !first.0.contains(name)));
    assert_eq!(changed.1, first.1, "nothing reads the file here");
}

#[test]
fn the_examples_read_without_a_fault() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (name, functions) in [
        ("bng.toml", 1),
        ("forwarding.toml", 6),
        ("netfpga-router.toml", 1),
    ] {
        let read = Description::read(&examples.join(name), &Reading::default());
        let Description::Forwarding(file) = read.unwrap_or_else(|why| panic!("{why}")) else {
            panic!("{name} is of forwarding");
        };
        assert_eq!(file.first().functions.len(), functions, "{name}");
    }
}

#[test]
fn two_functions_beside_each_other_are_a_row_each() {
    let (folder, _) = folder(SMALL);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (router, lists) = (path("router.click"), path("lists.toml"));
    std::fs::write(path("one.click"), "FromDevice(a) -> Queue -> ToDevice(b);").unwrap();
    let one = path("one.click");
    let ask = |more: &[&str]| {
        let mut args = vec!["estimate", &router, "--frame-sizes", "64,512", "--json"];
        args.extend(more);
        trammel(folder.path(), None, &args)
    };
    let output = ask(&["--beside", &one]);
    assert!(output.status.success(), "{}", stderr(&output));
    let found = json(&output);
    let rows = rows(&found, "neighbours");
    assert_eq!(rows.len(), 4);
    for (at, row) in rows.iter().enumerate() {
        let [own, other] = if at % 2 == 0 {
            [&router, &one]
        } else {
            [&one, &router]
        };
        assert_eq!(row["function"], own.as_str());
        assert_eq!(row["beside"], other.as_str());
        assert_eq!(row["frame_bytes"], [64, 64, 512, 512][at]);
        // Tables of a few lines.
        assert_eq!(row["predicted_slowdown"], 1.0);
        assert!(row["measured_slowdown"].is_null());
    }
    for (more, said) in [
        (&["--beside", "/nope.click"][..], "/nope.click"),
        (&["--beside", &lists], "is beside one other"),
        (
            &["--beside", &one, "--processors", "1,1"],
            "is one processor",
        ),
        (&["--beside", &one, "--processors", "1"], "such as 0,1"),
        (&["--beside", &one, "--beside-flows", "9"], "--beside-vary"),
        (&["--beside", &one, "--shares"], "cannot be used with"),
        (&["--processors", "0,1"], "--beside <FILE>"),
    ] {
        let output = ask(more);
        assert!(!output.status.success(), "{more:?}");
        assert!(
            stderr(&output).contains(said),
            "{more:?}: {}",
            stderr(&output)
        );
    }
}

/// The reference router, short.
const CARD: &str = "\
subject = 'forwarding'
[[stream]]
from = 0
size = 512
[[function]]
design = 'reference-router'
[bench]
tests = ['latency']
latency_at = ['50 %']
frames = 5000
";

#[test]
fn a_card_is_predicted_simulated_and_measured_from_one_description() {
    let (folder, path) = folder(CARD);
    // Without a calibration: a card needs none.
    let output = trammel(folder.path(), None, &["run", &path, "--json"]);
    let said = stderr(&output);
    let found = json(&output);
    let rows = rows(&found, "comparison");
    let of = |metric: &str| {
        let row = rows.iter().find(|row| row["metric"] == metric);
        row.unwrap_or_else(|| panic!("no row of {metric}: {said}"))
    };
    let number = |row: &Value, column: &str| row[column].as_f64().unwrap_or(f64::NAN);
    let throughput = of("throughput");
    // A byte of 533 is the MAC's longer gap.
    let mpps = 1e9 / 8.0 / 533.0 / 1e6;
    assert!((number(throughput, "predicted") / mpps - 1.0).abs() < 1e-6);
    assert!(
        number(throughput, "predicted_error").abs() < 0.01,
        "{throughput}"
    );
    assert_eq!(throughput["reference"], "simulated");
    let latency = of("latency_p50_at_50");
    assert!(
        (number(latency, "predicted") - 1.6).abs() < 1e-6,
        "{latency}"
    );
    assert!(
        (number(latency, "simulated") - 1.6).abs() < 0.06,
        "{latency}"
    );
    if output.status.code() == Some(3) {
        println!("skipped the live card: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    assert!(number(throughput, "measured") > 0.0, "{throughput}");
    assert!(said.contains("its rates are this machine's"), "{said}");
}

#[test]
fn faults_of_a_card_are_told_with_what_would_be_right() {
    let change = |from: &str, to: &str| CARD.replace(from, to);
    let of_design = "design = 'reference-router'";
    for (text, expected) in [
        (
            change("reference-router", "reference-ruter"),
            "no design `reference-ruter` is tested so | unknown name | did you mean \
             `reference-router`?",
        ),
        (
            change(of_design, &format!("{of_design}\nmodel = 'reference-2g'")),
            "no model `reference-2g`",
        ),
        (
            change(of_design, &format!("{of_design}\nfile = 'router.click'")),
            "a function is a design, or a file | both are given | keep one of",
        ),
        (
            change(of_design, "file = 'router.click'\ntables = 'x'"),
            "`tables` is of a design | this function is a program",
        ),
        (
            change(of_design, &format!("{of_design}\ntables = 'f.toml'")),
            "`tables` cannot be used | f.toml:1: no table `subject`",
        ),
        (
            change(of_design, &format!("{of_design}\nvary = 'ip.dst'")),
            "a card has no `vary` | it is offered the frames of RFC 2544",
        ),
        (
            change("from = 0", "from = 2"),
            "`reference-router` has no port 2 here",
        ),
    ] {
        let said = faults(&text);
        assert!(
            said.iter().any(|fault| fault.starts_with(expected)),
            "{expected}: {said:?}"
        );
    }
}
