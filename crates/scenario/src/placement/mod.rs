//! Placement files: servers, functions, chains; from text to a problem, with every fault shown at once.
//!
//! ```text
//! text → tree → servers, functions, chains → cost of each chain on each kind of server → problem
//! ```
//! What a function costs is in the file, in a profile beside it, or asked of an [`Estimator`].

mod functions;
pub mod keys;
mod parse;

pub use functions::Function;

use super::diagnose::{Problem as Fault, Problems};
use super::faults::Context;
use super::tree::Node;
use super::{ReadError, tree_of, unreadable};
use std::cell::RefCell;
use std::path::Path;
use trammel_cost::place::faults;
use trammel_cost::place::model::{Problem, Work};

/// The word of `subject`.
pub const SUBJECT: &str = "placement";

/// A function whose costs are not in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimated<'a> {
    /// A function of a paper, by name.
    Paper(&'a str),
    /// A Click file.
    Click(&'a Path),
}

/// What an estimator is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The function.
    pub function: Estimated<'a>,
    /// Frame size, bytes.
    pub frame_bytes: u32,
    /// Flows that its packets belong to.
    pub flows: u64,
    /// Routes, rules or entries that it knows.
    pub routes: u64,
    /// The machine that the server names.
    pub machine: Option<&'a str>,
    /// The server's clock, Hz.
    pub clock_hz: f64,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    /// Why.
    pub why: String,
    /// What to do: the nearest name, for one.
    pub help: String,
}

/// Tells what functions cost that have no numbers in the file.
pub trait Estimator {
    /// What a packet costs, on one core, with its tables in the last-level cache.
    fn work(&self, question: &Question<'_>) -> Result<Work, NoAnswer>;
}

/// An estimator that knows no function.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEstimator;

impl Estimator for NoEstimator {
    fn work(&self, _: &Question<'_>) -> Result<Work, NoAnswer> {
        Err(NoAnswer {
            why: "this version estimates no function for a placement".to_owned(),
            help: "give its `cycles`, or a `profile`".to_owned(),
        })
    }
}

/// A placement file that was read without a fault.
#[derive(Clone, Debug)]
pub struct PlacementFile {
    /// Its name, as the user wrote it.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Seed of the simulated cores.
    pub seed: u64,
    /// Where co-location was measured on these servers.
    pub validated: Option<String>,
    /// Bytes of the pages that tables are on, for each kind of server; 0 without huge pages.
    pub huge_page_bytes: Vec<u64>,
    /// The functions of each chain, by name.
    pub functions: Vec<Vec<String>>,
    /// What is to be solved.
    pub problem: Problem,
    text: String,
    root: Node,
}

impl PlacementFile {
    /// Reads the file at `path`.
    pub fn read(path: &Path, estimator: &dyn Estimator) -> Result<PlacementFile, ReadError> {
        let name = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|error| unreadable(&name, path, &error))?;
        let dir = path.parent().unwrap_or(Path::new("."));
        PlacementFile::parse(&name, &text, dir, estimator)
    }

    /// Reads `text`, called `name` in messages; files that it names are relative to `dir`.
    pub fn parse(
        name: &str,
        text: &str,
        dir: &Path,
        estimator: &dyn Estimator,
    ) -> Result<PlacementFile, ReadError> {
        let refuse = |list| ReadError::Faults(Box::new(Problems::new(name, text, list)));
        let root = tree_of(text).map_err(|fault| refuse(vec![fault]))?;
        if let Some((subject, command)) = of_another_subject(&root) {
            let file = name.to_owned();
            return Err(ReadError::Elsewhere {
                file,
                subject,
                command,
            });
        }
        let cx = Context {
            problems: RefCell::new(Vec::new()),
            dir,
            engines: &[],
            refusals: |_, _| Vec::new(),
            root: &keys::ROOT,
        };
        let mut file = parse::file(&cx, &root, estimator);
        let mut list = cx.problems.into_inner();
        if list.is_empty() {
            list = spanned(&root, faults::faults(&file.problem));
        }
        if !list.is_empty() {
            return Err(refuse(list));
        }
        name.clone_into(&mut file.name);
        text.clone_into(&mut file.text);
        file.root = root;
        Ok(file)
    }

    /// Its text, as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `faults` of its problem as faults of the file.
    pub fn refuse(&self, faults: Vec<faults::Fault>) -> ReadError {
        let list = spanned(&self.root, faults);
        ReadError::Faults(Box::new(Problems::new(&self.name, &self.text, list)))
    }
}

/// The subject of a file that is no placement, and the command for it: that which it names, or transport where it names
/// none and has none of a placement's tables.
fn of_another_subject(root: &Node) -> Option<(&'static str, &'static str)> {
    const TRANSPORT: (&str, &str) = ("transport", "run");
    let table = root.as_table()?;
    let named = table.get("subject").and_then(|entry| entry.node.as_text());
    let is_like_ours = ["server", "chain", "function"]
        .iter()
        .any(|key| table.get(key).is_some());
    match named {
        Some(SUBJECT) => None,
        Some(named) => {
            let mut others = super::ELSEWHERE.iter().copied().chain([TRANSPORT]);
            others.find(|(subject, _)| *subject == named)
        }
        None => (!is_like_ours).then_some(TRANSPORT),
    }
}

/// Faults of the model where the file has what they name.
fn spanned(root: &Node, faults: Vec<faults::Fault>) -> Vec<Fault> {
    let fault = |fault: faults::Fault| {
        let place: Vec<String> = fault.place.split('.').map(str::to_owned).collect();
        Fault {
            span: super::parse::span_of(root, &place),
            what: fault.what,
            why: fault.why,
            help: fault.help,
        }
    };
    faults.into_iter().map(fault).collect()
}
