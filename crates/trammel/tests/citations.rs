//! `trammel doc --citations` shows which requirements of standards the sources cite:
//!
//! ```text
//! //= rfc2544 §24
//! //# The duration of the test portion of each trial SHOULD be at least 60 seconds.
//! ```
//!
//! They are collected into `src/cli/citations.tsv`, which a package of the command carries. A test
//! compares the file with the sources; `UPDATE_DOCS=1` writes it anew.

use std::fs;
use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// The rows of one file: the standard, the section, the file, the words.
fn rows(file: &str, text: &str, into: &mut Vec<String>) {
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let cited = line.strip_prefix("//= ");
        let Some((name, section)) = cited.and_then(|cited| cited.split_once(' ')) else {
            continue;
        };
        let mut words = Vec::new();
        while let Some(quoted) = lines.peek().and_then(|line| line.strip_prefix("//# ")) {
            words.push(quoted.trim());
            lines.next();
        }
        let row = [name, section, file, &words.join(" ")].map(|cell| cell.replace('\t', " "));
        into.push(row.join("\t"));
    }
}

#[test]
fn the_table_of_citations_is_that_of_the_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = here.join("..");
    let mut all = Vec::new();
    let mut folders: Vec<PathBuf> = entries(&crates).map(|path| path.join("src")).collect();
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).expect("a source is text");
                let name = path.strip_prefix(&crates).expect("it is of a crate");
                rows(&format!("crates/{}", name.display()), &text, &mut all);
            }
        }
    }
    assert!(all.len() > 100, "only {} citations", all.len());
    all.sort();
    let wanted: String = all.iter().map(|row| format!("{row}\n")).collect();
    let table = here.join("src/cli/citations.tsv");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(table, wanted).expect("the table can be written");
    }
    let is = fs::read_to_string(table).expect("the table is there");
    for (is, should) in is.lines().zip(wanted.lines()) {
        assert_eq!(is, should, "UPDATE_DOCS=1 mends it");
    }
    assert_eq!(is.len(), wanted.len(), "UPDATE_DOCS=1 mends it");
}
