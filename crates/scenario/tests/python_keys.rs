//! The classes of the Python package are those of the tables of keys, a module for each subject.
//! `UPDATE_DOCS=1` writes them anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use trammel_core::units::Dimension;
use trammel_scenario::keys::SECTIONS;
use trammel_scenario::keys_kind::{Fallback, Key, Kind, Section};
use trammel_scenario::schema::SUBJECTS;

const FOLDER: &str = "../../python/trammel";

/// The subject whose classes are those of the package itself.
const MAIN: &str = "transport";

/// What stands before the classes of a subject.
fn head(subject: &str, body: &str) -> String {
    let (what, table, base) = match subject {
        MAIN => ("The tables of a scenario", "keys.rs".to_owned(), ""),
        _ => (
            "Scenarios of this subject: their tables",
            format!("{subject}/keys.rs"),
            "from ._described import ByProgram\n",
        ),
    };
    let uses = |word: &&str| {
        let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|one| one == *word)
    };
    let list = |words: &[&str]| {
        let used: Vec<_> = words.iter().copied().filter(uses).collect();
        used.join(", ")
    };
    let import = |module: &str, names: String| match &*names {
        "" => String::new(),
        names => format!("from {module} import {names}\n"),
    };
    let shared: Vec<String> = match subject {
        MAIN => Vec::new(),
        _ => SECTIONS
            .iter()
            .map(|section| class(section, MAIN))
            .collect(),
    };
    let defined = |name: &&str| body.contains(&format!("\nclass {name}("));
    let mut shared: Vec<&str> = shared.iter().map(String::as_str).collect();
    shared.retain(|name| !defined(name));
    shared.sort_unstable();
    format!(
        "\"\"\"{what} as classes, one argument a key.\n\nMade from the table of keys in \
         `crates/scenario/src/{table}` by a test, `python_keys.rs`:\n`UPDATE_DOCS=1 cargo test -p \
         trammel-scenario` writes it anew.\n\"\"\"\n\nfrom __future__ import annotations\n\n\
         {}{}\n{base}{}{}",
        import("collections.abc", list(&["Mapping", "Sequence"])),
        import("typing", list(&["Literal"])),
        import("._keys", list(&shared)),
        import("._section", list(&["Section", "Value"])),
    )
}

/// The name of a section's class among those of `subject`.
fn class(section: &Section, subject: &str) -> String {
    match section.name {
        "" if subject == MAIN => return "ScenarioKeys".to_owned(),
        "" => return "Scenario".to_owned(),
        // A row of a schedule, and a variant that is no name.
        "schedule" => return "Change".to_owned(),
        "variant" => return "Library".to_owned(),
        _ => {}
    }
    let words = section.name.split('_');
    words
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect()
}

/// The name of a key in Python: that of the file but where the file has a list of tables, and where
/// the word is Python's own.
fn argument(section: &Section, key: &Key) -> String {
    match key.kind {
        _ if key.name == "from" => "from_".to_owned(),
        // `sweep` is what makes a scenario that sweeps.
        Kind::Sweep => "sweeps".to_owned(),
        Kind::Tables(_) if section.name.is_empty() => format!("{}s", key.name),
        _ => key.name.to_owned(),
    }
}

fn literal(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("Literal[{}]", words.join(", "))
}

fn quantity(dimensions: &[Dimension]) -> &'static str {
    if dimensions.contains(&Dimension::Ratio) {
        "str | float"
    } else {
        "str"
    }
}

