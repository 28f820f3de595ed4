//! `trammel conformance`: verdicts, exit codes, messages, its folder, and logs that go out and in.

use std::path::Path;
use std::process::{Command, Output};

fn trammel(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(arguments).current_dir(folder);
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_case_that_fails_makes_the_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let case = ["conformance", "cubic", "--case", "1"];
    let passes = trammel(&case, folder.path());
    assert_eq!(passes.status.code(), Some(0), "{}", stderr(&passes));
    assert!(stdout(&passes).contains("1 pass, 0 fail"));
    let wrong = [&case[..], &["--variant", "cubic:beta=922"]].concat();
    let fails = trammel(&wrong, folder.path());
    assert_eq!(fails.status.code(), Some(1));
    let text = stdout(&fails);
    assert!(
        text.contains("01-decrease  FAIL") && text.contains("must be 0.62 to 0.75"),
        "{text}"
    );
}

#[test]
fn what_is_not_known_is_told_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "time,cwnd\n").unwrap();
    for (arguments, what) in [
        (&["cubci"][..], "did you mean `cubic`?"),
        (
            &["cubic", "--case", "01-decreas"],
            "did you mean `01-decrease`?",
        ),
        (&["cubic", "--variant", "cubik"], "did you mean `cubic`?"),
        (
            &["cubic", "--variant", "cubic+undo"],
            "no rule is called `undo`",
        ),
        (&["cubic", "--qlog", "a.csv"], "`a.csv` is no qlog"),
        (&["cubic", "--qlog", "none"], "`none` cannot be opened"),
        (&["cubic", "--kernel", "none"], "`none` is no folder"),
    ] {
        let output = trammel(&[&["conformance"], arguments].concat(), folder.path());
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(what), "{told}");
    }
}

#[test]
fn its_folder_has_tables_a_report_and_the_cases() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "conformance",
        "cubic",
        "--case",
        "1",
        "--case",
        "8",
        "-o",
        "out",
        "--json",
    ];
    let output = trammel(&arguments, folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json[0]["suite"], "cubic");
    assert_eq!(json[0]["cases"][0]["verdict"], "pass");
    let out = folder.path().join("out");
    for file in [
        "verdicts.csv",
        "conditions.csv",
        "report.html",
        "cases/01-decrease.toml",
        "cases/08-timeout.pkt",
    ] {
        assert!(out.join(file).is_file(), "{file}");
    }
    // What it ran can be run by itself.
    let again = trammel(&["check", "out/cases/01-decrease.toml"], folder.path());
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let again = trammel(&["packetdrill", "out/cases/08-timeout.pkt"], folder.path());
    assert_eq!(again.status.code(), Some(0), "{}", stdout(&again));
}

#[test]
fn a_log_of_a_run_is_judged_as_the_run_is() {
    let folder = tempfile::tempdir().unwrap();
    for (variant, code) in [("cubic", 0), ("reno", 1)] {
        let scenario = format!(
            "duration = \"6 s\"\nqlog = true\n[path]\nrate = \"20 Mbit/s\"\nrtt = \"50 ms\"\n\
             [[flow]]\nvariant = \"{variant}\"\nstart = \"0 s\"\n"
        );
        std::fs::write(folder.path().join("s.toml"), scenario).unwrap();
        let run = trammel(&["run", "s.toml", "-o", variant], folder.path());
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        let log = format!("{variant}/qlog/base.{variant}.sqlog");
        let judged = trammel(
            &["conformance", "cubic", "--qlog", &log, "--verbose"],
            folder.path(),
        );
        let text = stdout(&judged);
        assert_eq!(judged.status.code(), Some(code), "{text}");
        assert!(text.contains("not observable"), "{text}");
    }
}
