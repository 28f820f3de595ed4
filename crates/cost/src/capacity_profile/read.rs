//! Reads a capacity profile and tells every fault of its text with its place.

use super::{CapacityProfile, ORIGINS, Point, SCHEMA};
use std::ops::Range;
use toml_edit::{Document, Item, TableLike, Value};
use trammel_core::label::Label;
use trammel_core::units::nearest;

const KEYS: [&str; 7] = [
    "schema", "function", "origin", "source", "clock_hz", "spread", "point",
];
const POINT_KEYS: [&str; 4] = ["frame_bytes", "flows", "routes", "mpps"];

/// A fault of a profile's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFault {
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to do; may be empty.
    pub help: String,
}

impl CapacityProfile {
    /// Reads the text of a profile; every fault that it has.
    pub fn parse(text: &str) -> Result<CapacityProfile, Vec<ProfileFault>> {
        let document = Document::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            vec![fault(span, "this is not TOML", error.message(), "")]
        })?;
        let mut faults = Vec::new();
        let root = document.as_table();
        let mut reader = Table::new(root, 0..0, "a profile", &KEYS, &mut faults);
        let schema = reader.text("schema");
        if let Some((schema, span)) = schema.filter(|(schema, _)| schema != SCHEMA) {
            let why = format!("this version reads `{SCHEMA}`");
            reader.faults.push(fault(
                span,
                &format!("`schema` cannot be `{schema}`"),
                &why,
                "",
            ));
        }
        let function = reader.text("function").map(|(text, _)| text);
        let origin = reader.text("origin").and_then(|(name, span)| {
            let found = Label::of_key(&name, &ORIGINS);
            if found.is_none() {
                let why = "must be `measured`, `published` or `modelled`";
                let help = nearest(&name, ORIGINS.iter().map(|label| label.key()));
                let help = help.map_or(String::new(), |name| format!("did you mean `{name}`?"));
                reader.faults.push(fault(
                    span,
                    &format!("`origin` cannot be `{name}`"),
                    why,
                    &help,
                ));
            }
            found
        });
        let source = reader.text("source").map(|(text, _)| text);
        let clock_hz = reader.number("clock_hz", |hz| hz > 0.0, "must be more than zero");
        let spread = if root.contains_key("spread") {
            reader.number(
                "spread",
                |part| (0.0..1.0).contains(&part),
                "must be from 0 to below 1",
            )
        } else {
            Some(0.0)
        };
        let points = points(root, &mut faults);
        if let (Some(function), Some(origin), Some(source), Some(clock_hz), Some(spread), true) = (
            function,
            origin,
            source,
            clock_hz,
            spread,
            faults.is_empty(),
        ) {
            CapacityProfile::new(function, origin, source, clock_hz, spread, &points).map_err(
                |why| {
                    let help = "give every frame size with every number of flows and routes, once";
                    vec![fault(0..0, "the points are no grid", &why, help)]
                },
            )
        } else {
            Err(faults)
        }
    }
}

fn fault(span: Range<usize>, what: &str, why: &str, help: &str) -> ProfileFault {
    ProfileFault {
        span,
        what: what.to_owned(),
        why: why.to_owned(),
        help: help.to_owned(),
    }
}

/// A table being read.
struct Table<'a> {
    keys: &'a dyn TableLike,
    span: Range<usize>,
    noun: &'a str,
    faults: &'a mut Vec<ProfileFault>,
}

