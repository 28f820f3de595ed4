//! Traffic scenarios by all three engines: theory against virtual time, virtual time against real
//! packets.

use std::path::Path;
use std::process::{Command, Output};
use trammel::report::run::Request;
use trammel::scenario::Reading;
use trammel::scenario::model::Engine;
use trammel::scenario::traffic::TrafficFile;
use trammel::streams::run::compared;
use trammel::streams::run::compared::Compared;
use trammel::streams::run::{Streams, carry_out, tables};

fn job(text: &str, engines: &[Engine]) -> Streams {
    let text = format!(
        "subject = 'traffic'
{text}"
    );
    let file = TrafficFile::parse("t.toml", &text, Path::new("."), &Reading::default());
    Streams {
        file: file.unwrap_or_else(|why| panic!("{why}")),
        engines: engines.to_vec(),
    }
}

fn request() -> Request {
    Request {
        threads: Some(1),
        ..Request::default()
    }
}

/// What is compared of the streams of `text` by theory and in virtual time.
fn modelled(text: &str) -> Vec<Compared> {
    let job = job(text, &[Engine::Predict, Engine::Simulate]);
    let outcome = carry_out(&job, &request()).expect("it runs");
    assert!(
        outcome.status.failures.is_empty(),
        "{:?}",
        outcome.status.failures
    );
    compared::all(&outcome)
}

fn of<'a>(rows: &'a [Compared], stream: usize, metric: &str) -> &'a Compared {
    let mut rows = rows.iter();
    let found = rows.find(|one| one.stream == stream && one.metric == metric);
    found.unwrap_or_else(|| panic!("there is no {metric}"))
}

const PATH: &str = "[path]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n";

#[test]
fn a_periodic_stream_alone_takes_the_delay_and_its_own_time() {
    // 458 bytes are 500 on the wire: 500 us.
    let rows = modelled(&format!(
        "duration = '2 s'\n{PATH}[[stream]]\nrate = 1000\nsize = 458"
    ));
    for metric in ["delay_min_us", "delay_mean_us"] {
        let one = of(&rows, 0, metric);
        assert_eq!(
            (one.predicted, one.simulated),
            (Some(20_500.0), Some(20_500.0))
        );
    }
    for metric in ["jitter_mean_us", "jitter_rfc3550_us", "lost"] {
        let one = of(&rows, 0, metric);
        assert_eq!(
            (one.predicted, one.simulated),
            (Some(0.0), Some(0.0)),
            "{metric}"
        );
    }
}

#[test]
fn poisson_streams_wait_and_are_dropped_as_theory_says() {
    for (rate, queue) in [(500, 1000), (800, 1000), (900, 4), (1500, 20)] {
        // 958 bytes are 1000 on the wire: 1 ms.
        let rows = modelled(&format!(
            "duration = '300 s'\n{PATH}queue.limit = {queue}\n[[stream]]\nrate = {rate}\n\
             gap = 'exponential'\nsize = 958"
        ));
        let delay = of(&rows, 0, "delay_mean_us");
        let (predicted, simulated) = (delay.predicted.unwrap(), delay.simulated.unwrap());
        // The mean wait of 300 s at a load of 0.8 has a deviation of about 1 %, and of the delay it
        // is a tenth.
        let error = (predicted - simulated).abs() / simulated;
        assert!(error < 0.005, "{rate}, {queue}: {predicted}, {simulated}");
        let lost = of(&rows, 0, "lost");
        let (predicted, simulated) = (lost.predicted.unwrap(), lost.simulated.unwrap());
        // Drops come in bursts: a count of them is known to some five deviations of as many
        // independent ones.
        let packets = 300.0 * f64::from(rate);
        let bound = 5.0 * 2.0 * (predicted * (1.0 - predicted) / packets).sqrt() + 1e-9;
        assert!(
            (predicted - simulated).abs() < bound,
            "{rate}, {queue}: {predicted} lost, {simulated}, bound {bound}"
        );
    }
}

#[test]
fn sizes_of_a_law_wait_as_pollaczek_and_khinchine_say() {
    let rows = modelled(&format!(
        "duration = '300 s'\n{PATH}[[stream]]\nrate = 1000\ngap = 'exponential'\n\
         size = 'uniform:min=100,max=900'"
    ));
    let delay = of(&rows, 0, "delay_mean_us");
    let (predicted, simulated) = (delay.predicted.unwrap(), delay.simulated.unwrap());
    assert!(
        (predicted / simulated - 1.0).abs() < 0.01,
        "{predicted}, {simulated}"
    );
    assert_eq!(of(&rows, 0, "lost").predicted, None);
}