/// The type of what a key takes.
fn annotation(kind: &Kind) -> String {
    match kind {
        Kind::Text | Kind::WordOrTime(_) => "str".to_owned(),
        Kind::Bool => "bool".to_owned(),
        Kind::Whole(..) => "int".to_owned(),
        Kind::Number(..) => "float".to_owned(),
        Kind::Interval(..) => "float | Sequence[float]".to_owned(),
        Kind::Quantity(dimensions, ..) => quantity(dimensions).to_owned(),
        Kind::Numbers(..) => "str | float | Sequence[str | float]".to_owned(),
        Kind::Word(words) => literal(words),
        Kind::Words(words) => format!("Sequence[{}]", literal(words)),
        Kind::Names => "Sequence[str]".to_owned(),
        Kind::BoolOrNames => "bool | Sequence[str]".to_owned(),
        Kind::BoolOrWhole(..) => "bool | int".to_owned(),
        Kind::BoolOrWord(words) => format!("bool | {}", literal(words)),
        Kind::BoolOr(section) => format!("bool | {}", class(section, MAIN)),
        Kind::TimeOr(section) => format!("str | {}", class(section, MAIN)),
        Kind::WordOr(words, section) => {
            format!("{} | {}", literal(words), class(section, MAIN))
        }
        // Its names are not written out, so that a new plug-in is one file.
        Kind::Plugin(_) => match kind.section() {
            Some(section) => format!("str | {}", class(section, MAIN)),
            None => "str".to_owned(),
        },
        Kind::Params(_) => "Mapping[str, Value]".to_owned(),
        Kind::Distribution(dimension) => {
            format!("{} | Distribution", quantity(&[*dimension]))
        }
        Kind::Law(dimension) => format!("{} | float | Distribution", quantity(&[*dimension])),
        Kind::Table(section) => class(section, MAIN),
        Kind::Tables(section) => format!("Sequence[{}]", class(section, MAIN)),
        Kind::Values => "Sequence[str | Flow]".to_owned(),
        Kind::Sweep => "Mapping[str, object]".to_owned(),
    }
}

/// The key that may be given without its name: the plug-in or the first that must be given.
fn leading(section: &Section) -> Option<&'static str> {
    if section.name.is_empty() {
        return None;
    }
    let plugin = |key: &&Key| matches!(key.kind, Kind::Plugin(_)) && section.extra.is_some();
    let must = |key: &&Key| matches!(key.fallback, Fallback::Required);
    let keys = section.keys.iter();
    let found = keys.clone().find(plugin).or_else(|| {
        // The name of a flow has a default, its variant none.
        keys.clone().find(must)
    });
    found.map(|key| key.name)
}

fn help(key: &Key) -> String {
    let unit = match key.unit {
        "" => String::new(),
        unit => format!(" ({unit} in results)"),
    };
    let fallback = match key.fallback {
        Fallback::Required => "; required".to_owned(),
        Fallback::Absent | Fallback::Is("") => String::new(),
        Fallback::Is(value) => format!("; default `{value}`"),
        Fallback::See(text) => format!("; default: {text}"),
    };
    format!("{}{unit}: {}{fallback}.", key.help, key.kind.describe())
}

