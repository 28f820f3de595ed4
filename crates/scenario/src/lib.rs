//! Scenario files: from text to points, each a complete scenario, with every fault shown at once.
//!
//! ```text
//! text → tree (every value knows its place) → sweep edits the tree → parse reads each point → check
//! ```
//! The model is plain data that a Rust program may build without any file.
#![forbid(unsafe_code)]

mod budget;
pub mod check;
pub mod columns;
pub mod diagnose;
mod faults;
pub mod flow;
#[cfg(target_os = "linux")]
pub mod forwarding;
pub mod hash;
pub mod keys;
pub mod keys_kind;
pub mod model;
pub mod named;
mod parse;
pub mod path;
pub mod placement;
pub mod plugin;
pub mod preset;
mod reader;
pub mod reference;
pub mod registry;
pub mod schema;
pub mod sweep;
mod sweep_axes;
mod sweep_edit;
pub mod topology;
pub mod traffic;
pub mod tree;
pub mod workload;

pub use flow::{DelayedAck, Flow, Stack};
pub use model::Scenario;
pub use path::{Limit, Queue};

use diagnose::{Problem, Problems};
use model::Engine;
use std::cell::RefCell;
use std::path::Path;
use sweep::Point;

/// Subjects that have readers of their own, and the command that takes their files.
const ELSEWHERE: &[(&str, &str)] = &[
    (placement::SUBJECT, "place"),
    ("forwarding", "run"),
    (traffic::SUBJECT, "run"),
];

/// A scenario file that was read without a fault.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name, as the user wrote it.
    pub name: String,
    /// Its text, for the run folder.
    pub text: String,
    /// Its points, in the order of its sweep; one where it sweeps nothing.
    pub points: Vec<Point>,
}

impl File {
    /// Whether any point asks for captures.
    pub fn captures_packets(&self) -> bool {
        let mut points = self.points.iter();
        points.any(|point| point.scenario.pcap != model::Pcap::Off)
    }

    /// A file of one point, for a scenario that was built from Rust.
    pub fn of(scenario: model::Scenario) -> anyhow::Result<File> {
        scenario.check().map_err(|faults| {
            let faults = faults.into_iter().map(|fault| {
                let parts = [fault.place, fault.what, fault.why, fault.help];
                let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                parts.join(": ")
            });
            anyhow::anyhow!(faults.collect::<Vec<_>>().join("\n"))
        })?;
        let point = Point {
            id: "base".to_owned(),
            swept: Vec::new(),
            hash: hash::of(&scenario),
            scenario,
        };
        Ok(File {
            name: "scenario".to_owned(),
            text: String::new(),
            points: vec![point],
        })
    }
}

/// What engines refuse of a scenario: nothing where they can run it.
pub type Refusals = fn(&model::Scenario, &[Engine]) -> Vec<check::Fault>;

/// For what a file is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// Dotted keys to set, as a sweep would set them.
    pub set: &'a [(String, tree::Value)],
    /// The engines that are asked for; where none are given, the file's own.
    pub engines: &'a [Engine],
    /// What they refuse is a fault of the file.
    pub refusals: Refusals,
}

impl Default for Reading<'_> {
    /// Nothing is set, and no engine is asked.
    fn default() -> Self {
        Reading {
            set: &[],
            engines: &[],
            refusals: |_, _| Vec::new(),
        }
    }
}

/// Why a scenario file cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("`{file}` cannot be read: {why}; {help}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        why: String,
        /// What to do.
        help: String,
    },
    /// The file has faults.
    #[error("{0}")]
    Faults(Box<Problems>),
    /// Another command takes files of this subject.
    #[error(
        "`{file}`: subject `{subject}` is for `trammel {command}`; run `trammel {command} {file}`"
    )]
    Elsewhere {
        /// The file.
        file: String,
        /// The subject.
        subject: &'static str,
        /// The command.
        command: &'static str,
    },
}

impl File {
    /// Reads the scenario file at `path`, whatever engines would refuse of it.
    pub fn read(path: &Path) -> Result<File, ReadError> {
        File::read_with(path, &Reading::default())
    }

