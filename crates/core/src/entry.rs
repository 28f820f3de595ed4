//! What every plug-in says of itself: name, summary, references and typed parameters.
//!
//! From these tables come `trammel list`, the reference pages, the checks of a scenario's
//! parameters and the suggestions for misspelt names. A family's `Entry` holds an [`About`] and a
//! constructor that takes resolved [`Params`].

use crate::time::Span;
use crate::units::{Dimension, Quantity, Rate, nearest};
use std::fmt;

/// The description of one plug-in.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name in scenario files, spelt as in the field.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// One line, without a full stop.
    pub summary: &'static str,
    /// Papers, RFC sections or kernel files, one each.
    pub references: &'static [&'static str],
    /// The parameters that a user may set.
    pub params: &'static [Param],
}

impl About {
    /// Every name that means this plug-in, its own first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Whether `name` means this plug-in.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// One parameter of a plug-in.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The key in a scenario file.
    pub name: &'static str,
    /// Its type and range.
    pub kind: Kind,
    /// The value where none is given, as a user would write it. An empty text has no default.
    pub default: &'static str,
    /// The unit for a bare number, or nothing.
    pub unit: &'static str,
    /// What it does, in a line.
    pub help: &'static str,
}

/// The longest time that a parameter may be, s: sums of several must come before the end of time.
const LONGEST_S: f64 = 1e6;

/// The type and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number between two bounds, both included.
    Int(i64, i64),
    /// A number between two bounds, both included.
    Float(f64, f64),
    /// `true` or `false`.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A time, such as `10 ms`.
    Time,
    /// A rate, such as `100 Mbit/s`.
    Rate,
    /// A size in bytes, such as `64 KB`.
    Bytes,
    /// Any text, such as the path of a file.
    Text,
    /// A list of numbers.
    Floats,
}

/// The value of a parameter, checked against its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A word or any text.
    Text(String),
    /// A time.
    Time(Span),
    /// A rate.
    Rate(Rate),
    /// A size in bytes.
    Bytes(u64),
    /// A list of numbers.
    Floats(Vec<f64>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(v) => write!(f, "{v}"),
            Value::Float(v) => write!(f, "{v}"),
            Value::Bool(v) => write!(f, "{v}"),
            Value::Text(v) => f.write_str(v),
            Value::Time(v) => write!(f, "{v}"),
            Value::Rate(v) => write!(f, "{v}"),
            Value::Bytes(v) => write!(f, "{v} B"),
            Value::Floats(v) => write!(f, "{v:?}"),
        }
    }
}

/// Why a parameter is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// The plug-in has no such parameter.
    #[error(
        "`{plugin}` has no parameter `{key}`{}",
        match nearest {
            Some(n) => format!("; did you mean `{n}`?"),
            None if known.is_empty() => "; it has none".to_owned(),
            None => format!("; it has {known}")
        }
    )]
    Unknown {
        /// The plug-in.
        plugin: String,
        /// The key given.
        key: String,
        /// The nearest key that exists.
        nearest: Option<String>,
        /// The keys that exist, in back-quotes.
        known: String,
    },
    /// The value is of another type or outside its range.
    #[error("`{key}` must be {wanted}, not `{value}`")]
    Value {
        /// The key given.
        key: String,
        /// What is allowed.
        wanted: String,
        /// What was given.
        value: String,
    },
    /// A parameter without a default was left out.
    #[error("`{plugin}` needs `{key}`: {help}")]
    Missing {
        /// The plug-in.
        plugin: String,
        /// The key that is missing.
        key: String,
        /// What it is for.
        help: String,
    },
}

impl ParamError {
    /// The key that is at fault, to underline it.
    pub fn key(&self) -> &str {
        match self {
            ParamError::Unknown { key, .. }
            | ParamError::Value { key, .. }
            | ParamError::Missing { key, .. } => key,
        }
    }
}

/// The resolved parameters of one plug-in: every parameter has a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(Vec<(&'static str, Value)>);

