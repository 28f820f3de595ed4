//! The other voice: each diagnostic with its source line underlined and what to do.
//!
//! ```text
//! error: unknown element class 'Queu'
//!  --> config:1:8
//!   |
//! 1 | q1 :: Queu -> Discard;
//!   |       ^^^^
//!   = help: did you mean 'Queue'?
//! ```

use std::fmt::Write;

use crate::diagnostic::{Diagnostic, Diagnostics, Landmark, Severity, Span};

/// How much of a source line is shown; generated configurations have lines without end.
const WIDEST: usize = 160;

/// All diagnostics, in the order they were found.
pub fn render(diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        one(diagnostic, 0, &mut out);
    }
    out
}

fn one(diagnostic: &Diagnostic, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let word = match diagnostic.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let mut lines = diagnostic.text.lines();
    let first = lines.next().unwrap_or_default();
    writeln!(out, "{indent}{word}: {first}").expect("a string takes any text");
    for line in lines {
        writeln!(out, "{indent}  {line}").expect("a string takes any text");
    }
    if let Some(landmark) = &diagnostic.landmark {
        place(landmark, &indent, out);
    }
    if let Some(help) = &diagnostic.help {
        writeln!(out, "{indent}  = help: {help}").expect("a string takes any text");
    }
    for beneath in &diagnostic.beneath {
        one(beneath, depth + 1, out);
    }
}

/// The landmark, and the line underlined if its text is known.
fn place(landmark: &Landmark, indent: &str, out: &mut String) {
    let Some(line) = landmark.span.as_ref().and_then(Line::of) else {
        writeln!(out, "{indent} --> {landmark}").expect("a string takes any text");
        return;
    };
    let number = landmark.line.to_string();
    let margin = " ".repeat(number.len());
    let Line {
        text,
        before,
        marked,
    } = line;
    writeln!(out, "{indent}{margin}--> {landmark}:{}", before + 1)
        .expect("a string takes any text");
    writeln!(out, "{indent}{margin} |").expect("a string takes any text");
    writeln!(out, "{indent}{number} | {text}").expect("a string takes any text");
    let marks = "^".repeat(marked.max(1));
    writeln!(out, "{indent}{margin} | {:before$}{marks}", "").expect("a string takes any text");
}

/// A source line and which of its characters are meant.
struct Line {
    text: String,
    before: usize,
    marked: usize,
}

impl Line {
    /// The line where the span begins; of a wide one, where it is wanted.
    fn of(span: &Span) -> Option<Line> {
        let Span { source, bytes } = span;
        let ends = |char: char| matches!(char, '\n' | '\r');
        let (head, tail) = (source.get(..bytes.start)?, source.get(bytes.start..)?);
        let from = head.rfind(ends).map_or(0, |at| at + 1);
        let length = tail.find(ends).unwrap_or(tail.len());
        let until = bytes.end.min(bytes.start + length);
        let marked = source.get(bytes.start..until)?.chars().count();
        let before = head[from..].chars().count();
        // A tab is as wide as the space that stands under it.
        let plain = |char: char| if char.is_control() { ' ' } else { char };
        let text: String = source[from..bytes.start + length]
            .chars()
            .take(WIDEST)
            .map(plain)
            .collect();
        let shown = text.chars().count();
        (before < shown || shown < WIDEST).then(|| Line {
            text,
            before,
            marked: marked.min(shown.saturating_sub(before)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{Classes, Options, parse};

    fn told(text: &str) -> String {
        let classes: &[&str] = &["Idle", "Queue"];
        struct These<'a>(&'a [&'a str]);
        impl Classes for These<'_> {
            fn knows(&self, class: &str) -> bool {
                self.0.contains(&class)
            }
            fn names(&self) -> Vec<&str> {
                self.0.to_vec()
            }
        }
        let options = Options {
            classes: Some(&These(classes)),
            ..Options::default()
        };
        render(&parse(text, "config", &options).1)
    }

    #[test]
    fn the_word_is_underlined_and_a_name_proposed() {
        insta::assert_snapshot!(told("i :: Idle;\n\ti -> q :: Queu;\n"), @r"
        error: unknown element class 'Queu'
         --> config:2:12
          |
        2 |  i -> q :: Queu;
          |            ^^^^
          = help: did you mean 'Queue'?
        ");
    }

    #[test]
    fn candidates_are_shown_beneath() {
        let told = told("elementclass A { $x | input -> Idle }\nIdle -> A(1, 2);");
        assert!(
            told.contains("error: no match for 'A[2 arguments, 1 input, 0 outputs]'"),
            "{told}"
        );
        assert!(
            told.contains("  note: A(<arg>)[1 input, 0 outputs]"),
            "{told}"
        );
    }

    #[test]
    fn the_end_of_a_text_can_be_pointed_at() {
        let told = told("a :: { Idle");
        assert!(told.contains("error: expected '}'"), "{told}");
        assert!(told.contains("1 | a :: { Idle"), "{told}");
    }
}
