//! Reads the keys of one table as its section lists them, and collects every fault on the way.
//!
//! A getter returns what can be used: after a fault that is a stand-in, and the file is refused
//! anyway.

use super::faults::{Context, explained, range, unknown_key};
use super::keys_kind::{Fallback, Kind, Section};
use super::tree::{Entry, Extent, Node, Table, Value};
use trammel_core::time::{Span, Time};
use trammel_core::units::{Dimension, Quantity, Rate, nearest};

/// A table being read.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) section: &'static Section,
    pub(super) table: &'a Table,
    /// Where a missing key is missed.
    pub(super) span: Extent,
}

static EMPTY: Table = Table(Vec::new());

/// Why a text must not reach terminals and tables: it would command the terminal, or a spreadsheet.
fn unprintable(key: &str, text: &str) -> Option<&'static str> {
    let is_line = |c: char| c == '\n' || c == '\t';
    // These turn the direction of writing, so that a name reads as another.
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text
        .chars()
        .any(|c| (c.is_control() && !is_line(c)) || turns(c))
    {
        return Some("it has control characters");
    }
    let is_name = key == "name" || key == "title";
    (is_name && text.starts_with(['=', '@', '\t']))
        .then_some("a spreadsheet takes it for a formula")
}

impl<'a> Reader<'a> {
    /// Reads `node` as `section`: names its unknown keys, unless a plug-in may know them.
    pub(super) fn new(cx: &'a Context<'a>, section: &'static Section, node: &'a Node) -> Self {
        let table = node.as_table().unwrap_or_else(|| {
            let what = format!("`{}` must be a table", section.name);
            cx.fault(
                &node.span,
                what,
                format!("this is {}", node.noun()),
                section.help,
            );
            &EMPTY
        });
        if section.extra.is_none() {
            for entry in &table.0 {
                if !section.keys.iter().any(|key| key.name == entry.key) {
                    unknown_key(cx, section, entry);
                }
            }
        }
        let span = node.span.clone();
        Reader {
            cx,
            section,
            table,
            span,
        }
    }

    /// What the file calls the key `name`: `path.rate`.
    pub(super) fn dotted(&self, name: &str) -> String {
        match self.section.name {
            "" => name.to_owned(),
            section => format!("{section}.{name}"),
        }
    }

