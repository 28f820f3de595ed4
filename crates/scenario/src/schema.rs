//! The JSON Schema of scenario files, made from the tables of keys, for editors.
//!
//! There is one for each subject, and one for all, which chooses by `subject`; a file of forwarding
//! with routers on a topology has one of its own, called `routing`. They refuse unknown
//! keys, units of another dimension, unknown names and missing keys. A file with a `[sweep]` or a
//! `[matrix]` may leave out what these set, so every table has a second definition for it
//! (`…, swept`), in which nothing is required.

use super::keys_kind::{Fallback, Key, Kind, Section};
use super::{keys, placement, routing, traffic};
use crate::registry::Family;
use crate::subject::OF_ROUTING;
use serde_json::{Map, Value, json};
use trammel_core::entry::{About, Kind as ParamKind, Param};
use trammel_core::units::Dimension;

/// A subject and its tables, the file first.
pub type Subject = (&'static str, &'static [&'static Section]);

/// Every subject. A file without one is of the first.
pub const SUBJECTS: &[Subject] = &[
    ("transport", keys::SECTIONS),
    (
        super::forwarding::SUBJECT,
        super::forwarding::keys::SECTIONS,
    ),
    (traffic::SUBJECT, traffic::keys::SECTIONS),
    (placement::SUBJECT, placement::keys::SECTIONS),
    (routing::NAME, routing::keys::SECTIONS),
];

/// A number with an optional exponent, as quantities begin.
const NUMBER: &str = r"[0-9._]+([eE][+-]?[0-9]+)?";

/// The schema of files of any subject (JSON Schema 2020-12).
pub fn schema() -> Value {
    let names = SUBJECTS.iter().map(|(name, _)| *name);
    let words: Vec<_> = names
        .clone()
        .filter(|name| *name != routing::NAME)
        .collect();
    let chosen = names.map(|name| json!({ "if": is_of(name), "then": root_of(name) }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Trammel scenario",
        "type": "object",
        "properties": { "subject": { "enum": words, "description": "what is studied" } },
        "allOf": chosen.collect::<Vec<_>>(),
        "$defs": SUBJECTS.iter().flat_map(definitions).collect::<Map<_, _>>(),
    })
}

/// Which files are of `subject`.
fn is_of(subject: &str) -> Value {
    let named =
        |word| json!({ "properties": { "subject": { "const": word } }, "required": ["subject"] });
    let forwarding = named(super::forwarding::SUBJECT);
    let keys = OF_ROUTING.map(|key| json!({ "required": [key] }));
    let has_routers = json!({ "anyOf": keys });
    match subject {
        "transport" => {
            json!({ "anyOf": [{ "not": { "required": ["subject"] } }, named(subject)] })
        }
        super::forwarding::SUBJECT => json!({ "allOf": [forwarding, { "not": has_routers }] }),
        routing::NAME => json!({ "allOf": [forwarding, has_routers] }),
        _ => named(subject),
    }
}

/// The schema of files of one subject; nothing where there is none of this name.
pub fn of(subject: &str) -> Option<Value> {
    let found = SUBJECTS.iter().find(|(name, _)| *name == subject)?;
    let mut schema = root_of(subject);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("Trammel scenario, subject `{subject}`"));
    schema["$defs"] = Value::Object(definitions(found).collect());
    Some(schema)
}

/// The file of `subject`, which says less where something is swept.
fn root_of(subject: &str) -> Value {
    let swept = json!({ "anyOf": [{ "required": ["sweep"] }, { "required": ["matrix"] }] });
    // Every file is what a swept one may be: from this, editors that do not look into conditions
    // complete.
    json!({
        "type": "object",
        "allOf": [
            { "$ref": reference(subject, "", true) },
            { "if": { "not": swept }, "then": { "$ref": reference(subject, "", false) } },
        ],
    })
}

fn reference(subject: &str, section: &str, is_swept: bool) -> String {
    format!("#/$defs/{}", named(subject, section, is_swept))
}

/// The name of a definition.
fn named(subject: &str, section: &str, is_swept: bool) -> String {
    let section = if section.is_empty() { "file" } else { section };
    let swept = if is_swept { ".swept" } else { "" };
    format!("{subject}.{section}{swept}")
}

fn definitions((subject, sections): &Subject) -> impl Iterator<Item = (String, Value)> {
    sections.iter().flat_map(move |section| {
        [false, true].map(|is_swept| {
            let of = Of { subject, is_swept };
            (named(subject, section.name, is_swept), of.table(section))
        })
    })
}

/// For what a definition is made.
#[derive(Clone, Copy)]
struct Of<'a> {
    subject: &'a str,
    is_swept: bool,
}

