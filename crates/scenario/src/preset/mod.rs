//! Named paths: the keys that `path.preset` stands for where the file does not give them. Each is a
//! file of data: what it is like, the sources that it follows, what is assumed, and its keys.
//!
//! A file may carry the path's course over time in `[file]`, which its keys then name
//! `preset:NAME`.

#[cfg(test)]
mod synthetic;

use crate::tree::{Node, Value};
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/preset.rs"));

/// A named path.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is like, in a line.
    pub summary: String,
    /// The papers and data that it follows.
    pub sources: Vec<String>,
    /// What is assumed beside them.
    pub assumed: String,
    /// The licence of its data.
    pub licence: String,
    /// How to get longer or other traces.
    pub traces: String,
    /// Its keys of `[path]`, as TOML.
    pub keys: String,
    /// How the path is over time, as a file of `schedule_file`.
    pub file: Option<String>,
}

/// Every preset, in the order of names.
pub fn all() -> &'static [Preset] {
    static ALL: OnceLock<Vec<Preset>> = OnceLock::new();
    ALL.get_or_init(|| TEXTS.iter().map(|(name, text)| read(name, text)).collect())
}

/// The preset called `name`.
pub fn find(name: &str) -> Option<&'static Preset> {
    all().iter().find(|preset| preset.name == name)
}

/// The name of the table with the keys of `[path]`, which ends the part for people.
const KEYS: &str = "\n[path]\n";
const FILE: &str = "\n[file]\n";

fn read(name: &'static str, text: &str) -> Preset {
    let node = Node::parse(text).expect("a test reads every preset");
    let table = node.as_table().expect("a file is a table");
    let said = |key: &str| {
        let entry = table.get(key);
        let text = entry.and_then(|entry| entry.node.as_text().map(str::to_owned));
        text.unwrap_or_default()
    };
    let sources = table.get("sources").map(|entry| match &entry.node.value {
        Value::List(items) => items
            .iter()
            .filter_map(|item| item.as_text())
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    });
    let file = table.get("file").and_then(|entry| {
        let inner = entry.node.as_table()?.get("text")?;
        inner.node.as_text().map(str::to_owned)
    });
    let keys = text.split_once(KEYS).map_or("", |(_, rest)| rest);
    let keys = keys.split_once(FILE).map_or(keys, |(keys, _)| keys);
    Preset {
        name,
        summary: said("summary"),
        sources: sources.unwrap_or_default(),
        assumed: said("assumed"),
        licence: said("licence"),
        traces: said("traces"),
        keys: keys.trim().to_owned(),
        file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;

    #[test]
    fn every_preset_reads_clean_and_says_what_it_follows() {
        for preset in all() {
            let text = format!(
                "path.preset = '{}'\nflow = [{{ variant = 'reno' }}]",
                preset.name
            );
            let outcome = File::parse("preset", &text, std::path::Path::new("."));
            assert!(outcome.is_ok(), "{}: {}", preset.name, outcome.unwrap_err());
            assert!(
                !preset.summary.is_empty() && !preset.summary.ends_with('.'),
                "{}",
                preset.name
            );
            assert!(
                !preset.sources.is_empty() && !preset.licence.is_empty(),
                "{}",
                preset.name
            );
            assert!(
                !preset.assumed.is_empty() && !preset.keys.is_empty(),
                "{}",
                preset.name
            );
            // What is measured of a path is named with how to get more of it.
            assert_eq!(
                preset.file.is_some(),
                !preset.traces.is_empty(),
                "{}",
                preset.name
            );
        }
    }

    #[test]
    fn the_issue_s_ten_presets_are_there() {
        for name in [
            "leo",
            "geo",
            "lte",
            "5g",
            "wifi6",
            "docsis-upstream",
            "gpon",
            "dsl",
            "datacentre",
            "transatlantic",
        ] {
            assert!(find(name).is_some(), "{name}");
        }
    }
}
