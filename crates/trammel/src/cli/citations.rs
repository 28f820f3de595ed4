//! `trammel doc --citations`: which requirements of standards the source cites, and where.
//!
//! A line `//= rfc2544 §24` in the source cites, and the lines `//# …` below it have the words of
//! the standard. `citations.tsv` lists them all; a test compares it with the sources.

use std::collections::BTreeMap;
use std::fmt::Write;
use trammel_core::units::nearest;

/// Standard, section, file and quoted words of each citation, a line each.
const TABLE: &str = include_str!("citations.tsv");

fn all() -> impl Iterator<Item = [&'static str; 4]> {
    TABLE.lines().filter_map(|line| {
        let cells: Vec<_> = line.splitn(4, '\t').collect();
        cells.try_into().ok()
    })
}

/// The citations of the standard `of`, or of all where it is empty, as Markdown.
pub(super) fn page(of: &str) -> anyhow::Result<String> {
    let mut texts: BTreeMap<(String, u32), Vec<_>> = BTreeMap::new();
    for [name, section, file, words] in all() {
        let of_text = texts.entry(order(name)).or_default();
        of_text.push((name, section, file, words));
    }
    let of = of.to_lowercase().replace([' ', '-'], "");
    if !of.is_empty() && !texts.values().any(|all| all[0].0 == of) {
        let names = texts.values().map(|all| all[0].0);
        match nearest(&of, names) {
            Some(near) => anyhow::bail!("the source cites no `{of}`; did you mean `{near}`?"),
            None => {
                anyhow::bail!("the source cites no `{of}`; `trammel doc --citations` shows all")
            }
        }
    }
    let mut page = String::new();
    for mut all in texts.into_values() {
        let name = all[0].0;
        if !of.is_empty() && name != of {
            continue;
        }
        all.sort_by_key(|(_, section, file, _)| (numbers(section), *file));
        let count = all.len();
        let noun = if count == 1 { "citation" } else { "citations" };
        writeln!(page, "# {name}: {count} {noun}\n").expect("a string takes any text");
        for (_, section, file, words) in all {
            writeln!(page, "- {section}, `{file}`: {words}").expect("a string takes any text");
        }
        page.push('\n');
    }
    Ok(page)
}

/// `rfc793` before `rfc2544`.
fn order(name: &str) -> (String, u32) {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let word = &name[..name.len() - digits.len()];
    (word.to_owned(), digits.parse().unwrap_or(0))
}

/// The numbers of `§3.10.7`.
fn numbers(section: &str) -> Vec<u32> {
    let parts = section.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_listed_by_standard_and_section_with_their_words() {
        let page = page("RFC 2544").unwrap();
        assert!(page.starts_with("# rfc2544: "), "{page}");
        let lines: Vec<_> = page.lines().filter(|line| line.starts_with("- ")).collect();
        assert!(lines.len() > 20, "{}", lines.len());
        assert!(lines.iter().all(|line| line.contains(".rs`: ")), "{page}");
        let sections: Vec<_> = lines
            .iter()
            .map(|line| numbers(line.split(',').next().unwrap()))
            .collect();
        assert!(sections.is_sorted(), "{sections:?}");
        let why = super::page("rfc2545").unwrap_err().to_string();
        assert!(why.contains("`rfc2544`"), "{why}");
    }

    #[test]
    fn every_citation_quotes_its_standard() {
        for [text, section, file, words] in all() {
            assert!(!words.is_empty(), "{file}: {text} {section} quotes nothing");
        }
    }
}
