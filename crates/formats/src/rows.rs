//! Rows by the names of their columns, and tables without the columns that stayed empty.

use trammel_stats::table::{Cell, CellType, Table};

/// A table whose rows name their columns.
pub(crate) struct Rows {
    table: Table,
}

impl Rows {
    pub(crate) fn new(name: &str, columns: &[(&str, CellType)]) -> Rows {
        Rows {
            table: Table::with(name, columns),
        }
    }

    /// Adds a row; columns that are not named are empty in it.
    pub(crate) fn push(&mut self, cells: &[(&str, Cell)]) {
        let columns = self.table.columns().iter();
        let cell = |name: &str| cells.iter().find(|(known, _)| *known == name);
        let row: Vec<Cell> = columns
            .map(|column| cell(&column.name).map_or(Cell::Empty, |(_, cell)| cell.clone()))
            .collect();
        debug_assert!(
            cells
                .iter()
                .all(|(name, _)| self.table.column(name).is_ok()),
            "a column is unknown"
        );
        self.table
            .push(row)
            .expect("the cells are of their columns' types");
    }

    /// The table with all its columns; nothing without rows.
    pub(crate) fn whole(self) -> Option<Table> {
        (!self.table.is_empty()).then_some(self.table)
    }

    /// The table without the columns in which no row has a value; nothing without rows.
    pub(crate) fn finish(self) -> Option<Table> {
        let table = self.table;
        if table.is_empty() {
            return None;
        }
        let has_value = |at: usize| table.rows().any(|row| row.cells()[at] != Cell::Empty);
        let columns = table.columns().iter().enumerate();
        let names: Vec<&str> = columns
            .filter(|(at, _)| has_value(*at))
            .map(|(_, column)| column.name.as_str())
            .collect();
        Some(table.select(&names).expect("the names are the table's own"))
    }
}

/// The note of a log in which time goes back at `late` events.
pub(crate) fn late_events(late: u64) -> String {
    let are = if late == 1 { "event is" } else { "events are" };
    format!(
        "{late} {are} before the one that is written above: what depends on the order of time, \
         such as means over time, may be wrong."
    )
}

/// A number that a table can hold; nothing for what is not finite.
pub(crate) fn finite(value: f64) -> Cell {
    if value.is_finite() {
        Cell::Float(value)
    } else {
        Cell::Empty
    }
}

/// The same of a number that may be missing.
pub(crate) fn maybe(value: Option<f64>) -> Cell {
    value.map_or(Cell::Empty, finite)
}
