//! The reference page of scenario files, made from the table of keys, as Markdown.

use super::keys::SECTIONS;
use super::keys_kind::{Fallback, Key, Section};
use std::fmt::Write;

/// The page of scenario files.
pub fn page() -> String {
    let intro = "\nThese are the keys of the subject `transport`, the default. `trammel doc \
                 forwarding`, `trammel doc traffic`,\n\
                 `trammel doc routing` and `trammel doc placement` show those of the others; \
                 routers on a topology (`routing`) are of the subject `forwarding`. \
                 [editors.md](editors.md) says how an editor completes and checks them.\n";
    let page = page_of("Scenario files", SECTIONS);
    page.replacen('\n', &format!("\n{intro}"), 1)
}

/// The page of forwarding scenarios.
pub fn forwarding() -> String {
    page_of("Forwarding scenarios", super::forwarding::keys::SECTIONS)
}

/// The page of traffic scenarios.
pub fn traffic() -> String {
    page_of("Traffic scenarios", super::traffic::keys::SECTIONS)
}

/// The page of placement files.
pub fn placement() -> String {
    page_of("Placement files", super::placement::keys::SECTIONS)
}

/// The page of routing scenarios.
pub fn routing() -> String {
    page_of("Routing scenarios", super::routing::keys::SECTIONS)
}

fn page_of(title: &str, sections: &[&Section]) -> String {
    let mut page = format!("# {title}\n");
    for section in sections {
        page += "\n";
        page += &of(section);
    }
    page
}

fn of(section: &Section) -> String {
    let title = if section.name.is_empty() {
        "the file"
    } else {
        section.name
    };
    let mut text = format!("## `{title}`\n\n{}.\n\n", section.help);
    text += "| key | default | unit | value | what it does |\n| --- | --- | --- | --- | --- |\n";
    for key in section.keys {
        let (name, value) = (key.name, key.kind.describe());
        let default = default(key);
        writeln!(
            text,
            "| `{name}` | {default} | {} | {value} | {} |",
            key.unit, key.help
        )
        .expect("a string takes any text");
    }
    if let Some(family) = section.extra {
        let plural = family.plural();
        writeln!(
            text,
            "\nThe parameters are those of `trammel list {plural}`."
        )
        .expect("a string takes any text");
    }
    text
}

fn default(key: &Key) -> String {
    match key.fallback {
        Fallback::Required => "required".to_owned(),
        Fallback::Absent | Fallback::Is("") => String::new(),
        Fallback::Is(value) => format!("`{value}`"),
        Fallback::See(text) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_every_key_with_its_default() {
        let page = page();
        assert!(page.contains("| `mtu` | `1500` | bytes | a whole number from 68 to 65535 |"));
        let rows = page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(
            rows,
            SECTIONS
                .iter()
                .map(|section| section.keys.len())
                .sum::<usize>()
        );
    }
}
