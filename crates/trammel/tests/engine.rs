//! The engines from end to end: what a scenario becomes, by the library and by the command.

#[path = "engine/possible.rs"]
mod possible;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use trammel::scenario::model::Engine;
use trammel::scenario::{File, ReadError};
use trammel::transport::points::{RunOptions, TransportOutcome, Unwatched, Watch, run_points};
use trammel::transport::run_tables::RunTables;
use trammel_core::time::{Span, Time};

const TWO: &str = "title = 'Two'\nduration = '3 s'\nwarmup = '1 s'\nrepeat = 2\n\
    [path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\nloss = { probability = 1e-3 }\n\
    [[flow]]\nvariant = 'cubic'\n[[flow]]\nvariant = 'reno'\n\
    [sweep]\n'path.rtt' = ['20 ms', '40 ms']\n";

fn parse(text: &str) -> File {
    File::parse("test.toml", text, Path::new(".")).unwrap_or_else(|error| panic!("{error}"))
}

fn options() -> RunOptions {
    let engines = vec![Engine::Predict, Engine::Simulate];
    RunOptions {
        engines,
        threads: Some(2),
        ..RunOptions::default()
    }
}

fn outcome(text: &str) -> TransportOutcome {
    run_points(&parse(text), &options(), &Unwatched).unwrap()
}

fn trammel(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command
        .args(args)
        .output()
        .expect("the program can be started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with a scenario in it.
fn folder(text: &str) -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("scenario.toml");
    std::fs::write(&scenario, text).unwrap();
    let out = folder.path().join("out").display().to_string();
    (folder, scenario.display().to_string(), out)
}

/// Every file of a run folder but `run.json`, the report without its provenance.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            let mut text = std::fs::read_to_string(&path).unwrap();
            if name == "report.html" {
                let start = text
                    .find("id=\"provenance\"")
                    .expect("a report ends with provenance");
                text.truncate(start);
            }
            files.insert(name, text);
        }
    }
    files.remove("run.json");
    files
}

