//! The keys of scenario files, by their names or by their places: `limit`, `path.queue.limit`.

use super::meaning::{Meaning, is_alike};
use trammel_scenario::keys_kind::{Fallback, Key, Kind, Section};
use trammel_scenario::schema::SUBJECTS;
use trammel_scenario::sweep::suffix;

/// The keys that `word` names: by its last part, and where it has more parts by the table that the
/// part before names.
pub(super) fn find(word: &str) -> Vec<Meaning> {
    let mut parts = word.rsplit('.');
    let name = parts.next().unwrap_or_default();
    // Numbers and stars stand for one of a list, and names of flows for a table.
    let table = parts.find(|part| *part != "*" && part.parse::<usize>().is_err());
    let mut found: Vec<(Meaning, Vec<&str>)> = Vec::new();
    for (subject, section, key) in all() {
        if !is_alike(name, key.name) {
            continue;
        }
        let one = meaning(section, key);
        match found.iter_mut().find(|(known, _)| *known == one) {
            Some((_, subjects)) if subjects.contains(&subject) => {}
            Some((_, subjects)) => subjects.push(subject),
            None => found.push((one, vec![subject])),
        }
    }
    // Where a table of that name has the key, the others are not meant.
    if let Some(table) = table {
        let of_table = format!("{table}.{name}");
        if found.iter().any(|(one, _)| one.name == of_table) {
            found.retain(|(one, _)| one.name == of_table);
        }
    }
    let with_subjects = |(mut one, subjects): (Meaning, Vec<&str>)| {
        one.kind = format!("key of {} files", subjects.join(", "));
        let page = match subjects[0] {
            "transport" => "scenario",
            other => other,
        };
        one.more = format!("`trammel doc {page}`");
        one
    };
    found.into_iter().map(with_subjects).collect()
}

/// The keys that a sweep has under the column `word`, which ends in their unit: `rtt_s`.
pub(super) fn swept(word: &str) -> Vec<Meaning> {
    let mut found: Vec<Meaning> = Vec::new();
    for (_, section, key) in all() {
        let Kind::Quantity(dimensions, ..) = key.kind else {
            continue;
        };
        let mut ends = dimensions.iter().map(|one| suffix(*one));
        if !ends.any(|end| !end.is_empty() && word.strip_suffix(end) == Some(key.name)) {
            continue;
        }
        let about = meaning(section, key);
        let one = Meaning {
            kind: "column of sweeps".to_owned(),
            name: word.to_owned(),
            text: format!("the swept value of `{}`: {}", about.name, key.help),
            more: "docs/run-folders.md".to_owned(),
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// The names of all keys.
pub(super) fn words() -> Vec<String> {
    all().map(|(_, _, key)| key.name.to_owned()).collect()
}

fn all() -> impl Iterator<Item = (&'static str, &'static Section, &'static Key)> {
    SUBJECTS.iter().flat_map(|(subject, sections)| {
        let sections = sections.iter().copied();
        sections
            .flat_map(move |section| section.keys.iter().map(move |key| (*subject, section, key)))
    })
}

fn meaning(section: &Section, key: &Key) -> Meaning {
    let name = match section.name {
        "" => key.name.to_owned(),
        section => format!("{section}.{}", key.name),
    };
    let default = match key.fallback {
        Fallback::Required => "; it must be given".to_owned(),
        Fallback::Absent | Fallback::Is("") => String::new(),
        Fallback::Is(value) => format!("; default `{value}`"),
        Fallback::See(text) => format!("; default: {text}"),
    };
    Meaning {
        kind: String::new(),
        name,
        text: format!("{}. It is {}{default}.", key.help, key.kind.describe()),
        more: String::new(),
    }
}
