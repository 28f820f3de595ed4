//! The tables for a person at a terminal: what is the same in all rows is said once, above them.

use std::fmt::Write;
use trammel_stats::table::{Cell, CellType, Column, Table, round_to};

/// Tables of so many rows at most have a column for each of them.
const MOST_TURNED: usize = 7;
/// Significant digits of what a person is shown.
const DIGITS: usize = 5;
/// Tables for files: all loads, and what says the rest once more.
const UNSHOWN: &[&str] = &["trials", "summary"];
/// What names a row.
const NAMES: &[&str] = &["device", "label", "frame", "data_stream"];
/// What says the same as another column, or nothing unless it is above 0.
const SILENT: &[&str] = &["frame_bytes"];
const SAID_ABOVE_ZERO: &str = "short_trials";

/// Every test's table under its name.
pub(super) fn all(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables
        .iter()
        .filter(|table| !UNSHOWN.contains(&table.name()))
    {
        let (same, rest) = parted(&rounded(table));
        writeln!(text, "{}{same}\n{}", table.name(), turned(&rest))
            .expect("a string takes any text");
    }
    text
}

/// The table with no more digits than anybody can read off a search: those of the report.
fn rounded(table: &Table) -> Table {
    let mut rounded = Table::new(table.name(), table.columns().to_vec());
    let cell = |cell: &Cell| match cell {
        Cell::Float(value) => Cell::Float(round_to(*value, DIGITS)),
        other => other.clone(),
    };
    for row in table.rows() {
        let cells = row.cells().iter().map(cell).collect();
        rounded
            .push(cells)
            .expect("the row has a cell for each column");
    }
    rounded
}

/// What all rows have in common, and the columns in which they differ.
pub(super) fn parted(table: &Table) -> (String, Table) {
    let (mut same, mut rest) = (String::new(), Vec::new());
    for (at, column) in table.columns().iter().enumerate() {
        let mut cells = table.rows().map(|row| &row.cells()[at]);
        let first = cells.next();
        let is_same = first.is_some_and(|first| cells.all(|cell| cell == first));
        let is_zero = first == Some(&Cell::Int(0));
        let is_empty = matches!(first, None | Some(Cell::Empty));
        match column.name.as_str() {
            _ if is_same && is_empty => {}
            name if SILENT.contains(&name) || (name == SAID_ABOVE_ZERO && is_same && is_zero) => {}
            name if is_same && NAMES.contains(&name) => {
                let what = first.map(ToString::to_string).unwrap_or_default();
                match name {
                    "data_stream" => {
                        write!(same, ", {what} stream").expect("a string takes any text");
                    }
                    "frame" => write!(same, ", {what} bytes").expect("a string takes any text"),
                    "device" => write!(same, ": {what}").expect("a string takes any text"),
                    _ => write!(same, ", {what}").expect("a string takes any text"),
                }
            }
            name => rest.push(name),
        }
    }
    let rest = table.select(&rest).expect("the table has these columns");
    (same, rest)
}

/// A table of few rows with a column for each, named by what tells the rows apart; another one as
/// it is.
fn turned(table: &Table) -> Table {
    let is_name = |column: &&Column| NAMES.contains(&column.name.as_str());
    let names: Vec<&Column> = table.columns().iter().filter(is_name).collect();
    let head = |row: trammel_stats::table::Row<'_>| {
        let parts: Vec<&str> = names.iter().map(|column| row.text(&column.name)).collect();
        match parts.as_slice() {
            [] => "value".to_owned(),
            parts => parts.join(", "),
        }
    };
    let mut heads: Vec<String> = table.rows().map(head).collect();
    heads.sort_unstable();
    heads.dedup();
    // Rows of one name, as those of several loads, stay rows.
    if table.len() > MOST_TURNED || table.is_empty() || heads.len() < table.len() {
        return table.clone();
    }
    let title = names.iter().map(|column| column.title());
    let title = title.collect::<Vec<_>>().join(", ");
    let mut columns = vec![Column::new(title, CellType::Text)];
    columns.extend(
        table
            .rows()
            .map(|row| Column::new(head(row), CellType::Text)),
    );
    let mut turned = Table::new(table.name(), columns);
    for (at, column) in table.columns().iter().enumerate() {
        if is_name(&column) {
            continue;
        }
        let what = match column.unit() {
            Some(unit) => format!("{}, {unit}", column.title()),
            None => column.title(),
        };
        let mut cells = vec![Cell::from(what)];
        cells.extend(table.rows().map(|row| match row.cells()[at].to_string() {
            text if text.is_empty() => Cell::Empty,
            text => Cell::Text(text),
        }));
        turned
            .push(cells)
            .expect("every row has a cell in each column");
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize) -> Table {
        let columns = [
            ("device", CellType::Text),
            ("label", CellType::Text),
            ("frame", CellType::Text),
            ("frame_bytes", CellType::Float),
            ("data_stream", CellType::Text),
            ("short_trials", CellType::Int),
            ("throughput_fps", CellType::Float),
            ("verdict", CellType::Text),
            ("upper_fps", CellType::Float),
        ];
        let mut table = Table::with("throughput", &columns);
        for row in 0..rows {
            let size = 64 << row;
            let cells: [Cell; 9] = [
                "a router".into(),
                "simulated".into(),
                size.to_string().into(),
                f64::from(size).into(),
                "plain".into(),
                0_u64.into(),
                (1e6 / f64::from(size)).into(),
                "found".into(),
                Cell::Empty,
            ];
            table.push(cells.into()).unwrap();
        }
        table
    }

    #[test]
    fn rows_of_one_name_stay_rows() {
        let columns = [("frame", CellType::Text), ("lost", CellType::Int)];
        let mut loads = Table::with("frame-loss", &columns);
        for lost in [7, 0] {
            loads.push(vec!["64".into(), Cell::Int(lost)]).unwrap();
        }
        let text = all(&[loads]);
        assert!(text.starts_with("frame-loss, 64 bytes\n"), "{text}");
        assert!(text.contains("lost"), "{text}");
    }

    #[test]
    fn few_rows_are_columns_and_what_is_the_same_is_said_once() {
        insta::assert_snapshot!(all(&[table(3)]));
    }

    #[test]
    fn many_rows_stay_rows() {
        insta::assert_snapshot!(all(&[table(8)]));
    }

    #[test]
    fn a_single_row_names_its_size_above() {
        let text = all(&[table(1)]);
        assert!(
            text.starts_with("throughput: a router, simulated, 64 bytes, plain stream\n"),
            "{text}"
        );
    }
}