impl<'a> Table<'a> {
    fn new(
        table: &'a dyn TableLike,
        span: Range<usize>,
        noun: &'a str,
        keys: &[&str],
        faults: &'a mut Vec<ProfileFault>,
    ) -> Table<'a> {
        for (key, item) in table.iter() {
            if !keys.contains(&key) {
                let at = table.key(key).and_then(toml_edit::Key::span);
                let at = at.or_else(|| item.span()).unwrap_or_else(|| span.clone());
                let help = match nearest(key, keys.iter().copied()) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("{noun} has `{}`", keys.join("`, `")),
                };
                faults.push(fault(
                    at,
                    &format!("{noun} has no key `{key}`"),
                    "unknown key",
                    &help,
                ));
            }
        }
        Table {
            keys: table,
            span,
            noun,
            faults,
        }
    }

    fn value(&mut self, name: &str, wants: &str) -> Option<(&'a Value, Range<usize>)> {
        let item = self.keys.get(name);
        if item.is_none() {
            let what = format!("{} needs `{name}`", self.noun);
            let help = format!("add `{name}`, {wants}");
            self.faults
                .push(fault(self.span.clone(), &what, "missing", &help));
        }
        let span = item?.span().unwrap_or_else(|| self.span.clone());
        let value = item?.as_value();
        if value.is_none() {
            self.wrong(name, wants, span.clone());
        }
        Some((value?, span))
    }

    fn wrong(&mut self, name: &str, wants: &str, span: Range<usize>) {
        self.faults.push(fault(
            span,
            &format!("`{name}` must be {wants}"),
            "this is not",
            "",
        ));
    }

    fn text(&mut self, name: &str) -> Option<(String, Range<usize>)> {
        let (value, span) = self.value(name, "a text")?;
        if value.as_str().is_none() {
            self.wrong(name, "a text", span.clone());
        }
        Some((value.as_str()?.to_owned(), span))
    }

    fn number(&mut self, name: &str, is_good: impl Fn(f64) -> bool, must: &str) -> Option<f64> {
        let (value, span) = self.value(name, "a number")?;
        let number = value
            .as_float()
            .or_else(|| value.as_integer().map(|n| n as f64));
        match number {
            None => self.wrong(name, "a number", span),
            Some(n) if !(n.is_finite() && is_good(n)) => {
                self.faults
                    .push(fault(span, &format!("`{name}` cannot be {n}"), must, ""));
                return None;
            }
            Some(_) => {}
        }
        number
    }

    fn whole(&mut self, name: &str) -> Option<u64> {
        let (value, span) = self.value(name, "a whole number")?;
        match value.as_integer() {
            None => self.wrong(name, "a whole number", span),
            Some(n) if n < 1 => {
                let what = format!("`{name}` cannot be {n}");
                self.faults.push(fault(
                    span,
                    &what,
                    "must be at least 1",
                    "give 1 where it does not matter",
                ));
            }
            Some(n) => return Some(n as u64),
        }
        None
    }
}

fn points(root: &toml_edit::Table, faults: &mut Vec<ProfileFault>) -> Vec<Point> {
    let tables: Vec<(&dyn TableLike, Range<usize>)> = match root.get("point") {
        Some(Item::ArrayOfTables(tables)) => tables
            .iter()
            .map(|table| (table as &dyn TableLike, table.span().unwrap_or(0..0)))
            .collect(),
        Some(item) => {
            let at = item.span().unwrap_or(0..0);
            faults.push(fault(
                at,
                "`point` must be a list of tables",
                "this is not",
                "write `[[point]]`",
            ));
            return Vec::new();
        }
        None => {
            faults.push(fault(
                0..0,
                "a profile needs `point`",
                "missing",
                "add a `[[point]]`",
            ));
            return Vec::new();
        }
    };
    let read = tables.into_iter().filter_map(|(table, span)| {
        let mut reader = Table::new(table, span, "`point`", &POINT_KEYS, faults);
        let (frame_bytes, flows, routes) = (
            reader.whole("frame_bytes"),
            reader.whole("flows"),
            reader.whole("routes"),
        );
        let mpps = reader.number("mpps", |mpps| mpps > 0.0, "must be more than zero");
        Some(Point {
            frame_bytes: frame_bytes?,
            flows: flows?,
            routes: routes?,
            mpps: mpps?,
        })
    });
    read.collect()
}
