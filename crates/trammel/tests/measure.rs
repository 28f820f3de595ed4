//! Engine `measure` as a user meets it: the real kernel in virtual time beside the simulator, its
//! refusals, its repeatability, and what is left behind.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PATH: &str = "[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\nburst = '3100 B'\n";

/// A scenario in a folder of its own, run from there.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new(scenario: &str) -> Lab {
        let lab = Lab(tempfile::tempdir().unwrap());
        fs::write(lab.0.path().join("s.toml"), scenario).unwrap();
        lab
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        command
            .args(["run", "s.toml"])
            .args(args)
            .current_dir(self.0.path())
            .env("NO_COLOR", "1");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The tables of a run; nothing, with the reason printed, where this machine has no kernel to
    /// measure with.
    fn tables(&self, args: &[&str]) -> Option<Value> {
        let output = self.run(&[args, &["--json"]].concat());
        if output.status.code() == Some(3) {
            println!("skipped: {}", said(&output).trim());
            return None;
        }
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let text = String::from_utf8_lossy(&output.stdout);
        let value: Value =
            serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
        Some(value["tables"].clone())
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The row of a table by engine and entity.
fn row<'a>(tables: &'a Value, table: &str, engine: &str, entity: (&str, &str)) -> &'a Value {
    let rows = tables[table].as_array().unwrap();
    let found = rows
        .iter()
        .find(|row| row["engine"] == engine && row[entity.0] == entity.1);
    found.unwrap_or_else(|| panic!("no {entity:?} by {engine} in {table}"))
}

#[test]
fn the_kernel_s_numbers_stand_beside_the_simulator_s() {
    let lab = Lab::new(&format!(
        "duration = '20 s'\nwarmup = '5 s'\n{PATH}[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n\
         [[flow]]\nvariant = 'reno'\nstart = '1 s'\n"
    ));
    let Some(tables) = lab.tables(&["--engine", "predict,simulate,measure"]) else {
        return;
    };
    let number = |table: &str, engine: &str, entity: (&str, &str), column: &str| {
        row(&tables, table, engine, entity)[column]
            .as_f64()
            .unwrap_or_else(|| panic!("{table} {engine} {column}"))
    };
    // Of one bottleneck that is always full, what gets through is the same to a part in a thousand.
    let link = |engine: &str, column: &str| number("links", engine, ("link", "bottleneck"), column);
    let error = |column: &str| link("simulate", column) / link("linux_vt", column) - 1.0;
    assert!(
        error("late_throughput_mbps").abs() < 1e-3,
        "{}",
        error("late_throughput_mbps")
    );
    assert!(
        error("queue_delay_mean_us").abs() < 0.15,
        "{}",
        error("queue_delay_mean_us")
    );
    // The same flows have begun at the same times, and lost something.
    for flow in ["cubic", "reno"] {
        let of = |engine: &str, column: &str| number("flows", engine, ("flow", flow), column);
        assert_eq!(of("simulate", "start_s"), of("linux_vt", "start_s"));
        assert!(of("linux_vt", "retransmissions_pkts") > 0.0);
    }
    let compared = tables["comparison"].as_array().unwrap();
    let both = |row: &&Value| row["simulated"].is_number() && row["linux_vt"].is_number();
    assert!(compared.iter().filter(both).count() >= 4);
    assert!(
        compared.iter().all(|row| row["measured"].is_null()),
        "nothing was measured by the wall clock"
    );
}

