//! Run folders by the command: what is replaced, what is refused, what an end at a bad moment
//! leaves.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const SCENARIO: &str = "duration = '1 s'\nengines = ['simulate']\n[path]\nrate = '1 Mbit/s'\n\
                        rtt = '10 ms'\n[[flow]]\nvariant = 'reno'\n";

fn trammel(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(args).current_dir(folder).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("one.toml", SCENARIO.to_owned()),
        ("two.toml", SCENARIO.replace("reno", "cubic")),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_folder_of_another_command_scenario_or_setting_is_refused_and_untouched() {
    let folder = folder();
    let here = folder.path();
    for (scenario, out) in [("one.toml", "out"), ("one.toml", "second")] {
        let made = trammel(here, &["run", scenario, "-o", out]);
        assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    }
    let before = read(here, "out/run.json");
    for args in [
        &["run", "two.toml", "-o", "out"][..],
        &["sweep", "two.toml", "-o", "out"],
        &["run", "one.toml", "--seed", "2", "-o", "out"],
        &["run", "one.toml", "-e", "predict", "-o", "out"],
        &["compare", "out", "second", "-o", "out"],
        &["paper", "tekala-2007", "-o", "out"],
        &["fidelity", "-o", "out"],
    ] {
        let refused = trammel(here, args);
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.contains("`out` holds the results of `trammel run one.toml`")
                && said.contains("--force"),
            "{args:?}: {said}"
        );
        assert_eq!(read(here, "out/run.json"), before, "{args:?}");
    }
    // The same again, under another name, and an edited file are the same scenario.
    std::fs::copy(here.join("one.toml"), here.join("copy.toml")).unwrap();
    std::fs::write(here.join("one.toml"), SCENARIO.replace("1 Mbit", "2 Mbit")).unwrap();
    for args in [
        &["run", "one.toml", "-o", "out"][..],
        &["sweep", "one.toml", "-o", "out", "--threads", "1"],
        &["run", "two.toml", "-o", "out", "--force"],
    ] {
        let made = trammel(here, args);
        assert_eq!(made.status.code(), Some(0), "{args:?}: {}", said(&made));
    }
    let copy = trammel(here, &["run", "copy.toml", "-o", "second"]);
    assert_eq!(copy.status.code(), Some(0), "{}", said(&copy));
    assert_eq!(
        listing(here),
        ["copy.toml", "one.toml", "out", "second", "two.toml"]
    );
}

#[test]
fn eight_commands_at_once_leave_one_whole_folder_and_the_users_file() {
    let folder = folder();
    let here = folder.path();
    let run = ["run", "one.toml", "-o", "out"];
    assert!(trammel(here, &run).status.success());
    std::fs::write(here.join("out/notes.txt"), "mine").unwrap();
    std::fs::create_dir(here.join(".out.partial-backup")).unwrap();
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
            let command = command.args(run).current_dir(here).stderr(Stdio::piped());
            command.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let ended: Vec<_> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    for output in &ended {
        let said = said(output);
        match output.status.code() {
            Some(0) => {}
            Some(2) => assert!(said.contains("is being written by another"), "{said}"),
            other => panic!("{other:?}: {said}"),
        }
    }
    assert!(ended.iter().any(|output| output.status.success()));
    assert_eq!(read(here, "out/notes.txt"), "mine");
    assert!(here.join("out/flows.csv").exists());
    assert_eq!(
        listing(here),
        [".out.partial-backup", "one.toml", "out", "two.toml"]
    );
}

/// Starts the run of `many.toml` and ends it by `signal` once one of its runs is kept.
#[cfg(unix)]
fn ended_by(here: &Path, signal: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(["run", "many.toml", "-o", "out", "-t", "1"]);
    let mut child = command
        .current_dir(here)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let points = here.join(".out.trammel/points");
    let is_whole = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|e| e == "json");
    let has_any = || {
        let mut entries = std::fs::read_dir(&points).into_iter().flatten().flatten();
        entries.any(is_whole)
    };
    while !has_any() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
        std::thread::yield_now();
    }
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    child.wait_with_output().unwrap()
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_and_ends_as_if_it_had_not_been() {
    let folder = folder();
    let here = folder.path();
    let losses: Vec<String> = (1..=40).map(|n| format!("{n}e-4")).collect();
    let many = SCENARIO.replace("'1 s'", "'60 s'")
        + &format!(
            "[sweep]\n'path.loss.probability' = [{}]\n",
            losses.join(", ")
        );
    std::fs::write(here.join("many.toml"), many).unwrap();
    for signal in ["-TERM", "-INT"] {
        let ended = ended_by(here, signal);
        let text = said(&ended);
        assert_eq!(ended.status.code(), Some(130), "{signal}: {text}");
        assert!(text.contains("of 40 runs are finished and kept"), "{text}");
        assert_eq!(listing(here), ["many.toml", "one.toml", "out", "two.toml"]);
    }
    // Another scenario does not take the place of a killed run's points either.
    ended_by(here, "-KILL");
    let kept = listing(&here.join(".out.trammel/points")).len();
    assert!(kept > 0);
    std::fs::remove_dir_all(here.join("out")).unwrap();
    let other = trammel(here, &["run", "two.toml", "-o", "out"]);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(
        said(&other).contains("finished runs of an interrupted"),
        "{}",
        said(&other)
    );
    let whole = trammel(here, &["run", "many.toml", "-o", "out"]);
    let text = said(&whole);
    assert_eq!(whole.status.code(), Some(0), "{text}");
    assert!(text.contains("resuming with"), "{text}");
    let once = trammel(here, &["run", "many.toml", "-o", "once"]);
    assert_eq!(once.status.code(), Some(0), "{}", said(&once));
    for table in ["flows.csv", "links.csv", "summary.csv"] {
        let [out, once] = ["out", "once"].map(|folder| read(&here.join(folder), table));
        assert_eq!(out, once, "{table}");
    }
    assert_eq!(
        listing(here),
        ["many.toml", "once", "one.toml", "out", "two.toml"]
    );
}