impl Of<'_> {
    fn table(self, section: &Section) -> Value {
        let keys = section.keys.iter();
        let mut properties: Map<_, _> = keys
            .clone()
            .map(|key| (key.name.to_owned(), self.key(section, key)))
            .collect();
        let required = keys.filter(|key| matches!(key.fallback, Fallback::Required));
        let required: Vec<_> = required.map(|key| key.name).collect();
        let mut table = json!({
            "type": "object",
            "description": section.help,
            "additionalProperties": false,
        });
        if !self.is_swept {
            table["required"] = json!(required);
        }
        if let Some(family) = section.extra {
            let name = plugin_key(section);
            for param in members(family).flat_map(|about| about.params) {
                // What a parameter may be is said by the plug-in below; several may have one of
                // this name.
                let any = || json!({ "description": param.help });
                properties.entry(param.name).or_insert_with(any);
            }
            if family == Family::Distribution {
                let help = "packets per second, instead of the mean gap";
                let rate = || json!({ "description": help });
                properties.entry("rate").or_insert_with(rate);
            }
            if !self.is_swept {
                table["allOf"] = Value::Array(chosen(section, name, family, None));
            }
        }
        let has_params = section.keys.iter().find_map(|key| match key.kind {
            Kind::Params(family) => Some((key.name, family)),
            _ => None,
        });
        if let Some((params, family)) = has_params.filter(|_| !self.is_swept) {
            table["allOf"] = Value::Array(chosen(section, "variant", family, Some(params)));
        }
        table["properties"] = Value::Object(properties);
        table
    }

    fn key(self, section: &Section, key: &Key) -> Value {
        let mut value = match key.kind {
            // Models may have a form: `name:form`.
            Kind::Names if section.name == keys::PREDICT.name && key.name == "models" => {
                let names = alternatives(names(Family::Model));
                json!({
                    "type": "array",
                    "items": { "type": "string", "pattern": format!("^({names})(:.+)?$") }
                })
            }
            Kind::Text if !matches!(key.fallback, Fallback::Is("")) => {
                json!({ "type": "string", "minLength": 1 })
            }
            ref kind => self.shape(kind),
        };
        value["description"] = json!(match key.unit {
            "" => key.help.to_owned(),
            unit => format!("{} ({unit} in results)", key.help),
        });
        if let Fallback::Is(default) = key.fallback {
            let as_json = default.parse::<i64>().map(Value::from);
            let as_json = as_json.or_else(|_| default.parse::<bool>().map(Value::from));
            value["default"] = as_json.unwrap_or_else(|_| json!(default));
        }
        value
    }

    fn shape(self, kind: &Kind) -> Value {
        let table = |section: &Section| {
            let name = reference(self.subject, section.name, self.is_swept);
            json!({ "$ref": name })
        };
        let text = || json!({ "type": "string" });
        match kind {
            Kind::Text => text(),
            Kind::Bool => json!({ "type": "boolean" }),
            Kind::Whole(low, high) => whole(*low, *high),
            Kind::Number(low, high) => quantity(&[Dimension::Ratio], *low, *high),
            Kind::Interval(low, high) => {
                let number = json!({ "type": "number", "minimum": low, "maximum": high });
                json!({ "anyOf": [
                    number, { "type": "array", "items": number, "minItems": 3, "maxItems": 3 }
                ] })
            }
            Kind::Quantity(dimensions, low, high) => quantity(dimensions, *low, *high),
            Kind::Numbers(_, dimension, low, high) => {
                // Bare numbers are in base units.
                let one = quantity(&[*dimension, Dimension::Ratio], *low, *high);
                json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
            }
            Kind::Word(words) => json!({ "type": "string", "enum": words }),
            Kind::Words(words) => {
                json!({ "type": "array", "items": { "type": "string", "enum": words } })
            }
            Kind::Names => json!({ "type": "array", "items": text() }),
            Kind::BoolOrNames => {
                json!({ "anyOf": [{ "type": "boolean" }, { "type": "array", "items": text() }] })
            }
            Kind::BoolOrWhole(low, high) => {
                json!({ "anyOf": [{ "type": "boolean" }, whole(*low, *high)] })
            }
            Kind::BoolOrWord(words) => {
                json!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "enum": words }] })
            }
            Kind::WordOrTime(words) => {
                json!({ "anyOf": [{ "type": "string", "enum": words }, time()] })
            }
            Kind::BoolOr(section) => {
                json!({ "anyOf": [{ "type": "boolean" }, table(section)] })
            }
            Kind::TimeOr(section) => json!({ "anyOf": [time(), table(section)] }),
            Kind::WordOr(words, section) => {
                json!({ "anyOf": [{ "type": "string", "enum": words }, table(section)] })
            }
            Kind::Distribution(dimension) => {
                json!({ "anyOf": [quantity(&[*dimension], 0.0, f64::MAX), table(&keys::RANDOM)] })
            }
            Kind::Law(dimension) => {
                let laws = alternatives(names(Family::Distribution));
                let law =
                    json!({ "type": "string", "pattern": format!("^\\s*({laws})\\s*(:.*)?$") });
                // A bare number is in base units, as on the command line.
                let bare = json!({ "type": "number", "minimum": 0 });
                json!({ "anyOf": [
                    quantity(&[*dimension], 0.0, f64::MAX), bare, law, table(&keys::RANDOM)
                ] })
            }
            Kind::Plugin(family) => {
                let name = json!({ "type": "string", "enum": names(*family) });
                match kind.section() {
                    Some(section) => json!({ "anyOf": [name, table(section)] }),
                    None => name,
                }
            }
            Kind::Params(_) => json!({ "type": "object" }),
            Kind::Sweep => {
                let lists = json!({ "type": ["array", "object"], "minItems": 1 });
                let groups = json!({ "type": ["array", "object"] });
                json!({
                    "type": "object", "properties": { "zip": groups }, "additionalProperties": lists
                })
            }
            Kind::Table(section) => json!({ "allOf": [table(section)] }),
            Kind::Tables(section) => {
                json!({ "anyOf": [{ "type": "array", "items": table(section) }, table(section)] })
            }
            // A variant by its name, or as a flow.
            Kind::Values => {
                let flow = json!({ "$ref": reference(self.subject, keys::FLOW.name, true) });
                let name = json!({ "type": "string", "enum": names(Family::Variant) });
                json!({ "type": "array", "items": { "anyOf": [name, flow] } })
            }
        }
    }
}

