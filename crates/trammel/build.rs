//! Collects which requirements of standards the source cites, for `trammel doc --citations`.
//!
//! ```text
//! //= rfc2544 §24
//! //# The duration of the test portion of each trial SHOULD be at least 60 seconds.
//! ```

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut citations = Vec::new();
    let mut folders: Vec<PathBuf> = entries(&crates)
        .map(|folder| folder.join("src"))
        .filter(|folder| folder.is_dir())
        .collect();
    while let Some(folder) = folders.pop() {
        println!("cargo:rerun-if-changed={}", folder.display());
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let name = path.strip_prefix(&crates).unwrap_or(&path);
                collect(&format!("crates/{}", name.display()), &text, &mut citations);
            }
        }
    }
    citations.sort();
    let rows: String = citations
        .iter()
        .map(|[text, section, file, words]| {
            format!("({text:?}, {section:?}, {file:?}, {words:?}),\n")
        })
        .collect();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets the variable"));
    fs::write(out.join("citations.rs"), format!("[{rows}]")).expect("the file can be written");
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// Adds the citations of one file: the standard, the section, the file, the words.
fn collect(file: &str, text: &str, citations: &mut Vec<[String; 4]>) {
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let Some((name, section)) = line
            .strip_prefix("//= ")
            .and_then(|cited| cited.split_once(' '))
        else {
            continue;
        };
        let mut words = Vec::new();
        while let Some(quoted) = lines.peek().and_then(|line| line.strip_prefix("//# ")) {
            words.push(quoted.trim());
            lines.next();
        }
        let words = words.join(" ");
        citations.push([name, section, file, &words].map(str::to_owned));
    }
}