#[test]
fn compare_says_which_folder_is_missing_and_judges_by_a_bound() {
    let folder = folder();
    let here = folder.path();
    for (scenario, out) in [("one.toml", "a"), ("one.toml", "b"), ("two.toml", "engine")] {
        assert!(
            trammel(here, &["run", scenario, "-o", out])
                .status
                .success()
        );
    }
    let missing = trammel(here, &["compare", "a", "nosuch"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        said(&missing).contains("there is no folder `nosuch`"),
        "{}",
        said(&missing)
    );
    std::fs::create_dir(here.join("empty")).unwrap();
    let none = trammel(here, &["compare", "a", "empty"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(said(&none).contains("not a run folder"), "{}", said(&none));
    let same = trammel(here, &["compare", "a", "b", "--within", "0%"]);
    assert_eq!(same.status.code(), Some(0), "{}", said(&same));
    let apart = trammel(here, &["compare", "a", "engine", "--within", "0.1%"]);
    assert_eq!(apart.status.code(), Some(1), "{}", said(&apart));
    let shown = String::from_utf8_lossy(&apart.stdout).into_owned();
    assert!(shown.contains("difference"), "{shown}");
    let wrong = trammel(here, &["compare", "a", "b", "--within", "5"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("`5%`"), "{}", said(&wrong));
    let written = trammel(here, &["compare", "a", "b", "a", "-o", "both"]);
    assert_eq!(written.status.code(), Some(0), "{}", said(&written));
    assert!(here.join("both/comparison.csv").exists());
}

#[test]
fn runs_of_every_subject_are_compared_with_their_own() {
    let folder = folder();
    let here = folder.path();
    let placement = "subject = 'placement'\n[[server]]\nname = 'edge'\ncount = 2\nclock = '3 GHz'\n\
                     cores = 4\nllc = '20 MB'\ndram_accesses_per_s = 300e6\nmemory = '8 GiB'\n\
                     [[server.port]]\nrate = '10 Gbit/s'\n[[function]]\nname = 'nat'\n\
                     cycles = [200, 250, 300]\naccesses = 1\nhot = '4 MB'\nmemory = '64 MB'\n\
                     [[chain]]\nname = 'web'\nfunctions = ['nat']\ndemand = '5 Mpps'\n";
    std::fs::write(here.join("place.toml"), placement).unwrap();
    let sweep = format!("{SCENARIO}[sweep]\n'path.rtt' = ['10 ms', '20 ms']\n");
    std::fs::write(here.join("sweep.toml"), sweep).unwrap();
    for args in [
        ["place", "place.toml", "-o", "placed"],
        ["run", "sweep.toml", "-o", "swept"],
    ] {
        let made = trammel(here, &args);
        assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    }
    for run in ["placed", "swept"] {
        let same = trammel(here, &["compare", run, run, "--within", "0%"]);
        assert_eq!(same.status.code(), Some(0), "{run}: {}", said(&same));
    }
    let other = trammel(here, &["compare", "swept", "placed"]);
    assert_eq!(other.status.code(), Some(1), "{}", said(&other));
    for part in ["no metric", "has no `summary`", "of the same subject"] {
        assert!(said(&other).contains(part), "{part}: {}", said(&other));
    }
    assert!(other.stdout.is_empty(), "nothing to show");
}

#[cfg(target_os = "linux")]
#[test]
fn a_picture_replaces_a_picture_and_nothing_else() {
    let folder = folder();
    let here = folder.path();
    std::fs::write(here.join("r.click"), "Idle -> Discard;").unwrap();
    let drawn = |args: &[&str]| trammel(here, args).status.code();
    assert_eq!(drawn(&["graph", "r.click", "-o", "r.svg"]), Some(0));
    assert_eq!(
        drawn(&["graph", "r.click", "--dot", "-o", "r.svg"]),
        Some(0)
    );
    assert_eq!(drawn(&["graph", "r.click", "-o", "r.svg"]), Some(0));
    assert_eq!(drawn(&["graph", "r.click", "-o", "r.click"]), Some(2));
    assert_eq!(drawn(&["graph", "r.click", "-o", "one.toml"]), Some(2));
    assert_eq!(read(here, "r.click"), "Idle -> Discard;");
    let calibrated = trammel(here, &["calibrate", "--budget", "5s", "-o", "one.toml"]);
    assert_eq!(calibrated.status.code(), Some(2), "{}", said(&calibrated));
    assert_eq!(read(here, "one.toml"), SCENARIO);
}
