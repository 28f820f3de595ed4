//! A table as aligned text for a terminal: texts to the left, numbers to the right.

use super::{CellType, Table};
use std::fmt;

impl fmt::Display for Table {
    /// A header, a rule and the rows; columns are two blanks apart, no line ends in blanks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.columns.iter().map(|column| column.name.clone());
        let mut lines = vec![header.collect::<Vec<_>>()];
        for row in &self.rows {
            lines.push(row.iter().map(ToString::to_string).collect());
        }
        let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max();
        let widths: Vec<_> = (0..self.columns.len())
            .map(|at| width(at).unwrap_or(0))
            .collect();
        for (i, line) in lines.iter().enumerate() {
            let mut text = String::new();
            for ((cell, width), column) in line.iter().zip(&widths).zip(&self.columns) {
                let numeric = matches!(column.cell_type, CellType::Int | CellType::Float);
                let cell = cell.replace(['\n', '\r', '\t'], " ");
                // What moves the cursor or changes colours does not reach the terminal.
                let cell = cell.replace(char::is_control, "\u{fffd}");
                let padded = if numeric {
                    format!("{cell:>width$}  ")
                } else {
                    format!("{cell:<width$}  ")
                };
                text.push_str(&padded);
            }
            writeln!(f, "{}", text.trim_end())?;
            if i == 0 {
                let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                writeln!(f, "{}", rules.join("  "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut table = Table::with("t", &[("a\u{1b}[1m", CellType::Text)]);
        table.push(vec!["x\u{1b}[31m\u{9b}y".into()]).unwrap();
        let text = table.to_string();
        assert!(
            !text.replace('\n', "").contains(char::is_control),
            "{text:?}"
        );
    }

    #[test]
    fn aligns_numbers_to_the_right() {
        let mut table = Table::with("t", &[("variant", CellType::Text), ("n", CellType::Int)]);
        table.push(vec!["bic".into(), 5_u64.into()]).unwrap();
        table.push(vec!["scalable".into(), 100_u64.into()]).unwrap();
        let want = "\
variant     n
────────  ───
bic         5
scalable  100
";
        assert_eq!(table.to_string(), want);
    }
}
