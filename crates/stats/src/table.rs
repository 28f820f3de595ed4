//! Tables: named, typed columns with units, and rows of cells. What every engine's result is.
//!
//! A unit is the suffix of a column's name (`cwnd_pkts`, `rtt_s`). A table holds what it prints: a
//! number is cut to nine significant digits when it is pushed, `-0` becomes `0`, not-a-number and
//! the empty text become the empty cell. So a table read back from its CSV file equals the one
//! written, and a report made from memory equals one made from files.

mod csv;
mod json;
mod text;

pub use json::write_json;

use std::fmt;

/// Significant digits that a number keeps: more than any measurement has, fewer than the last bits
/// in which two platforms' mathematical libraries may differ.
pub(crate) const SIGNIFICANT_DIGITS: usize = 9;

/// The unit suffixes of column names, and how to print each unit.
const UNITS: &[(&str, &str)] = &[
    ("_s", "s"),
    ("_us", "µs"),
    ("_ms", "ms"),
    ("_bps", "bit/s"),
    ("_mbps", "Mbit/s"),
    ("_pkts", "packets"),
    ("_bytes", "bytes"),
    ("_cycles", "cycles"),
    ("_fps", "frames/s"),
    ("_pps", "packets/s"),
    ("_percent", "%"),
];

/// What the cells of a column hold; every column may also hold empty cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// Any text but the empty one.
    Text,
    /// A whole number; wide enough for a 64-bit seed and for a negative difference.
    Int,
    /// A number.
    Float,
    /// `true` or `false`.
    Bool,
}

/// A column: its name, whose suffix is its unit, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The header in CSV, the key in JSON.
    pub name: String,
    /// What its cells hold.
    pub cell_type: CellType,
}

impl Column {
    /// A column called `name`, unit included, of `cell_type`.
    pub fn new(name: impl Into<String>, cell_type: CellType) -> Column {
        let name = name.into();
        Column { name, cell_type }
    }
    /// The unit in print (`packets` for `cwnd_pkts`), if the name has a unit's suffix.
    pub fn unit(&self) -> Option<&'static str> {
        self.split_name().1
    }
    /// The name for people: without the unit's suffix, blanks for underscores. A name in backticks
    /// is shown as it is.
    pub fn title(&self) -> String {
        let quoted = self.name.strip_prefix('`');
        if let Some(name) = quoted.and_then(|name| name.strip_suffix('`')) {
            return name.to_owned();
        }
        self.split_name().0.replace('_', " ")
    }
    fn split_name(&self) -> (&str, Option<&'static str>) {
        UNITS
            .iter()
            .filter_map(|(suffix, unit)| Some((self.name.strip_suffix(suffix)?, Some(*unit))))
            .find(|(stem, _)| !stem.is_empty())
            .unwrap_or((&self.name, None))
    }
}

/// One value of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing: not measured, not applicable, or not a number.
    #[default]
    Empty,
    /// A text.
    Text(String),
    /// A whole number.
    Int(i128),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
}

impl Cell {
    /// The number in this cell, if there is one.
    pub fn float(&self) -> Option<f64> {
        match self {
            Cell::Float(v) => Some(*v),
            Cell::Int(v) => Some(*v as f64),
            _ => None,
        }
    }

    /// This cell as a table keeps it: a number cut to its digits, not-a-number and the empty text
    /// as nothing.
    #[must_use]
    pub fn kept(self) -> Cell {
        match self {
            Cell::Text(v) if v.is_empty() => Cell::Empty,
            Cell::Float(v) if v.is_nan() => Cell::Empty,
            Cell::Float(v) => Cell::Float(round_to(v, SIGNIFICANT_DIGITS)),
            cell => cell,
        }
    }

    /// This cell as a column of `cell_type` stores it, or the cell itself where it does not fit.
    fn fit(self, cell_type: CellType) -> Result<Cell, Cell> {
        match (&self, cell_type) {
            (Cell::Int(v), CellType::Float) => Ok(Cell::Float(*v as f64).kept()),
            (Cell::Empty, _)
            | (Cell::Float(_), CellType::Float)
            | (Cell::Text(_), CellType::Text)
            | (Cell::Int(_), CellType::Int)
            | (Cell::Bool(_), CellType::Bool) => Ok(self.kept()),
            _ => Err(self),
        }
    }
}

impl fmt::Display for Cell {
    /// As in CSV, before quoting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Empty => Ok(()),
            Cell::Text(v) => f.pad(v),
            Cell::Int(v) => write!(f, "{v}"),
            Cell::Float(v) => f.write_str(&format_float(*v, SIGNIFICANT_DIGITS)),
            Cell::Bool(v) => write!(f, "{v}"),
        }
    }
}