    /// The entry of a listed key.
    pub(super) fn entry(&self, name: &str) -> Option<&'a Entry> {
        self.section.key(name);
        self.table.get(name)
    }

    /// Notes that the value of `name` is not what its kind says.
    pub(super) fn wrong(&self, name: &str, node: &Node) {
        let key = self.section.key(name);
        let what = format!("`{}` must be {}", self.dotted(name), key.kind.describe());
        let why = match &node.value {
            Value::List(_) | Value::Table(_) => format!("this is {}", node.noun()),
            _ => format!("`{}` is {}", node.brief(), node.noun()),
        };
        self.cx.fault(&node.span, what, why, explained(key.help));
    }

    /// Notes that `name` is missing.
    pub(super) fn missing(&self, name: &str) {
        let key = self.section.key(name);
        let place = match self.section.name {
            "" => "the file".to_owned(),
            name => format!("`{name}`"),
        };
        let what = format!("{place} needs `{name}`");
        let help = format!("add `{name}`, {}", key.kind.describe());
        self.cx.fault(&self.span, what, key.help, help);
    }

    /// The value of `name` or its default, read by `read`; a required key that is missing is noted.
    fn with<T>(&self, name: &str, read: impl Fn(&Node) -> Option<T>) -> Option<T> {
        if let Some(entry) = self.entry(name) {
            return read(&entry.node);
        }
        match self.section.key(name).fallback {
            Fallback::Required => {
                self.missing(name);
                None
            }
            Fallback::Absent | Fallback::See(_) => None,
            Fallback::Is(text) => {
                let value = match text {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    _ => text
                        .parse()
                        .map_or_else(|_| Value::Text(text.into()), Value::Int),
                };
                let span = self.span.clone();
                read(&Node { span, value })
            }
        }
    }

    /// The text of `name`.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.with(name, |node| match node.as_text() {
            Some("") => {
                let what = format!("`{}` is empty", self.dotted(name));
                let default = matches!(self.section.key(name).fallback, Fallback::Is(""));
                if !default {
                    self.cx.fault(
                        &node.span,
                        what,
                        "an empty text",
                        self.section.key(name).help,
                    );
                }
                Some(String::new())
            }
            Some(text) => {
                if let Some(why) = unprintable(name, text) {
                    let what = format!("`{}` cannot be shown", self.dotted(name));
                    let help = "write it with letters, digits, spaces and signs";
                    self.cx.fault(&node.span, what, why, help);
                }
                Some(text.to_owned())
            }
            None => {
                self.wrong(name, node);
                None
            }
        })
    }

    /// The switch `name`.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.with(name, |node| {
            if let Value::Bool(v) = node.value {
                return Some(v);
            }
            self.wrong(name, node);
            None
        })
    }

    /// The whole number `name`.
    pub(super) fn whole(&self, name: &str) -> Option<i64> {
        self.with(name, |node| self.whole_of(name, node))
    }

    pub(super) fn whole_of(&self, name: &str, node: &Node) -> Option<i64> {
        let (Kind::Whole(low, high) | Kind::BoolOrWhole(low, high)) = self.section.key(name).kind
        else {
            unreachable!("`{name}` is listed as another kind")
        };
        match node.value {
            Value::Int(v) if (low..=high).contains(&v) => Some(v),
            Value::Int(v) => {
                self.out_of_range(name, node, v as f64);
                None
            }
            _ => {
                self.wrong(name, node);
                None
            }
        }
    }

    fn out_of_range(&self, name: &str, node: &Node, value: f64) {
        let key = self.section.key(name);
        let what = format!("`{}` cannot be `{}`", self.dotted(name), node.brief());
        let why = match key.kind {
            Kind::Quantity(dimensions, low, high) => range(dimensions, low, high, value),
            ref kind => format!("must be {}", kind.describe()),
        };
        self.cx.fault(&node.span, what, why, explained(key.help));
    }

    /// The number `name`, in base units.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        Some(self.quantity(name)?.value)
    }

    /// The number `name` with what it measures.
    pub(super) fn quantity(&self, name: &str) -> Option<Quantity> {
        self.with(name, |node| {
            let key = self.section.key(name);
            let (dimensions, low, high): (&[Dimension], f64, f64) = match key.kind {
                Kind::Quantity(dimensions, low, high) => (dimensions, low, high),
                Kind::Number(low, high) => (&[Dimension::Ratio], low, high),
                _ => unreachable!("`{name}` is listed as another kind"),
            };
            let quantity = self.measured(name, node, dimensions)?;
            if (low..=high).contains(&quantity.value) {
                return Some(quantity);
            }
            if quantity.value > high && high > 1e6 {
                let what = format!("`{}` cannot be `{}`", self.dotted(name), node.brief());
                self.cx.fault(
                    &node.span,
                    what,
                    "too large to be meant",
                    explained(key.help),
                );
            } else {
                self.out_of_range(name, node, quantity.value);
            }
            None
        })
    }

    /// The numbers `name`, in base units, each with its place; none where it is not given and has
    /// no default.
    pub(super) fn numbers(&self, name: &str) -> Vec<(f64, Extent)> {
        let key = self.section.key(name);
        let Kind::Numbers(_, dimension, low, high) = key.kind else {
            unreachable!("`{name}` is listed as another kind")
        };
        let read = |node: &Node| {
            let number = match &node.value {
                Value::Int(v) => *v as f64,
                Value::Float(v) => *v,
                Value::Text(_) => self.measured(name, node, &[dimension])?.value,
                _ => {
                    self.wrong(name, node);
                    return None;
                }
            };
            if (low..=high).contains(&number) {
                return Some((number, node.span.clone()));
            }
            let what = format!("`{}` cannot be `{}`", self.dotted(name), node.brief());
            let why = format!("must be from {low} to {high}");
            self.cx.fault(&node.span, what, why, explained(key.help));
            None
        };
        let all = self.with(name, |node| match &node.value {
            Value::List(items) if items.is_empty() => {
                let what = format!("`{}` is empty", self.dotted(name));
                let help = format!("give {}", key.kind.describe());
                self.cx.fault(&node.span, what, "an empty list", help);
                None
            }
            Value::List(items) => Some(items.iter().filter_map(read).collect()),
            _ => Some(read(node).into_iter().collect()),
        });
        all.unwrap_or_default()
    }

    /// The number `name` with its ends: low, centre, high.
    pub(super) fn interval(&self, name: &str) -> Option<[f64; 3]> {
        self.with(name, |node| {
            let key = self.section.key(name);
            let Kind::Interval(low, high) = key.kind else {
                unreachable!("`{name}` is listed as another kind")
            };
            let number = |node: &Node| match node.value {
                Value::Int(v) => Some(v as f64),
                Value::Float(v) => Some(v),
                _ => None,
            };
            let ends: Option<Vec<f64>> = match &node.value {
                Value::List(items) => items.iter().map(number).collect(),
                _ => number(node).map(|v| vec![v; 3]),
            };
            let Some(Ok(ends)) = ends.map(<[f64; 3]>::try_from) else {
                self.wrong(name, node);
                return None;
            };
            if ends.iter().any(|end| !(low..=high).contains(end)) {
                self.out_of_range(name, node, ends[0]);
                return None;
            }
            if !ends.is_sorted() {
                let what = format!("`{}` must rise", self.dotted(name));
                let why = "low, centre and high in this order";
                self.cx.fault(&node.span, what, why, explained(key.help));
                return None;
            }
            Some(ends)
        })
    }

    /// Reads `node` as a number with one of the units `wanted`.
    pub(super) fn measured(
        &self,
        name: &str,
        node: &Node,
        wanted: &[Dimension],
    ) -> Option<Quantity> {
        let bare = |value| Quantity {
            value,
            dimension: Dimension::Ratio,
        };
        let parsed = match &node.value {
            Value::Text(text) => Quantity::parse(text),
            Value::Int(v) => Ok(bare(*v as f64)),
            Value::Float(v) => Ok(bare(*v)),
            _ => {
                self.wrong(name, node);
                return None;
            }
        };
        let wants: Vec<_> = wanted.iter().map(|d| d.describe()).collect();
        let what = format!("`{}` must be {}", self.dotted(name), wants.join(" or "));
        let why = match parsed {
            Ok(quantity) if wanted.contains(&quantity.dimension) && quantity.value.is_finite() => {
                return Some(quantity);
            }
            Ok(quantity) if wanted.contains(&quantity.dimension) => {
                "too large to be meant".to_owned()
            }
            Ok(quantity) if quantity.dimension == Dimension::Ratio => "this has no unit".to_owned(),
            Ok(quantity) => {
                let example = quantity.dimension.describe();
                let noun = example.split(" such").next().unwrap_or(example);
                format!("`{}` is {noun}", node.brief())
            }
            Err(error) => error.to_string(),
        };
        self.cx.fault(
            &node.span,
            what,
            why,
            explained(self.section.key(name).help),
        );
        None
    }

    /// The instant `name`.
    pub(super) fn instant(&self, name: &str) -> Option<Time> {
        self.number(name).map(Time::from_secs_f64)
    }

    /// The span `name`.
    pub(super) fn span(&self, name: &str) -> Option<Span> {
        self.number(name).map(Span::from_secs_f64)
    }

    /// The rate `name`.
    pub(super) fn rate(&self, name: &str) -> Option<Rate> {
        self.number(name)
            .map(|bps| Rate::from_bps(bps.round() as u64))
    }

    /// The size `name`, in bytes.
    pub(super) fn bytes(&self, name: &str) -> Option<u64> {
        self.number(name).map(|bytes| bytes.round() as u64)
    }

    /// The word `name`, as an index into its list.
    pub(super) fn word(&self, name: &str) -> Option<usize> {
        self.with(name, |node| {
            let Kind::Word(words) = self.section.key(name).kind else {
                unreachable!("`{name}` is listed as another kind")
            };
            self.word_of(name, node, words)
        })
    }

    /// The switch `name`, or the place of its word among those that it may be.
    pub(super) fn flag_or_word(&self, name: &str) -> Option<Result<bool, usize>> {
        self.with(name, |node| {
            let Kind::BoolOrWord(words) = self.section.key(name).kind else {
                unreachable!("`{name}` is listed as another kind")
            };
            match node.value {
                Value::Bool(on) => Some(Ok(on)),
                _ => self.word_of(name, node, words).map(Err),
            }
        })
    }

    pub(super) fn word_of(&self, name: &str, node: &Node, words: &[&str]) -> Option<usize> {
        let Some(text) = node.as_text() else {
            self.wrong(name, node);
            return None;
        };
        let found = words.iter().position(|word| *word == text);
        if found.is_none() {
            let all: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
            let what = format!("`{}` cannot be `{text}`", self.dotted(name));
            let help = match nearest(text, words.iter().copied()) {
                Some(word) => format!("did you mean `{word}`?"),
                None => String::new(),
            };
            self.cx.fault(
                &node.span,
                what,
                format!("must be one of {}", all.join(", ")),
                help,
            );
        }
        found
    }

    /// The table `name`, to be read as its own section.
    pub(super) fn table(&self, name: &str) -> Option<Reader<'a>> {
        let section = self
            .section
            .key(name)
            .kind
            .section()
            .expect("listed as a table");
        let entry = self.entry(name)?;
        Some(Reader::new(self.cx, section, &entry.node))
    }

    /// The tables of the list `name`.
    pub(super) fn tables(&self, name: &str) -> Vec<Reader<'a>> {
        let section = self
            .section
            .key(name)
            .kind
            .section()
            .expect("the callers ask for sections of tables only");
        let Some(entry) = self.entry(name) else {
            return Vec::new();
        };
        match &entry.node.value {
            Value::List(items) => items
                .iter()
                .map(|n| Reader::new(self.cx, section, n))
                .collect(),
            // One `[flow]` in place of `[[flow]]` can only mean one.
            Value::Table(_) => vec![Reader::new(self.cx, section, &entry.node)],
            _ => {
                self.wrong(name, &entry.node);
                Vec::new()
            }
        }
    }

    /// The texts of the list `name`, each with its place.
    pub(super) fn names(&self, name: &str) -> Vec<(&'a str, &'a Node)> {
        let Some(entry) = self.entry(name) else {
            return Vec::new();
        };
        let Value::List(items) = &entry.node.value else {
            self.wrong(name, &entry.node);
            return Vec::new();
        };
        let texts = items.iter().filter_map(|node| {
            let text = node.as_text();
            if text.is_none() {
                self.wrong(name, node);
            }
            Some((text?, node))
        });
        texts.collect()
    }
}
