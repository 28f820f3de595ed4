//! A table of a `paper.toml` whose faults are noted as its keys are read.

use crate::expression::Expression;
use crate::spec::Names;
use std::cell::RefCell;
use trammel_core::units::nearest;
use trammel_scenario::diagnose::Problem;
use trammel_scenario::tree::{Entry, Extent, Node, Table, Value};

/// A table of the file with the keys that it may have.
pub(super) struct Reader<'a> {
    pub(super) problems: &'a RefCell<Vec<Problem>>,
    table: Option<&'a Table>,
    pub(super) span: Extent,
    place: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        problems: &'a RefCell<Vec<Problem>>,
        node: &'a Node,
        place: &'static str,
        keys: &[&str],
    ) -> Reader<'a> {
        let reader = Reader {
            problems,
            table: node.as_table(),
            span: node.span.clone(),
            place,
        };
        match reader.table {
            None => {
                reader.fault(
                    &node.span,
                    format!("{place} must be a table"),
                    "not a table",
                    "",
                );
            }
            Some(table) => {
                for entry in table
                    .0
                    .iter()
                    .filter(|entry| !keys.contains(&entry.key.as_str()))
                {
                    let help = match nearest(&entry.key, keys.iter().copied()) {
                        Some(name) => format!("did you mean `{name}`?"),
                        None => format!("{place} has `{}`", keys.join("`, `")),
                    };
                    let what = format!("{place} has no key `{}`", entry.key);
                    reader.fault(&entry.span, what, "unknown key", help);
                }
            }
        }
        reader
    }

    pub(super) fn fault(
        &self,
        span: &Extent,
        what: impl Into<String>,
        why: impl Into<String>,
        help: impl Into<String>,
    ) {
        let problem = Problem {
            span: span.clone(),
            what: what.into(),
            why: why.into(),
            help: help.into(),
        };
        self.problems.borrow_mut().push(problem);
    }

    pub(super) fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.table?.get(key)
    }

    pub(super) fn missing(&self, key: &str) {
        self.fault(
            &self.span,
            format!("{} needs `{key}`", self.place),
            "missing key",
            "",
        );
    }

    pub(super) fn unknown<'b>(&self, key: &str, name: &str, names: impl Iterator<Item = &'b str>) {
        let span = self
            .entry(key)
            .map_or(self.span.clone(), |entry| entry.node.span.clone());
        let help = nearest(name, names).map(|name| format!("did you mean `{name}`?"));
        self.fault(
            &span,
            format!("there is no `{name}`"),
            "unknown name",
            help.unwrap_or_default(),
        );
    }

    /// The text of `key`, which must be there.
    pub(super) fn text(&self, key: &str) -> String {
        if self.entry(key).is_none() {
            self.missing(key);
        }
        self.text_or_none(key)
    }

    pub(super) fn text_or_none(&self, key: &str) -> String {
        let Some(entry) = self.entry(key) else {
            return String::new();
        };
        let text = entry.node.as_text();
        if text.is_none() {
            self.wrong(&entry.node, key, "a text");
        }
        text.unwrap_or_default().trim().to_owned()
    }

    pub(super) fn wrong(&self, node: &Node, key: &str, wanted: &str) {
        self.fault(
            &node.span,
            format!("`{key}` must be {wanted}"),
            node.noun(),
            "",
        );
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        let entry = self.entry(key)?;
        if let Value::Bool(value) = entry.node.value {
            return Some(value);
        }
        self.wrong(&entry.node, key, "true or false");
        None
    }

    pub(super) fn word(&self, key: &str, words: &[&str]) -> Option<usize> {
        let entry = self.entry(key)?;
        let text = entry.node.as_text().unwrap_or_default();
        let found = words.iter().position(|word| *word == text);
        if found.is_none() {
            let why = format!("must be one of `{}`", words.join("`, `"));
            let what = format!("`{key}` cannot be `{}`", entry.node.brief());
            self.fault(&entry.node.span, what, why, "");
        }
        found
    }

    /// The tables of the list `key`.
    pub(super) fn each(
        &self,
        key: &'static str,
        place: &'static str,
        keys: &'static [&'static str],
    ) -> impl Iterator<Item = Reader<'a>> {
        let problems = self.problems;
        let list: &[Node] = match self.entry(key).map(|entry| &entry.node) {
            Some(Node {
                value: Value::List(list),
                ..
            }) => list,
            Some(node) => {
                self.wrong(node, key, "a list of tables");
                &[]
            }
            None => &[],
        };
        list.iter()
            .map(move |node| Reader::new(problems, node, place, keys))
    }

    /// The keys and values of the table `key`, as dotted keys of a scenario.
    pub(super) fn settings(&self, key: &str) -> Vec<(String, Value)> {
        let Some(entry) = self.entry(key) else {
            return Vec::new();
        };
        if let Some(table) = entry.node.as_table() {
            return table
                .0
                .iter()
                .map(|one| (one.key.clone(), one.node.value.clone()))
                .collect();
        }
        self.wrong(&entry.node, key, "a table of keys of the scenario");
        Vec::new()
    }

    pub(super) fn expression(&self, node: &Node) -> Option<Expression> {
        let Some(text) = node.as_text() else {
            self.fault(&node.span, "an expression must be a text", node.noun(), "");
            return None;
        };
        let read = Expression::parse(text);
        read.map_err(|why| self.fault(&node.span, format!("`{text}` cannot be read"), why, ""))
            .ok()
    }

    /// Rows or columns: `"name"`, `{ sweep = "key" }` with names beside, or
    /// `{ name = "expression" }`.
    pub(super) fn names(&self, key: &str, names_key: &str) -> Option<Names> {
        let Some(entry) = self.entry(key) else {
            self.missing(key);
            return None;
        };
        if let Some(name) = entry.node.as_text() {
            return Some(Names::One(name.to_owned()));
        }
        let Some(table) = entry.node.as_table() else {
            self.wrong(
                &entry.node,
                key,
                "a name, `{ sweep = \"key\" }` or names with expressions",
            );
            return None;
        };
        if let Some(sweep) = table.get("sweep") {
            let Some(swept) = sweep.node.as_text() else {
                self.wrong(&sweep.node, "sweep", "a dotted key");
                return None;
            };
            return Some(Names::Swept(swept.to_owned(), self.list(names_key)));
        }
        let mut each = Vec::new();
        for one in &table.0 {
            each.push((one.key.clone(), self.expression(&one.node)?));
        }
        Some(Names::Each(each))
    }

    pub(super) fn list(&self, key: &str) -> Vec<String> {
        let Some(entry) = self.entry(key) else {
            return Vec::new();
        };
        let texts = match &entry.node.value {
            Value::List(items) => items
                .iter()
                .map(|item| item.as_text().map(str::to_owned))
                .collect(),
            _ => None,
        };
        texts.unwrap_or_else(|| {
            self.wrong(&entry.node, key, "a list of texts");
            Vec::new()
        })
    }
}

/// The numbers of a list; nothing where one of them is none.
pub(super) fn numbers(node: &Node) -> Vec<f64> {
    let Value::List(list) = &node.value else {
        return Vec::new();
    };
    let number = |node: &Node| match node.value {
        Value::Int(n) => Some(n as f64),
        Value::Float(n) => Some(n),
        _ => None,
    };
    let found: Option<Vec<f64>> = list.iter().map(number).collect();
    found.unwrap_or_default()
}
