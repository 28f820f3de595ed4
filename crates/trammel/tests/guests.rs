//! Guests of a kernel that do not run on a machine, as a user meets them: every command says so
//! once, with the cause and the way out, and ends with 3. The kernels are scripts that end as the
//! real one was seen to.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use trammel_kernel::build::{self, Source, Wish};
use trammel_kernel::job::Answer;

/// What the real one says where a processor's state is longer than it keeps.
const DIES: &str = "echo 'userspace - ptrace set fp regs failed, errno = 14'; exit 1";
const SCENARIO: &str = "duration = '1 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n[[flow]]\n\
                        variant = 'reno'\n[sweep]\n\
                        \"path.rate\" = ['5 Mbit/s', '10 Mbit/s', '20 Mbit/s']\n[measure]\n\
                        source = 'tree'\n";

/// A folder with a scenario, a source tree, and in a cache a kernel of that tree which does what a
/// shell script says.
fn lab(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("arch/um")).unwrap();
    fs::write(tree.join("arch/um/Kconfig"), "config HZ\n").unwrap();
    let wish = Wish {
        source: Source::Tree(tree),
        patches: Vec::new(),
        jobs: 1,
        cache: folder.path().join("cache/trammel/kernel"),
    };
    let place = build::place(&wish).unwrap();
    fs::create_dir_all(&place).unwrap();
    let kernel = place.join("linux");
    fs::write(&kernel, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&kernel, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(place.join("version"), "6.12.0\n").unwrap();
    fs::write(folder.path().join("s.toml"), SCENARIO).unwrap();
    folder
}

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(args)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one line that tells it.
fn told(output: &Output, args: &[&str]) -> String {
    let text = said(output);
    assert_eq!(output.status.code(), Some(3), "{args:?}: {text}");
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("cannot run here"))
        .collect();
    assert_eq!(lines.len(), 1, "{args:?}: {text}");
    assert!(
        lines[0].contains("kernel = \"host\""),
        "the way out: {}",
        lines[0]
    );
    lines[0].to_owned()
}

#[test]
fn every_command_says_once_that_guests_do_not_run() {
    let folder = lab(DIES);
    for args in [
        &["run", "s.toml", "--engine", "measure"][..],
        &["kernel", "build", "--source", "tree"],
        &["kernel", "check", "--source", "tree"],
        &["fidelity", "--cells", "2", "--source", "tree"],
        &["diverge", "s.toml"],
        &["kernel", "compare", "tree", "tree", "--over", "s.toml"],
    ] {
        let output = run(folder.path(), args);
        let line = told(&output, args);
        assert!(line.contains("errno = 14"), "{args:?}: {line}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("target"), "nothing is judged: {text}");
        assert!(!said(&output).contains("FAILED"), "{}", said(&output));
    }
}

#[test]
fn the_other_engines_run_and_the_report_says_what_is_missing() {
    let folder = lab(DIES);
    let args = ["run", "s.toml", "--engine", "simulate,measure", "--json"];
    let output = run(folder.path(), &args);
    told(&output, &args);
    let tables: Value = serde_json::from_slice(&output.stdout).unwrap();
    let flows = tables["tables"]["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 3);
    assert!(flows.iter().all(|row| row["engine"] == "simulate"));
    let args = ["run", "s.toml", "--engine", "simulate,measure", "-o", "out"];
    told(&run(folder.path(), &args), &args);
    let report = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(report.contains("guests cannot run here"));
}

#[test]
fn guests_that_die_at_every_point_after_the_first_boot_are_told_once() {
    let answer = serde_json::to_string(&Answer::default()).unwrap();
    // The guest that has nothing to do answers; all others are killed.
    let script =
        format!("if [ -e booted ]; then kill -9 $$; fi\n: > booted\necho '{answer}' >&4\n");
    let folder = lab(&script);
    let args = ["run", "s.toml", "--engine", "measure"];
    let line = told(&run(folder.path(), &args), &args);
    assert!(line.contains("SIGKILL"), "{line}");
}

#[test]
fn two_kernels_that_cannot_be_compared_are_told_before_any_run() {
    let folder = lab(DIES);
    fs::write(folder.path().join("x.patch"), "no patch\n").unwrap();
    let swept = SCENARIO.replace("source = 'tree'", "kernels = ['tree', 'tree+x.patch']");
    fs::write(folder.path().join("swept.toml"), swept).unwrap();
    for (kernels, over, code, why) in [
        (["none", "tree"], "s.toml", 2, "none` does not exist"),
        (
            ["tree", "tree+y.patch"],
            "s.toml",
            2,
            "y.patch` does not exist",
        ),
        (["tree", "tree"], "none.toml", 2, "none.toml"),
        (
            ["tree", "tree"],
            "swept.toml",
            2,
            "`kernels` in `[measure]` says which kernel is measured; leave it out",
        ),
        (
            ["tree+x.patch", "tree"],
            "s.toml",
            3,
            "the kernel is not built yet; run `trammel kernel build --source ./tree --patch \
             ./x.patch` once",
        ),
    ] {
        let [old, new] = kernels;
        let args = ["kernel", "compare", old, new, "--over", over, "-o", "out"];
        let output = run(folder.path(), &args);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(why), "{args:?}: {text}");
        assert!(!folder.path().join("out/run.json").exists(), "{args:?}");
    }
}
