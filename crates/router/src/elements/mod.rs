//! The classes of elements, one file each, in groups.

pub use crate::engine::Entry;

include!(concat!(env!("OUT_DIR"), "/elements.rs"));
trammel_core::family!("element class");

/// What the file of a class says of it: a line, then sections.
pub fn doc(entry: &Entry) -> Doc {
    let at = ALL.iter().position(|other| std::ptr::eq(*other, entry));
    Doc(at.and_then(|at| DOCS.get(at)).copied().unwrap_or(""))
}

/// The text at the head of a class's file.
#[derive(Clone, Copy, Debug)]
pub struct Doc(&'static str);

impl Doc {
    /// The sections in their order: headings, empty for what stands before the first, and texts.
    pub fn sections(self) -> Vec<(&'static str, &'static str)> {
        let mut sections = Vec::new();
        let (mut heading, mut start, mut at, mut is_code) = ("", 0, 0, false);
        for line in self.0.split_inclusive('\n') {
            is_code ^= line.starts_with("```");
            if let Some(next) = line.strip_prefix("# ").filter(|_| !is_code) {
                sections.push((heading, self.0[start..at].trim()));
                (heading, start) = (next.trim(), at + line.len());
            }
            at += line.len();
        }
        sections.push((heading, self.0[start..].trim()));
        sections
    }

    /// The text of a section.
    pub fn section(self, heading: &str) -> Option<&'static str> {
        let mut all = self.sections().into_iter();
        all.find(|(other, _)| *other == heading)
            .map(|(_, text)| text)
    }

    /// A configuration that shows the class at work, whole.
    pub fn example(self) -> Option<&'static str> {
        let text = self.section("Example")?;
        let (_, code) = text.split_once("```click\n")?;
        code.split_once("```").map(|(code, _)| code.trim_end())
    }
}
