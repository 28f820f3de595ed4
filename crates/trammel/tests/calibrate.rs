//! `trammel calibrate` on this machine, end to end: what it writes is a machine. No times are
//! judged.

use std::path::Path;
use std::process::{Command, Output};
use trammel_core::label::Label;
use trammel_cost::eo;
use trammel_cost::machine::Machine;

fn trammel(args: &[&str], data: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(args).env("XDG_DATA_HOME", data);
    command.output().expect("the program can be started")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Noise on the machine that runs the tests must not decide on them: what it spoils is done again,
/// so many times.
const ATTEMPTS: usize = 5;

/// What is wrong with a machine that was calibrated, where noise alone can be the reason.
fn spoilt(machine: &Machine) -> Option<String> {
    let probed = eo::all().into_iter().filter(|entry| entry.probe.is_some());
    let costless = probed.into_iter().find(|entry| {
        let constants = machine.constants_of(entry).unwrap();
        assert!(machine.spread_of(entry) > 0.0);
        constants.iter().all(|constant| *constant <= 0.0)
    });
    if let Some(entry) = costless {
        return Some(format!("`{}` costs nothing", entry.about.name));
    }
    // What only a router can tell: its calls and its turns in vain.
    let routers = [("call", "call"), ("driver", "call"), ("poll", "empty")];
    let costless = routers
        .into_iter()
        .find(|(operation, constant)| machine.constants[*operation][*constant] <= 0.0);
    costless.map(|(operation, constant)| format!("`{operation}.{constant}` costs nothing"))
}

#[test]
fn this_machine_is_written_where_host_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trammel/machines/host.toml");
    let mut noise = Vec::new();
    while noise.len() < ATTEMPTS {
        let output = trammel(&["calibrate", "--budget", "5s", "--force"], folder.path());
        let said = stderr(&output);
        if said.contains("the kernel does not tell") || said.contains("MiB are free") {
            eprintln!("skipped: {said}");
            return;
        }
        // What not even `--force` writes.
        if output.status.code() == Some(3) {
            noise.push(said);
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{said}");
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(printed.trim_end(), path.display().to_string());
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "something was left beside the file");

        let machine = trammel::workbench::machines::find(path.to_str().unwrap()).unwrap();
        assert_eq!(machine.full_name(), "host:measured");
        assert_eq!(machine.origin, Label::Measured);
        assert!(
            machine.source.contains("load average"),
            "{}",
            machine.source
        );
        assert!(machine.constants.contains_key("pace"));
        match spoilt(&machine) {
            Some(why) => noise.push(why),
            None => break,
        }
    }
    assert!(noise.len() < ATTEMPTS, "{}", noise.join("\n"));

    let listed = trammel(&["list", "machines"], folder.path());
    let listed = String::from_utf8(listed.stdout).unwrap();
    let host = listed.lines().find(|line| line.starts_with("host "));
    assert!(
        host.is_some_and(|line| line.ends_with("(measured)")),
        "{listed}"
    );
    assert!(listed.contains("xeon-e5-2690v2"), "{listed}");
}

#[test]
fn what_is_not_calibrated_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let listed = trammel(&["list", "machines"], folder.path());
    assert_eq!(listed.status.code(), Some(0));
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(
        !listed.lines().any(|line| line.starts_with("host ")),
        "{listed}"
    );
}

#[test]
fn times_that_are_too_short_or_too_long_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for budget in ["1s", "5 min", "soon", "10 MB"] {
        let output = trammel(&["calibrate", "--budget", budget], folder.path());
        assert_eq!(output.status.code(), Some(2), "{budget}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_the_earlier_file_as_it_was() {
    use std::io::Read;
    use std::process::Stdio;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    // One that this command writes: any other is refused.
    let earlier = include_str!("../../cost/src/machines/epyc-7532.toml");
    std::fs::write(&path, earlier).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["calibrate", "--budget", "120s", "-o"])
        .arg(&path)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    // The handler is there when the process maps its large buffer; signals before that would end it
    // at once.
    let statm = format!("/proc/{}/statm", child.id());
    let is_measuring = || {
        let text = std::fs::read_to_string(&statm).unwrap_or_default();
        let pages = text.split(' ').nth(1).and_then(|pages| pages.parse().ok());
        pages.unwrap_or(0_u64) > 20_000
    };
    while !is_measuring() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    Command::new("kill").args(["-INT", &id]).status().unwrap();
    let status = child.wait().unwrap();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    if said.contains("the kernel does not tell") || said.contains("MiB are free") {
        eprintln!("skipped: {said}");
        return;
    }
    assert_eq!(status.code(), Some(130), "{said}");
    assert_eq!(said, "interrupted; nothing was written\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), earlier);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