macro_rules! cell_from {
    ($($from:ty => $variant:ident),* $(,)?) => {$(
        impl From<$from> for Cell {
            fn from(v: $from) -> Cell {
                Cell::$variant(v.into())
            }
        }
    )*};
}
cell_from!(&str => Text, String => Text, i64 => Int, u64 => Int, i32 => Int, u32 => Int, u8 => Int,
           f64 => Float, bool => Bool);

impl From<usize> for Cell {
    fn from(v: usize) -> Cell {
        Cell::Int(v as i128)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(v: Option<T>) -> Cell {
        v.map_or(Cell::Empty, Into::into)
    }
}

/// `v` cut to `digits` significant decimal digits, without a negative zero.
pub fn round_to(v: f64, digits: usize) -> f64 {
    if v == 0.0 || !v.is_finite() {
        return if v == 0.0 { 0.0 } else { v };
    }
    if let Some(cut) = cut(v, digits) {
        return cut;
    }
    let text = format!("{v:.*e}", digits.saturating_sub(1));
    text.parse().expect("a float's own print is a float")
}

/// The powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// [`round_to`] by arithmetic, ten times as fast as by text; nothing where its last digit would
/// not be sure.
///
/// The whole number of the digits and the power of ten are exact, so their quotient or product is
/// rounded once, as reading the text rounds it.
fn cut(v: f64, digits: usize) -> Option<f64> {
    const MOST_DIGITS: usize = 10;
    // Products below are wrong by less than this at that many digits.
    const UNSURE: f64 = 1e-4;
    let size = v.abs();
    if !(1..=MOST_DIGITS).contains(&digits) || !(1e-10..1e15).contains(&size) {
        return None;
    }
    let places = digits as i32 - 1 - size.log10().floor() as i32;
    let power = *POWERS.get(places.unsigned_abs() as usize)?;
    let scaled = if places < 0 {
        size / power
    } else {
        size * power
    };
    let is_sure = (scaled.fract() - 0.5).abs() > UNSURE;
    // The logarithm of a number beside a power of ten may be that of the power.
    if !is_sure || !(POWERS[digits - 1]..POWERS[digits]).contains(&scaled) {
        return None;
    }
    let whole = scaled.round();
    let cut = if places < 0 {
        whole * power
    } else {
        whole / power
    };
    Some(cut.copysign(v))
}

/// The shortest text that reads back as `v` cut to `digits` digits: `0.1`, `1.5e-7`, `inf`.
pub fn format_float(v: f64, digits: usize) -> String {
    let v = round_to(v, digits);
    // Beyond these sizes a plain print is mostly zeros.
    if v != 0.0 && v.is_finite() && !(1e-5..1e15).contains(&v.abs()) {
        format!("{v:e}")
    } else {
        format!("{v}")
    }
}

/// Why a row or a file is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A row has more or fewer cells than the table has columns.
    #[error("table `{table}`: a row of {got} cells does not fit {want} columns")]
    Width {
        /// The table.
        table: String,
        /// Cells in the row.
        got: usize,
        /// Columns in the table.
        want: usize,
    },
    /// A cell is of another type than its column.
    #[error("table `{table}`, column `{column}`: `{value}` is not {wanted}")]
    Type {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// What was given.
        value: String,
        /// What the column holds.
        wanted: &'static str,
    },
    /// A column of that name does not exist.
    #[error("table `{table}` has no column `{column}`; it has {known}")]
    NoColumn {
        /// The table.
        table: String,
        /// The name asked for.
        column: String,
        /// The names that exist, in back-quotes.
        known: String,
    },
    /// The file is not CSV, or could not be read or written.
    #[error("table `{table}`: {source}")]
    Csv {
        /// The table.
        table: String,
        /// What the reader or writer said.
        source: ::csv::Error,
    },
}

impl CellType {
    /// Its word in files that describe tables.
    pub fn name(self) -> &'static str {
        match self {
            CellType::Text => "text",
            CellType::Int => "int",
            CellType::Float => "float",
            CellType::Bool => "bool",
        }
    }

    /// The type of this word.
    pub fn from_name(name: &str) -> Option<CellType> {
        let all = [
            CellType::Text,
            CellType::Int,
            CellType::Float,
            CellType::Bool,
        ];
        all.into_iter().find(|one| one.name() == name)
    }

    fn describe(self) -> &'static str {
        match self {
            CellType::Text => "a text",
            CellType::Int => "a whole number",
            CellType::Float => "a number",
            CellType::Bool => "`true` or `false`",
        }
    }
}

