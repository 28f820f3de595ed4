//! Replies: one structure, from which the text and the JSON are made.

use serde_json::{Map, Value};
use std::fmt;

/// Rows of a table that are shown. Others can fill the link-state database up to some 100,000, and
/// while a reply is made no frame is forwarded.
const MOST_ROWS: usize = 10_000;

/// The reply to a command. [`Display`](fmt::Display) gives its text, without a newline at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    state: State,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    Refused,
    Waits(u64),
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    /// A sentence.
    Line(String),
    /// A name and a value.
    Fact(&'static str, Value),
    /// Rows with columns.
    Table {
        name: &'static str,
        columns: &'static [&'static str],
        rows: Vec<Vec<Value>>,
    },
}

impl Reply {
    /// Whether the command was understood and carried out, or waits.
    pub fn is_ok(&self) -> bool {
        self.state != State::Refused
    }

    /// The number under which [`Control::poll_reply`](crate::Control::poll_reply) gives the answer,
    /// where the command waits for one.
    pub fn waits(&self) -> Option<u64> {
        match self.state {
            State::Waits(number) => Some(number),
            State::Done | State::Refused => None,
        }
    }

    /// The reply as one line of JSON: `ok`; `error` where that is false; `waits` where the answer
    /// comes later; `text` for sentences; each value and each table by its name, a table as a
    /// list of objects.
    pub fn json(&self) -> String {
        let mut all = Map::new();
        all.insert("ok".to_owned(), self.is_ok().into());
        if let State::Waits(number) = self.state {
            all.insert("waits".to_owned(), number.into());
        }
        let text = if self.is_ok() { "text" } else { "error" };
        for part in &self.parts {
            match part {
                Part::Line(line) => match all.get_mut(text) {
                    Some(Value::String(lines)) => *lines += &format!("\n{line}"),
                    _ => drop(all.insert(text.to_owned(), line.as_str().into())),
                },
                Part::Fact(name, value) => drop(all.insert((*name).to_owned(), value.clone())),
                Part::Table {
                    name,
                    columns,
                    rows,
                } => {
                    let object = |row: &Vec<Value>| {
                        let names = columns.iter().map(|column| (*column).to_owned());
                        Value::Object(names.zip(row.iter().cloned()).collect())
                    };
                    all.insert((*name).to_owned(), rows.iter().map(object).collect());
                }
            }
        }
        Value::Object(all).to_string()
    }

    pub(crate) fn done() -> Reply {
        Reply {
            state: State::Done,
            parts: Vec::new(),
        }
    }

    pub(crate) fn refused(what: &str) -> Reply {
        let reply = Reply {
            state: State::Refused,
            parts: Vec::new(),
        };
        reply.line(what)
    }

    pub(super) fn waiting(number: u64) -> Reply {
        Reply {
            state: State::Waits(number),
            parts: Vec::new(),
        }
    }

    pub(super) fn line(mut self, line: &str) -> Reply {
        self.parts.push(Part::Line(line.to_owned()));
        self
    }

    pub(super) fn fact(mut self, name: &'static str, value: impl Into<Value>) -> Reply {
        self.parts.push(Part::Fact(name, value.into()));
        self
    }

    pub(super) fn table(
        self,
        name: &'static str,
        columns: &'static [&'static str],
        rows: Vec<Vec<Value>>,
    ) -> Reply {
        self.long_table(name, columns, rows.into_iter())
    }

    /// A table with the first [`MOST_ROWS`] of `rows`; how many more there are is a line.
    pub(super) fn long_table(
        mut self,
        name: &'static str,
        columns: &'static [&'static str],
        mut rows: impl Iterator<Item = Vec<Value>>,
    ) -> Reply {
        let shown = rows.by_ref().take(MOST_ROWS).collect();
        self.parts.push(Part::Table {
            name,
            columns,
            rows: shown,
        });
        match rows.count() {
            0 => self,
            left => self.line(&format!("{left} more rows of `{name}` are not shown")),
        }
    }

    /// This reply, then the parts of another.
    pub(super) fn and(mut self, other: Reply) -> Reply {
        self.parts.extend(other.parts);
        self
    }
}

/// A value as text; nothing is `-`.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

/// Lines of columns, each as wide as its widest cell.
fn aligned(columns: &[&str], rows: &[Vec<Value>]) -> Vec<String> {
    let head: Vec<String> = columns.iter().map(|name| name.replace('_', " ")).collect();
    let rows = rows.iter().map(|row| row.iter().map(shown).collect());
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths);
        let text: String = padded
            .map(|(cell, width)| format!("{cell:width$}  "))
            .collect();
        text.trim_end().to_owned()
    };
    lines.iter().map(line).collect()
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_table = |part: &&Part| matches!(part, Part::Table { .. });
        let has_titles = self.parts.iter().filter(is_table).count() > 1;
        let mut lines = Vec::new();
        for part in &self.parts {
            match part {
                Part::Line(line) => lines.push(line.clone()),
                Part::Fact(name, value) => {
                    lines.push(format!("{}: {}", name.replace('_', " "), shown(value)));
                }
                Part::Table {
                    name,
                    columns,
                    rows,
                } => {
                    if has_titles {
                        lines.extend((!lines.is_empty()).then(String::new));
                        lines.push(format!("{}:", name.replace('_', " ")));
                    }
                    lines.extend(aligned(columns, rows));
                }
            }
        }
        f.write_str(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_json_say_the_same() {
        let rows = vec![
            vec![Value::from("eth0"), Value::from(1)],
            vec![Value::from("e"), Value::Null],
        ];
        let reply =
            Reply::done()
                .fact("router_id", "10.0.0.1")
                .table("ports", &["name", "left_s"], rows);
        let text = "router id: 10.0.0.1\nname  left s\neth0  1\ne     -";
        assert_eq!(reply.to_string(), text);
        let json: Value = serde_json::from_str(&reply.json()).unwrap();
        assert_eq!(json["ok"], true);
        assert_eq!(json["router_id"], "10.0.0.1");
        assert_eq!(json["ports"][1]["left_s"], Value::Null);
    }

    #[test]
    fn a_table_is_bounded_and_says_what_is_left_out() {
        let rows = (0..MOST_ROWS + 3).map(|row| vec![Value::from(row)]);
        let reply = Reply::done().long_table("routes", &["row"], rows);
        let left = "3 more rows of `routes` are not shown";
        let text = reply.to_string();
        assert_eq!(text.lines().count(), 1 + MOST_ROWS + 1);
        assert!(text.ends_with(left));
        let json: Value = serde_json::from_str(&reply.json()).unwrap();
        assert_eq!(json["routes"].as_array().map(Vec::len), Some(MOST_ROWS));
        assert_eq!(json["text"], left);
    }

    #[test]
    fn a_refusal_and_a_wait_say_so() {
        let refused = Reply::refused("no");
        assert_eq!(
            (refused.is_ok(), refused.to_string()),
            (false, "no".to_owned())
        );
        assert_eq!(refused.json(), r#"{"error":"no","ok":false}"#);
        let waiting = Reply::waiting(7).line("a").line("b");
        let json: Value = serde_json::from_str(&waiting.json()).unwrap();
        assert_eq!(
            (waiting.waits(), &json["waits"], &json["text"]),
            (Some(7), &Value::from(7), &Value::from("a\nb"),)
        );
    }
}
