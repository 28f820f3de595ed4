//! The formats of other programs: which are read, which are written, and how their files end.

use super::export;
use serde_json::{Value, json};
use trammel_formats::Format;

/// A format, in the words of both commands.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    endings: Vec<&'static str>,
    /// What `trammel import` reads.
    read: Option<&'static str>,
    /// What `trammel export` writes.
    written: Option<String>,
}

/// All of them: those that are read, then those that are only written.
pub(super) fn all() -> Vec<Known> {
    let read = Format::ALL.into_iter().map(|format| Known {
        name: format.name(),
        endings: format.endings().to_vec(),
        read: Some(format.summary()),
        written: None,
    });
    let mut all: Vec<Known> = read.collect();
    for (name, ending, summary) in export::written() {
        match all.iter_mut().find(|known| known.name == name) {
            Some(known) => known.written = Some(summary),
            None => all.push(Known {
                name,
                endings: vec![ending],
                read: None,
                written: Some(summary),
            }),
        }
    }
    all
}

impl Known {
    fn directions(&self) -> Vec<&'static str> {
        let read = self.read.map(|_| "import");
        let written = self.written.as_ref().map(|_| "export");
        read.into_iter().chain(written).collect()
    }

    /// Directions, endings and what it is, in a line.
    pub(super) fn summary(&self) -> String {
        let directions = self.directions().join(" and ");
        let endings = self.endings.join(", ");
        let written = self.written.as_deref().map(lower);
        let what = self.read.map(str::to_owned).or(written);
        format!("{directions} ({endings}): {}", what.unwrap_or_default())
    }

    /// Its row of the list as JSON.
    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name, "aliases": [], "summary": self.summary(),
            "directions": self.directions(), "endings": self.endings,
        })
    }

    /// What there is to say of it, as Markdown.
    pub(super) fn page(&self) -> String {
        let ending = self.endings.first().unwrap_or(&"");
        let mut page = format!("# {}\n\nformat: {}\n", self.name, self.summary());
        if let Some(text) = self.read {
            page += &format!(
                "\n## Import\n\nReads {text}. The content says what a file is; `--as {0}` takes \
                 every file for one.\n\n```text\ntrammel import FILE{ending} --as {0} -o \
                 FOLDER\n```\n",
                self.name
            );
        }
        if let Some(text) = &self.written {
            let of = if export::is_of_run(self.name) {
                "FOLDER"
            } else {
                "SCENARIO.toml"
            };
            page += &format!(
                "\n## Export\n\nWrites {}.\n\n```text\ntrammel export {of} --as {} -o \
                 FILE{ending}\n```\n",
                lower(text),
                self.name
            );
        }
        page
    }
}

/// A sentence as a part of another.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// The page of the format `name`.
pub(super) fn page(name: &str) -> anyhow::Result<String> {
    let all = all();
    let known = all.iter().find(|known| known.name == name);
    known.map(Known::page).ok_or_else(|| {
        let near = trammel_core::units::nearest(name, all.iter().map(|known| known.name));
        match near {
            Some(near) => anyhow::anyhow!("no format is called `{name}`; did you mean `{near}`?"),
            None => {
                anyhow::anyhow!("no format is called `{name}`; `trammel list formats` shows all")
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_of_both_directions_stands_once() {
        let all = all();
        let directions = |name: &str| {
            let mut known = all.iter().filter(|known| known.name == name);
            let first = known.next().map(Known::directions);
            assert!(known.next().is_none(), "{name}");
            first.unwrap_or_default()
        };
        assert_eq!(directions("iperf3"), ["import", "export"]);
        assert_eq!(directions("flent"), ["import", "export"]);
        assert_eq!(directions("csit"), ["import"]);
        assert_eq!(directions("tc"), ["export"]);
        assert!(all.iter().all(|known| !known.endings.is_empty()));
    }

    #[test]
    fn a_misspelt_format_has_a_suggestion() {
        let why = page("iperf").unwrap_err().to_string();
        assert!(why.contains("`iperf3`"), "{why}");
    }
}
