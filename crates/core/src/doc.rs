//! What the file of a plug-in says at its head: a line, then sections.
//!
//! ```
//! use trammel_core::doc::Doc;
//!
//! let doc = Doc::new("A queue.\n\n# What it does\nIt waits.\n\n# References\nRFC 970.\n");
//! assert_eq!(doc.section("What it does"), Some("It waits."));
//! assert_eq!(doc.section("Example"), None);
//! assert_eq!(doc.sections()[0], ("", "A queue."));
//! assert_eq!(doc.other_sections(&["References"]).count(), 1);
//! ```

/// The text at the head of a plug-in's file, without the marks of comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doc(&'static str);

impl Doc {
    /// That of `text`, in which a line `# …` outside code begins a section.
    pub const fn new(text: &'static str) -> Doc {
        Doc(text)
    }

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

    /// The sections whose heading is none of `known`, without what stands before the first.
    pub fn other_sections(
        self,
        known: &[&str],
    ) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = self.sections().into_iter();
        all.filter(|(heading, _)| !heading.is_empty() && !known.contains(heading))
    }

    /// The text of a section.
    pub fn section(self, heading: &str) -> Option<&'static str> {
        let mut all = self.sections().into_iter();
        all.find(|(other, _)| *other == heading)
            .map(|(_, text)| text)
    }

    /// The first block of code of the section `Example`, whose language is `language`.
    pub fn example(self, language: &str) -> Option<&'static str> {
        let text = self.section("Example")?;
        let (_, code) = text.split_once(&format!("```{language}\n"))?;
        code.split_once("```").map(|(code, _)| code.trim_end())
    }
}
