//! A run that is compared, and what tells the rows of its `summary` apart.

use crate::run_folder::RunInfo;
use std::path::PathBuf;
use trammel_stats::table::Table;

/// One run to compare.
#[derive(Clone, Debug)]
pub struct Run {
    /// The folder's name.
    pub name: String,
    /// Its `run.json`.
    pub info: RunInfo,
    /// Its `summary` table; nothing where the run made none.
    pub summary: Option<Table>,
    /// Where it is, for its traces; nothing for one that is in memory alone.
    pub folder: Option<PathBuf>,
}

#[cfg(test)]
impl Run {
    /// One of tests, without a folder.
    pub(super) fn in_memory(name: &str, summary: Option<Table>) -> Run {
        Run {
            name: name.to_owned(),
            info: RunInfo::default(),
            summary,
            folder: None,
        }
    }
}

/// What tells rows of `summary` apart.
pub(super) const KEYS: [&str; 6] = ["engine", "point", "model", "entity", "metric", "unit"];

/// Engine, point, model, entity, metric and unit of a row of `summary`.
pub(super) type Key = [String; 6];
