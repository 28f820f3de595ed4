//! Placement files: servers, functions, chains; from text to a problem, with every fault shown at
//! once.
//!
//! ```text
//! text → tree → servers, functions, chains → cost of each chain on each kind of server → problem
//! ```
//! What a function costs is in the file, in a profile beside it, or asked of an [`Estimator`].

pub mod estimator;
mod functions;
pub mod keys;
mod parse;

pub use estimator::{Estimated, Estimator, NoAnswer, NoEstimator, Question};
pub use functions::Function;

use super::diagnose::{Problem as Fault, Problems};
use super::faults::Context;
use super::reading::Reading;
use super::tree::Node;
use super::{ReadError, Subject, source};
use std::path::Path;
use trammel_cost::place::faults;
use trammel_cost::place::model::Problem;

/// The word of `subject`.
pub const SUBJECT: &str = Subject::Placement.name();

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
    /// Reads `text`, called `name` in messages; files that it names are relative to `dir`.
    pub fn parse(
        name: &str,
        text: &str,
        dir: &Path,
        reading: &Reading<'_>,
    ) -> Result<PlacementFile, ReadError> {
        let root = source::root(name, text, reading)?;
        ReadError::unless(Subject::Placement, name, &root)?;
        PlacementFile::of_tree(name, text, dir, root, reading)
    }

    /// Reads the file at `path` as `reading` says.
    pub fn read(path: &Path, reading: &Reading<'_>) -> Result<PlacementFile, ReadError> {
        let (name, text, dir) = source::read(path)?;
        PlacementFile::parse(&name, &text, dir, reading)
    }

    /// The file of the tree `root` of `text`.
    pub(crate) fn of_tree(
        name: &str,
        text: &str,
        dir: &Path,
        root: Node,
        reading: &Reading<'_>,
    ) -> Result<PlacementFile, ReadError> {
        let cx = Context::new(dir, reading, &keys::ROOT);
        let mut file = parse::file(&cx, &root, reading.estimator);
        let mut list = cx.problems.into_inner();
        if list.is_empty() {
            list = spanned(&root, faults::faults(&file.problem));
        }
        if !list.is_empty() {
            let problems = Problems::new(name, text, list);
            return Err(ReadError::Faults(Box::new(problems)));
        }
        file.seed = reading.seed.unwrap_or(file.seed);
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