#[test]
fn cake_fq_pie_and_a_policer_do_as_the_kernel_s() {
    let queues = [
        "discipline = 'cake', bandwidth = '18 Mbit/s', link = 'docsis', diffserv = 'diffserv4'",
        "discipline = 'fq_pie'",
        "discipline = 'policer', rate = '15 Mbit/s', burst = '60 KB', limit = '200 packets'",
    ];
    for queue in queues {
        let lab = Lab::new(&format!(
            "duration = '20 s'\nwarmup = '5 s'\n{PATH}queue = {{ {queue} }}\n[[flow]]\n\
             variant = 'cubic'\nstart = '0 s'\n[[flow]]\nvariant = 'reno'\nstart = '0.5 s'\n\
             dscp = 'EF'\n"
        ));
        let Some(tables) = lab.tables(&["--engine", "simulate,measure"]) else {
            return;
        };
        let number = |table: &str, engine: &str, entity: (&str, &str), column: &str| {
            row(&tables, table, engine, entity)[column]
                .as_f64()
                .unwrap_or_else(|| panic!("{queue}: {table} {engine} {column}"))
        };
        let share = |engine: &str| {
            let of = |flow| number("flows", engine, ("flow", flow), "late_goodput_mbps");
            of("cubic") / (of("cubic") + of("reno"))
        };
        let (simulated, kernel) = (share("simulate"), share("linux_vt"));
        assert!(
            (simulated - kernel).abs() < 0.03,
            "{queue}: {simulated} {kernel}"
        );
        let link =
            |engine: &str, column: &str| number("links", engine, ("link", "bottleneck"), column);
        let delay = |engine: &str| link(engine, "late_queue_delay_mean_us");
        let (simulated, kernel) = (delay("simulate"), delay("linux_vt"));
        assert!(
            (simulated - kernel).abs() < (0.15 * kernel).max(300.0),
            "{queue}: {simulated} us {kernel} us"
        );
    }
}

#[test]
fn flows_of_a_workload_come_at_the_same_times_in_both() {
    let lab = Lab::new(&format!(
        "duration = '10 s'\nwarmup = '1 s'\n{PATH}[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n\
         [[workload]]\nname = 'web'\nkind = 'poisson'\nvariant = 'reno'\narrivals = 20\n\
         size = '20 KB'\n"
    ));
    let Some(tables) = lab.tables(&["--engine", "simulate,measure"]) else {
        return;
    };
    let of = |engine: &str, column: &str| {
        let rows = tables["workloads"].as_array().unwrap();
        let row = rows
            .iter()
            .find(|row| row["engine"] == engine && row["flow_size"] == "all");
        row.unwrap()[column].as_f64().unwrap()
    };
    let begun = |engine: &str| of(engine, "completions") + of(engine, "unfinished");
    assert_eq!(begun("simulate"), begun("linux_vt"));
    assert!(begun("linux_vt") > 100.0 && of("linux_vt", "unfinished") < 10.0);
    let ratio = of("simulate", "fct_p50_s") / of("linux_vt", "fct_p50_s");
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn losses_of_netem_s_kind_hit_the_same_packets_in_both() {
    let lab = Lab::new(
        "duration = '20 s'\nseed = 3\n[path]\nrate = '50 Mbit/s'\nrtt = '40 ms'\nburst = '3028 B'\n\
         loss = { model = 'netem', probability = 0.002 }\n[[flow]]\nvariant = 'reno'\n\
         start = '0 s'\n",
    );
    let Some(tables) = lab.tables(&["--engine", "simulate,measure"]) else {
        return;
    };
    let lost = |engine: &str| {
        let link = row(&tables, "links", engine, ("link", "bottleneck"));
        link["drops_random_pkts"].as_f64().unwrap()
    };
    // As many, but for what is on its way at the end; drawn for themselves, thirty or forty would
    // differ by eight.
    assert!(lost("linux_vt") > 25.0);
    assert!((lost("simulate") - lost("linux_vt")).abs() <= 1.0);
    let flow = |engine: &str, column: &str| {
        let flow = row(&tables, "flows", engine, ("flow", "reno"));
        flow[column].as_f64().unwrap()
    };
    for column in ["goodput_mbps", "retransmissions_pkts"] {
        let error = flow("simulate", column) / flow("linux_vt", column) - 1.0;
        assert!(error.abs() < 0.03, "{column}: {error}");
    }
}

/// Three flows that compete and lose at random.
fn lossy(duration: &str) -> String {
    let flows = ["cubic", "bbr", "cdg"].map(|name| format!("[[flow]]\nvariant = '{name}'\n"));
    format!(
        "duration = '{duration}'\ntrace = '100 ms'\n\
         {PATH}loss = {{ model = 'bernoulli', probability = 0.001 }}\n{}",
        flows.concat()
    )
}

#[test]
fn a_run_is_the_same_in_every_byte_however_busy_the_machine() {
    let lab = Lab::new(&lossy("5 s"));
    let args = |out: &'static str| ["--engine", "measure", "-o", out];
    if lab.tables(&args("first")).is_none() {
        return;
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().unwrap().get();
        for _ in 0..processors {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        lab.tables(&args("second"));
        is_over.store(true, Ordering::Relaxed);
    });
    let files = |out: &str| -> Vec<(String, Vec<u8>)> {
        let mut all = Vec::new();
        let mut folders = vec![lab.0.path().join(out)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "csv") {
                    let name = path
                        .strip_prefix(lab.0.path().join(out))
                        .unwrap()
                        .display()
                        .to_string();
                    all.push((name, fs::read(&path).unwrap()));
                }
            }
        }
        all.sort();
        all
    };
    let first = files("first");
    assert!(
        first.len() >= 6,
        "{:?}",
        first.iter().map(|(name, _)| name).collect::<Vec<_>>()
    );
    assert!(first == files("second"));
    // Another seed is another run.
    lab.tables(&["--engine", "measure", "-o", "third", "--seed", "2"]);
    assert!(first != files("third"));
}

