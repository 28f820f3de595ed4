//! CSV (RFC 4180) of a table, and back.
//!
//! One header line, fields quoted where they must be. Lines end in a line feed alone, which every
//! tool reads and which keeps `cut`, `awk` and `diff` usable; both ends of line are read.
//!
//! A text that a spreadsheet would carry out as a formula gets an apostrophe before it, as
//! spreadsheets themselves do for a text; reading takes it away again.

use super::{Cell, CellType, Column, Table, TableError};
use std::borrow::Cow;
use std::io::{Read, Write};

impl Table {
    /// Writes the header and the rows.
    pub fn write_csv(&self, out: impl Write) -> Result<(), TableError> {
        let fail = |source| self.csv_error(source);
        let mut writer = csv::Writer::from_writer(out);
        let names = self.columns.iter().map(|column| guarded(&column.name));
        writer
            .write_record(names.map(Cow::into_owned))
            .map_err(fail)?;
        for row in &self.rows {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => guarded(text).into_owned(),
                cell => cell.to_string(),
            });
            writer.write_record(cells).map_err(fail)?;
        }
        writer.flush().map_err(|e| fail(e.into()))
    }

    /// The CSV text.
    pub fn to_csv(&self) -> String {
        let mut out = Vec::new();
        self.write_csv(&mut out).expect("memory takes every write");
        String::from_utf8(out).expect("the text is UTF-8")
    }

    /// Reads a CSV file into an empty table with the name and the columns of `header`. The file's
    /// columns may stand in any order; a column missing from the file is empty, one unknown to
    /// `header` an error.
    pub fn read_csv(header: &Table, input: impl Read) -> Result<Table, TableError> {
        let mut table = Table::new(header.name.as_str(), header.columns.clone());
        let (names, records) = read_records(&table, input)?;
        let places = names
            .iter()
            .map(|name| table.column(name))
            .collect::<Result<Vec<_>, _>>()?;
        for record in records {
            let mut row = vec![Cell::Empty; table.columns.len()];
            for (&at, field) in places.iter().zip(&record) {
                let column = &table.columns[at];
                row[at] = parse(field, column.cell_type)
                    .ok_or_else(|| table.type_error(column, field.to_owned()))?;
            }
            table.push(row)?;
        }
        Ok(table)
    }

    /// Reads a CSV file of unknown columns: each gets the narrowest type that all its cells have.
    pub fn read_csv_inferring(name: &str, input: impl Read) -> Result<Table, TableError> {
        let unnamed = Table::new(name, Vec::new());
        let (names, records) = read_records(&unnamed, input)?;
        let columns = names.iter().enumerate().map(|(i, name)| {
            let fits = |t: &CellType| records.iter().all(|record| parse(&record[i], *t).is_some());
            let types = [CellType::Int, CellType::Float, CellType::Bool];
            let all_empty = records.iter().all(|record| record[i].is_empty());
            let found = types.into_iter().find(|t| !all_empty && fits(t));
            Column::new(name, found.unwrap_or(CellType::Text))
        });
        let mut table = Table::new(name, columns.collect());
        for record in &records {
            let cells = record.iter().zip(&table.columns);
            let row = cells
                .map(|(field, column)| {
                    parse(field, column.cell_type)
                        .expect("the column's type was found by parsing its fields")
                })
                .collect();
            table.push(row)?;
        }
        Ok(table)
    }

    fn csv_error(&self, source: csv::Error) -> TableError {
        TableError::Csv {
            table: self.name.clone(),
            source,
        }
    }
}

/// Whether a spreadsheet would carry `text` out: `=1+1`, `@SUM(A1)`, `+cmd|' /C calc'!A0`.
fn is_formula(text: &str) -> bool {
    match text.chars().next() {
        Some('=' | '@' | '\t' | '\r') => true,
        Some('+' | '-') => text.contains(['=', '|', '!', '(', '@', '"', '\'']),
        _ => false,
    }
}

/// `text` as a field; an apostrophe that it has before a formula is doubled, so that it can be read
/// back.
fn guarded(text: &str) -> Cow<'_, str> {
    if is_formula(text.trim_start_matches('\'')) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// What [`guarded`] made a field of.
fn bare(field: &str) -> &str {
    match field.strip_prefix('\'') {
        Some(rest) if is_formula(rest.trim_start_matches('\'')) => rest,
        _ => field,
    }
}

