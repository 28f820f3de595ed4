//! Papers: published tables reproduced from data, ours beside theirs, each with its verdict.
//!
//! ```text
//! papers/<key>/paper.toml ─ spec ──┐                      ┌─ comparison table, exit code
//!              *.toml ─── scenario ┼─ experiments → cells ┤
//!              expected.csv ───────┘                      └─ report: tables, figures, reasons
//! ```
//! A paper is data: a new folder is a new paper, and nothing here knows any paper by name. The
//! outcome fails only where a number comes out otherwise than `expected.csv` records, in either
//! direction.
#![forbid(unsafe_code)]

pub mod cell;
pub mod choice;
pub mod curves;
mod devices;
pub mod estimated;
pub mod expected;
pub mod experiment;
pub mod expression;
pub mod findings;
pub mod join;
pub mod library;
pub mod page;
pub mod plots;
pub mod reproduce;
pub mod spec;
mod spec_reader;
pub mod streams;
mod tested;
mod transfers;
pub mod verdict;

use expected::Expected;
use spec::Spec;
use std::path::PathBuf;

/// A paper's folder, read.
#[derive(Clone, Debug)]
pub struct Paper {
    /// The folder's name.
    pub key: String,
    /// The folder.
    pub dir: PathBuf,
    /// Its `paper.toml`.
    pub spec: Spec,
    /// Its `expected.csv`.
    pub expected: Vec<Expected>,
}

impl Paper {
    /// Who printed the table called `name`, where it is not the paper itself.
    pub(crate) fn source_of(&self, name: &str) -> Option<&str> {
        let table = self.spec.tables.iter().find(|table| table.name == name)?;
        Some(table.source.as_str()).filter(|source| !source.is_empty())
    }
}
