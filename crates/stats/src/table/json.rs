//! JSON of tables: `{"schema":"trammel/1","tables":{name:[{column:value}]}}`, one row a line.
//!
//! An empty cell is `null`, and so is an infinite number, for which JSON has no word. Written by
//! hand because the order of keys is the order of columns and numbers print as in CSV.

use super::{Cell, Table};
use std::io::{self, Write};

/// Writes `tables` as one JSON document.
pub fn write_json<'a>(
    tables: impl IntoIterator<Item = &'a Table>,
    mut out: impl Write,
) -> io::Result<()> {
    write!(out, "{{\"schema\":\"trammel/1\",\"tables\":{{")?;
    for (i, table) in tables.into_iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma}\n{}:[", quoted(&table.name))?;
        for (j, row) in table.rows.iter().enumerate() {
            let comma = if j == 0 { "" } else { "," };
            write!(out, "{comma}\n{{")?;
            for (k, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
                let comma = if k == 0 { "" } else { "," };
                write!(out, "{comma}{}:{}", quoted(&column.name), value(cell))?;
            }
            write!(out, "}}")?;
        }
        write!(out, "]")?;
    }
    writeln!(out, "}}}}")
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn value(cell: &Cell) -> String {
    match cell {
        Cell::Empty => "null".to_owned(),
        Cell::Float(v) if v.is_infinite() => "null".to_owned(),
        Cell::Text(v) => quoted(v),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::CellType;
    use super::*;

    #[test]
    fn is_valid_json_with_columns_in_order() {
        let mut table = Table::with("flows", &[("z", CellType::Text), ("a_s", CellType::Float)]);
        table
            .push(vec!["say \"hi\"\n".into(), 1e-7.into()])
            .unwrap();
        table.push(vec![Cell::Empty, f64::INFINITY.into()]).unwrap();
        let mut out = Vec::new();
        write_json([&table], &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["schema"], "trammel/1");
        assert_eq!(value["tables"]["flows"][0]["z"], "say \"hi\"\n");
        assert_eq!(value["tables"]["flows"][0]["a_s"], 1e-7);
        assert!(value["tables"]["flows"][1]["a_s"].is_null());
        assert!(text.find("\"z\"") < text.find("\"a_s\""));
    }
}