/// The header and the records of a CSV file, all of one width.
fn read_records(
    table: &Table,
    input: impl Read,
) -> Result<(csv::StringRecord, Vec<csv::StringRecord>), TableError> {
    let fail = |source| table.csv_error(source);
    let mut reader = csv::Reader::from_reader(input);
    let names = reader.headers().map_err(fail)?.iter().map(bare).collect();
    let records = reader.records().collect::<Result<_, _>>().map_err(fail)?;
    Ok((names, records))
}

/// The cell that `field` means in a column of `cell_type`.
fn parse(field: &str, cell_type: CellType) -> Option<Cell> {
    if field.is_empty() {
        return Some(Cell::Empty);
    }
    Some(match cell_type {
        CellType::Text => Cell::Text(bare(field).to_owned()),
        CellType::Int => Cell::Int(field.parse().ok()?),
        CellType::Float => Cell::Float(field.parse().ok()?),
        CellType::Bool => Cell::Bool(field.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: &[(&str, CellType)] = &[
        ("entity", CellType::Text),
        ("seed", CellType::Int),
        ("rtt_s", CellType::Float),
        ("fits", CellType::Bool),
    ];

    fn any_row() -> impl Strategy<Value = Vec<Cell>> {
        let text = prop_oneof![".{0,8}", "[\"\r\n, ]{0,4}", "'{0,2}[=@+-][('a]{0,2}"];
        (
            proptest::option::of(text),
            proptest::option::of(any::<u64>()),
            proptest::option::of(any::<f64>()),
            proptest::option::of(any::<bool>()),
        )
            .prop_map(|(a, b, c, d)| vec![a.into(), b.into(), c.into(), d.into()])
    }

    #[test]
    fn a_formula_is_a_text_to_a_spreadsheet_and_numbers_stay_numbers() {
        let mut table = Table::with("t", &[("name", CellType::Text), ("x", CellType::Float)]);
        for text in [
            "=1+1",
            "@A1",
            "+1+cmd|' /C calc'!A0",
            "'=1",
            "-85 dBm",
            "a=b",
        ] {
            table.push(vec![text.into(), (-1.5).into()]).unwrap();
        }
        let csv = table.to_csv();
        let lines: Vec<_> = csv.lines().skip(1).collect();
        let want = [
            "'=1+1",
            "'@A1",
            "'+1+cmd|' /C calc'!A0",
            "''=1",
            "-85 dBm",
            "a=b",
        ];
        assert_eq!(lines, want.map(|text| format!("{text},-1.5")));
        assert_eq!(
            Table::read_csv_inferring("t", csv.as_bytes()).unwrap(),
            table
        );
    }

    proptest! {
        #[test]
        fn a_table_survives_its_csv(rows in proptest::collection::vec(any_row(), 0..8)) {
            let mut table = Table::with("flows", COLUMNS);
            for row in rows {
                table.push(row).unwrap();
            }
            let text = table.to_csv();
            let back = Table::read_csv(&Table::with("flows", COLUMNS), text.as_bytes()).unwrap();
            prop_assert_eq!(&back, &table);
            prop_assert_eq!(back.to_csv(), text);
        }
    }

    #[test]
    fn quotes_only_where_it_must() {
        let mut table = Table::with("t", &[("a", CellType::Text), ("x_s", CellType::Float)]);
        table.push(vec!["plain".into(), 0.5.into()]).unwrap();
        table.push(vec!["a,\"b\"".into(), f64::NAN.into()]).unwrap();
        assert_eq!(table.to_csv(), "a,x_s\nplain,0.5\n\"a,\"\"b\"\"\",\n");
    }

    #[test]
    fn inference_finds_the_narrowest_type() {
        let text = "point,n,share,ok,none\r\na,1,0.5,true,\r\nb,2,1,false,\r\n";
        let table = Table::read_csv_inferring("t", text.as_bytes()).unwrap();
        let types: Vec<_> = table.columns().iter().map(|c| c.cell_type).collect();
        use CellType::{Bool, Float, Int, Text};
        assert_eq!(types, [Text, Int, Float, Bool, Text]);
    }

    #[test]
    fn a_wrong_cell_is_named() {
        let header = Table::with("t", &[("n", CellType::Int)]);
        let error = Table::read_csv(&header, "n\n1.5\n".as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "table `t`, column `n`: `1.5` is not a whole number"
        );
    }
}