/// The key of a section that names the plug-in whose parameters it takes.
fn plugin_key(section: &Section) -> &'static str {
    let named = section
        .keys
        .iter()
        .find(|key| matches!(key.kind, Kind::Plugin(_)));
    named
        .expect("a table with parameters names their plug-in")
        .name
}

/// For each plug-in that `name` may name: which parameters there are, beside it or in the table
/// `inside`.
fn chosen(section: &Section, name: &str, family: Family, inside: Option<&str>) -> Vec<Value> {
    let default = match section.key(name).fallback {
        Fallback::Is(default) => Some(default),
        _ => None,
    };
    let each = members(family).map(|about| {
        let all: Vec<_> = std::iter::once(about.name)
            .chain(about.aliases.iter().copied())
            .collect();
        let named = json!({ "properties": { name: { "enum": all } }, "required": [name] });
        let is_it = match default.filter(|default| all.contains(default)) {
            Some(_) => json!({ "anyOf": [named, { "not": { "required": [name] } }] }),
            None => named,
        };
        let params: Map<_, _> = about
            .params
            .iter()
            .map(|param| (param.name.to_owned(), parameter(param)))
            .collect();
        let then = match inside {
            Some(inside) => {
                let table = json!({ "properties": params, "additionalProperties": false });
                json!({ "properties": { inside: table } })
            }
            None => {
                let own = section.keys.iter().map(|key| key.name);
                let own = own.chain((family == Family::Distribution).then_some("rate"));
                let names: Vec<_> = own
                    .chain(about.params.iter().map(|param| param.name))
                    .collect();
                json!({ "properties": params, "propertyNames": { "enum": names } })
            }
        };
        json!({ "if": is_it, "then": then })
    });
    each.collect()
}

