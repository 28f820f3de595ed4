//! Faults of a scenario file, shown to a person: where, what, why, and what to do.
//!
//! All faults of a file are collected and rendered at once, each with its source line underlined.

use super::tree::Extent;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub span: Extent,
    /// What is wrong.
    pub what: String,
    /// Why, in a few words that stand beside the underlined text.
    pub why: String,
    /// What to do; empty where that is plain.
    pub help: String,
}

/// All faults of one file, with its text.
#[derive(Clone, Debug)]
pub struct Problems {
    /// The file's name, as the user wrote it.
    pub file: String,
    /// The file's text.
    pub text: String,
    /// The faults, in the order of the text.
    pub list: Vec<Problem>,
    /// What is shown of files that this one names, each a text of its own.
    pub beside: Vec<String>,
}

impl Problems {
    /// The faults `list`, put in order, each once.
    pub fn new(file: &str, text: &str, mut list: Vec<Problem>) -> Problems {
        list.sort_by_key(|problem| problem.span.start);
        let mut seen: Vec<Problem> = Vec::new();
        for mut problem in list {
            for text in [&mut problem.what, &mut problem.why, &mut problem.help] {
                if text.contains(char::is_control) {
                    *text = trammel_ground::printable(text);
                }
            }
            if !seen.contains(&problem) {
                seen.push(problem);
            }
        }
        Problems {
            file: file.to_owned(),
            text: text.to_owned(),
            list: seen,
            beside: Vec::new(),
        }
    }

    /// Every fault with its line, in colour or not, and a last line that counts them.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let mut out = String::new();
        for problem in &self.list {
            let span = within(&self.text, &problem.span);
            let snippet = Snippet::source(self.text.as_str())
                .path(self.file.as_str())
                .annotation(
                    AnnotationKind::Primary
                        .span(span)
                        .label(problem.why.as_str()),
                );
            let mut group = Level::ERROR
                .primary_title(problem.what.as_str())
                .element(snippet);
            if !problem.help.is_empty() {
                group = group.element(Level::HELP.message(problem.help.as_str()));
            }
            out += &renderer.render(&[group]);
            out += "\n\n";
        }
        for text in &self.beside {
            out += text.trim_end_matches('\n');
            out += "\n\n";
        }
        let n = self.list.len();
        let noun = if n == 1 { "fault" } else { "faults" };
        out + &format!("{}: {n} {noun}", self.file)
    }
}

/// `span` cut to the text and to its first line: a header or value of many lines is underlined
/// once.
fn within(text: &str, span: &Extent) -> Extent {
    let start = span.start.min(text.len());
    let end = span.end.clamp(start, text.len());
    let line_end = text[start..end].find('\n').map_or(end, |n| start + n);
    start..line_end
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Problems {}
