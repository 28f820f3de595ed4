//! Random valid scenario files: what the check passes is predicted, simulated and reported, and
//! what is reported is possible.
//!
//! Each file comes from a seed that a failure prints, with its text. `TRAMMEL_SEED=n` runs that one
//! alone and prints it, `TRAMMEL_TEST_COUNT=n` runs more of them than usual. The seed also decides
//! which of the engines run and whether there is a run folder. [`bounds`] has what must hold of
//! every number whatever the scenario. The simulator itself checks under debug assertions that no
//! packet appears from nowhere or is forgotten, that time goes on, and that no queue holds more
//! than its limit.

#[path = "random_scenarios/bounds.rs"]
mod bounds;
mod generator;

use generator::{SCHEDULES, TRACES, everything, scenario};
use std::collections::BTreeSet;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trammel::report::Provenance;
use trammel::report::run::{self, Request};
use trammel::report::run_folder::{Asked, Out};
use trammel::scenario::model::Engine;
use trammel::scenario::{File, ReadError};
use trammel::transport::answer::report;
use trammel::transport::points::{RunOptions, TransportOutcome, Unwatched, run_points};
use trammel::transport::run::Transport;
use trammel_stats::table::{Cell, Table};

fn from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a whole number"))
}

/// The file without engine `measure`.
fn without_measure(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("engines = "));
    let rest: Vec<&str> = lines.collect();
    format!("engines = [\"predict\", \"simulate\"]\n{}", rest.join("\n"))
}

/// The engines of the file of `seed`: as it says, or either alone, or both.
fn engines(seed: u64, file: &File) -> Vec<Engine> {
    match seed % 4 {
        1 => vec![Engine::Predict],
        2 => vec![Engine::Simulate],
        3 => vec![Engine::Predict, Engine::Simulate],
        _ => {
            // What a guest of the real kernel refuses of them is another test's matter.
            let mut engines = file.points[0].scenario.engines.clone();
            engines.retain(|engine| *engine != Engine::Measure);
            engines
        }
    }
}

/// The command itself, into a folder.
fn into_a_folder(seed: u64, file: &File, engines: &[Engine], dir: &Path) {
    let out = dir.join(format!("out-{seed}"));
    let request = Request {
        out: Some(Out {
            dir: out.clone(),
            asked: Asked::default(),
            is_forced: false,
            has_parquet: false,
        }),
        threads: Some(1),
        json: false,
        is_sweep: seed.is_multiple_of(2),
        store: None,
        live: None,
        has_plots: false,
        interrupted: Arc::default(),
    };
    run::run(&Transport::new(file.clone(), engines), &request).unwrap();
    for name in ["report.html", "run.json"] {
        assert!(out.join(name).is_file(), "{name} is written");
    }
    std::fs::remove_dir_all(&out).unwrap();
}

/// Reads, runs and reports the file of `seed`; what is wrong is a panic.
fn check(seed: u64, dir: &Path) {
    let text = scenario(seed).text;
    let parse = |text: &str| match File::parse("random.toml", text, dir) {
        Ok(file) => Ok(file),
        Err(ReadError::Faults(problems)) => Err(problems.render(false)),
        Err(error) => Err(error.to_string()),
    };
    // What a guest of the real kernel refuses is a fault of a file that asks for one: without it
    // the file must be sound.
    let asks_measure = text.contains("measure");
    let file = match parse(&text) {
        Err(_) if asks_measure => parse(&without_measure(&text)),
        read => read,
    };
    let file = file.unwrap_or_else(|faults| panic!("refused:\n{faults}"));
    for point in &file.points {
        assert_eq!(
            point.scenario.check(),
            Ok(()),
            "a file's points pass the builder's check"
        );
    }
    let captures = dir.join(format!("captures-{seed}"));
    let wants_captures = text.contains("pcap = ");
    if wants_captures {
        std::fs::create_dir(&captures).unwrap();
    }
    let engines = engines(seed, &file);
    if engines.is_empty() {
        return;
    }
    if seed.is_multiple_of(5) && !wants_captures {
        into_a_folder(seed, &file, &engines, dir);
    }
    #[cfg(target_os = "linux")]
    for point in &file.points {
        let _ = trammel::transport::measure::refusals(&point.scenario);
    }
    let options = RunOptions {
        engines,
        threads: Some(1),
        curves: seed.is_multiple_of(2),
        captures: wants_captures.then(|| captures.clone()),
        ..RunOptions::default()
    };
    let outcome = run_points(&file, &options, &Unwatched).unwrap();
    assert_eq!(outcome.failures, [], "what the check passes runs");
    assert_eq!(outcome.lacks, None);
    assert_eq!(outcome.runs.0, outcome.runs.1);
    tables_are_sound(&outcome);
    bounds::hold(&file, &outcome);
    if seed.is_multiple_of(3) {
        let provenance = Provenance {
            facts: Vec::new(),
            scenario: text,
        };
        let report = report(&file, &outcome, provenance);
        for (id, svg) in report.figures() {
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "figure {id}");
        }
        assert!(!report.to_html().is_empty());
        let sentence = &report.answer.sentence;
        assert!(
            !sentence.contains("NaN") && !sentence.contains("inf "),
            "{sentence}"
        );
    }
    if wants_captures {
        std::fs::remove_dir_all(&captures).unwrap();
    }
}