#[test]
fn every_packet_is_accounted_and_a_run_repeats() {
    let text = "duration = '3 s'\n[path]\nrate = '2 Mbit/s'\ndelay = '5 ms'\nqueue.limit = 10\n\
                loss.probability = 0.05\n\
        reorder = { probability = 0.02, delay = '4 ms' }\n\
        [[stream]]\nrate = 300\ngap = 'exponential'\nsize = 'uniform:min=50,max=1400'\n\
        [[stream]]\napp = 'voip'\ncount = 3\n[[stream]]\nrate = 50\nsize = 4000\nround_trip = true";
    let made = || {
        let job = job(text, &[Engine::Simulate]);
        let outcome = carry_out(&job, &request()).expect("it runs");
        let [(0, run)] = &outcome.ran[0].simulated[..] else {
            panic!("one run of it");
        };
        assert_eq!(run.streams.len(), 5);
        for stream in run.streams.rows() {
            let count = |column| stream.float(column).expect("it is counted");
            assert!(count("sent_pkts") > 0.0);
            assert_eq!(count("pkts") + count("lost_pkts"), count("sent_pkts"));
        }
        let first = run.streams.rows().next().expect("it is there");
        assert!(first.float("lost_pkts") > Some(0.0) && first.float("reordered_pkts") > Some(0.0));
        format!("{:?}", tables::all(&outcome))
    };
    assert_eq!(made(), made());
}

#[test]
fn a_round_trip_is_there_and_back() {
    // 458 bytes are 500 on the wire: 500 us there, 1 ms back.
    let rows = modelled(&format!(
        "duration = '1 s'\n{PATH}ack_rate = '4 Mbit/s'\n[[stream]]\nrate = 100\nsize = 458\n\
         round_trip = true"
    ));
    assert_eq!(of(&rows, 0, "delay_mean_us").simulated, Some(41_500.0));
    assert_eq!(of(&rows, 0, "lost").simulated, Some(0.0));
}

#[test]
fn streams_share_a_bottleneck() {
    let rows = modelled(&format!(
        "duration = '5 s'\n{PATH}queue.limit = 50\n[[stream]]\nrate = 1000\ngap = 'exponential'\n\
         size = 958\n[[stream]]\nrate = 1000\ngap = 'exponential'\nsize = 958"
    ));
    // Twice what the path carries: half of each is lost.
    for stream in 0..2 {
        let lost = of(&rows, stream, "lost").simulated.unwrap();
        assert!((lost - 0.5).abs() < 0.03, "{lost}");
    }
    let total: f64 = (0..2)
        .map(|stream| of(&rows, stream, "payload_bps").simulated.unwrap())
        .sum();
    assert!(
        (total / (8e6 * 958.0 / 1000.0) - 1.0).abs() < 0.02,
        "{total}"
    );
}

/// 1,000 packets a second of 500 bytes over 8 Mbit/s, 20 ms and 1 % of loss: what is simulated is
/// what real packets do.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stdout)]
fn real_packets_do_what_simulated_ones_do() {
    use std::os::unix::fs::MetadataExt;
    let text = format!(
        "duration = '5 s'\nseed = 3\n{PATH}loss.probability = 0.01\n[[stream]]\nname = 'probe'\n\
         rate = 1000\nsize = 500"
    );
    let job = job(&text, &[Engine::Simulate, Engine::Measure]);
    let outcome = carry_out(&job, &request()).expect("it runs");
    if let Some(lack) = outcome.status.lacks.first() {
        // A user without rights cannot make namespaces: said, not hidden. As root nothing is
        // skipped.
        let user = std::fs::metadata("/proc/self")
            .expect("the file exists")
            .uid();
        assert_ne!(user, 0, "{lack}");
        println!("skipped: {lack}");
        return;
    }
    assert!(
        outcome.status.failures.is_empty(),
        "{:?}",
        outcome.status.failures
    );
    let rows = compared::all(&outcome);
    let both = |metric| {
        let one = of(&rows, 0, metric);
        (one.simulated.unwrap(), one.measured.unwrap())
    };
    // Half of the packets pass a host that is busy with other tests within so many microseconds.
    const HOST_US: f64 = 500.0;
    for metric in ["delay_min_us", "delay_p50_us"] {
        let (simulated, measured) = both(metric);
        let over = measured - simulated;
        assert!(
            (-1.0..HOST_US).contains(&over),
            "{metric}: {simulated}, {measured}"
        );
    }
    // Stalls of such a host are milliseconds, and all packets of one are late: the mean may be off
    // by more.
    let (simulated, measured) = both("delay_mean_us");
    assert!(
        (-1.0..3000.0).contains(&(measured - simulated)),
        "{simulated}, {measured}"
    );
    let (simulated, measured) = both("jitter_mean_us");
    assert!(simulated == 0.0 && measured < 500.0, "{measured}");
    // Each is a binomial of 5,000 with a deviation of 0.14 %; so is their difference by √2. Four of
    // those.
    let (simulated, measured) = both("lost");
    assert!(
        (simulated - measured).abs() < 0.008,
        "{simulated}, {measured}"
    );
    assert!(measured > 0.003, "{measured}");
    let (simulated, measured) = both("packet_rate_pps");
    assert!(
        (simulated / measured - 1.0).abs() < 0.02,
        "{simulated}, {measured}"
    );
}

