//! A file of rows: in each line what `trammel netfpga table set` takes.

use super::row::Row;

/// Lines of a file, at most: all rows of all tables, many times over.
const MOST_LINES: usize = 10_000;
/// Faults that are told, at most.
const MOST_FAULTS: usize = 20;

/// Reads `text`, which the file `file` has: a row in each line, as [`Row::parse`] takes it. Nothing
/// after a `#` counts. A row that comes twice is what it was last.
///
/// ```
/// use trammel_card::tables::read_rows;
///
/// let text = "route 0 10.2.0.0/16 port 1  # the default\nfilter 0 10.1.0.1\n";
/// assert_eq!(read_rows("tables", text).unwrap().len(), 2);
/// let error = read_rows("tables", "rout 0 10.2.0.0/16 port 1\n").unwrap_err();
/// assert_eq!(error, "tables:1: no table `rout`: did you mean `route`?");
/// ```
///
/// # Errors
/// All faults, one a line, each with its place and what would be right.
pub fn read_rows(file: &str, text: &str) -> Result<Vec<Row>, String> {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        if number >= MOST_LINES {
            return Err(format!(
                "{file}: more than {MOST_LINES} lines: the tables have 32 rows each"
            ));
        }
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        match Row::parse(&words) {
            Ok(row) => rows.push(row),
            Err(why) => faults.push(format!("{file}:{}: {why}", number + 1)),
        }
    }
    if faults.is_empty() {
        return Ok(rows);
    }
    let more = faults.len().saturating_sub(MOST_FAULTS);
    faults.truncate(MOST_FAULTS);
    if more > 0 {
        faults.push(format!("{file}: {more} more faults: correct these first"));
    }
    Err(faults.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_line_and_a_hostile_file_has_few() {
        let text = "# routes\nroute 0 10.0.0.0/8 port 1\n\nroute 0 10.0.0.0/8 port 9\nfilter x\n";
        let error = read_rows("t", text).unwrap_err();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines.len(), 2, "{error}");
        assert!(lines[0].starts_with("t:4: `9` is no port"), "{error}");
        assert!(lines[1].starts_with("t:5: "), "{error}");
        let error = read_rows("t", &"x y\n".repeat(1000)).unwrap_err();
        assert_eq!(error.lines().count(), MOST_FAULTS + 1);
        assert!(error.ends_with("980 more faults: correct these first"));
        assert!(read_rows("t", &"\n".repeat(MOST_LINES + 1)).is_err());
        assert_eq!(read_rows("t", ""), Ok(Vec::new()));
    }
}