/// Every number is finite, and every table reads back from its own text as it was.
fn tables_are_sound(outcome: &TransportOutcome) {
    for table in outcome.tables() {
        let name = table.name();
        for row in table.rows() {
            for (cell, column) in row.cells().iter().zip(table.columns()) {
                let is_finite = cell.float().is_none_or(f64::is_finite);
                assert!(is_finite, "{name}.{}: {cell:?}", column.name);
                let is_counted = column.name.ends_with("_pkts") || column.name.ends_with("_bytes");
                let is_negative = cell.float().is_some_and(|number| number < 0.0);
                assert!(
                    !(is_counted && is_negative),
                    "{name}.{}: {cell:?}",
                    column.name
                );
            }
        }
        let text = table.to_csv();
        let back = Table::read_csv(table, text.as_bytes()).unwrap();
        assert_eq!(back.to_csv(), text, "{name} as CSV");
    }
    let mut json = Vec::new();
    trammel_stats::table::write_json(outcome.tables(), &mut json).unwrap();
    let _: serde_json::Value = serde_json::from_slice(&json).expect("the text is JSON");
    for flow in outcome.flows.rows() {
        let number = |column| flow.get(column).and_then(Cell::float);
        let (got, sent) = (number("goodput_mbps"), number("throughput_mbps"));
        if let (Some(got), Some(sent)) = (got, sent) {
            assert!(
                got <= sent * (1.0 + 1e-9),
                "goodput {got} of throughput {sent}"
            );
        }
    }
}

/// A run of the longest file takes far less; what takes longer hangs.
const LONGEST: Duration = Duration::from_secs(60);

fn run(first: u64, count: u64) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in TRACES.iter().chain(SCHEDULES) {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let next = AtomicU64::new(first);
    let failed = Mutex::new(Vec::new());
    // The seed that each thread is at, and since when.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let at: Vec<Mutex<Option<(u64, Instant)>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> = at
            .iter()
            .map(|at| {
                let (next, failed, dir) = (&next, &failed, dir.path());
                scope.spawn(move || {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= first + count {
                            break;
                        }
                        *at.lock().unwrap() = Some((seed, Instant::now()));
                        if catch_unwind(AssertUnwindSafe(|| check(seed, dir))).is_err() {
                            failed.lock().unwrap().push(seed);
                        }
                        *at.lock().unwrap() = None;
                    }
                })
            })
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            for at in &at {
                if let Some((seed, since)) = *at.lock().unwrap()
                    && since.elapsed() > LONGEST
                {
                    // Not by `eprintln`, whose text would end with the process.
                    let text = format!("seed {seed} hangs:\n{}\n", scenario(seed).text);
                    std::io::stderr().write_all(text.as_bytes()).unwrap();
                    std::process::abort();
                }
            }
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort_unstable();
    for seed in failed.iter().take(3) {
        eprintln!("seed {seed}:\n{}", scenario(*seed).text);
    }
    assert!(
        failed.is_empty(),
        "failing seeds: {failed:?} (TRAMMEL_SEED=n runs one)"
    );
}

#[test]
fn random_scenarios_run() {
    match from_environment("TRAMMEL_SEED") {
        Some(seed) => {
            eprintln!("{}", scenario(seed).text);
            run(seed, 1);
        }
        None => run(0, from_environment("TRAMMEL_TEST_COUNT").unwrap_or(300)),
    }
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_scenarios_run() {
    let first = from_environment("TRAMMEL_SEED").unwrap_or(1_000_000);
    eprintln!("seeds from {first}");
    run(first, 10_000);
}

#[test]
fn every_key_and_every_parameter_is_drawn() {
    // What no generated file holds, with the reason.
    const LEFT_OUT: &[&str] = &[
        ".subject", // there is one word for it
        // Its links are the wires of its ports; `network_of/devices.rs` runs some.
        "host.device",
        "host.registers",
        "variant.library", // it is code; `own_variant.rs` runs some
    ];
    let mut used = BTreeSet::new();
    for seed in 0..4000 {
        used.extend(scenario(seed).used);
    }
    let all = everything();
    let missing: Vec<_> = all
        .difference(&used)
        .filter(|key| !LEFT_OUT.contains(&key.as_str()))
        .collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}