#[test]
fn repeats_have_seeds_of_their_own_and_a_mean_with_its_interval() {
    let text = format!(
        "duration = '2 s'\nseed = 7\nrepeat = 4\n{PATH}loss.probability = 0.05\n\
         [[stream]]\nname = 'drawn'\nrate = 200\ngap = 'exponential'\n\
         [[stream]]\nname = 'given'\nrate = 200\ngap = 'exponential'\nseed = 3\n"
    );
    let outcome_of = |text: &str| {
        let job = job(text, &[Engine::Predict, Engine::Simulate]);
        let outcome = carry_out(&job, &request()).expect("it runs");
        let all = tables::all(&outcome);
        let table = |name: &str| all.iter().find(|table| table.name() == name).cloned();
        ["streams", "summary", "comparison"].map(|name| table(name).expect("it is told"))
    };
    let [streams, summary, comparison] = outcome_of(&text);
    let column = |stream: &str, name: &str| -> Vec<f64> {
        let rows = streams.filter(|row| row.text("stream") == stream);
        rows.floats(name).expect("a column of numbers")
    };
    assert_eq!(column("drawn", "repeat"), [0.0, 1.0, 2.0, 3.0]);
    let mut seeds = column("drawn", "seed");
    seeds.dedup();
    assert_eq!(
        seeds.len(),
        4,
        "a stream without a seed draws one from the run's"
    );
    assert_eq!(column("given", "seed"), [3.0; 4]);
    // The path's chances are each run's.
    let mut lost = column("given", "lost_pkts");
    lost.dedup();
    assert!(lost.len() > 1, "{lost:?}");
    // The second run is the only run of the next seed.
    let alone = text.replace("seed = 7\nrepeat = 4", "seed = 8");
    let [one, ..] = outcome_of(&alone);
    assert_eq!(
        one.floats("lost_pkts").unwrap()[0],
        column("drawn", "lost_pkts")[1]
    );
    let values = column("drawn", "lost");
    // Tables have nine digits.
    let mean = values.iter().sum::<f64>() / 4.0;
    let is_it = |row: &trammel_stats::table::Row<'_>| {
        ["entity", "metric", "unit"].map(|name| row.text(name)) == ["drawn", "lost", "1"]
    };
    let row = summary.rows().find(is_it).expect("it is summed up");
    let number = |name| row.float(name).expect("it is there");
    assert!((number("mean") - mean).abs() < 1e-9 && row.int("n") == Some(4));
    // Student's quantile with 3 degrees of freedom is 3.182.
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    let half = 3.182_446 * deviation / 2.0;
    // A part of the whole: the interval is of its logit.
    let logit = |part: f64| (part / (1.0 - part)).ln();
    let of_logit = half / (mean * (1.0 - mean));
    for (end, sign) in [("ci_low", -1.0), ("ci_high", 1.0)] {
        let off = (logit(number(end)) - logit(mean)) * sign / of_logit;
        assert!((off - 1.0).abs() < 1e-4, "{end}: {off}");
    }
    let of_path = |row: &trammel_stats::table::Row<'_>| row.text("entity") == "path";
    assert!(
        summary
            .rows()
            .any(|row| of_path(&row) && row.text("metric") == "load")
    );
    let mut compared = comparison.rows();
    let compared =
        compared.find(|row| row.text("stream") == "drawn" && row.text("metric") == "lost");
    assert_eq!(
        compared.and_then(|row| row.float("simulated")),
        Some(number("mean"))
    );
}

