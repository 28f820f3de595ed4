//! What a key of a scenario may hold, and what stands in its place where it is not given.

use crate::registry::Family;
use trammel_core::units::Dimension;

/// A table of a scenario file.
#[derive(Debug)]
pub struct Section {
    /// Its name as in `[name]`; empty for the file itself.
    pub name: &'static str,
    /// What it describes.
    pub help: &'static str,
    /// The family whose parameters it also takes.
    pub extra: Option<Family>,
    /// Its keys.
    pub keys: &'static [Key],
}

impl Section {
    /// The key called `name`. Panics where the table has none: readers ask for listed keys only.
    pub fn key(&self, name: &str) -> &'static Key {
        let found = self.keys.iter().find(|key| key.name == name);
        found.unwrap_or_else(|| panic!("section `{}` lists no key `{name}`", self.name))
    }
}

/// One key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What stands in its place.
    pub fallback: Fallback,
    /// The unit in which results give it, or nothing.
    pub unit: &'static str,
    /// What it does, in a line.
    pub help: &'static str,
}

/// One row of a section.
pub(super) const fn k(
    name: &'static str,
    kind: Kind,
    fallback: Fallback,
    unit: &'static str,
    help: &'static str,
) -> Key {
    Key {
        name,
        kind,
        fallback,
        unit,
        help,
    }
}

/// What a key means where it is not given.
#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    /// It must be given.
    Required,
    /// Nothing.
    Absent,
    /// This value, as a user would write it.
    Is(&'static str),
    /// What the text says.
    See(&'static str),
}

/// What a key may hold.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number in a range.
    Whole(i64, i64),
    /// A number in a range.
    Number(f64, f64),
    /// A number in a range, or three: its low end, its centre, its high end.
    Interval(f64, f64),
    /// A number with one of these units, in a range of base units; `Ratio` allows a bare number.
    Quantity(&'static [Dimension], f64, f64),
    /// Numbers of this dimension in a range of base units, one or a list; bare ones are in base
    /// units. The text says what they are.
    Numbers(&'static str, Dimension, f64, f64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of these words.
    Words(&'static [&'static str]),
    /// A list of names.
    Names,
    /// `true`, `false` or a list of names.
    BoolOrNames,
    /// `true`, `false` or a whole number in a range.
    BoolOrWhole(i64, i64),
    /// `true`, `false` or one of these words.
    BoolOrWord(&'static [&'static str]),
    /// One of these words, or a time.
    WordOrTime(&'static [&'static str]),
    /// `true`, `false` or a table.
    BoolOr(&'static Section),
    /// A time, or a table.
    TimeOr(&'static Section),
    /// One of these words, or a table.
    WordOr(&'static [&'static str], &'static Section),
    /// The name of a plug-in.
    Plugin(Family),
    /// The parameters of the plug-in named beside.
    Params(Family),
    /// A value of this dimension, or a table with a distribution of such values.
    Distribution(Dimension),
    /// The same, or a law in the words of the command line: `exponential`,
    /// `uniform:min=64,max=1472`.
    Law(Dimension),
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
    /// A list of names or tables.
    Values,
    /// Dotted keys of the whole file, with lists.
    Sweep,
}

impl Kind {
    /// How to say it to a person.
    pub fn describe(&self) -> String {
        match self {
            Kind::Text => "a text".into(),
            Kind::Bool => "`true` or `false`".into(),
            Kind::Whole(low, i64::MAX) => format!("a whole number of at least {low}"),
            Kind::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Number(low, high) => format!("a number from {low} to {high}"),
            Kind::Interval(low, high) => {
                format!("a number from {low} to {high}, or `[low, centre, high]`")
            }
            Kind::Quantity(dimensions, ..) => described(dimensions),
            Kind::Numbers(what, ..) => format!("{what}, or a list of them"),
            Kind::Word(words) => format!("one of {}", quoted(words)),
            Kind::Words(words) => format!("a list of {}", quoted(words)),
            Kind::Names => "a list of names".into(),
            Kind::BoolOrNames => "`true`, `false` or a list of names".into(),
            Kind::BoolOrWhole(low, high) => {
                format!("`true`, `false` or a whole number from {low} to {high}")
            }
            Kind::BoolOrWord(words) => format!("`true`, `false`, {}", quoted(words)),
            Kind::WordOrTime(words) => {
                format!("{} or {}", quoted(words), Dimension::Time.describe())
            }
            Kind::BoolOr(section) => {
                format!("`true`, `false` or a `{}` table", section.name)
            }
            Kind::TimeOr(section) => {
                format!(
                    "{} or a `{}` table",
                    Dimension::Time.describe(),
                    section.name
                )
            }
            Kind::WordOr(words, section) => {
                format!("{} or a `{}` table", quoted(words), section.name)
            }
            Kind::Plugin(family) => {
                let noun = family.catalogue().noun();
                let article = if noun.starts_with(['a', 'e', 'i', 'o']) {
                    "an"
                } else {
                    "a"
                };
                format!("the name of {article} {noun}")
            }
            Kind::Params(family) => {
                format!("a table of the {}'s parameters", family.catalogue().noun())
            }
            Kind::Distribution(dimension) => {
                format!("{} or a table with a `distribution`", dimension.describe())
            }
            Kind::Law(dimension) => {
                format!(
                    "{}, a law such as `exponential`, or a table with a `distribution`",
                    dimension.describe()
                )
            }
            Kind::Table(section) => format!("a `{}` table", section.name),
            Kind::Tables(section) => format!("a list of `{}` tables", section.name),
            Kind::Values => "a list of names or tables".into(),
            Kind::Sweep => "a table of dotted keys and lists".into(),
        }
    }

    /// The section that a table under this key must be, if any.
    pub fn section(&self) -> Option<&'static Section> {
        match self {
            Kind::Table(section)
            | Kind::Tables(section)
            | Kind::BoolOr(section)
            | Kind::TimeOr(section)
            | Kind::WordOr(_, section) => Some(section),
            Kind::Distribution(_) | Kind::Law(_) => Some(&super::keys::RANDOM),
            Kind::Plugin(Family::Variant) => Some(&super::keys::LIBRARY),
            _ => None,
        }
    }
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

fn described(dimensions: &[Dimension]) -> String {
    let all: Vec<_> = dimensions.iter().map(|d| d.describe()).collect();
    all.join(" or ")
}
