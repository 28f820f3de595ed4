//! What a user may do wrong on the command line: every message says where, what, why and what to
//! do.

#![allow(clippy::print_stdout)]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const CLEAN: &str =
    "duration = '1 s'\n[path]\nrate = '1 Mbit/s'\nrtt = '10 ms'\n[[flow]]\nvariant = 'reno'\n";

fn trammel(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let output = command.args(args).current_dir(folder).output();
    output.expect("the binary was built")
}

/// What is said of `args` in `folder`; it must be a usage error.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = trammel(folder, args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    text
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("clean.toml"), CLEAN).unwrap();
    folder
}

#[test]
fn files_that_are_no_scenarios_say_what_they_are() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("empty.toml"), "\n").unwrap();
    std::fs::write(at.join("binary.toml"), [0xff, 0xfe, 0x00]).unwrap();
    std::fs::write(at.join("twice.toml"), format!("duration = '2 s'\n{CLEAN}")).unwrap();
    std::fs::create_dir(at.join("folder.toml")).unwrap();
    for (file, what, to_do) in [
        (
            "empty.toml",
            "the file is empty",
            "begin with a file of `examples`",
        ),
        ("binary.toml", "not text in UTF-8", "a text file in TOML"),
        ("twice.toml", "duplicate key", "keep one of the two"),
        (
            "folder.toml",
            "it is a folder",
            "give a scenario file in it",
        ),
        (
            "clena.toml",
            "there is no such file",
            "did you mean `clean.toml`?",
        ),
    ] {
        let said = refused(at, &["run", file]);
        assert!(
            said.contains(what) && said.contains(to_do),
            "{file}: {said}"
        );
        assert!(said.contains(file), "{said}");
    }
}

#[test]
fn folders_that_cannot_be_written_are_told_once_and_with_a_remedy() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("file"), "").unwrap();
    std::fs::create_dir(at.join("letters")).unwrap();
    std::fs::write(at.join("letters/letter.txt"), "Dear").unwrap();
    for (out, what) in [
        ("file", "cannot be a run folder"),
        ("letters", "is not a run folder"),
        ("/proc/trammel", "cannot be written"),
    ] {
        let said = refused(at, &["run", "clean.toml", "-o", out]);
        assert!(said.contains(what), "{said}");
        assert!(
            said.contains("give the name") || said.contains("choose another"),
            "{said}"
        );
        assert_eq!(
            said.matches("(os error").count(),
            usize::from(out.starts_with('/')),
            "{said}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(at.join("letters/letter.txt")).unwrap(),
        "Dear"
    );
}

#[test]
fn a_full_standard_output_is_named() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: this machine has no /dev/full");
        return;
    }
    let folder = folder();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command
        .args(["run", "clean.toml"])
        .current_dir(folder.path());
    let output = command
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("standard output cannot be written"), "{said}");
}

#[test]
fn a_full_standard_output_is_one_exit_code_for_every_command() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: this machine has no /dev/full");
        return;
    }
    let folder = folder();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let example = |name: &str| examples.join(name).display().to_string();
    let (router, placement) = (
        example("forwarding/mpls-switch.click"),
        example("placement.toml"),
    );
    for args in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["router", "-h"],
        &["router", "--help"],
        &["router", "-e", "Idle -> Discard", "-q", "-h", "version"],
        &["router", "-e", "Idle -> Discard", "-q", "-o", "-"],
        &["check", "--schema"],
        &["check", "clean.toml", "--json"],
        &["list", "variants"],
        &["list", "papers", "--json"],
        &["doc", "scenario"],
        &["doc", "machine", "epyc-7532"],
        &["doc", "--citations"],
        &["completions", "bash"],
        &["man"],
        &["graph", &router],
        &["estimate", &router, "--machine", "epyc-7532"],
        &["place", &placement],
        &["run", "clean.toml", "--json"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        command.args(args).current_dir(folder.path());
        command.stdout(full.unwrap()).stderr(Stdio::piped());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("cannot be written"), "{args:?}: {said}");
    }
}

