//! For what a description is read: what is set, which engines are asked, who estimates functions.

use crate::check;
use crate::model::{Engine, Scenario};
use crate::placement::estimator::{Estimator, NoEstimator};
use crate::tree;
use std::path::Path;

/// What engines refuse of a scenario: nothing where they can run it.
pub type Refusals = fn(&Scenario, &[Engine]) -> Vec<check::Fault>;

/// Loads the library at a path, and returns the name of its congestion control, or why not.
pub type Libraries = fn(&Path) -> Result<&'static str, String>;

/// For what a file is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// Dotted keys to set, as a sweep would set them.
    pub set: &'a [(String, tree::Value)],
    /// The engines that are asked for; where none are given, the file's own.
    pub engines: &'a [Engine],
    /// What they refuse is a fault of the file.
    pub refusals: Refusals,
    /// Loads what `variant = { library = … }` names: code of the user's. Refuses it by default.
    pub libraries: Libraries,
    /// The seed in place of the file's.
    pub seed: Option<u64>,
    /// Tells what functions cost that have no numbers in a placement file.
    pub estimator: &'a dyn Estimator,
}

impl Default for Reading<'_> {
    /// Nothing is set, and no engine is asked.
    fn default() -> Self {
        Reading {
            set: &[],
            engines: &[],
            refusals: |_, _| Vec::new(),
            libraries: |_| Err("this program loads no libraries".to_owned()),
            seed: None,
            estimator: &NoEstimator,
        }
    }
}