/// Every file of the folder but `run.json` and the page, which tell of the run itself.
fn files(folder: &Path) -> std::collections::BTreeMap<String, String> {
    let read = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("the folder exists");
        let paths = entries.map(|entry| entry.expect("a file").path());
        let paths =
            paths.filter(|path| path.extension().is_some_and(|e| e == "csv" || e == "json"));
        paths.collect::<Vec<_>>()
    };
    let all = read(folder).into_iter().chain(read(&folder.join("points")));
    let name = |path: &Path| {
        path.strip_prefix(folder)
            .expect("in it")
            .display()
            .to_string()
    };
    let all = all.map(|path| {
        (
            name(&path),
            std::fs::read_to_string(&path).expect("the file exists"),
        )
    });
    all.filter(|(name, _)| name != "run.json").collect()
}

const TWO: &str = "subject = 'traffic'\nduration = '2 s'\nrepeat = 2\n[path]\nrate = '8 Mbit/s'\n\
                   delay = '20 ms'\n\
    loss.probability = 0.05\n[[stream]]\nname = 's'\nrate = 100\n[[stream]]\nprotocol = 'tcp'\n\
    name = 't'\nrate = 10\n\
    [sweep]\n'stream.s.rate' = [100, 1000]\n";

#[test]
fn a_sweep_keeps_its_runs_and_makes_only_new_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (here, out) = (folder.path(), folder.path().join("out"));
    let told = |text: &str| {
        std::fs::write(here.join("t.toml"), text).expect("the file can be written");
        let ran = trammel(&["sweep", "t.toml", "-o", "out"], here);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{said}");
        // What a run says is kept with it.
        assert!(said.contains("`t` is a stream of TCP"), "{said}");
        (files(&out), said)
    };
    let sweep = |text: &str| told(text).0;
    let first = sweep(TWO);
    let kept: Vec<_> = first
        .keys()
        .filter(|name| name.starts_with("points/"))
        .collect();
    assert_eq!(kept.len(), 4, "two points, two seeds");
    let (again, said) = told(TWO);
    assert_eq!(again, first);
    assert!(said.contains("resuming with 4 finished runs"), "{said}");
    // A kept run that was changed is made anew, and said.
    let place = out.join(kept[0]);
    let text = std::fs::read_to_string(&place).expect("the file exists");
    let run: serde_json::Value = serde_json::from_str(&text).expect("the text is JSON");
    let csv = run["tables"]["streams"].as_str().expect("a table");
    let row = csv.lines().nth(1).expect("a row");
    let bytes = row.split(',').nth(3).expect("the bytes that were sent");
    std::fs::write(&place, text.replace(bytes, "123454321")).expect("the file can be written");
    let (again, said) = told(TWO);
    assert_eq!(again, first);
    assert!(said.contains("resuming with 3 finished runs"), "{said}");
    assert!(said.contains("were changed"), "{said}");
    // A file that cannot be read is no run.
    std::fs::write(&place, "{").expect("the file can be written");
    assert_eq!(sweep(TWO), first);
    // Another point is one more to make; a title makes none.
    let more = format!("title = 'more'\n{}", TWO.replace("1000]", "1000, 500]"));
    let second = sweep(&more);
    assert_eq!(
        second
            .keys()
            .filter(|name| name.starts_with("points/"))
            .count(),
        6
    );
    assert!(kept.iter().all(|name| second[*name] == first[*name]));
}

