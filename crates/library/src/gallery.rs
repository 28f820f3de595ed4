//! The gallery: small scenarios, each with its question and its answer at its head.
//!
//! A scenario of the gallery is one file, `examples/gallery/<name>.toml`, and begins with comments:
//!
//! ```text
//! # The question, in one line?
//! #
//! # Theme: one of `THEMES`
//! # Picture: the figure of its run folder that shows the answer
//! # Answer: what the program's report says, in as many lines
//! #     as it needs
//! #
//! # What there is to learn.
//! ```
//! Files of other kinds in the folder are those that scenarios name.

use crate::FILES;
use std::path::PathBuf;

/// The themes, in the order in which they are shown.
const THEMES: [&str; 10] = [
    "a first look",
    "one connection",
    "sharing a link",
    "queues and delay",
    "BBR and other models of the path",
    "data centres and L4S",
    "radio, satellites and paths that change",
    "what users get",
    "streams of packets",
    "routers and functions",
];

/// The folder of the gallery.
const FOLDER: &str = "examples/gallery/";

/// A scenario of the gallery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhibit {
    /// Its name: the file's, without its ending.
    pub name: &'static str,
    /// What it is about.
    pub theme: String,
    /// The question that it answers.
    pub question: String,
    /// The answer, as its report gives it.
    pub answer: String,
    /// The figure that shows the answer, by its name in `figures`; empty where none does.
    pub picture: String,
    /// The file.
    pub text: &'static str,
}

impl Exhibit {
    /// The scenario `text` by its head; nothing where the head lacks its question or its theme.
    fn read(name: &'static str, text: &'static str) -> Option<Exhibit> {
        let lines = text.lines().map_while(|line| line.strip_prefix('#'));
        let mut lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
        let question = lines.next().filter(|line| line.ends_with('?'))?.to_owned();
        let [mut theme, mut picture, mut answer] = [const { String::new() }; 3];
        let mut is_answer = false;
        for line in lines {
            if let Some(more) = line.strip_prefix("    ").filter(|_| is_answer) {
                answer += " ";
                answer += more.trim();
                continue;
            }
            is_answer = false;
            match line.split_once(": ") {
                Some(("Theme", is)) => theme = is.to_owned(),
                Some(("Picture", is)) => picture = is.to_owned(),
                Some(("Answer", is)) => (answer, is_answer) = (is.to_owned(), true),
                _ => {}
            }
        }
        (!theme.is_empty()).then_some(Exhibit {
            name,
            theme,
            question,
            answer,
            picture,
            text,
        })
    }

    /// The file without what is of the gallery alone: as a scenario to begin with.
    pub fn as_template(&self) -> String {
        let mut lines = Vec::new();
        let mut is_left_out = false;
        for line in self.text.lines() {
            let ours = ["# Theme: ", "# Picture: ", "# Answer: "];
            let is_more = is_left_out && line.starts_with("#     ");
            is_left_out = is_more || ours.iter().any(|word| line.starts_with(word));
            // The empty line behind them goes too.
            let is_double = line == "#" && lines.last() == Some(&"#");
            if !is_left_out && !is_double {
                lines.push(line);
            }
        }
        lines.join("\n") + "\n"
    }

    /// The files beside it that it names, with their contents.
    pub fn companions(&self) -> Vec<(&'static str, &'static [u8])> {
        let files = FILES.iter().filter_map(|(file, bytes)| {
            let name = file.strip_prefix(FOLDER)?;
            let is_named = self.text.contains(&format!("\"{name}\""));
            (name.strip_suffix(".toml").is_none() && is_named).then_some((name, *bytes))
        });
        files.collect()
    }

    /// Where its file lies, among the files that it names.
    pub fn path(&self) -> Option<PathBuf> {
        crate::file(&format!("{FOLDER}{}.toml", self.name))
    }
}

/// All scenarios of the gallery, by themes and names.
pub fn all() -> Vec<Exhibit> {
    let files = FILES.iter().filter_map(|(file, bytes)| {
        let name = file.strip_prefix(FOLDER)?.strip_suffix(".toml")?;
        Exhibit::read(name, std::str::from_utf8(bytes).ok()?)
    });
    let mut all: Vec<Exhibit> = files.collect();
    let place = |one: &Exhibit| THEMES.iter().position(|theme| *theme == one.theme);
    all.sort_by_key(|one| (place(one).unwrap_or(THEMES.len()), one.name));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_the_question_and_an_answer_of_several_lines() {
        let text = "# Why?\n#\n# Theme: queues and delay\n# Picture: share\n# Answer: because\n\
                    #     it is so.\n#\n# Why: no key of ours.\ntitle = 'x' # Theme: none\n";
        let one = Exhibit::read("x", text).unwrap();
        assert_eq!((&*one.question, &*one.theme), ("Why?", "queues and delay"));
        assert_eq!(
            (&*one.answer, &*one.picture),
            ("because it is so.", "share")
        );
        assert_eq!(Exhibit::read("x", "# No question\n# Theme: x\n"), None);
    }

    #[test]
    fn a_template_has_no_line_of_the_gallery() {
        let text = "# Why?\n#\n# Theme: x\n# Answer: because\n#     it is.\n#\n# Lesson.\na = 1\n";
        let one = Exhibit::read("x", text).unwrap();
        assert_eq!(one.as_template(), "# Why?\n#\n# Lesson.\na = 1\n");
    }

    #[test]
    fn every_file_of_the_folder_is_an_exhibit_of_a_known_theme() {
        let all = all();
        let ours = |file: &&str| {
            let name = file.strip_prefix(FOLDER);
            name.is_some_and(|name| name.strip_suffix(".toml").is_some())
        };
        let files = FILES.iter().map(|(file, _)| *file).filter(ours).count();
        assert_eq!(
            all.len(),
            files,
            "a head lacks `# Theme: …` or its question"
        );
        for one in &all {
            assert!(THEMES.contains(&&*one.theme), "{}: {}", one.name, one.theme);
            assert!(!one.answer.is_empty(), "{} has no answer", one.name);
            assert!(
                one.path().is_some_and(|path| path.is_file()),
                "{}",
                one.name
            );
        }
    }
}
