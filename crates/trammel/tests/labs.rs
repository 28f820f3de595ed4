//! The course and the ring of devices: every command of the documents runs, one after the other in
//! one lab, and gives the output that is shown.
//!
//! A command stands behind `lab# ` in a block marked `console`; what follows up to the next is its
//! output, as `docs.rs` compares it. A command without output is only run.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

mod shown;

use shown::fits;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROMPT: &str = "lab# ";
/// Begins what a command writes; no document has it.
const MARK: char = '\u{1}';
/// The longest that a document may take, in seconds.
const PATIENCE: &str = "240";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs `words` in a lab of its own; exit code and all that is written.
fn lab(words: &[&str]) -> (Option<i32>, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_trammel"));
    let folder = program.parent().expect("a program is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("timeout");
    // The lab ends with its first process, and all that it started with it.
    command.args(["-s", "KILL", PATIENCE]);
    command
        .arg(root().join("examples/netfpga-ring/lab"))
        .args(words);
    command.current_dir(root()).stdin(Stdio::null());
    let sbin = format!("{}:{path}:/usr/sbin:/sbin", folder.display());
    let output = command.env("PATH", sbin).env("NO_COLOR", "1").output();
    let output = output.expect("`timeout` is of every Linux");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// Why no lab can be had here.
fn lack() -> Option<String> {
    for program in ["unshare", "ip", "ping"] {
        if trammel_io::program::find(program).is_none() {
            return Some(format!("`{program}` is not installed"));
        }
    }
    let (code, said) = lab(&["sh", "-c", "ip netns add x && test -w /dev/net/tun"]);
    (code != Some(0)).then(|| format!("no lab can be had here: {said}"))
}

/// The commands of a document, each with the output that is shown.
fn commands(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_shown = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_shown = line == "```console";
        } else if let Some(command) = line.strip_prefix(PROMPT).filter(|_| is_shown) {
            all.push((command, Vec::new()));
        } else if let (true, Some((_, shown))) = (is_shown, all.last_mut()) {
            shown.push(line);
        }
    }
    all
}

fn all_is_as_shown(name: &str) {
    if let Some(why) = lack() {
        println!("skipped: {name}: {why}");
        return;
    }
    let text = std::fs::read_to_string(root().join(name)).unwrap();
    let commands = commands(&text);
    assert!(commands.len() >= 10, "only {} commands", commands.len());
    let mut script = "exec 2>&1\n".to_owned();
    for (command, _) in &commands {
        script += &format!("{command}\nprintf '\\n\\001'\n");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    std::fs::write(&path, script).unwrap();
    let (code, said) = lab(&["bash", "--norc", &path.display().to_string()]);
    let outputs: Vec<&str> = said.split(MARK).collect();
    assert!(
        outputs.len() > commands.len(),
        "{name}: it ended with {code:?} at `{}`: {said}",
        commands[outputs.len() - 1].0
    );
    for ((command, shown), output) in commands.iter().zip(outputs) {
        let output = output.strip_suffix('\n').unwrap_or(output);
        let lines: Vec<&str> = output.lines().collect();
        assert!(
            shown.is_empty() || fits(shown, &lines),
            "{name}: `{command}` shows\n{}\nand says\n{output}\nof\n{said}",
            shown.join("\n")
        );
    }
}

#[test]
fn the_course_is_as_shown() {
    all_is_as_shown("docs/netfpga-course.md");
}

#[test]
fn the_ring_with_frr_is_as_shown() {
    if !Path::new("/usr/lib/frr/zebra").exists() {
        println!("skipped: FRR is not installed: apt-get install frr");
    } else if !is_root() {
        println!("skipped: FRR changes its user and groups, which needs root");
    } else {
        all_is_as_shown("examples/netfpga-ring/README.md");
    }
}

/// Whether this is root with every user, and not that of a user namespace.
fn is_root() -> bool {
    let users = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let is_whole = users.split_whitespace().eq(["0", "0", "4294967295"]);
    is_whole && std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
