//! The function by which a guest writes a program's registers back, on processors whose area is
//! shorter, as long and longer than what a guest keeps: it is taken from the patch, compiled for
//! this host and run on areas that are made up, and on this processor's own.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::Command;

const PATCH: &str = include_str!("../gpl/xstate-6.12.patch");
/// Bytes that Linux 6.12 keeps.
const KEPT: usize = 2696;
/// Those of the state of every x86-64 processor, with the header: less than the area of any that
/// has AVX.
const LEAST: usize = 576;
/// What the function reads at most.
const MOST: usize = 32_768;

/// The lines that the patch adds from one to another, both included.
fn added(first: &str, last: &str) -> String {
    let lines = PATCH.lines().filter_map(|line| line.strip_prefix('+'));
    let lines = lines.skip_while(|line| *line != first);
    let mut text = String::new();
    for line in lines {
        text += line;
        text += "\n";
        if line == last {
            return text;
        }
    }
    panic!("the patch has no `{first}` … `{last}`");
}

/// The function as a program that keeps `kept` bytes; nothing, with the reason printed, where there
/// is no compiler.
fn harness(folder: &Path, kept: usize) -> Option<PathBuf> {
    let function = added("#ifdef PTRACE_SETREGSET", "#endif");
    std::fs::write(folder.join("write_xstate.h"), function).unwrap();
    let program = folder.join("harness");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xstate/harness.c");
    let compiled = Command::new("gcc")
        .args(["-Wall", "-Werror", "-O1", "-I"])
        .arg(folder)
        .arg(format!("-DKEPT={kept}"))
        .arg("-o")
        .args([&program, &source])
        .output();
    match compiled {
        Err(why) => {
            println!("skipped: `gcc` does not run: {why}");
            None
        }
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
            Some(program)
        }
    }
}

fn said(program: &Path, length: Option<usize>) -> String {
    let output = Command::new(program)
        .args(length.map(|length| length.to_string()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(output.status.success(), "{length:?}: {said}");
    said
}

#[test]
fn an_area_of_any_length_is_written_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = harness(folder.path(), KEPT) else {
        return;
    };
    // SSE, AVX, AVX-512, with protection keys: as long as before or shorter, and read once to learn
    // that.
    for length in [576, 832, 2440, 2688, KEPT] {
        assert_eq!(said(&program, Some(length)), "written, 1 reads", "{length}");
    }
    // AMX, and what may come: read before each write, and nothing behind is changed.
    for length in [KEPT + 8, 2752, 11_008, 20_000, MOST] {
        assert_eq!(said(&program, Some(length)), "written, 3 reads", "{length}");
    }
    // What is longer than can be read is refused (EFAULT), as before.
    assert_eq!(said(&program, Some(MOST + 64)), "refused 14");
}

#[test]
fn this_processor_takes_an_area_that_is_longer_than_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = harness(folder.path(), LEAST) else {
        return;
    };
    let said = said(&program, None);
    if said.starts_with("no area") {
        println!(
            "skipped: this system does not tell the state of a program that is traced: {said}"
        );
        return;
    }
    assert_eq!(said, "written");
}
