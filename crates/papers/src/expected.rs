//! `expected.csv`: the numbers of a paper as printed, each with a tolerance, a verdict and its
//! reason.

use super::verdict::{Cause, Verdict};
use std::collections::BTreeSet;

/// The columns, in order.
const COLUMNS: [&str; 9] = [
    "table",
    "row",
    "column",
    "value",
    "unit",
    "tolerance",
    "verdict",
    "cause",
    "reason",
];

/// One printed number.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The table.
    pub table: String,
    /// The row.
    pub row: String,
    /// The column.
    pub column: String,
    /// The number.
    pub value: f64,
    /// The number as printed: its decimals say to which digit it is known.
    pub printed: String,
    /// Its unit.
    pub unit: String,
    /// The largest absolute difference that still matches; 0 asks for the printed digits.
    pub tolerance: f64,
    /// What comparing gave when it was recorded.
    pub verdict: Verdict,
    /// What kind of reason that has.
    pub cause: Cause,
    /// Why, in words.
    pub reason: String,
}

/// A fault of an `expected.csv`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{file}`, line {line}: {what}")]
pub struct Fault {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

/// Reads the text of an `expected.csv`, called `file` in messages; every fault is listed.
pub fn parse(file: &str, text: &str) -> Result<Vec<Expected>, Vec<Fault>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for (n, record) in reader.records().enumerate() {
        let mut fault = |line: u64, what: String| {
            faults.push(Fault {
                file: file.to_owned(),
                line,
                what,
            });
        };
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                fault(
                    line,
                    format!("this is not a row of {} cells: {error}", COLUMNS.len()),
                );
                continue;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        if n == 0 {
            if !record.iter().eq(COLUMNS) {
                fault(line, format!("the header must be `{}`", COLUMNS.join(",")));
            }
            continue;
        }
        match row(&record) {
            Ok(row) => {
                if !seen.insert((row.table.clone(), row.row.clone(), row.column.clone())) {
                    fault(line, "this cell is listed twice".to_owned());
                }
                rows.push(row);
            }
            Err(what) => fault(line, what),
        }
    }
    if faults.is_empty() {
        Ok(rows)
    } else {
        Err(faults)
    }
}

fn row(record: &csv::StringRecord) -> Result<Expected, String> {
    let cell = |at: usize| record.get(at).unwrap_or_default().trim();
    let number = |at: usize| -> Result<f64, String> {
        let text = cell(at);
        let parsed = text.parse().ok().filter(|value: &f64| value.is_finite());
        parsed.ok_or_else(|| format!("`{}` cannot be `{text}`: it is a number", COLUMNS[at]))
    };
    for at in [0, 1, 2, 4] {
        if cell(at).is_empty() {
            return Err(format!("`{}` is empty", COLUMNS[at]));
        }
    }
    let tolerance = number(5)?;
    if tolerance < 0.0 {
        return Err("`tolerance` cannot be negative".to_owned());
    }
    let verdict = Verdict::from_word(cell(6)).ok_or_else(|| {
        format!(
            "`verdict` cannot be `{}`: it is `matches`, `differs` or `inapplicable`",
            cell(6)
        )
    })?;
    let cause = Cause::from_word(verdict, cell(7)).ok_or_else(|| {
        let words = Cause::words_of(verdict).join("`, `");
        format!(
            "`cause` cannot be `{}` of what {}: it is one of `{words}`",
            cell(7),
            verdict.word()
        )
    })?;
    let wanted = match verdict {
        Verdict::Matches => None,
        Verdict::Differs => Some("the mechanism"),
        Verdict::Inapplicable => Some("what is missing here"),
    };
    if let Some(wanted) = wanted.filter(|_| cell(8).is_empty()) {
        return Err(format!("`{}` needs a `reason`: {wanted}", verdict.word()));
    }
    Ok(Expected {
        table: cell(0).to_owned(),
        row: cell(1).to_owned(),
        column: cell(2).to_owned(),
        value: number(3)?,
        printed: cell(3).to_owned(),
        unit: cell(4).to_owned(),
        tolerance,
        verdict,
        cause,
        reason: cell(8).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "table,row,column,value,unit,tolerance,verdict,cause,reason\n";

    #[test]
    fn a_row_keeps_the_digits_as_printed() {
        let text = format!(
            "{HEADER}2,reno,loss=1e-6,51.00,Mbit/s,10,differs,known,\"a window, not loss\"\n"
        );
        let rows = parse("expected.csv", &text).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].value, rows[0].printed.as_str()), (51.0, "51.00"));
        assert_eq!(rows[0].reason, "a window, not loss");
    }

    #[test]
    fn every_fault_is_listed_with_its_line() {
        let text = format!(
            "{HEADER}1,a,b,x,ratio,0,matches,,\n1,a,c,1,ratio,0,maybe,,\n\
             1,a,d,1,ratio,0,differs,known,\n\
             1,a,e,1,ratio,-1,matches,,\n1,a,f,1,ratio,0,matches,,\n1,a,f,1,ratio,0,matches,,\n\
             1,a,g,1,ratio,0,matches,known,\n1,a\n1,a,h,1,ratio,0,inapplicable,,\n"
        );
        let faults = parse("e.csv", &text).unwrap_err();
        let lines: Vec<_> = faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 7, 8, 9, 10], "{faults:?}");
        assert!(
            faults[1]
                .to_string()
                .contains("`verdict` cannot be `maybe`")
        );
    }
}
