//! Runs that many processes make and put into one store, and what is gathered from it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Twelve points of two repeats, and each flow alone.
const SWEEP: &str = "duration = '3 s'\nrepeat = 2\nsolo = true\n\
                     engines = ['predict', 'simulate']\n\
                     [path]\nrate = '20 Mbit/s'\nrtt = '20 ms'\n\
                     [[flow]]\nvariant = 'reno'\n[[flow]]\nvariant = 'cubic'\n\
                     [sweep]\n'flow.0.variant' = ['reno', 'bbr', 'vegas', 'westwood']\n\
                     'path.queue.limit' = ['10 packets', '20 packets', '40 packets']\n";

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(args).current_dir(folder);
    command
}

fn trammel(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

/// What a command says that succeeds.
fn done(folder: &Path, args: &[&str]) -> String {
    let output = trammel(folder, args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn folder(scenario: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), scenario).unwrap();
    folder
}

/// Lines of arguments for workers.
fn batches(folder: &Path, time: &str) -> Vec<String> {
    let lines = done(folder, &["points", "s.toml", "--batch", time]);
    lines.lines().map(str::to_owned).collect()
}

fn worker(folder: &Path, batch: &str) -> Child {
    let keys = batch.strip_prefix("--key ").expect("a line of arguments");
    let args = [
        "point", "s.toml", "--key", keys, "--store", "runs", "-t", "1",
    ];
    command(folder, &args)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The files of a run folder but `run.json`, and the report, whose foot names command and time.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(at) = left.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if path.is_dir() {
                left.push(path);
            } else if !["run.json", "report.html"].contains(&&*name) {
                files.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    files
}

/// The files of runs in the store `runs` of `folder`.
fn stored(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = files(&folder.join("runs")).into_keys();
    files.map(|name| folder.join("runs").join(name)).collect()
}

#[test]
fn workers_that_are_killed_and_work_that_is_done_twice_change_nothing() {
    let folder = folder(SWEEP);
    let here = folder.path();
    done(here, &["run", "s.toml", "-o", "whole"]);
    let batches = batches(here, "20 ms");
    assert!(batches.len() > 5, "{batches:?}");
    // Each batch goes to a worker that is killed at some moment, and to two that are not.
    for batch in &batches {
        let mut killed = worker(here, batch);
        let both = [worker(here, batch), worker(here, batch)];
        killed.kill().unwrap();
        killed.wait().unwrap();
        for mut worker in both {
            assert_eq!(worker.wait().unwrap().code(), Some(0), "{batch}");
        }
    }
    done(
        here,
        &["gather", "s.toml", "--store", "runs", "-o", "gathered"],
    );
    let (whole, gathered) = (here.join("whole"), here.join("gathered"));
    assert_eq!(files(&whole), files(&gathered));
    // A sweep finds them too, and has nothing to make.
    let runs = stored(here);
    done(here, &["sweep", "s.toml", "--store", "runs", "-o", "swept"]);
    assert_eq!(files(&whole), files(&here.join("swept")));
    assert_eq!(stored(here), runs);
}

#[test]
fn what_is_missing_is_told_and_nothing_is_written() {
    let folder = folder(&SWEEP.replace("repeat = 2\nsolo = true\n", ""));
    let here = folder.path();
    let gather = ["gather", "s.toml", "--store", "runs", "-o", "out"];
    let told = |args: &[&str], code: i32| {
        let output = trammel(here, args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = told(&gather, 1);
    assert!(said.contains("`runs` lacks 12 of the runs"), "{said}");
    assert!(!here.join("out").exists());
    done(here, &["sweep", "s.toml", "--store", "runs"]);
    // Without a folder no run has curves; those of the first that are shown are made again.
    for batch in batches(here, "1 min") {
        assert!(worker(here, &batch).wait().unwrap().success());
    }
    done(here, &gather);
    let none = ["point", "s.toml", "--key", "none", "--store", "runs"];
    assert!(told(&none, 2).contains("has no run `none`"));
    let elsewhere = ["gather", "s.toml", "--store", "ftp://lab/runs"];
    assert!(told(&elsewhere, 2).contains("stores are folders"));
    std::fs::write(here.join("s.toml"), "subject = 'traffic'\n").unwrap();
    told(&["points", "s.toml"], 2);
}

#[test]
fn a_file_that_was_edited_is_no_run_and_is_made_anew() {
    let folder = folder(
        "duration = '1 s'\nengines = ['simulate']\n[path]\nrate = '10 Mbit/s'\nrtt = '10 ms'\n\
         [[flow]]\nvariant = 'reno'\n",
    );
    let here = folder.path();
    let batch = batches(here, "1 min");
    assert_eq!(batch.len(), 1);
    assert!(worker(here, &batch[0]).wait().unwrap().success());
    let [file] = &stored(here)[..] else {
        panic!("one run")
    };
    let text = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, text.replacen("reno", "oner", 1)).unwrap();
    let gather = ["gather", "s.toml", "--store", "runs", "-o", "out"];
    assert_eq!(trammel(here, &gather).status.code(), Some(1));
    assert!(worker(here, &batch[0]).wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    done(here, &gather);
}
