//! Files that say how a path is over time: tables as CSV, and logs of paths as LeoEM computes them.
//!
//! A table has a header that names its columns with their units, `time_s,rate_mbps,delay_ms,loss`
//! or `time (s),rate (Mbit/s)`, and a row for each change. An empty field changes nothing. A column
//! that begins with `ack_` is of the way back; `down` is 1 while the path carries nothing.
//!
//! A log has a line for each second: `number$[path]$hops$[delays of hops, s]$one-way delay, s`. Of
//! it the delay is taken, and whether the path is another one.
//!
//! Source: the README and `precomputed_paths` of LeoEM (Cao and Zhang, "SaTCP: Link-Layer Informed
//! TCP Adaptation for Highly Dynamic LEO Satellite Networks", INFOCOM 2023).

use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// From when on it holds.
    pub at: Time,
    /// What the columns without `ack_` say.
    pub data: Values,
    /// What those with it say.
    pub ack: Values,
    /// Whether the path is another one than in the row before.
    pub is_new_path: bool,
}

/// What a row says of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// The rate.
    pub rate: Option<Rate>,
    /// The one-way delay.
    pub delay: Option<Span>,
    /// The probability of loss.
    pub loss: Option<f64>,
    /// The most of an extra delay.
    pub jitter: Option<Span>,
    /// Whether it carries nothing.
    pub down: Option<bool>,
}

/// What is wrong with a file: the line, from 1, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Wrong {
    /// The line.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

fn wrong(line: usize, why: impl Into<String>) -> Wrong {
    Wrong {
        line,
        why: why.into(),
    }
}

/// Reads a table or a log, whichever `text` is. Times are as in the file, and ascend.
pub fn parse(text: &str) -> Result<Vec<Row>, Wrong> {
    let first = text
        .lines()
        .find(|line| is_content(line))
        .unwrap_or_default();
    let rows = if first.contains('$') {
        log(text)?
    } else {
        table(text)?
    };
    if rows.is_empty() {
        return Err(wrong(1, "the file has no rows"));
    }
    Ok(rows)
}

fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

/// Lines that say something, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text
        .lines()
        .enumerate()
        .map(|(n, line)| (n + 1, line.trim()));
    numbered.filter(|(_, line)| is_content(line))
}

fn log(text: &str) -> Result<Vec<Row>, Wrong> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut first, mut last, mut path) = (None, None, "");
    for (n, line) in lines(text) {
        let fields: Vec<&str> = line.split('$').collect();
        let [number, hops, _, _, delay] = fields[..] else {
            let why = format!(
                "a log has five fields between `$`, this line {}",
                fields.len()
            );
            return Err(wrong(n, why));
        };
        let second: u64 = number
            .trim()
            .parse()
            .map_err(|_| wrong(n, format!("`{number}` is not a whole number of seconds")))?;
        if last.is_some_and(|last| second <= last) {
            return Err(wrong(
                n,
                format!("second {second} is not after the line above it"),
            ));
        }
        let delay = number_in(delay, n, "a delay in seconds")?;
        let first = *first.get_or_insert(second);
        rows.push(Row {
            at: Time::from_secs(second - first),
            data: Values {
                delay: Some(Span::from_secs_f64(delay)),
                ..Values::default()
            },
            ack: Values::default(),
            is_new_path: last.is_some() && hops != path,
        });
        (last, path) = (Some(second), hops);
    }
    Ok(rows)
}

/// A number that is not negative.
fn number_in(text: &str, line: usize, what: &str) -> Result<f64, Wrong> {
    let number: Option<f64> = text.trim().parse().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| wrong(line, format!("`{}` is not {what}", text.trim())))
}

/// What a column says, and in which unit: what one of its numbers is multiplied with.
#[derive(Clone, Copy, Debug)]
struct Column {
    what: What,
    is_ack: bool,
    unit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Time,
    Rate,
    Delay,
    Loss,
    Jitter,
    Down,
    Handover,
}

