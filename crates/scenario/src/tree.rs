//! A TOML file as a plain tree whose every key and value knows where it stands in the text.
//!
//! A sweep edits this tree: a swept value keeps its own place, so a fault in one point of a sweep
//! is underlined where the list names it.

use std::ops::Range;
use toml_edit::{Document, Item, TableLike};

/// A place in the text, in bytes.
pub type Extent = Range<usize>;

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub span: Extent,
    /// What it is.
    pub value: Value,
}

/// What a node may be.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// An array, or an array of tables.
    List(Vec<Node>),
    /// A table of any notation.
    Table(Table),
    /// A date or time, which no key takes.
    Date,
}

/// The entries of a table, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Table(pub Vec<Entry>);

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub span: Extent,
    /// Its value.
    pub node: Node,
}

/// A fault of TOML's syntax.
#[derive(Debug)]
pub struct SyntaxError {
    /// Where.
    pub span: Extent,
    /// What.
    pub message: String,
}

impl Table {
    /// The entry of `key`.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    /// Sets `key` to `node`; the place of a new key is that of the value.
    pub fn set(&mut self, key: &str, node: Node) {
        match self.0.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => entry.node = node,
            None => self.0.push(Entry {
                key: key.to_owned(),
                span: node.span.clone(),
                node,
            }),
        }
    }
}

impl Node {
    /// Reads the text of a TOML file.
    pub fn parse(text: &str) -> Result<Node, SyntaxError> {
        let document = Document::parse(text).map_err(|error| SyntaxError {
            span: error.span().unwrap_or(0..0),
            message: error.message().to_owned(),
        })?;
        Ok(Node {
            span: 0..0,
            value: Value::Table(table(document.as_table(), &(0..0))),
        })
    }

    /// The table, if it is one.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What kind of thing it is, to a person.
    pub fn noun(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a text",
            Value::Int(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Bool(_) => "a boolean",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Date => "a date",
        }
    }

    /// The value as a short text: what a user would write, without quotes.
    pub fn brief(&self) -> String {
        match &self.value {
            Value::Text(text) => text.clone(),
            Value::Int(v) => v.to_string(),
            Value::Float(v) => format!("{v:?}"),
            Value::Bool(v) => v.to_string(),
            Value::Date => "date".into(),
            Value::List(items) => items.iter().map(Node::brief).collect::<Vec<_>>().join("+"),
            Value::Table(table) => {
                // The name of a plug-in stands for the table where it is all there is.
                let values: Vec<_> = table.0.iter().map(|entry| entry.node.brief()).collect();
                values.join(" ")
            }
        }
    }
}

fn table(from: &dyn TableLike, around: &Extent) -> Table {
    let entries = from.iter().filter_map(|(name, item)| {
        let key = from.key(name).and_then(toml_edit::Key::span);
        let key = key
            .or_else(|| item.span())
            .unwrap_or_else(|| around.clone());
        Some(Entry {
            key: name.to_owned(),
            node: node(item, &key)?,
            span: key,
        })
    });
    Table(entries.collect())
}

fn node(item: &Item, around: &Extent) -> Option<Node> {
    let span = item.span().unwrap_or_else(|| around.clone());
    let value = match item {
        Item::None => return None,
        Item::Value(value) => return Some(inline(value, around)),
        Item::Table(from) => Value::Table(table(from, &span)),
        Item::ArrayOfTables(tables) => Value::List(
            tables
                .iter()
                .map(|from| {
                    let span = from.span().unwrap_or_else(|| span.clone());
                    Node {
                        value: Value::Table(table(from, &span)),
                        span,
                    }
                })
                .collect(),
        ),
    };
    Some(Node { span, value })
}

fn inline(value: &toml_edit::Value, around: &Extent) -> Node {
    use toml_edit::Value as Toml;
    let span = value.span().unwrap_or_else(|| around.clone());
    let value = match value {
        Toml::String(v) => Value::Text(v.value().clone()),
        Toml::Integer(v) => Value::Int(*v.value()),
        Toml::Float(v) => Value::Float(*v.value()),
        Toml::Boolean(v) => Value::Bool(*v.value()),
        Toml::Datetime(_) => Value::Date,
        Toml::Array(items) => Value::List(items.iter().map(|item| inline(item, &span)).collect()),
        Toml::InlineTable(from) => Value::Table(table(from, &span)),
    };
    Node { span, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_its_place() {
        let text = "[path]\nrate = \"1 Gbit/s\"\nqueue = { limit = 7 }\n[[flow]]\nname = 'a'\n";
        let root = Node::parse(text).unwrap();
        let path = &root.as_table().unwrap().get("path").unwrap().node;
        let rate = path.as_table().unwrap().get("rate").unwrap();
        assert_eq!(
            (&text[rate.span.clone()], &text[rate.node.span.clone()]),
            ("rate", "\"1 Gbit/s\"")
        );
        let queue = &path.as_table().unwrap().get("queue").unwrap().node;
        let limit = queue.as_table().unwrap().get("limit").unwrap();
        assert_eq!(&text[limit.node.span.clone()], "7");
    }

    #[test]
    fn a_syntax_error_has_a_place() {
        let error = Node::parse("rate = = 1\n").unwrap_err();
        assert!(error.span.start >= 6 && error.span.end <= 10, "{error:?}");
    }
}