/// `text` in lines of at most 100 columns, each after `indent`, the first one after `begin`.
fn wrapped(begin: &str, indent: &str, text: &str) -> String {
    let mut lines = vec![begin.to_owned()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a first line");
        if line.chars().count() + 1 + word.chars().count() > 100 {
            lines.push(format!("{indent}{word}"));
        } else {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// The value of a key that has but one.
fn only_word(key: &Key) -> Option<&'static str> {
    match key.kind {
        Kind::Word(&[word]) if matches!(key.fallback, Fallback::Required) => Some(word),
        _ => None,
    }
}

fn written(section: &Section, subject: &str) -> String {
    let base = match section.name {
        "" if subject != MAIN => "ByProgram",
        _ => "Section",
    };
    let mut out = format!("\n\nclass {}({base}):\n", class(section, subject));
    let mut arguments: Vec<_> = section
        .keys
        .iter()
        .map(|key| (argument(section, key), key))
        .collect();
    let first = leading(section);
    // An application has both: its own parameters, and its congestion control's.
    let has_params = section.keys.iter().any(|key| key.name == "params");
    let further = if has_params { "own" } else { "params" };
    arguments.sort_by_key(|(_, key)| Some(key.name) != first);
    let title = section.help;
    let title = title[..1].to_uppercase() + &title[1..];
    let (first_word, others) = title.split_once(' ').expect("a sentence");
    let begin = format!("    \"\"\"{first_word}");
    out += &wrapped(&begin, "    ", &format!("{others}."));
    out += "\n\n    Args:\n";
    for (name, key) in &arguments {
        let begin = format!("        {name}:");
        out += &wrapped(&begin, "            ", &help(key));
        out += "\n";
    }
    if section.extra.is_some() {
        writeln!(
            out,
            "        {further}: parameters of what is named, by their names."
        )
        .unwrap();
    }
    out += "    \"\"\"\n\n";
    let renamed = arguments.iter().filter(|(name, key)| name != key.name);
    let renamed: Vec<_> = renamed
        .map(|(name, key)| format!("\"{name}\": \"{}\"", key.name))
        .collect();
    if section.name.is_empty() && subject != MAIN {
        writeln!(out, "    _subject = \"{subject}\"").unwrap();
    }
    if !renamed.is_empty() {
        writeln!(out, "    _renamed = {{{}}}", renamed.join(", ")).unwrap();
    }
    let tables = arguments.iter().filter_map(|(_, key)| {
        let inner = key.kind.section()?;
        let class = class(inner, MAIN);
        Some(format!("        \"{}\": \"{class}\",\n", key.name))
    });
    let tables: String = tables.collect();
    if !tables.is_empty() {
        write!(out, "    _tables = {{\n{tables}    }}\n").unwrap();
    }
    if !out.ends_with("\n\n") {
        out += "\n";
    }
    for (name, key) in &arguments {
        writeln!(out, "    {name}: {} | None", annotation(&key.kind)).unwrap();
    }
    out += "\n    def __init__(\n        self,\n";
    for (at, (name, key)) in arguments.iter().enumerate() {
        if at == usize::from(first.is_some()) {
            out += "        *,\n";
        }
        let default = match only_word(key) {
            Some(word) => format!("\"{word}\""),
            None => "None".to_owned(),
        };
        let annotation = annotation(&key.kind);
        writeln!(out, "        {name}: {annotation} | None = {default},").unwrap();
    }
    if section.extra.is_some() {
        writeln!(out, "        **{further}: Value,").unwrap();
    }
    out += "    ) -> None:\n        self._fill(\n            {\n";
    for (name, _) in &arguments {
        writeln!(out, "                \"{name}\": {name},").unwrap();
    }
    if section.extra.is_some() {
        writeln!(out, "                **{further},").unwrap();
    }
    out += "            }\n        )\n";
    out
}

/// Whether the package itself has this section.
fn is_shared(section: &Section) -> bool {
    let names = |section: &Section| section.keys.iter().map(|key| key.name).collect::<Vec<_>>();
    SECTIONS
        .iter()
        .any(|one| one.help == section.help && names(one) == names(section))
}

/// The file of a subject, and what is in it.
fn file(subject: &str, sections: &[&Section]) -> (String, String) {
    let own = sections.iter();
    let own = own.filter(|section| subject == MAIN || !is_shared(section));
    let body: String = own.map(|section| written(section, subject)).collect();
    let name = match subject {
        MAIN => "_keys.py".to_owned(),
        _ => format!("{subject}.py"),
    };
    (name, head(subject, &body) + &body)
}

#[test]
fn the_classes_of_python_are_the_sections() {
    for (subject, sections) in SUBJECTS {
        let (name, wanted) = file(subject, sections);
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(FOLDER)
            .join(&name);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, wanted).unwrap();
            continue;
        }
        let is = std::fs::read_to_string(path).unwrap_or_default();
        for (n, (is, should)) in is.lines().zip(wanted.lines()).enumerate() {
            assert_eq!(is, should, "{name}:{}; UPDATE_DOCS=1 mends it", n + 1);
        }
        assert_eq!(is.len(), wanted.len(), "{name}: UPDATE_DOCS=1 mends it");
    }
}

#[test]
fn no_two_keys_of_a_class_have_one_name() {
    for section in SUBJECTS.iter().flat_map(|(_, sections)| *sections) {
        let names = section.keys.iter().map(|key| argument(section, key));
        let all: BTreeSet<_> = names.collect();
        assert_eq!(all.len(), section.keys.len(), "{}", section.name);
    }
}