#[test]
fn the_same_scenario_gives_the_same_bytes_on_one_thread_and_on_two() {
    let (dir, scenario, _) = folder(&TWO.replace("title", "trace = '100 ms'\ntitle"));
    let run = |name: &str, threads: &str| {
        let out = dir.path().join(name);
        let place = out.display().to_string();
        let output = trammel(&["run", &scenario, "-o", &place, "--threads", threads]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        files(&out)
    };
    let (one, two) = (run("one", "1"), run("two", "2"));
    assert_eq!(
        one.keys().collect::<Vec<_>>(),
        two.keys().collect::<Vec<_>>()
    );
    for (name, text) in &one {
        assert!(*text == two[name], "{name} differs");
    }
    for name in [
        "flows.csv",
        "links.csv",
        "groups.csv",
        "summary.csv",
        "comparison.csv",
    ] {
        assert!(one[name].lines().count() > 1, "{name} is empty");
    }
    assert!(
        one.contains_key("traces/rtt_s=20ms.0.cubic.csv"),
        "{:?}",
        one.keys()
    );
    assert!(one.contains_key("figures/share.svg"));
}

#[test]
fn a_sweep_goes_on_where_it_stopped() {
    let (_dir, scenario, out) = folder(TWO);
    let told = || {
        let output = trammel(&["sweep", &scenario, "-o", &out]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (files(Path::new(&out)), stderr(&output))
    };
    let sweep = || told().0;
    let first = sweep();
    let kept: Vec<_> = first
        .keys()
        .filter(|name| name.starts_with("points/"))
        .collect();
    assert_eq!(kept.len(), 4, "two points, two seeds");
    let (again, said) = told();
    assert_eq!(again, first);
    assert!(said.contains("resuming with 4 finished runs"), "{said}");
    // A kept run that was changed is made anew, and said.
    let place = Path::new(&out).join(kept[0]);
    let text = std::fs::read_to_string(&place).unwrap();
    let delivered: serde_json::Value = serde_json::from_str(&text).unwrap();
    let csv = delivered["tables"]["flows"].as_str().unwrap();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let at = header
        .iter()
        .position(|name| *name == "delivered_bytes")
        .unwrap();
    let bytes = csv.lines().nth(1).unwrap().split(',').nth(at).unwrap();
    std::fs::write(&place, text.replace(bytes, "123454321")).unwrap();
    let (again, said) = told();
    assert_eq!(again, first);
    assert!(said.contains("resuming with 3 finished runs"), "{said}");
    assert!(said.contains("were changed"), "{said}");
    // A point more runs that point only; a file that cannot be read is no run.
    std::fs::write(&place, "{").unwrap();
    assert_eq!(sweep(), first);
    let more = TWO.replace("'40 ms']", "'40 ms', '60 ms']");
    std::fs::write(&scenario, more).unwrap();
    let second = sweep();
    assert_eq!(
        second
            .keys()
            .filter(|name| name.starts_with("points/"))
            .count(),
        6
    );
    for line in first["flows.csv"].lines() {
        assert!(second["flows.csv"].contains(line), "{line}");
    }
}

/// Interrupts after a number of runs, and keeps them.
#[derive(Default)]
struct Impatient {
    after: usize,
    runs: AtomicUsize,
    kept: Mutex<BTreeMap<String, RunTables>>,
}

impl Watch for Impatient {
    fn done(&self, key: &str, run: &RunTables) {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.kept
            .lock()
            .unwrap()
            .insert(key.to_owned(), run.clone());
    }
    fn is_interrupted(&self) -> bool {
        self.runs.load(Ordering::SeqCst) >= self.after
    }
}

#[test]
fn an_interrupted_run_keeps_what_is_done_and_can_be_completed() {
    let file = parse(TWO);
    let watch = Impatient {
        after: 1,
        ..Impatient::default()
    };
    let once = RunOptions {
        threads: Some(1),
        ..options()
    };
    let part = run_points(&file, &once, &watch).unwrap();
    assert!(part.is_interrupted);
    assert_eq!((part.runs, part.flows.len()), ((4, 1), 2));
    let known = watch.kept.into_inner().unwrap();
    let rest = Impatient {
        after: 99,
        ..Impatient::default()
    };
    let whole = run_points(
        &file,
        &RunOptions {
            known: known.into(),
            ..options()
        },
        &rest,
    )
    .unwrap();
    assert_eq!(rest.runs.into_inner(), 3, "one run was known");
    assert_eq!(whole.flows, outcome(TWO).flows);
    assert!(!whole.is_interrupted);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_command_with_130_and_a_sweep_resumes() {
    let losses: Vec<String> = (1..=60).map(|n| format!("{n}e-4")).collect();
    let text = TWO.replace("'path.rtt' = ['20 ms', '40 ms']", "");
    let text = text
        .replace("duration = '3 s'", "duration = '60 s'")
        .replace("repeat = 2", "");
    let text = text + &format!("'path.loss.probability' = [{}]\n", losses.join(", "));
    let (dir, scenario, out) = folder(&text);
    let mut child = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["sweep", &scenario, "-o", &out, "--threads", "1"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let hidden = dir.path().join(".out.trammel/points");
    // Waits for the first run, however slow the machine is; there is no port or clock in it.
    while std::fs::read_dir(&hidden).map_or(0, Iterator::count) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
        std::thread::yield_now();
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let info = trammel::report::run_folder::read_info(Path::new(&out)).unwrap();
    assert!(info.interrupted && !hidden.exists());
    let kept = std::fs::read_dir(Path::new(&out).join("points"))
        .unwrap()
        .count();
    assert!((1..60).contains(&kept), "{kept}");
}

#[test]
fn a_second_run_replaces_the_first_and_spares_the_files_of_others() {
    let (dir, scenario, out) = folder(TWO);
    assert_eq!(
        trammel(&["run", &scenario, "-o", &out]).status.code(),
        Some(0)
    );
    std::fs::write(Path::new(&out).join("notes.txt"), "mine").unwrap();
    let one = TWO.replace("['20 ms', '40 ms']", "['20 ms']");
    std::fs::write(&scenario, one).unwrap();
    assert_eq!(
        trammel(&["run", &scenario, "-o", &out]).status.code(),
        Some(0)
    );
    let files = files(Path::new(&out));
    assert_eq!(files["notes.txt"], "mine");
    assert!(!files["flows.csv"].contains("40ms"));
    // A folder of somebody else is refused before any work is done.
    let foreign = dir.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("thesis.tex"), "x").unwrap();
    let output = trammel(&["run", &scenario, "-o", &foreign.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("is not a run folder"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_scenario_without_traffic_says_so() {
    let (_dir, scenario, _) = folder("[path]\nrate = '1 Mbit/s'\nrtt = '10 ms'\n");
    let output = trammel(&["run", &scenario]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("the scenario has no traffic"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn json_is_the_same_rows_on_standard_output_alone() {
    let (_dir, scenario, _) = folder(TWO);
    let output = trammel(&["run", &scenario, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "trammel/1");
    assert_eq!(json["tables"]["flows"].as_array().unwrap().len(), 8);
    assert_eq!(json["tables"]["flows"][7]["rtt_s"], 0.04);
    let output = trammel(&["run", &scenario]);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("point "));
}

#[test]
fn folders_are_compared_in_one_report() {
    let (dir, scenario, out) = folder(TWO);
    let (other, both) = (dir.path().join("other"), dir.path().join("both"));
    let (other, both) = (other.display().to_string(), both.display().to_string());
    assert_eq!(
        trammel(&["run", &scenario, "-o", &out]).status.code(),
        Some(0)
    );
    let again = trammel(&["run", &scenario, "-o", &other, "--seed", "7"]);
    assert_eq!(again.status.code(), Some(0));
    let output = trammel(&["compare", &out, &other, "-o", &both]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = std::fs::read_to_string(Path::new(&both).join("comparison.csv")).unwrap();
    assert!(
        table.starts_with("engine,point,model,entity,metric,unit,out,other\n"),
        "{table}"
    );
    assert!(Path::new(&both).join("report.html").exists());
    let json = trammel(&["compare", &out, &out, "--json"]);
    assert!(serde_json::from_slice::<serde_json::Value>(&json.stdout).is_ok());
    assert_eq!(
        trammel(&["compare", &out, "/no/such/run"]).status.code(),
        Some(2)
    );
}

#[test]
fn models_answer_beside_the_simulator_or_say_why_not() {
    // Fast enough that the losses decide, as the model wants it.
    let text = TWO.replace("10 Mbit/s", "100 Mbit/s");
    let text = text.replace("'cubic'", "'scalable'\nparams = { dialect = 'kelly' }");
    let text = text.replace(
        "loss = { probability = 1e-3 }\n",
        "loss = { probability = 0.01 }\n",
    );
    let asked =
        format!("{text}[predict]\nmodels = ['tekala-2007:corrected', 'dctcp-steady-state']\n");
    let outcome = outcome(&asked);
    assert_eq!(outcome.predictions.len(), 4, "{}", outcome.predictions);
    assert!(
        outcome
            .notes
            .iter()
            .any(|note| note.contains("`dctcp-steady-state` does not apply"))
    );
    let compared = outcome
        .comparison
        .rows()
        .find(|row| row.text("metric") == "late_share" && row.text("entity") == "scalable");
    let compared = compared.expect("the model predicts a share");
    assert_eq!(compared.text("model"), "tekala-2007:corrected");
    let (predicted, simulated) = (compared.float("predicted"), compared.float("simulated"));
    let error = compared.float("predicted_error").unwrap();
    let (predicted, simulated) = (predicted.unwrap(), simulated.unwrap());
    assert!((error - (predicted - simulated) / simulated).abs() < 1e-6);
}

#[test]
fn every_flow_has_its_own_round_trip() {
    let outcome = outcome(
        "duration = '5 s'\n[path]\nrate = '100 Mbit/s'\nrtt = '40 ms'\n\
         access = { rate = '1 Gbit/s', delay = '2 ms' }\n\
         [[flow]]\nvariant = 'reno'\nname = 'near'\nrtt = '20 ms'\nstart = '0 s'\n\
         bytes = '100 kB'\n\
         [[flow]]\nvariant = 'reno'\nname = 'usual'\nstart = '1 s'\nbytes = '100 kB'\n\
         [[flow]]\nvariant = 'reno'\nname = 'far'\nrtt = '200 ms'\nstart = '2 s'\n\
         bytes = '100 kB'\n",
    );
    for (row, rtt_us) in outcome.flows.rows().zip([20_000.0, 40_000.0, 200_000.0]) {
        let least = row.float("rtt_min_us").unwrap();
        // Serialisation adds to the propagation: a handful of packets at 100 Mbit/s.
        assert!(
            least >= rtt_us && least < rtt_us + 1_000.0,
            "{}: {least}",
            row.text("flow")
        );
        assert!(row.float("completion_s").unwrap() > rtt_us / 1e6);
        assert_eq!(row.float("delivered_bytes"), Some(100_000.0));
    }
}

#[test]
fn a_flow_loses_to_the_others_what_it_had_alone() {
    let outcome = outcome(
        "duration = '20 s'\nsolo = true\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n\
         [[flow]]\nvariant = 'reno'\nstart = '0 s'\n[[flow]]\nvariant = 'reno'\nstart = '0 s'\n",
    );
    assert_eq!(outcome.runs, (2, 2), "both flows alone are the same run");
    let harm: f64 = outcome.flows.floats("harm").unwrap().iter().sum();
    // Together they have what one had alone: what one loses the other gains.
    assert!((harm - 1.0).abs() < 0.1, "{harm}");
    let jain = outcome.groups.floats("jain").unwrap()[0];
    let shares = outcome.flows.floats("share").unwrap();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    assert!((jain - 1.0 / (2.0 * squares)).abs() < 1e-3, "{jain}");
}

#[test]
fn variants_of_a_sweep_start_alike_and_flows_of_a_name_of_their_own_wherever_they_stand() {
    let starts = |flows: [&str; 2]| {
        let [first, second] = flows.map(|keys| format!("[[flow]]\n{keys}\n"));
        let path = "[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n";
        let outcome = outcome(&format!("duration = '2 s'\n{path}{first}{second}"));
        outcome.flows.floats("start_s").unwrap()
    };
    let alike = starts(["variant = 'cubic'", "variant = 'cubic'"]);
    assert_ne!(alike[0], alike[1]);
    for variant in ["reno", "bbr", "newreno"] {
        let one = format!("variant = '{variant}'");
        assert_eq!(starts([&one, "variant = 'cubic'"]), alike, "{variant}");
        assert_eq!(starts([&one, &one]), alike, "{variant}");
    }
    let (named, other) = ("variant = 'cubic'\nname = 'mine'", "variant = 'reno'");
    assert_eq!(starts([named, other])[0], starts([other, named])[1]);
}

#[test]
fn a_link_is_never_used_beyond_what_it_can_carry() {
    let schedule =
        "schedule = [{ at = '1 s', rate = '2 Mbit/s' }, { at = '3 s', rate = '8 Mbit/s' }]";
    let outcome = outcome(&format!(
        "duration = '10 s'\nwarmup = '2 s'\n[path]\nrate = '4 Mbit/s'\nrtt = '20 ms'\n{schedule}\n\
         queue = {{ limit = '100 packets' }}\n[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n\
         [[stream]]\nname = 'voice'\nsize = '160 B'\ngap = '20 ms'\n",
    ));
    let link = outcome.links.rows().next().unwrap();
    for column in ["utilisation", "late_utilisation"] {
        let used = link.float(column).unwrap();
        assert!(used > 0.7 && used < 1.01, "{column} is {used}");
    }
    let stream = outcome.streams.rows().next().unwrap();
    let (sent, received) = (
        stream.float("sent_pkts").unwrap(),
        stream.float("received_pkts").unwrap(),
    );
    assert_eq!(sent, 500.0);
    assert_eq!(stream.float("lost_pkts").unwrap(), sent - received);
    assert!(stream.float("delay_min_us").unwrap() >= 10_000.0);
}

#[test]
fn what_waits_in_a_long_queue_is_not_sent() {
    let outcome = outcome(
        "duration = '10 s'\nwarmup = '3 s'\n[path]\nrate = '1 Mbit/s'\nrtt = '100 ms'\n\
         queue = { limit = '1000 packets' }\n[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n",
    );
    let link = outcome.links.rows().next().unwrap();
    for column in ["utilisation", "late_utilisation"] {
        let used = link.float(column).unwrap();
        // A packet on the wire at either end counts whole.
        assert!((0.9..1.001).contains(&used), "{column} is {used}");
    }
    // A queue of so many packets of 1514 bytes at 1 Mbit/s; it grows all the time.
    let (mean, delay) = (
        link.float("late_queue_mean_pkts").unwrap(),
        link.float("late_queue_delay_mean_us").unwrap(),
    );
    let of_mean = mean * 1514.0 * 8.0;
    assert!((delay / of_mean - 1.0).abs() < 0.1, "{delay} {of_mean}");
}

#[test]
fn socket_buffers_bind_where_they_are_given_only() {
    let goodput = |more: &str| {
        let outcome = outcome(&format!(
            "duration = '10 s'\nengines = ['simulate']\n[path]\nrate = '100 Mbit/s'\n\
             rtt = '100 ms'\n\
             [[flow]]\nvariant = 'cubic'\nstart = '0 s'\n{more}",
        ));
        outcome.flows.floats("goodput_mbps").unwrap()[0]
    };
    let (free, sender) = (goodput(""), goodput("socket_buffer = '64 KB'\n"));
    let receiver = goodput("receive_buffer = '64 KB'\n");
    // 64 kB a round trip of 100 ms are 5.1 Mbit/s.
    assert!(free > 60.0, "{free}");
    assert!((3.0..5.3).contains(&sender), "{sender}");
    assert!((2.0..8.0).contains(&receiver), "{receiver}");
}

#[test]
fn a_scenario_from_rust_runs_or_tells_every_fault() {
    use trammel::RunScenario;
    use trammel::scenario::flow::Flow;
    use trammel::scenario::model::Scenario;
    let scenario = || Scenario::dumbbell().duration(Span::from_secs(2));
    let outcome = scenario().flow(Flow::new("bbr")).run().unwrap();
    assert_eq!(outcome.flows.len(), 1);
    let error = scenario()
        .flow(Flow::new("bbrr"))
        .warmup(Time::from_secs(9))
        .run()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`bbrr`") && text.contains("warmup"), "{text}");
}

#[test]
fn every_example_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let mut file = match File::read(&path) {
            Ok(file) => file,
            // Another command's: its own tests read it.
            Err(ReadError::Elsewhere { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let last = file.points.len() - 1;
        file.points = vec![file.points[0].clone(), file.points[last].clone()];
        for point in &mut file.points {
            let scenario = &mut point.scenario;
            scenario.duration = Span::from_secs(2);
            scenario.warmup = Time::ZERO;
            scenario.repeat = 1;
            scenario
                .flows
                .iter_mut()
                .for_each(|flow| flow.start = flow.start.and(Some(Time::ZERO)));
            scenario
                .workloads
                .iter_mut()
                .for_each(|one| one.start = Time::ZERO);
        }
        file.points.dedup_by(|a, b| a.id == b.id);
        let outcome = run_points(&file, &options(), &Unwatched).unwrap();
        assert!(
            outcome.failures.is_empty(),
            "{}: {:?}",
            path.display(),
            outcome.failures
        );
        if outcome.lacks.is_none() {
            assert!(!outcome.summary.is_empty(), "{}", path.display());
        }
    }
}

#[test]
fn workloads_complete_and_are_told_by_size() {
    let text = "duration = '12 s'\nwarmup = '2 s'\n\
        [path]\nrate = '20 Mbit/s'\nrtt = '20 ms'\n\
        [[workload]]\nname = 'web'\nkind = 'poisson'\narrivals = 20\n\
        size = { distribution = 'exponential', mean = '40 kB' }\n\
        [[workload]]\nname = 'queries'\nkind = 'request-response'\nresponse = '20 kB'\n\
        think = '100 ms'\nconnections = 3\n\
        [[workload]]\nname = 'bursts'\nkind = 'on-off'\nrate = '1 Mbit/s'\n\
        [[workload]]\nname = 'cross'\nkind = 'background'\nload = '10 %'\n";
    let (_guard, scenario, out) = folder(text);
    let output = trammel(&["run", &scenario, "--out", &out]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report = std::fs::read_to_string(Path::new(&out).join("report.html")).unwrap();
    assert!(report.contains("Slowdown of `web`"));
    assert!(report.contains("Slowdown of `queries`"));
    let outcome = outcome(text);
    let rows: Vec<_> = outcome.workloads.rows().collect();
    let number = |workload: &str, size: &str, column: &str| {
        let mut of = rows
            .iter()
            .filter(|row| row.text("workload") == workload && row.text("flow_size") == size);
        of.next().and_then(|row| row.float(column)).unwrap()
    };
    // Ten seconds of twenty flows each; the deviation of such a count is 14.
    let begun = number("web", "all", "completions") + number("web", "all", "unfinished");
    assert!((begun - 200.0).abs() < 60.0, "{begun}");
    let of_ranges = rows
        .iter()
        .filter(|row| row.text("workload") == "web" && row.text("flow_size") != "all");
    let of_ranges: f64 = of_ranges.filter_map(|row| row.float("completions")).sum();
    assert_eq!(of_ranges, number("web", "all", "completions"));
    // A pause of 100 ms and an exchange of at least one round trip and 8 ms on the wire.
    let queries = number("queries", "10 kB to 100 kB", "completions");
    assert!(
        (100.0..3.0 * 10.0 / 0.128 + 3.0).contains(&queries),
        "{queries}"
    );
    assert!(number("queries", "all", "unfinished") <= 3.0);
    for workload in ["web", "queries"] {
        let of = |column: &str| number(workload, "all", column);
        assert!(of("slowdown_p50") >= 1.0 && of("slowdown_p50") <= of("slowdown_p99"));
        assert!(of("fct_p50_s") > 0.02 && of("fct_p50_s") <= of("fct_p95_s"));
    }
    let named = |name: &str| rows.iter().any(|row| row.text("workload") == name);
    // Bursts and cross traffic complete nothing that is asked for: a row each, of what they got
    // through.
    assert!(named("bursts") && named("cross"));
    let shown = outcome
        .comparison
        .rows()
        .filter(|row| row.text("entity") == "web");
    // Completion times and slowdowns, two each, and goodput.
    assert_eq!(shown.count(), 5);
}

/// What the first flow of a scenario gets after the warm-up, Mbit/s, and its retransmissions and
/// timeouts.
fn first_flow(text: &str) -> (f64, [Option<f64>; 2]) {
    let flows = outcome(text).flows;
    let mut simulated = flows.rows().filter(|row| row.text("engine") == "simulate");
    let first = simulated.next().expect("a flow was simulated");
    let late = first.float("late_goodput_mbps").unwrap_or_default();
    let counts = ["retransmissions_pkts", "timeouts"];
    (late, counts.map(|column| first.float(column)))
}

/// A flow beside what Linux 6.12 in virtual time gets on the same path, Mbit/s; how far off the
/// simulator may be, per cent.
fn is_as_in_linux(path: &str, flow: &str, linux: f64, percent: f64) {
    let text = format!("{path}burst = '3100 B'\n[[flow]]\nstart = '0 s'\n{flow}");
    let (late, _) = first_flow(&text);
    let error = 100.0 * (late / linux - 1.0);
    assert!(error.abs() < percent, "{flow}: {late} of {linux} Mbit/s");
}

#[test]
fn receive_windows_are_as_large_as_in_linux() {
    let path = "duration = '8 s'\nwarmup = '3 s'\n[path]\nrate = '500 Mbit/s'\nrtt = '100 ms'\n";
    // 65,535 bytes without a scale, and as many units of 32 bytes.
    for (buffer, linux) in [("64 KB", 5.183), ("650 KB", 65.63), ("2 MB", 167.7)] {
        let flow = format!("variant = 'cubic'\nreceive_buffer = '{buffer}'\n");
        is_as_in_linux(path, &flow, linux, 1.0);
    }
}

#[test]
fn send_buffers_hold_as_much_as_in_linux() {
    let path = |rtt: &str| {
        format!(
            "duration = '15 s'\nwarmup = '1 ns'\n[path]\nrate = '1 Gbit/s'\nrtt = '{rtt}'\n\
             queue = {{ limit = '1000 packets' }}\n"
        )
    };
    let set = "variant = 'cubic'\nsocket_buffer = '1 MB'\nreceive_buffer = '64 MB'\n";
    is_as_in_linux(&path("100 ms"), set, 66.9, 3.0);
    let larger = set.replace("1 MB", "4 MB");
    is_as_in_linux(&path("200 ms"), &larger, 99.65, 1.0);
    let usual = "variant = 'cubic'\nbuffers = 'linux'\n";
    is_as_in_linux(&path("200 ms"), usual, 66.04, 3.0);
    is_as_in_linux(&path("50 ms"), usual, 281.8, 3.0);
}

#[test]
fn a_queue_of_two_packets_is_short_and_one_of_three_is_not() {
    let path = |packets: u32| {
        format!(
            "duration = '15 s'\nwarmup = '5 s'\n[path]\nrate = '100 Mbit/s'\nrtt = '50 ms'\n\
             queue = {{ limit = '{packets} packets' }}\n"
        )
    };
    is_as_in_linux(&path(3), "variant = 'reno'\n", 46.25, 2.0);
    // In step to the picosecond it had 46 with two packets too: each came as another left.
    is_as_in_linux(&path(2), "variant = 'reno'\n", 5.0, 40.0);
    is_as_in_linux(&path(2), "variant = 'cubic'\n", 10.7, 40.0);
}

#[test]
fn syns_that_are_lost_are_counted() {
    let (_, counts) = first_flow(
        "duration = '60 s'\n[path]\nrate = '20 Mbit/s'\nrtt = '50 ms'\n\
         loss = { model = 'bernoulli', probability = 1 }\n[[flow]]\nvariant = 'cubic'\n\
         start = '0 s'\n",
    );
    assert_eq!(counts, [Some(9.0), Some(9.0)], "as in Linux 6.12");
}

#[test]
fn no_flow_of_dctcp_is_kept_out_by_a_queue_that_drops_what_is_not_ecn_capable() {
    let outcome = outcome(
        "duration = '1 s'\n[path]\nrate = '1 Gbit/s'\nrtt = '200 us'\nburst = '3100 B'\n\
         queue = \
         { discipline = 'threshold', threshold = 20, not_capable = 'drop', \
         limit = '1000 packets' }\n\
         [[flow]]\nvariant = 'dctcp'\ncount = 10\n",
    );
    let simulated = outcome
        .flows
        .rows()
        .filter(|row| row.text("engine") == "simulate");
    let lost: Vec<_> = simulated
        .map(|row| {
            (
                row.float("delivered_bytes") > Some(0.0),
                row.float("retransmissions_pkts"),
            )
        })
        .collect();
    assert_eq!(lost, [(true, Some(0.0)); 10]);
}