#[test]
fn a_router_whose_file_is_on_a_full_disk_says_so_once_and_fails() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: this machine has no /dev/full");
        return;
    }
    let folder = folder();
    // By a link of our own, so that a fault here replaces no device of the machine.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full")).unwrap();
    let sending = |sink: &str| {
        format!(
            "InfiniteSource(LIMIT 9, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> {sink} -> \
             c :: Counter -> Discard"
        )
    };
    let asking = sending(
        "SetIPAddress(2.0.0.2) -> q :: ARPQuerier(1.0.0.1, 1:1:1:1:1:1) -> ARPPrint(OUTFILE \
         ./full)",
    ) + "; Idle -> [1] q";
    let plain = sending("Null");
    for (configuration, more) in [
        (sending("ToDump(./full)"), &[][..]),
        (
            sending("EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> Queue -> Null")
                .replace("c :: Counter -> Discard", "ToDevice(./full)"),
            &[],
        ),
        (sending("ToDump(./full, UNBUFFERED true)"), &[]),
        (sending("ToIPSummaryDump(./full)"), &[]),
        (sending("IPPrint(OUTFILE ./full)"), &[]),
        (sending("AggregateIPFlows(TRACEINFO ./full)"), &[]),
        (
            sending("a :: AggregateCounter")
                + "; DriverManager(wait, write a.write_text_file ./full)",
            &[],
        ),
        (
            plain.clone() + "; DriverManager(wait, save c.count ./full)",
            &[],
        ),
        (
            plain.clone() + "; DriverManager(wait, print >./full c.count)",
            &[],
        ),
        (asking, &[]),
        (plain.clone(), &["-o", "./full"]),
        (plain.clone(), &["--counters", "./full"]),
        (plain, &["--trace", "1", "--trace-file", "./full"]),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        command.args(["router", "-e", &configuration]).args(more);
        let output = command.current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{configuration}: {said}");
        let told: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("No space left on device"))
            .collect();
        assert_eq!(told.len(), 1, "{configuration}: {said}");
    }
}

