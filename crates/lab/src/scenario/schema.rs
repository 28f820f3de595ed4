//! The JSON Schema of scenario files, made from the table of keys, for editors.

use super::keys::{ROOT, SECTIONS};
use super::keys_kind::{Fallback, Key, Kind, Section};
use crate::registry::Family;
use serde_json::{Map, Value, json};

/// The schema (JSON Schema 2020-12).
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for section in SECTIONS.iter().skip(1) {
        definitions.insert(section.name.to_owned(), object(section));
    }
    let mut root = object(&ROOT);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Trammel scenario");
    root["$defs"] = Value::Object(definitions);
    root
}

fn object(section: &Section) -> Value {
    let keys = section
        .keys
        .iter()
        .map(|key| (key.name.to_owned(), described(key)));
    let required: Vec<_> = section
        .keys
        .iter()
        .filter(|key| matches!(key.fallback, Fallback::Required))
        .map(|key| key.name)
        .collect();
    // Swept keys may be left out of the tables, so nothing is required of a file as a whole.
    let is_swept_elsewhere = ["flow", "path", "link"].contains(&section.name);
    json!({
        "type": "object",
        "description": section.help,
        "properties": keys.collect::<Map<_, _>>(),
        "required": if is_swept_elsewhere { Vec::new() } else { required },
        "additionalProperties": section.extra.is_some(),
    })
}

fn described(key: &Key) -> Value {
    let mut value = shape(&key.kind);
    value["description"] = json!(key.help);
    if let Fallback::Is(default) = key.fallback {
        let as_json = default.parse::<i64>().map(Value::from);
        let as_json = as_json.or_else(|_| default.parse::<bool>().map(Value::from));
        value["default"] = as_json.unwrap_or_else(|_| json!(default));
    }
    value
}

fn shape(kind: &Kind) -> Value {
    let reference = |section: &Section| json!({ "$ref": format!("#/$defs/{}", section.name) });
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Whole(low, i64::MAX) => json!({ "type": "integer", "minimum": low }),
        Kind::Whole(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Kind::Number(low, high) => {
            json!({ "type": ["number", "string"], "minimum": low, "maximum": high })
        }
        Kind::Interval(low, high) => {
            let number = json!({ "type": "number", "minimum": low, "maximum": high });
            json!({ "anyOf": [number, { "type": "array", "items": number, "minItems": 3, "maxItems": 3 }] })
        }
        Kind::Quantity(dimensions, ..) => {
            let examples = dimensions
                .iter()
                .filter_map(|d| d.describe().split('`').nth(1));
            let examples: Vec<_> = examples.collect();
            json!({ "type": ["string", "number"], "examples": examples })
        }
        Kind::Numbers(..) => {
            let one = json!({ "type": ["number", "string"] });
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Kind::Word(words) => json!({ "type": "string", "enum": words }),
        Kind::Words(words) => {
            json!({ "type": "array", "items": { "type": "string", "enum": words } })
        }
        Kind::Names => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::BoolOrNames => {
            json!({ "type": ["boolean", "array"], "items": { "type": "string" } })
        }
        Kind::BoolOrWhole(low, high) => {
            json!({ "type": ["boolean", "integer"], "minimum": low, "maximum": high })
        }
        Kind::WordOrTime(words) => json!({ "type": "string", "examples": words }),
        Kind::TimeOr(section) => json!({ "anyOf": [{ "type": "string" }, reference(section)] }),
        Kind::WordOr(words, section) => {
            json!({ "anyOf": [{ "type": "string", "enum": words }, reference(section)] })
        }
        Kind::Distribution(_) | Kind::Law(_) => {
            let section = kind.section().expect("a distribution may be a table");
            json!({ "anyOf": [{ "type": ["string", "number"] }, reference(section)] })
        }
        Kind::Plugin(family) => json!({ "type": "string", "examples": names(*family) }),
        Kind::Params(_) | Kind::Sweep => json!({ "type": "object" }),
        Kind::Table(section) => json!({ "allOf": [reference(section)] }),
        Kind::Tables(section) => json!({ "type": "array", "items": reference(section) }),
        Kind::Values => json!({ "type": "array" }),
    }
}

fn names(family: Family) -> Vec<&'static str> {
    family
        .catalogue()
        .members()
        .into_iter()
        .map(|about| about.name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_has_a_definition_and_every_section_is_reached() {
        let schema = schema();
        let text = schema.to_string();
        for section in SECTIONS.iter().skip(1) {
            let reference = format!("#/$defs/{}\"", section.name);
            assert!(text.contains(&reference), "{} is not reached", section.name);
        }
        let defined = schema["$defs"].as_object().unwrap();
        for reference in text.split("#/$defs/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(defined.contains_key(name), "{name} is not defined");
        }
    }
}
