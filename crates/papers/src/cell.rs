//! One number of an experiment, with its place in the tables of the paper.

/// One number of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The table.
    pub table: String,
    /// The row.
    pub row: String,
    /// The column.
    pub column: String,
    /// One value for each repeat; one alone where points were gathered.
    pub values: Vec<f64>,
    /// Whether the verdict is about it.
    pub is_judged: bool,
}

/// The arithmetic mean; nothing of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