/// What a parameter of a plug-in may be; ranges are checked when the file is read.
fn parameter(param: &Param) -> Value {
    let mut value = match param.kind {
        ParamKind::Bool => json!({ "type": ["boolean", "string"] }),
        ParamKind::Choice(words) => json!({ "type": "string", "enum": words }),
        ParamKind::Text => json!({ "type": "string" }),
        ParamKind::Int(..) => json!({ "type": ["integer", "string"] }),
        ParamKind::Float(..) | ParamKind::Time | ParamKind::Rate | ParamKind::Bytes => {
            json!({ "type": ["number", "string"] })
        }
        ParamKind::Floats => json!({ "type": ["array", "number", "string"] }),
    };
    value["description"] = json!(param.help);
    value
}

fn whole(low: i64, high: i64) -> Value {
    match high {
        i64::MAX => json!({ "type": "integer", "minimum": low }),
        high => json!({ "type": "integer", "minimum": low, "maximum": high }),
    }
}

fn time() -> Value {
    quantity(&[Dimension::Time], 0.0, f64::MAX)
}

/// A number with a unit of one of `dimensions`, or a bare one where that is a ratio. Of numbers
/// with a unit the sign is checked here, and the range when the file is read.
fn quantity(dimensions: &[Dimension], low: f64, high: f64) -> Value {
    let units = dimensions
        .iter()
        .flat_map(|dimension| dimension.spellings());
    let units = alternatives(units);
    let sign = if low < 0.0 { "[+-]?" } else { "[+]?" };
    let examples = dimensions
        .iter()
        .filter_map(|dimension| dimension.describe().split('`').nth(1));
    let text = json!({
        "type": "string",
        "pattern": format!(r"^\s*{sign}{NUMBER}\s*({units})\s*$"),
        "examples": examples.collect::<Vec<_>>(),
    });
    if !dimensions.contains(&Dimension::Ratio) {
        return text;
    }
    let mut number = json!({ "type": "number" });
    if low == f64::MIN_POSITIVE {
        number["exclusiveMinimum"] = json!(0);
    } else {
        number["minimum"] = json!(low);
    }
    if high < f64::MAX {
        number["maximum"] = json!(high);
    }
    json!({ "anyOf": [number, text] })
}

/// One of `words`, in a pattern.
fn alternatives<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let escape = |word: &str| {
        word.chars().fold(String::new(), |mut text, c| {
            if !c.is_alphanumeric() && !"_-%µμ/ ".contains(c) {
                text.push('\\');
            }
            text.push(c);
            text
        })
    };
    let words: Vec<_> = words
        .into_iter()
        .map(|word| escape(word.as_ref()))
        .collect();
    words.join("|")
}

fn members(family: Family) -> impl Iterator<Item = &'static About> {
    family.catalogue().members().into_iter()
}

/// All names by which the members of a family are known.
fn names(family: Family) -> Vec<&'static str> {
    let names = members(family).flat_map(|about| {
        let aliases = about.aliases.iter().copied();
        std::iter::once(about.name).chain(aliases)
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_has_a_definition_and_every_section_is_reached() {
        let schema = schema();
        let text = schema.to_string();
        let defined = schema["$defs"].as_object().unwrap();
        for name in defined.keys() {
            let reference = format!("#/$defs/{name}\"");
            assert!(text.contains(&reference), "{name} is not reached");
        }
        for reference in text.split("#/$defs/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(defined.contains_key(name), "{name} is not defined");
        }
    }

    #[test]
    fn each_subject_has_a_schema_of_its_own_and_others_none() {
        for (subject, _) in SUBJECTS {
            let schema = of(subject).unwrap();
            assert!(schema["$defs"].as_object().unwrap().len() > 8, "{subject}");
        }
        assert!(of("weather").is_none());
    }
}