#[test]
fn what_a_guest_cannot_express_is_refused_by_its_key() {
    let flow = "[[flow]]\nvariant = 'cubic'\n";
    for (scenario, key) in [
        (
            format!(
                "{PATH}jitter = '1 ms'\nreorder = {{ probability = 0.1, delay = '1 ms' }}\n{flow}"
            ),
            "reorder = {",
        ),
        (
            format!("{PATH}loss = {{ model = 'periodic', every = 100 }}\n{flow}"),
            "loss = {",
        ),
        (
            format!("{PATH}queue = {{ discipline = 'red' }}\n{flow}"),
            "queue = { discipline = 'red' }",
        ),
        (
            format!("{PATH}queue = {{ discipline = 'pi' }}\n{flow}"),
            "queue = { discipline = 'pi' }",
        ),
        (
            format!("{PATH}overhead = '0 B'\n{flow}"),
            "overhead = '0 B'",
        ),
        (format!("{PATH}{flow}delayed_ack = 4\n"), "delayed_ack = 4"),
        (
            format!("{PATH}{flow}kernel_variant = 'mine'\n"),
            "kernel_variant = 'mine'",
        ),
        (
            format!("{PATH}{flow}params = {{ max_increment = 20 }}\n"),
            "max_increment",
        ),
        (
            format!("{PATH}{flow}params = {{ hystart = false }}\n{flow}"),
            "[[flow]]",
        ),
        (
            format!("{PATH}{flow}[[stream]]\nsize = '100 B'\ngap = '1 ms'\n"),
            "[[stream]]",
        ),
    ] {
        let lab = Lab::new(&scenario);
        let output = lab.run(&["--engine", "simulate,measure", "-o", "out"]);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{scenario}\n{text}");
        // The line is shown, with what is wrong underlined.
        let is_shown = |line: &str| line.contains(" | ") && line.contains(key);
        assert!(text.lines().any(is_shown), "{key}: {text}");
        assert!(text.contains(": 1 fault"), "{key}: {text}");
        assert!(
            !lab.0.path().join("out").join("flows.csv").exists(),
            "nothing is written"
        );
    }
}

#[test]
fn without_a_kernel_the_other_engines_run() {
    let lab = Lab::new(&format!(
        "duration = '2 s'\n{PATH}[[flow]]\nvariant = 'reno'\n"
    ));
    let empty = lab.0.path().join("cache");
    let mut command = lab.command(&["--engine", "simulate,measure", "--json"]);
    let output = command.env("XDG_CACHE_HOME", &empty).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = said(&output);
    assert!(
        text.contains("trammel kernel build") || text.contains("apt-get install"),
        "{text}"
    );
    let tables: Value = serde_json::from_slice(&output.stdout).unwrap();
    let flows = tables["tables"]["flows"].as_array().unwrap();
    assert!(flows.iter().all(|row| row["engine"] == "simulate") && flows.len() == 1);
    assert!(!empty.exists(), "nothing is made in the cache");
}