/// A named table of typed columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    name: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table. Panics where two columns have one name.
    pub fn new(name: impl Into<String>, columns: Vec<Column>) -> Table {
        let name = name.into();
        for (i, column) in columns.iter().enumerate() {
            assert!(
                columns[..i].iter().all(|other| other.name != column.name),
                "table `{name}` has two columns `{}`",
                column.name
            );
        }
        Table {
            name,
            columns,
            rows: Vec::new(),
        }
    }

    /// An empty table from pairs: `Table::with("flows", &[("rtt_s", CellType::Float)])`.
    pub fn with(name: &str, columns: &[(&str, CellType)]) -> Table {
        let columns = columns.iter().map(|(name, t)| Column::new(*name, *t));
        Table::new(name, columns.collect())
    }

    /// The name: a key in JSON, a file's stem in a run folder.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// The rows, in the order pushed.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }

    /// Adds a row, checked against the columns; a whole number fits a column of numbers.
    pub fn push(&mut self, cells: Vec<Cell>) -> Result<(), TableError> {
        if cells.len() != self.columns.len() {
            return Err(TableError::Width {
                table: self.name.clone(),
                got: cells.len(),
                want: self.columns.len(),
            });
        }
        let mut row = Vec::with_capacity(cells.len());
        for (cell, column) in cells.into_iter().zip(&self.columns) {
            let fitted = cell.fit(column.cell_type);
            row.push(fitted.map_err(|cell| self.type_error(column, cell.to_string()))?);
        }
        self.rows.push(row);
        Ok(())
    }

    /// Adds a row given by column names; columns not named are empty.
    pub fn push_named<const N: usize>(
        &mut self,
        cells: [(&str, Cell); N],
    ) -> Result<(), TableError> {
        let mut row = vec![Cell::Empty; self.columns.len()];
        for (name, cell) in cells {
            row[self.column(name)?] = cell;
        }
        self.push(row)
    }

    /// The position of the column `name`.
    pub fn column(&self, name: &str) -> Result<usize, TableError> {
        self.position(name).ok_or_else(|| TableError::NoColumn {
            table: self.name.clone(),
            column: name.to_owned(),
            known: (self.columns.iter())
                .map(|column| format!("`{}`", column.name))
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// The columns `names` in that order, all rows.
    pub fn select(&self, names: &[&str]) -> Result<Table, TableError> {
        let picked = names
            .iter()
            .map(|name| self.column(name))
            .collect::<Result<Vec<_>, _>>()?;
        let pick = |row: &Vec<Cell>| picked.iter().map(|&i| row[i].clone()).collect();
        Ok(Table {
            name: self.name.clone(),
            columns: picked.iter().map(|&i| self.columns[i].clone()).collect(),
            rows: self.rows.iter().map(pick).collect(),
        })
    }

    /// The rows for which `keep` holds.
    pub fn filter(&self, keep: impl Fn(Row<'_>) -> bool) -> Table {
        let kept = |cells: &&Vec<Cell>| keep(Row { table: self, cells });
        Table {
            name: self.name.clone(),
            columns: self.columns.clone(),
            rows: self.rows.iter().filter(kept).cloned().collect(),
        }
    }

    /// One table for each combination of the columns `names`, in order of first appearance.
    pub fn group_by(&self, names: &[&str]) -> Result<Vec<(Vec<Cell>, Table)>, TableError> {
        let picked = names
            .iter()
            .map(|name| self.column(name))
            .collect::<Result<Vec<_>, _>>()?;
        // Groups by their printed keys: two cells of one column that print alike are alike.
        let mut index = std::collections::BTreeMap::new();
        let mut groups: Vec<(Vec<Cell>, Table)> = Vec::new();
        for row in &self.rows {
            let key: Vec<Cell> = picked.iter().map(|&i| row[i].clone()).collect();
            let print: Vec<_> = key.iter().map(ToString::to_string).collect();
            let at = *index.entry(print).or_insert_with(|| {
                groups.push((key, Table::new(self.name.as_str(), self.columns.clone())));
                groups.len() - 1
            });
            groups[at].1.rows.push(row.clone());
        }
        Ok(groups)
    }

    /// The numbers of the column `name`, empty cells left out.
    pub fn floats(&self, name: &str) -> Result<Vec<f64>, TableError> {
        let at = self.column(name)?;
        Ok(self.rows.iter().filter_map(|row| row[at].float()).collect())
    }

    /// Adds the rows of `other`, whose columns must be the same.
    pub fn append(&mut self, other: Table) -> Result<(), TableError> {
        for column in &other.columns {
            self.column(&column.name)?;
        }
        other.rows.into_iter().try_for_each(|row| self.push(row))
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    fn type_error(&self, column: &Column, value: String) -> TableError {
        TableError::Type {
            table: self.name.clone(),
            column: column.name.clone(),
            value,
            wanted: column.cell_type.describe(),
        }
    }
}

/// A row of a table, read by column names.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    table: &'a Table,
    cells: &'a [Cell],
}

impl<'a> Row<'a> {
    /// The cells, in the order of the columns.
    pub fn cells(self) -> &'a [Cell] {
        self.cells
    }
    /// The cell of the column `name`; nothing where there is no such column.
    pub fn get(self, name: &str) -> Option<&'a Cell> {
        self.table.position(name).map(|at| &self.cells[at])
    }
    /// The text in the column `name`, or the empty text.
    pub fn text(self, name: &str) -> &'a str {
        match self.get(name) {
            Some(Cell::Text(v)) => v,
            _ => "",
        }
    }
    /// The number in the column `name`, if there is one.
    pub fn float(self, name: &str) -> Option<f64> {
        self.get(name)?.float()
    }
    /// The whole number in the column `name`, if there is one and it has 64 bits.
    pub fn int(self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Cell::Int(v) => i64::try_from(*v).ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_cut_as_their_texts_are(v in proptest::num::f64::ANY, places in 0..12_i32) {
            let by_text = |v: f64, digits: usize| {
                format!("{v:.*e}", digits - 1).parse::<f64>().unwrap()
            };
            // Numbers of any size, usual ones, and ones half-way between two.
            let usual = (v % 1e9) / 10_f64.powi(places);
            let half = (usual * 1e3).round() / 1e3 + 5e-4;
            for v in [v, usual, half, 10_f64.powi(places), 10_f64.powi(places).next_down()] {
                for digits in [1, 2, 3, 9, 10, 12] {
                    if v != 0.0 && v.is_finite() {
                        let rounded = round_to(v, digits);
                        prop_assert_eq!(rounded, by_text(v, digits), "{} {}", v, digits);
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_print_short_and_stable() {
        let prints = [0.1, -0.0, 1.0 / 3.0, 1e-7, 2.5e20, 1e9, 123_456_789_012.0]
            .map(|v| format_float(v, SIGNIFICANT_DIGITS));
        let want = [
            "0.1",
            "0",
            "0.333333333",
            "1e-7",
            "2.5e20",
            "1000000000",
            "123456789000",
        ];
        assert_eq!(prints, want);
        assert_eq!(format_float(f64::INFINITY, 9), "inf");
    }

    #[test]
    fn the_suffix_is_the_unit() {
        let column = |name: &str| Column::new(name, CellType::Float);
        assert_eq!(column("queue_delay_us").unit(), Some("µs"));
        assert_eq!(column("queue_delay_us").title(), "queue delay");
        assert_eq!(column("share").unit(), None);
        assert_eq!(column("_s").unit(), None, "a suffix alone is a name");
    }

    #[test]
    fn a_row_must_fit_its_columns() {
        let mut table = Table::with("t", &[("flow", CellType::Int), ("share", CellType::Float)]);
        table.push(vec![1_u64.into(), 1_u64.into()]).unwrap();
        assert_eq!(table.rows().next().unwrap().cells()[1], Cell::Float(1.0));
        let error = table.push(vec!["x".into(), 0.5.into()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "table `t`, column `flow`: `x` is not a whole number"
        );
        assert!(table.push(vec![Cell::Empty]).is_err());
        assert_eq!(table.len(), 1, "a refused row leaves nothing");
    }

    #[test]
    fn groups_keep_the_order_of_first_appearance() {
        let mut table = Table::with("t", &[("v", CellType::Text), ("x", CellType::Float)]);
        for (v, x) in [("reno", 1.0), ("cubic", 2.0), ("reno", 3.0)] {
            table
                .push_named([("x", x.into()), ("v", v.into())])
                .unwrap();
        }
        let groups = table.group_by(&["v"]).unwrap();
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].0, [Cell::from("reno")]);
        assert_eq!(groups[0].1.floats("x").unwrap(), [1.0, 3.0]);
        assert_eq!(table.filter(|row| row.text("v") == "cubic").len(), 1);
        assert!(table.select(&["y"]).is_err());
    }
}