impl Params {
    /// Checks `given` against the parameters of `about` and fills in the defaults. Reports all
    /// faults.
    pub fn resolve(about: &About, given: &[(String, Value)]) -> Result<Params, Vec<ParamError>> {
        let mut errors = Vec::new();
        for (key, _) in given {
            if !about.params.iter().any(|param| param.name == key) {
                errors.push(ParamError::Unknown {
                    plugin: about.name.to_owned(),
                    key: key.clone(),
                    nearest: nearest(key, about.params.iter().map(|param| param.name)),
                    known: about
                        .params
                        .iter()
                        .map(|param| format!("`{}`", param.name))
                        .collect::<Vec<_>>()
                        .join(", "),
                });
            }
        }
        let mut values = Vec::new();
        for param in about.params {
            let value = match given.iter().find(|(key, _)| key == param.name) {
                Some((_, value)) => param.check(value),
                None if param.default.is_empty() && param.kind != Kind::Text => {
                    Err(ParamError::Missing {
                        plugin: about.name.to_owned(),
                        key: param.name.to_owned(),
                        help: param.help.to_owned(),
                    })
                }
                None => param.check(&Value::Text(param.default.to_owned())),
            };
            match value {
                Ok(value) => values.push((param.name, value)),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            Ok(Params(values))
        } else {
            Err(errors)
        }
    }

    /// The defaults of `about`; a plug-in whose parameters all have defaults always has them.
    pub fn defaults(about: &About) -> Params {
        Params::resolve(about, &[]).expect("the defaults of an entry obey its own ranges")
    }

    /// The parameters and their values, in the order of the entry.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    fn get(&self, name: &str) -> &Value {
        let found = self.0.iter().find(|(key, _)| *key == name);
        &found
            .unwrap_or_else(|| panic!("no parameter `{name}` in the entry"))
            .1
    }
    /// The whole number `name`. Panics, as all getters do, where the entry declares no such
    /// parameter.
    pub fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Value::Int(v) => *v,
            other => panic!("`{name}` is {other:?}, not a whole number"),
        }
    }
    /// The number `name`.
    pub fn float(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Float(v) => *v,
            other => panic!("`{name}` is {other:?}, not a number"),
        }
    }
    /// The switch `name`.
    pub fn bool(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Bool(v) => *v,
            other => panic!("`{name}` is {other:?}, not a switch"),
        }
    }
    /// The word or text `name`.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Text(v) => v,
            other => panic!("`{name}` is {other:?}, not a text"),
        }
    }
    /// The time `name`.
    pub fn time(&self, name: &str) -> Span {
        match self.get(name) {
            Value::Time(v) => *v,
            other => panic!("`{name}` is {other:?}, not a time"),
        }
    }
    /// The rate `name`.
    pub fn rate(&self, name: &str) -> Rate {
        match self.get(name) {
            Value::Rate(v) => *v,
            other => panic!("`{name}` is {other:?}, not a rate"),
        }
    }
    /// The size `name`, in bytes.
    pub fn bytes(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Bytes(v) => *v,
            other => panic!("`{name}` is {other:?}, not a size"),
        }
    }
    /// The list `name`.
    pub fn floats(&self, name: &str) -> &[f64] {
        match self.get(name) {
            Value::Floats(v) => v,
            other => panic!("`{name}` is {other:?}, not a list"),
        }
    }
}

impl Param {
    /// A whole number from `low` to `high`, for entries that have many.
    pub const fn int(
        name: &'static str,
        low: i64,
        high: i64,
        default: &'static str,
        unit: &'static str,
        help: &'static str,
    ) -> Param {
        Param {
            name,
            kind: Kind::Int(low, high),
            default,
            unit,
            help,
        }
    }

    /// A number from `low` to `high`, for entries that have many.
    pub const fn float(
        name: &'static str,
        low: f64,
        high: f64,
        default: &'static str,
        unit: &'static str,
        help: &'static str,
    ) -> Param {
        Param {
            name,
            kind: Kind::Float(low, high),
            default,
            unit,
            help,
        }
    }

    /// A time, for entries that have many.
    pub const fn time(name: &'static str, default: &'static str, help: &'static str) -> Param {
        Param {
            name,
            kind: Kind::Time,
            default,
            unit: "s",
            help,
        }
    }

    /// Converts `value` to this parameter's kind, or says what is allowed.
    pub fn check(&self, value: &Value) -> Result<Value, ParamError> {
        self.convert(value).ok_or_else(|| ParamError::Value {
            key: self.name.to_owned(),
            wanted: self.kind.describe(),
            value: value.to_string(),
        })
    }