#[test]
fn names_in_files_do_not_command_the_terminal_or_a_spreadsheet() {
    let folder = folder();
    for (text, what) in [
        ("\"x\\u001b[31mred\"", "control characters"),
        ("\"a\\u202eb\"", "control characters"),
        ("\"=1+1\"", "formula"),
    ] {
        let file = CLEAN.replace("[[flow]]", &format!("[[flow]]\nname = {text}"));
        assert_ne!(file, CLEAN);
        std::fs::write(folder.path().join("names.toml"), file).unwrap();
        let said = refused(folder.path(), &["check", "names.toml"]);
        assert!(said.contains(what), "{said}");
        let is_plain = |c: char| c == '\n' || !c.is_control();
        assert!(said.chars().all(is_plain), "{said:?}");
    }
    // A file's own name, too.
    let said = refused(folder.path(), &["run", "no\u{1b}]0;owned\u{7}such.toml"]);
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn a_number_out_of_range_says_its_bound_with_the_unit() {
    let folder = folder();
    for (right, wrong, what) in [
        ("rtt = '10 ms'", "rtt = '0 ms'", "must be more than zero"),
        ("rtt = '10 ms'", "rtt = '-1 ms'", "must be more than zero"),
        (
            "rtt = '10 ms'",
            "rtt = '2000000 s'",
            "must be at most 1000000 s",
        ),
        (
            "rate = '1 Mbit/s'",
            "rate = '0.1 bit/s'",
            "must be at least 1 bit/s",
        ),
    ] {
        let file = CLEAN.replace(right, wrong);
        assert_ne!(file, CLEAN, "{right}");
        std::fs::write(folder.path().join("range.toml"), file).unwrap();
        let said = refused(folder.path(), &["check", "range.toml"]);
        assert!(said.contains(what), "{said}");
    }
}

/// What a distribution draws has the bound of plain times and sizes; `check` and `run` say so
/// alike, with line and key.
#[test]
fn a_distribution_that_draws_what_is_too_large_is_refused() {
    let folder = folder();
    let file = |path: &str, more: &str| {
        format!(
            "duration = '10 s'\n[path]\nrate = '1 Mbit/s'\nrtt = '10 ms'\n{path}\n[[flow]]\n\
             variant = 'reno'\n{more}"
        )
    };
    let jitter = |law: &str| file(&format!("jitter = {law}"), "");
    let onoff = |key: &str| file("", &format!("[[workload]]\nkind = 'on-off'\n{key}\n"));
    let sizes = |law: &str| {
        file(
            "",
            &format!("[[workload]]\nkind = 'poisson'\nload = 0.1\nsize = {law}\n"),
        )
    };
    for (text, key, bound) in [
        (
            jitter("{ distribution = 'constant', value = 1e15 }"),
            "`value` cannot be `1",
            "at most 1000000 s",
        ),
        (
            jitter("{ distribution = 'uniform', min = 0, max = '2000000 s' }"),
            "`max` cannot be `2000000 s`",
            "at most 1000000 s",
        ),
        (
            jitter("{ distribution = 'lognormal', mu = 60, sigma = 1 }"),
            "`lognormal` draws values that are too large",
            "at most 1000000 s",
        ),
        (
            jitter("'3000000 s'"),
            "`path.jitter` cannot be `3000000 s`",
            "at most 1000000 s",
        ),
        (
            onoff("on = { distribution = 'exponential', mean = 1e7 }"),
            "`mean` cannot be `1",
            "at most 1000000 s",
        ),
        (
            onoff("off = '2000000 s'"),
            "`workload.off` cannot be `2000000 s`",
            "at most 1000000 s",
        ),
        (
            sizes("{ distribution = 'pareto', shape = 1.5, scale = 1e16 }"),
            "`scale` cannot be `1",
            "at most 1000000000000000 bytes",
        ),
    ] {
        std::fs::write(folder.path().join("far.toml"), &text).unwrap();
        let said = refused(folder.path(), &["check", "far.toml"]);
        assert!(said.contains(key) && said.contains(bound), "{text}\n{said}");
        assert!(said.contains("far.toml:"), "{said}");
        assert_eq!(said, refused(folder.path(), &["run", "far.toml"]), "{text}");
    }
}

/// Click refuses a push to what pulls; here a device takes what is pushed (docs/decisions.md), and
/// a warning says what that costs.
#[test]
fn frames_that_are_pushed_to_a_device_are_warned_of() {
    let folder = folder();
    for (between, is_warned) in [("", true), ("Counter ->", true), ("Queue(100) ->", false)] {
        let text =
            format!("FromDevice(lo, METHOD afpacket) -> {between} ToDevice(lo, METHOD afpacket)\n");
        std::fs::write(folder.path().join("wire.click"), text).unwrap();
        let output = trammel(folder.path(), &["check", "wire.click"]);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let warning = "frames are pushed to `lo`";
        assert_eq!(said.contains(warning), is_warned, "{between}: {said}");
        assert_eq!(
            said.contains("Click wants a Queue before it"),
            is_warned,
            "{said}"
        );
    }
}

#[test]
fn a_file_for_another_command_says_which() {
    let folder = folder();
    let said = refused(folder.path(), &["place", "clean.toml"]);
    assert!(said.contains("`trammel run clean.toml`"), "{said}");
    assert!(!said.contains("fault"), "{said}");
}

#[test]
fn a_quantity_too_large_for_a_number_says_so() {
    let folder = folder();
    let text = CLEAN.replace("10 ms", "1e400 s");
    std::fs::write(folder.path().join("large.toml"), text).unwrap();
    let said = refused(folder.path(), &["check", "large.toml"]);
    assert!(said.contains("too large to be meant"), "{said}");
    assert!(!said.contains("`1e400 s` is a time"), "{said}");
}

#[test]
fn an_unknown_paper_suggests_the_nearest_and_runs_nothing() {
    let said = refused(folder().path(), &["paper", "tekala-2007", "linux-6.21"]);
    assert!(said.contains("did you mean `linux-6.12`?"), "{said}");
    let said = refused(folder().path(), &["paper", "tekala-2007", "--write-docs"]);
    assert!(
        said.contains("trammel paper linux-6.12 --write-docs"),
        "{said}"
    );
}

/// Whether the folder beside the run folder is there that a run works in.
fn has_begun(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.any(|name| name.ends_with(".trammel"))
}

/// Whether a run has been kept there.
fn has_kept(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    let is_run = |path: &Path| {
        path.extension().is_some_and(|end| end == "json")
            && path
                .parent()
                .is_some_and(|parent| parent.ends_with("points"))
    };
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.any(|path| is_run(&path) || has_kept(&path))
}

/// Starts `args` in `folder` and ends it by `signal` once its work has begun, unless it ends by
/// itself.
fn ended_by(folder: &Path, args: &[&str], signal: &str) -> Output {
    ended_when(folder, args, signal, &has_begun)
}

/// The same, once `is_time`.
fn ended_when(
    folder: &Path,
    args: &[&str],
    signal: &str,
    is_time: &dyn Fn(&Path) -> bool,
) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(args).current_dir(folder);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    while !is_time(folder) {
        if child.try_wait().unwrap().is_some() {
            return child.wait_with_output().unwrap();
        }
        std::thread::yield_now();
    }
    // The handler is set before the folder is begun.
    let sent = Command::new("kill")
        .args([signal, &id.to_string()])
        .status();
    assert!(sent.unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn an_interrupted_paper_keeps_what_is_done_and_ends_with_130() {
    for (key, said) in [
        ("linux-6.12", "cases of `linux-6.12` are complete"),
        ("tekala-2007", "`tekala-2007` began"),
    ] {
        let folder = folder();
        let args = ["paper", key, "--full", "-o", "out", "-t", "1"];
        let output = ended_by(folder.path(), &args, "-INT");
        let text = String::from_utf8(output.stderr).unwrap();
        if output.status.code() == Some(3) {
            println!("skipped: {}", text.trim());
            continue;
        }
        assert_eq!(output.status.code(), Some(130), "{text}");
        assert!(
            text.contains("interrupted: ") && text.contains(said),
            "{text}"
        );
        let info = std::fs::read_to_string(folder.path().join("out/run.json")).unwrap();
        assert!(info.contains("\"interrupted\": true"), "{info}");
        assert!(folder.path().join("out/report.html").exists());
    }
}

/// Whether it was interrupted or killed: the same command does not make again what was done, and
/// nothing is left beside the folder.
#[test]
fn a_paper_goes_on_with_what_is_done() {
    for (signal, code) in [("-INT", Some(130)), ("-KILL", None)] {
        let folder = folder();
        let args = ["paper", "tekala-2007", "-o", "out", "-t", "1"];
        let ended = ended_when(folder.path(), &args, signal, &has_kept);
        assert_eq!(ended.status.code(), code);
        let mut again = Command::new(env!("CARGO_BIN_EXE_trammel"));
        again.args(args).current_dir(folder.path());
        again.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut again = again.spawn().unwrap();
        let mut said = BufReader::new(again.stderr.take().unwrap());
        let mut text = String::new();
        while !text.contains("resuming with ") {
            let read = said.read_line(&mut text).unwrap();
            assert!(read > 0, "{signal}: {text}");
        }
        let id = again.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.unwrap().success());
        said.read_to_string(&mut text).unwrap();
        assert_eq!(again.wait().unwrap().code(), Some(130), "{text}");
        assert!(
            text.contains("the same command resumes"),
            "{signal}: {text}"
        );
        let kept = std::fs::read_dir(folder.path().join("out/points")).unwrap();
        assert!(kept.count() > 0, "{signal}");
        let names = std::fs::read_dir(folder.path()).unwrap().flatten();
        let left = names.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
        assert_eq!(left.count(), 0, "{signal}");
    }
}

#[test]
fn a_termination_is_an_interrupt_that_keeps_what_is_done() {
    let folder = folder();
    let many = CLEAN.replace("duration = '1 s'", "duration = '20 s'\nrepeat = 4000");
    std::fs::write(folder.path().join("many.toml"), many).unwrap();
    let output = ended_by(
        folder.path(),
        &["run", "many.toml", "-o", "out", "-t", "1"],
        "-TERM",
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.signal(), None, "{said}");
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("of 4000 runs are finished and kept"),
        "{said}"
    );
    let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(
        report.contains("Interrupted after"),
        "the answer says that it is a part"
    );
    let names = std::fs::read_dir(folder.path()).unwrap().flatten();
    let left = names.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_file_of_the_user_is_not_overwritten_by_a_result() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("a.click"), "Idle -> Discard;\n").unwrap();
    let notes = "my notes\n";
    std::fs::write(at.join("notes"), notes).unwrap();
    let stop = "Idle -> Discard; DriverManager(stop)";
    for args in [
        &["graph", "a.click", "-o", "notes"][..],
        &["calibrate", "-o", "notes"],
        &["router", "-e", stop, "-o", "notes"],
        &["router", "-e", stop, "--counters", "notes"],
        &[
            "router",
            "-e",
            stop,
            "--trace",
            "1",
            "--trace-file",
            "notes",
        ],
        &[
            "bench",
            "--simulate",
            "a.click",
            "--tests",
            "throughput",
            "--profile",
            "notes",
        ],
    ] {
        let said = refused(at, args);
        assert!(said.contains("`notes` exists"), "{args:?}: {said}");
        assert_eq!(std::fs::read_to_string(at.join("notes")).unwrap(), notes);
    }
    // What such a command wrote itself is written anew.
    for _ in 0..2 {
        let again = trammel(
            at,
            &[
                "router",
                "-e",
                stop,
                "-o",
                "flat.click",
                "--counters",
                "c.toml",
            ],
        );
        let said = String::from_utf8_lossy(&again.stderr);
        assert_eq!(again.status.code(), Some(0), "{said}");
    }
    // A device stays one, and a folder that is not there is a fault before the work.
    let link = at.join("out");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    let written = trammel(at, &["router", "-e", stop, "--counters", "out"]);
    assert_eq!(written.status.code(), Some(0));
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    let said = refused(at, &["calibrate", "-o", "notes/below.toml"]);
    assert!(said.contains("cannot be written"), "{said}");
}

#[test]
fn a_name_without_its_kind_is_found_by_doc() {
    let folder = folder();
    for (name, command) in [
        ("bernoulli", "trammel doc loss bernoulli"),
        ("cubic", "trammel doc variant cubic"),
        ("IPFilter", "trammel doc element IPFilter"),
    ] {
        let said = refused(folder.path(), &["doc", name]);
        assert!(said.contains(command), "{said}");
    }
}
