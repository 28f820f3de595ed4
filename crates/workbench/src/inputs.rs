//! All that decides what a run's trials come to, as one checksum: trials that were kept with
//! another one are not this run's.
//!
//! Options and settings; the contents of every file that they name, and of every file that such a
//! file names: a configuration's libraries, tables and captures, a program's script; the machine
//! that costs are of; the build of this program; the machine and the kernel that this is. A word of
//! a text is taken for a file where there is one of that name: one too many makes trials anew, one
//! too few would keep wrong ones. What a document names is no input: its links would lead through a
//! whole repository.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use trammel_ground::sha256;
#[cfg(target_os = "linux")]
use trammel_io::program;

/// A longer text is looked through for names of files no further.
const LONGEST_TEXT: u64 = 1 << 20;
/// Files that are followed from one to the next, at most.
const MOST_FILES: usize = 4096;
/// Endings of documents, which are read by people.
const DOCUMENTS: &[&str] = &["md", "rst", "html"];
/// What ends a word, in configurations, scripts and commands.
const ENDS: &[char] = &[
    '"', '\'', '(', ')', ',', ';', '=', '[', ']', '{', '}', '<', '>', '|', '&', '`',
];

/// What is known so far.
#[derive(Debug, Default)]
pub struct Inputs {
    said: Vec<String>,
    files: BTreeMap<PathBuf, String>,
}

impl Inputs {
    /// Adds what something is, by all that it is made of.
    pub fn add(&mut self, what: &impl Debug) {
        self.said.push(format!("{what:?}"));
    }

    /// Adds the file of a configuration, and what it names.
    pub fn file(&mut self, file: &Path) {
        let mut next = vec![file.to_owned()];
        while let Some(path) = next.pop() {
            // By one name each, however it was written.
            let path = std::fs::canonicalize(&path).unwrap_or(path);
            if self.files.contains_key(&path) || self.files.len() >= MOST_FILES {
                continue;
            }
            let Ok(about) = std::fs::metadata(&path) else {
                continue;
            };
            if !about.is_file() {
                continue;
            }
            let sum = sha256::of_file(&path).unwrap_or_else(|why| why.to_string());
            let ending = path.extension().and_then(|ending| ending.to_str());
            let is_document = ending.is_some_and(|ending| DOCUMENTS.contains(&ending));
            if about.len() <= LONGEST_TEXT && !is_document {
                let text = std::fs::read(&path).unwrap_or_default();
                next.extend(named(&String::from_utf8_lossy(&text), path.parent()));
            }
            self.files.insert(path, sum);
        }
    }

    /// Adds a command for the shell: its text, the programs in it, and the files that it names.
    #[cfg(target_os = "linux")]
    pub fn command(&mut self, command: &str) {
        self.add(&command);
        for word in words(command) {
            if let Some(program) = program::find(word) {
                let sum = sha256::of_file(&program).unwrap_or_else(|why| why.to_string());
                self.files.insert(program, sum);
            }
        }
        for file in named(command, None) {
            self.file(&file);
        }
    }

    /// The checksum.
    pub fn sum(&self) -> String {
        sha256::of(format!("{:?} {:?}", self.said, self.files))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |letter: char| letter.is_whitespace() || ENDS.contains(&letter);
    text.split(is_end).filter(|word| !word.is_empty())
}

/// The files that `text` names, from here or from the folder that it is in.
fn named(text: &str, folder: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for word in words(text) {
        let places = [
            Some(PathBuf::from(word)),
            folder.map(|folder| folder.join(word)),
        ];
        let files = places.into_iter().flatten().filter(|path| path.is_file());
        found.extend(files);
        // A library, by its name alone.
        let library = folder.map(|folder| folder.join(format!("{word}.click")));
        found.extend(library.filter(|path| path.is_file()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::write;

    fn sum(file: &Path) -> String {
        let mut inputs = Inputs::default();
        inputs.file(file);
        inputs.sum()
    }

    #[test]
    fn whatever_a_configuration_reads_is_a_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let main = at("router.click");
        write(at("routes.txt"), "0.0.0.0/0 0").unwrap();
        write(at("library.click"), "elementclass A { input -> output }").unwrap();
        let capture = at("sample.pcap");
        write(&capture, [0_u8, 255, 3]).unwrap();
        let text = format!(
            "require(library library.click); FromDump(\"{}\") -> A -> Discard; // routes.txt",
            capture.display()
        );
        write(&main, &text).unwrap();
        let mut sums = vec![sum(&main)];
        assert_eq!(sum(&main), sums[0]);
        for (file, contents) in [
            (&main, format!("{text} ")),
            (&at("routes.txt"), "0.0.0.0/0 1".to_owned()),
            (
                &at("library.click"),
                "elementclass A { input -> Null -> output }".to_owned(),
            ),
            (&capture, "another".to_owned()),
        ] {
            write(file, contents).unwrap();
            sums.push(sum(&main));
        }
        let all = sums.len();
        sums.sort();
        sums.dedup();
        assert_eq!(sums.len(), all);
    }

    #[test]
    fn documents_lead_no_further_and_a_file_counts_once_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write(
            at("script.py"),
            "# see page.md, ./page.md; table.csv ./table.csv",
        )
        .unwrap();
        write(at("page.md"), "as other.csv").unwrap();
        write(at("table.csv"), "1").unwrap();
        write(at("other.csv"), "1").unwrap();
        let mut inputs = Inputs::default();
        inputs.file(&at("script.py"));
        let names = inputs.files.keys().map(|path| path.file_name().unwrap());
        let names: Vec<_> = names.collect();
        assert_eq!(names, ["page.md", "script.py", "table.csv"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_command_is_its_programs_and_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("device.sh");
        write(&script, "one").unwrap();
        let sum = || {
            let mut inputs = Inputs::default();
            inputs.command(&format!("sh '{}' --in {{in}}", script.display()));
            assert!(inputs.files.len() >= 2, "{:?}", inputs.files);
            inputs.sum()
        };
        let before = sum();
        assert_eq!(sum(), before);
        write(&script, "two").unwrap();
        assert_ne!(sum(), before);
    }
}