    fn convert(&self, value: &Value) -> Option<Value> {
        let quantity = |text: &str, dimension| {
            Quantity::parse_as(text, &[dimension])
                .ok()
                .map(|quantity| quantity.value)
        };
        let in_range = |v: f64, low: f64, high: f64| (low <= v && v <= high).then_some(v);
        Some(match (self.kind, value) {
            (Kind::Int(low, high), Value::Int(v)) => {
                Value::Int((low <= *v && *v <= high).then_some(*v)?)
            }
            (Kind::Int(low, high), Value::Text(text)) => {
                let v = text.trim().parse().ok()?;
                Value::Int((low <= v && v <= high).then_some(v)?)
            }
            (Kind::Float(low, high), Value::Float(v)) => Value::Float(in_range(*v, low, high)?),
            (Kind::Float(low, high), Value::Int(v)) => {
                Value::Float(in_range(*v as f64, low, high)?)
            }
            (Kind::Float(low, high), Value::Text(text)) => {
                let v =
                    quantity(text, Dimension::Ratio).or_else(|| quantity(text, Dimension::Dbm))?;
                Value::Float(in_range(v, low, high)?)
            }
            (Kind::Bool, Value::Bool(v)) => Value::Bool(*v),
            (Kind::Bool, Value::Text(text)) => Value::Bool(text.trim().parse().ok()?),
            (Kind::Choice(words), Value::Text(text)) => {
                Value::Text(words.contains(&text.as_str()).then(|| text.clone())?)
            }
            (Kind::Time, Value::Time(v)) => Value::Time(*v),
            (Kind::Time, Value::Text(text)) => {
                let v = quantity(text, Dimension::Time)?;
                Value::Time(Span::from_secs_f64(in_range(v, 0.0, LONGEST_S)?))
            }
            (Kind::Rate, Value::Rate(v)) => Value::Rate(*v),
            (Kind::Rate, Value::Text(text)) => {
                let v = quantity(text, Dimension::Rate)?;
                Value::Rate(Rate::from_bps(in_range(v, 0.0, 1e15)?.round() as u64))
            }
            (Kind::Bytes, Value::Bytes(v)) => Value::Bytes(*v),
            (Kind::Bytes, Value::Int(v)) => Value::Bytes(u64::try_from(*v).ok()?),
            (Kind::Bytes, Value::Text(text)) => {
                let v = quantity(text, Dimension::Bytes)?;
                Value::Bytes(in_range(v, 0.0, 1e15)?.round() as u64)
            }
            (Kind::Text, Value::Text(text)) => Value::Text(text.clone()),
            (Kind::Floats, Value::Floats(v)) => Value::Floats(v.clone()),
            (Kind::Floats, Value::Text(text)) => Value::Floats(
                text.split(',')
                    .map(|v| v.trim().parse())
                    .collect::<Result<_, _>>()
                    .ok()?,
            ),
            _ => return None,
        })
    }
}

impl Kind {
    /// How to say it to a person: `a whole number from 1 to 100`.
    pub fn describe(self) -> String {
        match self {
            Kind::Int(low, i64::MAX) => format!("a whole number of at least {low}"),
            Kind::Int(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Float(low, high) if high.is_infinite() && low.is_infinite() => {
                "a number".to_owned()
            }
            Kind::Float(low, high) if high.is_infinite() => format!("a number of at least {low}"),
            Kind::Float(low, high) => format!("a number from {low} to {high}"),
            Kind::Bool => "`true` or `false`".to_owned(),
            Kind::Choice(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("one of {}", words.join(", "))
            }
            Kind::Time => Dimension::Time.describe().to_owned(),
            Kind::Rate => Dimension::Rate.describe().to_owned(),
            Kind::Bytes => Dimension::Bytes.describe().to_owned(),
            Kind::Text => "a text".to_owned(),
            Kind::Floats => "a list of numbers".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ABOUT: About = About {
        name: "scalable",
        aliases: &["stcp"],
        summary: "",
        references: &[],
        params: &[
            Param {
                name: "ai",
                kind: Kind::Int(1, 1000),
                default: "100",
                unit: "",
                help: "",
            },
            Param {
                name: "dialect",
                kind: Kind::Choice(&["linux", "kelly"]),
                default: "linux",
                unit: "",
                help: "",
            },
        ],
    };

    #[test]
    fn fills_in_defaults() {
        let params = Params::resolve(&ABOUT, &[("ai".into(), Value::Int(50))]).unwrap();
        assert_eq!((params.int("ai"), params.text("dialect")), (50, "linux"));
    }

    #[test]
    fn reports_all_faults_at_once() {
        let given = [
            ("dialekt".into(), Value::Text("kelly".into())),
            ("ai".into(), Value::Int(0)),
        ];
        let errors = Params::resolve(&ABOUT, &given).unwrap_err();
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            errors,
            [
                "`scalable` has no parameter `dialekt`; did you mean `dialect`?",
                "`ai` must be a whole number from 1 to 1000, not `0`",
            ]
        );
    }
}