const TIMES: &[(&str, f64)] = &[
    ("s", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ns", 1e-9),
];
const RATES: &[(&str, f64)] = &[
    ("bps", 1.0),
    ("bit/s", 1.0),
    ("kbps", 1e3),
    ("kbit/s", 1e3),
    ("mbps", 1e6),
    ("mbit/s", 1e6),
    ("gbps", 1e9),
    ("gbit/s", 1e9),
];
const PARTS: &[(&str, f64)] = &[("", 1.0), ("percent", 1e-2), ("%", 1e-2)];
const NONE: &[(&str, f64)] = &[("", 1.0)];
/// A column's name, what it says, and its units.
type Known = (&'static str, What, &'static [(&'static str, f64)]);

const WHATS: &[Known] = &[
    ("time", What::Time, TIMES),
    ("rate", What::Rate, RATES),
    ("delay", What::Delay, TIMES),
    ("loss", What::Loss, PARTS),
    ("jitter", What::Jitter, TIMES),
    ("down", What::Down, NONE),
    ("handover", What::Handover, NONE),
];

/// A column of a header: `delay_ms`, `delay (ms)`, `ack_rate_mbps`.
fn column(text: &str, line: usize) -> Result<Column, Wrong> {
    let name = text.trim().trim_matches('"').to_lowercase();
    let (is_ack, rest) = match name.strip_prefix("ack_") {
        Some(rest) => (true, rest),
        None => (false, &*name),
    };
    let Some((word, what, units)) = WHATS.iter().find(|(word, ..)| rest.starts_with(word)) else {
        let known: Vec<_> = WHATS.iter().map(|(word, ..)| format!("`{word}`")).collect();
        let why = format!(
            "no column is called `{name}`; there are {}",
            known.join(", ")
        );
        return Err(wrong(line, why));
    };
    let unit = rest[word.len()..].trim_matches([' ', '_', '(', ')', '[', ']']);
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        let known: Vec<_> = units
            .iter()
            .map(|(unit, _)| format!("`{word}_{unit}`"))
            .collect();
        let why = if unit.is_empty() {
            format!(
                "column `{name}` has no unit; there are {}",
                known.join(", ")
            )
        } else {
            format!(
                "column `{name}` has unit `{unit}`; there are {}",
                known.join(", ")
            )
        };
        return Err(wrong(line, why));
    };
    Ok(Column {
        what: *what,
        is_ack,
        unit: *factor,
    })
}

fn table(text: &str) -> Result<Vec<Row>, Wrong> {
    let mut all = lines(text);
    let Some((n, header)) = all.next() else {
        return Err(wrong(1, "the file is empty"));
    };
    let columns: Vec<Column> = header
        .split(',')
        .map(|name| column(name, n))
        .collect::<Result<_, _>>()?;
    if columns
        .iter()
        .filter(|column| column.what == What::Time)
        .count()
        != 1
    {
        return Err(wrong(
            n,
            "the header needs one column of time, such as `time_s`",
        ));
    }
    let mut rows: Vec<Row> = Vec::new();
    for (n, line) in all {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != columns.len() {
            let (has, wants) = (fields.len(), columns.len());
            return Err(wrong(
                n,
                format!("{has} fields where the header has {wants}"),
            ));
        }
        let row = row(&fields, &columns, n)?;
        if rows.last().is_some_and(|last| row.at <= last.at) {
            return Err(wrong(
                n,
                format!("{} is not after the row above it", row.at),
            ));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn row(fields: &[&str], columns: &[Column], n: usize) -> Result<Row, Wrong> {
    let (mut at, mut is_new_path) = (None, false);
    let mut both = [Values::default(); 2];
    for (field, column) in fields.iter().zip(columns) {
        if field.trim().is_empty() && column.what != What::Time {
            continue;
        }
        let value = number_in(field, n, "a number that is not negative")? * column.unit;
        let values = &mut both[usize::from(column.is_ack)];
        let is_set = || match value {
            0.0 => Ok(false),
            1.0 => Ok(true),
            _ => Err(wrong(n, format!("`{}` must be 0 or 1", field.trim()))),
        };
        match column.what {
            What::Time => at = Some(Time::from_secs_f64(value)),
            What::Rate => values.rate = Some(Rate::from_bps(value.round() as u64)),
            What::Delay => values.delay = Some(Span::from_secs_f64(value)),
            What::Jitter => values.jitter = Some(Span::from_secs_f64(value)),
            What::Loss if value > 1.0 => {
                return Err(wrong(n, format!("a loss of `{}` is above 1", field.trim())));
            }
            What::Loss => values.loss = Some(value),
            What::Down => values.down = Some(is_set()?),
            What::Handover => is_new_path = is_set()?,
        }
    }
    let [data, ack] = both;
    let at = at.ok_or_else(|| wrong(n, "the row has no time"))?;
    Ok(Row {
        at,
        data,
        ack,
        is_new_path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_units_in_its_header_and_empty_fields_change_nothing() {
        let text = "# a comment\ntime_s, rate_mbps ,delay (ms),loss_percent,ack_rate_kbps,down\n\
                    0,100,20,,500,\n\n1.5,,30.5,2,,1\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].data.rate, Some(Rate::from_bps(100_000_000)));
        assert_eq!(rows[0].ack.rate, Some(Rate::from_bps(500_000)));
        assert_eq!(rows[1].at, Time::from_ms(1500));
        assert_eq!(rows[1].data.delay, Some(Span::from_us(30_500)));
        assert_eq!((rows[1].data.rate, rows[1].data.down), (None, Some(true)));
        assert_eq!(rows[1].data.loss, Some(0.02));
    }

    #[test]
    fn a_log_has_delays_and_tells_where_the_path_is_another() {
        let text = "1$[-1, 7, -2]$3$[0.001, 0.002]$0.025477267756\n2$[-1, 7, -2]$3$[]$0.0254\n\
                    3$[-1, 8, -2]$3$[]$0.03\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows[0].data.delay, Some(Span::from_ps(25_477_267_756)));
        let paths: Vec<_> = rows
            .iter()
            .map(|row| (row.at.as_ms(), row.is_new_path))
            .collect();
        assert_eq!(paths, [(0, false), (1000, false), (2000, true)]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let why = |text: &str| parse(text).unwrap_err().to_string();
        for (text, line, word) in [
            ("", 1, "empty"),
            ("time_s,delay_ms\n", 1, "no rows"),
            ("time_s,speed\n", 1, "`speed`"),
            ("time_s,delay\n", 1, "`delay_ms`"),
            ("time_s,rate_mph\n", 1, "`mph`"),
            ("delay_ms\n1\n", 1, "time_s"),
            ("time_s,delay_ms\n0,1\n1\n", 3, "1 fields"),
            ("time_s,delay_ms\n\n0,x\n", 3, "`x`"),
            ("time_s,delay_ms\n0,-1\n", 2, "`-1`"),
            ("time_s,delay_ms\n0,1e999\n", 2, "`1e999`"),
            ("time_s,delay_ms\n1,1\n1,2\n", 3, "not after"),
            ("time_s,loss\n0,1.5\n", 2, "above 1"),
            ("time_s,down\n0,2\n", 2, "0 or 1"),
            ("1$[]$3\n", 1, "five fields"),
            ("1$[]$3$[]$0.1\n1$[]$3$[]$0.1\n", 2, "second 1"),
            ("1$[]$3$[]$x\n", 1, "`x`"),
        ] {
            let why = why(text);
            assert!(
                why.starts_with(&format!("line {line}: ")),
                "{text:?}: {why}"
            );
            assert!(why.contains(word), "{text:?}: {why}");
        }
    }
}
