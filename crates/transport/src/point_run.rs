//! A run of a point of a file.

use super::run_tables::RunTables;
use trammel_core::label::Label;

/// A run that was made of a point.
#[derive(Clone, Copy, Debug)]
pub struct PointRun<'a> {
    /// The point's place in the file.
    pub at: usize,
    /// The repeat, from 0.
    pub repeat: u32,
    /// Which engine made it.
    pub label: Label,
    /// Its rows.
    pub tables: &'a RunTables,
}