#[test]
fn a_kernel_passes_its_own_check() {
    let check = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["kernel", "check"])
        .output()
        .unwrap();
    if check.status.code() == Some(3) {
        println!("skipped: {}", said(&check).trim());
        return;
    }
    let text = said(&check);
    assert_eq!(check.status.code(), Some(0), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.starts_with("ok ")).count(),
        7,
        "{text}"
    );
}

#[test]
fn variables_and_parameters_reach_the_kernel() {
    let scenario = |measure: &str| {
        format!(
            "duration = '10 s'\n{PATH}[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n[measure]\n\
             {measure}\n"
        )
    };
    let lost = |measure: &str| {
        let tables = Lab::new(&scenario(measure)).tables(&["--engine", "measure"])?;
        row(&tables, "flows", "linux_vt", ("flow", "cubic"))["retransmissions_pkts"].as_i64()
    };
    let Some(usual) = lost("") else { return };
    // Without HyStart, slow start ends in losses; with a window of a few packets nothing is ever
    // lost.
    let without = lost("parameters = ['tcp_cubic.hystart=0']").unwrap();
    assert!(without > 2 * usual, "{without}, {usual}");
    assert_eq!(
        lost("sysctls = ['net.ipv4.tcp_wmem=4096 16384 16384']"),
        Some(0)
    );
    let output =
        Lab::new(&scenario("parameters = ['tcp_cubic.histart=0']")).run(&["--engine", "measure"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("this kernel has no parameter `tcp_cubic.histart`"),
        "{}",
        said(&output)
    );
    let output =
        Lab::new(&scenario("sysctls = ['ipv4.tcp_nosuch=1']")).run(&["--engine", "measure"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("tcp_nosuch"), "{}", said(&output));
}

#[test]
fn a_congestion_control_of_one_s_own_is_compiled_and_measured() {
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tcp_aimd.c");
    let lab = Lab::new(&format!(
        "duration = '10 s'\n{PATH}[[flow]]\nvariant = 'reno'\nkernel_variant = 'aimd'\n\
         start = '0 s'\n[measure]\nmodule = '{module}'\n"
    ));
    let Some(tables) = lab.tables(&["--engine", "simulate,measure"]) else {
        return;
    };
    let of = |engine: &str, column: &str| {
        row(&tables, "flows", engine, ("flow", "reno"))[column]
            .as_f64()
            .unwrap()
    };
    assert!((of("linux_vt", "goodput_mbps") / of("simulate", "goodput_mbps") - 1.0).abs() < 0.05);
    // What is no C ends with the compiler's own words.
    fs::write(lab.0.path().join("bad.c"), "int f(void) { return x; }\n").unwrap();
    let text = fs::read_to_string(lab.0.path().join("s.toml")).unwrap();
    fs::write(lab.0.path().join("s.toml"), text.replace(module, "bad.c")).unwrap();
    let output = lab.run(&["--engine", "measure"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("bad.c:1") && said(&output).contains("undeclared"),
        "{}",
        said(&output)
    );
}

#[test]
fn many_flows_at_once_are_measured() {
    let lab = Lab::new(
        "duration = '3 s'\n[path]\nrate = '100 Mbit/s'\nrtt = '20 ms'\n[[flow]]\n\
         variant = 'cubic'\ncount = 300\n",
    );
    let Some(tables) = lab.tables(&["--engine", "measure"]) else {
        return;
    };
    let flows = tables["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 300);
    // The first packets of some are lost, and tried again after a second, or three.
    let sent = flows
        .iter()
        .filter(|row| row["sent_pkts"].as_i64() > Some(0));
    assert!(sent.count() > 250);
}

/// Both engines' goodput of the one flow, Mbit/s; nothing where there is no kernel.
fn both(scenario: &str) -> Option<[f64; 2]> {
    let lab = Lab::new(scenario);
    let tables = lab.tables(&["--engine", "simulate,measure"])?;
    let of =
        |engine: &str| row(&tables, "flows", engine, ("flow", "cubic"))["goodput_mbps"].as_f64();
    Some([of("simulate")?, of("linux_vt")?])
}

#[test]
fn buffers_bind_alike_in_both() {
    let path = "duration = '5 s'\n[path]\nrate = '500 Mbit/s'\nrtt = '100 ms'\nburst = '3100 B'\n\
                queue = { limit = '2000 packets' }\n\
                [[flow]]\nvariant = 'cubic'\nstart = '0 s'\n";
    for buffers in [
        "receive_buffer = '64 KB'\n",
        "receive_buffer = '650 KB'\n",
        "socket_buffer = '300 KB'\nreceive_buffer = '6 MB'\n",
        "buffers = 'linux'\n",
    ] {
        let Some([simulated, kernel]) = both(&format!("{path}{buffers}")) else {
            return;
        };
        let error = simulated / kernel - 1.0;
        assert!(error.abs() < 0.03, "{buffers}: {simulated} beside {kernel}");
    }
}

#[test]
fn syns_that_are_lost_are_counted_alike_in_both() {
    let lab = Lab::new(
        "duration = '20 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '50 ms'\n\
         loss = { model = 'bernoulli', probability = 1 }\n\
         [[flow]]\nvariant = 'cubic'\nstart = '0 s'\n",
    );
    let Some(tables) = lab.tables(&["--engine", "simulate,measure"]) else {
        return;
    };
    let of = |engine: &str, column: &str| {
        row(&tables, "flows", engine, ("flow", "cubic"))[column].clone()
    };
    for column in ["retransmissions_pkts", "timeouts"] {
        assert_eq!(of("simulate", column), of("linux_vt", column), "{column}");
        assert_eq!(of("simulate", column), 8, "{column}");
    }
}

/// What the quick set of seed 1 is to reach wherever it is run: kernel and simulator repeat
/// themselves, so these follow from the sources. Errors of single flows are those of chaotic pairs
/// in three short runs; `--full` judges them.
const QUICK: [(&str, f64); 3] = [
    ("skill against the null model, median", 0.8),
    ("error of a flow's share in mixed pairs, median", 0.05),
    ("error of the mean queueing delay, median", 0.1),
];

#[test]
fn the_quick_set_of_cells_is_judged_and_a_few_come_out_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        let command = command
            .arg("fidelity")
            .args(args)
            .current_dir(folder.path());
        command.output().unwrap()
    };
    let quick = run(&["--quick", "--seed", "1", "--json"]);
    if quick.status.code() == Some(3) {
        println!("skipped: {}", said(&quick).trim());
        return;
    }
    // A target may be missed by so few cells.
    assert!(
        matches!(quick.status.code(), Some(0 | 1)),
        "{}",
        said(&quick)
    );
    let tables: Value = serde_json::from_slice(&quick.stdout).unwrap();
    let flows = tables["tables"]["fidelity_flows"].as_array().unwrap();
    assert!(flows.len() >= 4);
    for row in flows {
        let number = |key: &str| row[key].as_f64().unwrap();
        let error = number("simulated_mbps") / number("linux_vt_mbps") - 1.0;
        assert!((number("error") - error).abs() < 1e-6, "{row}");
    }
    let targets = tables["tables"]["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 5);
    for (name, bound) in QUICK {
        let target = targets.iter().find(|row| row["target"] == name).unwrap();
        assert!(
            target["met"] == "yes" && target["bound"] == bound,
            "{target}"
        );
    }
    let first = run(&["--cells", "4", "--seed", "1", "--json"]);
    let again = run(&["--cells", "4", "--seed", "1", "--json", "-o", "out"]);
    assert_eq!(first.stdout, again.stdout);
    assert!(folder.path().join("out/report.html").exists());
    assert_ne!(
        first.stdout,
        run(&["--cells", "4", "--seed", "2", "--json"]).stdout
    );
}

/// Processes whose program is a kernel of ours, by number.
fn guests() -> BTreeSet<u32> {
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_guest = |number: &u32| {
        let program: PathBuf = fs::read_link(format!("/proc/{number}/exe")).unwrap_or_default();
        program.ends_with("linux") && program.to_string_lossy().contains("trammel/kernel")
    };
    numbers.filter(is_guest).collect()
}

/// Waits until `is_so`, for a minute at most.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::yield_now();
    }
}

/// The descendants of a process.
fn family(of: u32) -> BTreeSet<u32> {
    let children = |parent: u32| -> Vec<u32> {
        let threads = fs::read_dir(format!("/proc/{parent}/task"))
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        let lists =
            threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        lists
            .flat_map(|list| {
                list.split_whitespace()
                    .filter_map(|number| number.parse().ok())
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    let (mut all, mut next) = (BTreeSet::new(), vec![of]);
    while let Some(parent) = next.pop() {
        let new = children(parent)
            .into_iter()
            .filter(|child| all.insert(*child))
            .collect::<Vec<_>>();
        next.extend(new);
    }
    all
}

#[test]
#[ignore = "long: five minutes of kernel and simulator"]
fn the_study_of_linux_runs_live() {
    let folder = tempfile::tempdir().unwrap();
    let study = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        let command = command
            .args(["paper", "linux-6.12", "-o", "out"])
            .args(args);
        command.current_dir(folder.path()).output().unwrap()
    };
    let output = study(&["--json"]);
    if output.status.code() == Some(3) {
        println!("skipped: {}", said(&output).trim());
        return;
    }
    // A miss that nobody has explained ends it with 1.
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let tables: Value = serde_json::from_slice(&output.stdout).unwrap();
    let targets = tables["tables"]["fidelity_targets"].as_array().unwrap();
    let skill = targets
        .iter()
        .find(|row| row["target"] == "median skill of goodput" && row["is_main"] == true)
        .unwrap();
    assert!(skill["reached"].as_f64() > Some(0.8), "{skill}");
    assert!(folder.path().join("out/report.html").exists());
}

#[test]
fn nothing_is_left_of_a_run_that_is_interrupted_or_killed() {
    let lab = Lab::new(&format!(
        "duration = '100000 s'\n{PATH}[[flow]]\nvariant = 'reno'\n"
    ));
    let left = |folder: &Path| -> Vec<String> {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "s.toml").collect()
    };
    for signal in ["INT", "TERM", "KILL"] {
        let mut command = lab.command(&["--engine", "measure"]);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .env("TMPDIR", lab.0.path());
        let mut run = command.spawn().unwrap();
        until("a guest starts, or none can", || {
            !guest_of(run.id()).is_empty() || is_gone(run.id())
        });
        let guest = guest_of(run.id());
        if guest.is_empty() {
            let output = run.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(3), "{}", said(&output));
            println!("skipped: {}", said(&output).trim());
            return;
        }
        let all = family(run.id());
        let kill = Command::new("kill")
            .args([&format!("-{signal}"), &run.id().to_string()])
            .status()
            .unwrap();
        assert!(kill.success());
        let status = run.wait().unwrap();
        if status.code() == Some(3) {
            println!("skipped: guests do not run here");
            return;
        }
        if signal == "INT" {
            assert_eq!(status.code(), Some(130));
        }
        until("its processes end", || {
            all.is_disjoint(&guests()) && all.iter().all(|number| is_gone(*number))
        });
        assert_eq!(left(lab.0.path()), Vec::<String>::new(), "after {signal}");
    }
}

/// The guests among the descendants of a process.
fn guest_of(parent: u32) -> BTreeSet<u32> {
    family(parent).intersection(&guests()).copied().collect()
}

/// Whether a process has ended; one that nobody has waited for yet has.
fn is_gone(number: u32) -> bool {
    fs::read_to_string(format!("/proc/{number}/stat")).map_or(true, |stat| stat.contains(") Z "))
}