/// A sweep that runs, and its hidden folder with what it has done so far.
#[cfg(unix)]
fn interrupted_at_its_first_run(here: &Path, signal: &str) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let command = command.current_dir(here);
    let command = command.args(["sweep", "t.toml", "-o", "out", "--threads", "1"]);
    let mut child = command
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program can be started");
    let hidden = here.join(".out.trammel/points");
    let is_whole = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|e| e == "json");
    let has_any = || {
        let mut entries = std::fs::read_dir(&hidden).into_iter().flatten().flatten();
        entries.any(is_whole)
    };
    // Waits for the first run, however slow the machine is; there is no port or clock in it.
    while !has_any() {
        assert!(
            child.try_wait().expect("it runs").is_none(),
            "it ended too soon"
        );
        std::thread::yield_now();
    }
    let killed = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(killed.expect("it is there").success());
    child
        .wait()
        .expect("the child process can be waited for")
        .code()
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_resumes_and_a_killed_one_too() {
    let losses: Vec<String> = (1..=60).map(|n| format!("{n}e-3")).collect();
    let text = format!(
        "subject = 'traffic'\nduration = '20 s'\nrepeat = 2\nengines = ['simulate']\n\
         {PATH}loss.probability = 0.5\n\
         [[stream]]\nrate = 900\ngap = 'exponential'\n[sweep]\n'path.loss.probability' = [{}]\n",
        losses.join(", ")
    );
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (here, out) = (folder.path(), folder.path().join("out"));
    std::fs::write(here.join("t.toml"), text).expect("the file can be written");
    let names = |folder: &Path| -> std::collections::BTreeSet<_> {
        let entries = std::fs::read_dir(folder).expect("the folder exists");
        entries
            .map(|entry| entry.expect("a file").file_name())
            .collect()
    };
    assert_eq!(interrupted_at_its_first_run(here, "-INT"), Some(130));
    let info = trammel::report::run_folder::read_info(&out).expect("it is ours");
    assert!(info.interrupted && !here.join(".out.trammel").exists());
    let after_interrupt = names(&out.join("points"));
    assert!((1..120).contains(&after_interrupt.len()));
    // Even a killed sweep has lost nothing but what was at hand.
    assert_eq!(interrupted_at_its_first_run(here, "-KILL"), None);
    let after_kill = names(&here.join(".out.trammel/points"));
    assert!(after_kill.is_disjoint(&after_interrupt), "done once");
    let ended = trammel(&["sweep", "t.toml", "-o", "out"], here);
    assert!(ended.status.success());
    let all = names(&out.join("points"));
    assert_eq!(all.len(), 120);
    assert!(!here.join(".out.trammel").exists());
    // As if it had never been interrupted.
    let whole = trammel(&["run", "t.toml", "-o", "whole"], here);
    assert!(whole.status.success());
    for table in ["streams.csv", "summary.csv"] {
        let read = |folder: &str| std::fs::read_to_string(here.join(folder).join(table));
        assert_eq!(
            read("out").expect("it is there"),
            read("whole").expect("it is there")
        );
    }
}

fn trammel(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.current_dir(folder).args(arguments);
    command.output().expect("the program can be started")
}

#[test]
fn the_commands_take_traffic_scenarios() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let text = "subject = 'traffic'\nduration = '1 s'\n[path]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n\
                [[stream]]\nname = 's'\nrate = 100\n\
        [sweep]\n'stream.s.rate' = [100, 1000]\n";
    std::fs::write(here.join("t.toml"), text).expect("the file can be written");
    let checked = trammel(&["check", "t.toml"], here);
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(
        checked.status.success() && said.contains("no fault, 2 points"),
        "{said}"
    );
    for command in ["run", "sweep"] {
        let ran = trammel(&[command, "t.toml", "-o", "out", "--json"], here);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{said}");
        let all: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("the text is JSON");
        let rows = all["tables"]["streams"].as_array().expect("a table");
        let sent: Vec<_> = rows.iter().map(|row| row["sent_pkts"].as_i64()).collect();
        assert_eq!(sent, [Some(100), Some(1000)]);
        let page = std::fs::read_to_string(here.join("out/report.html")).expect("the file exists");
        assert!(page.contains("Over the path") && page.contains("offered"));
        for table in ["offered", "paths", "streams", "comparison"] {
            assert!(here.join(format!("out/{table}.csv")).is_file(), "{table}");
        }
    }
    let wrong = text.replace("rate = 100\n", "rate = 100\nsiez = 3\n");
    std::fs::write(here.join("w.toml"), wrong).expect("the file can be written");
    let refused = trammel(&["run", "w.toml"], here);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said.contains("did you mean `size`?") && said.contains("w.toml:"),
        "{said}"
    );
    let page = trammel(&["doc", "traffic"], here);
    let page = String::from_utf8_lossy(&page.stdout);
    assert!(page.contains("# Traffic scenarios") && page.contains("| `round_trip` |"));
}
