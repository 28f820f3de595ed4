//! Lines of Rust sources end at column 100.
//!
//! The formatter keeps code within it, and leaves comments, strings and the insides of some macros.
//! Rows of tables and drawings in doc comments may be longer: broken, they are no rows any more.

use std::fs;
use std::path::{Path, PathBuf};

/// The last column of a line.
const WIDTH: usize = 100;

/// Files with text of other languages or rows of data, which is clearer unbroken.
const EXCEPTIONS: [&str; 4] = [
    "crates/cost/src/machine_reader.rs",
    "crates/testbeds/src/beds/measurer/mod.rs",
    "crates/trammel/tests/bench_measurer.rs",
    "crates/trammel/tests/report/browser.rs",
];

/// The Rust sources in `folder` and below.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// The text of a line of a doc comment.
fn documented(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("//!").or(line.strip_prefix("///"))
}

/// The numbers of lines that are too long, and these.
fn long_lines(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut is_fenced) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let doc = documented(line);
        is_fenced = doc.is_some_and(|doc| is_fenced != doc.trim_start().starts_with("```"));
        let is_drawn = is_fenced || doc.is_some_and(|doc| doc.starts_with(" |"));
        if line.chars().count() > WIDTH && !is_drawn {
            found.push((at + 1, line));
        }
    }
    found
}

#[test]
fn lines_end_at_column_100() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["benches", "crates", "fuzz"] {
        sources(&root.join(folder), &mut files);
    }
    files.sort();
    assert!(files.len() > 1000, "too few sources: {}", files.len());
    let mut faults = Vec::new();
    for path in &files {
        let name = path.strip_prefix(&root).expect("it is below the root");
        if EXCEPTIONS.iter().any(|file| name == Path::new(file)) {
            continue;
        }
        let text = fs::read_to_string(path).expect("the file exists");
        for (number, line) in long_lines(&text) {
            faults.push(format!("{}:{number}: {line}", name.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