    /// Reads the scenario file at `path` as `reading` says.
    pub fn read_with(path: &Path, reading: &Reading<'_>) -> Result<File, ReadError> {
        let name = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|error| unreadable(&name, path, &error))?;
        let dir = path.parent().unwrap_or(Path::new("."));
        File::parse_with(&name, &text, dir, reading)
    }

    /// Reads `text`, called `name` in messages; files that it names are relative to `dir`.
    pub fn parse(name: &str, text: &str, dir: &Path) -> Result<File, ReadError> {
        File::parse_with(name, text, dir, &Reading::default())
    }

    /// As [`File::parse`], as `reading` says.
    pub fn parse_with(
        name: &str,
        text: &str,
        dir: &Path,
        reading: &Reading<'_>,
    ) -> Result<File, ReadError> {
        let refuse = |list| ReadError::Faults(Box::new(Problems::new(name, text, list)));
        let mut root = tree_of(text).map_err(|fault| refuse(vec![fault]))?;
        let subject = root.as_table().and_then(|table| table.get("subject"));
        let elsewhere = ELSEWHERE
            .iter()
            .find(|(word, _)| subject.and_then(|s| s.node.as_text()) == Some(word));
        if let Some((subject, command)) = elsewhere {
            return Err(ReadError::Elsewhere {
                file: name.to_owned(),
                subject,
                command,
            });
        }
        let cx = faults::Context {
            problems: RefCell::new(Vec::new()),
            dir,
            engines: reading.engines,
            refusals: reading.refusals,
            root: &keys::ROOT,
        };
        for (key, value) in reading.set {
            let node = tree::Node {
                span: 0..0,
                value: value.clone(),
            };
            if let Err(why) = sweep_edit::set(&mut root, key, &node) {
                cx.fault(&(0..0), format!("`{key}` cannot be set"), why, "");
            }
        }
        let points = sweep::expand(&cx, &root);
        let problems = cx.problems.into_inner();
        if problems.is_empty() {
            Ok(File {
                name: name.to_owned(),
                text: text.to_owned(),
                points,
            })
        } else {
            Err(refuse(problems))
        }
    }

    /// The columns of the swept parameters, in order.
    pub fn columns(&self) -> Vec<&str> {
        let first = self.points.first().map_or(&[][..], |point| &point.swept);
        first.iter().map(|swept| swept.column.as_str()).collect()
    }

    /// Starts the seeds of every point at `seed`.
    pub fn reseed(&mut self, seed: u64) {
        for point in &mut self.points {
            point.scenario.seed = seed;
            point.hash = hash::of(&point.scenario);
        }
    }
}

/// The tree of a scenario's text, or why it has none.
fn tree_of(text: &str) -> Result<tree::Node, Problem> {
    let root = tree::Node::parse(text).map_err(|error| Problem {
        span: error.span,
        what: "this is not TOML".to_owned(),
        help: help_with(&error.message),
        why: error.message,
    })?;
    if text.trim().is_empty() {
        return Err(Problem {
            span: 0..0,
            what: "the file is empty".to_owned(),
            why: "a scenario says what to run".to_owned(),
            help: "begin with a file of `examples`, or with `trammel doc scenario`".to_owned(),
        });
    }
    Ok(root)
}

/// Why the file at `path` cannot be read, and what to do.
fn unreadable(name: &str, path: &Path, error: &std::io::Error) -> ReadError {
    use std::io::ErrorKind as Kind;
    let (why, help) = match error.kind() {
        Kind::NotFound => ("there is no such file".to_owned(), neighbour(path)),
        Kind::InvalidData => (
            "it is not text in UTF-8".to_owned(),
            "a scenario is a text file in TOML".to_owned(),
        ),
        Kind::PermissionDenied => (
            "you may not read it".to_owned(),
            format!("`chmod u+r {name}` lets its owner"),
        ),
        _ if path.is_dir() => (
            "it is a folder".to_owned(),
            "give a scenario file in it".to_owned(),
        ),
        _ => (error.to_string(), "give another file".to_owned()),
    };
    ReadError::Io {
        file: name.to_owned(),
        why,
        help,
    }
}

/// What to give in place of a file that is not there: the one beside it whose name is nearest.
fn neighbour(path: &Path) -> String {
    let folder = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = names
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    match trammel_core::units::nearest(&wanted, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{}`?", path.with_file_name(name).display()),
        None => "give the path of a scenario file".to_owned(),
    }
}

/// What to do about a fault of TOML's grammar, as far as its message tells.
fn help_with(message: &str) -> String {
    let help = if message.contains("duplicate key") {
        "keep one of the two"
    } else if message.contains("number overflowed") {
        "give a smaller number; whole numbers end at 9223372036854775807"
    } else {
        "https://toml.io/en/v1.0.0 shows how values and tables are written"
    };
    help.to_owned()
}
