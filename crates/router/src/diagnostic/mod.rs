//! What is wrong with a configuration, collected and told in two voices.
//!
//! A diagnostic has a place, a text and perhaps others beneath it (`While configuring 'x :: Y':`).
//! Under the name `click` it is printed with that program's words and landmarks, which its test
//! suite compares; otherwise with the line underlined and what to do.

mod render;

pub use render::render;

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Said for information only.
    Note,
    /// The router runs all the same.
    Warning,
    /// The router does not run.
    Error,
}

/// A place in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landmark {
    /// What is printed before the line: a file's name, `config` for an expression, `<stdin>`.
    pub file: Arc<str>,
    /// The line, from 1; 0 where there is none.
    pub line: u32,
    /// The bytes of the source that are meant, where they are known.
    pub span: Option<Span>,
}

/// Bytes of a source text.
#[derive(Clone, PartialEq, Eq)]
pub struct Span {
    /// The whole text; shared by all that point into it.
    pub source: Arc<str>,
    /// The bytes.
    pub bytes: Range<usize>,
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.bytes)
    }
}

impl std::fmt::Display for Landmark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        match self.line {
            0 => Ok(()),
            line if self.file.ends_with([':', ' ', '\t']) => write!(f, "{line}"),
            line => write!(f, ":{line}"),
        }
    }
}

/// Which of an element's arguments is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// That at this place among all of them.
    Argument(usize),
    /// That at this place among those that no parameter takes.
    Rest(usize),
}

/// One thing to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Where.
    pub landmark: Option<Landmark>,
    /// Click does not say where.
    pub is_unplaced: bool,
    /// What, in Click's words.
    pub text: String,
    /// What to do, for those who are not Click.
    pub help: Option<String>,
    /// The argument that it is about, until its place in the source is known.
    pub about: Option<About>,
    /// What it introduces; printed indented.
    pub beneath: Vec<Diagnostic>,
}

/// Diagnostics in the order they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
}

impl Diagnostics {
    /// One error.
    pub fn of(text: impl Into<String>) -> Diagnostics {
        let mut one = Diagnostics::new();
        one.error(None, text);
        one
    }

    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.all.push(diagnostic);
    }

    /// Adds an error.
    pub fn error(&mut self, landmark: Option<&Landmark>, text: impl Into<String>) {
        self.say(Severity::Error, landmark, text.into());
    }

    /// Adds an error of which Click does not say where it is.
    pub fn unplaced_error(&mut self, landmark: &Landmark, text: impl Into<String>) {
        self.say(Severity::Error, Some(landmark), text.into());
        self.all.last_mut().expect("one was just added").is_unplaced = true;
    }

    /// Adds a warning.
    pub fn warning(&mut self, landmark: Option<&Landmark>, text: impl Into<String>) {
        self.say(Severity::Warning, landmark, text.into());
    }

    /// Adds an error that says what to do.
    pub fn error_with_help(
        &mut self,
        landmark: Option<&Landmark>,
        text: impl Into<String>,
        help: Option<String>,
    ) {
        self.say(Severity::Error, landmark, text.into());
        self.all.last_mut().expect("one was just added").help = help;
    }

    /// Adds an error about an argument, and what to do.
    pub fn error_about(&mut self, about: About, text: impl Into<String>, help: Option<String>) {
        self.error_with_help(None, text, help);
        self.all.last_mut().expect("one was just added").about = Some(about);
    }

    /// Says what to do where that is not said.
    pub fn help(&mut self, help: impl Fn(&Diagnostic) -> Option<String>) {
        for diagnostic in self.all.iter_mut().filter(|one| one.help.is_none()) {
            diagnostic.help = help(diagnostic);
        }
    }

    /// Says of those about arguments where these are; Click does not say it.
    pub fn place(&mut self, place: impl Fn(&Diagnostic) -> Option<Landmark>) {
        for diagnostic in &mut self.all {
            if diagnostic.landmark.is_none()
                && let Some(landmark) = place(diagnostic)
            {
                diagnostic.landmark = Some(landmark);
                diagnostic.is_unplaced = true;
            }
        }
    }

    /// Adds what is said for information only.
    pub fn note(&mut self, landmark: Option<&Landmark>, text: impl Into<String>) {
        self.say(Severity::Note, landmark, text.into());
    }

    fn say(&mut self, severity: Severity, landmark: Option<&Landmark>, text: String) {
        self.all.push(Diagnostic {
            severity,
            landmark: landmark.cloned(),
            is_unplaced: false,
            text,
            help: None,
            about: None,
            beneath: Vec::new(),
        });
    }

    /// Adds what `other` has beneath the introduction `text`; nothing where it has nothing.
    pub fn nest(
        &mut self,
        landmark: Option<&Landmark>,
        text: impl Into<String>,
        other: Diagnostics,
    ) {
        let Some(severity) = other.all.iter().map(|d| d.severity).max() else {
            return;
        };
        self.all.push(Diagnostic {
            severity,
            landmark: landmark.cloned(),
            is_unplaced: false,
            text: text.into(),
            help: None,
            about: None,
            beneath: other.all,
        });
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: Diagnostics) {
        self.all.extend(other.all);
    }

    /// How many there are, those beneath others not counted.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.all.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether one is an error.
    pub fn has_errors(&self) -> bool {
        self.all.iter().any(|d| d.severity == Severity::Error)
    }

    /// In Click's voice: a line each, `landmark: text`, what is beneath indented by two and with
    /// its own landmark, if it has one.
    pub fn click(&self) -> String {
        let mut out = String::new();
        for diagnostic in &self.all {
            diagnostic.click(0, &mut out);
        }
        out
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Diagnostic {
    fn click(&self, indent: usize, out: &mut String) {
        let place = self
            .landmark
            .as_ref()
            .filter(|_| !self.is_unplaced)
            .map(|l| format!("{l}: "))
            .unwrap_or_default();
        let word = match self.severity {
            Severity::Warning if self.beneath.is_empty() => "warning: ",
            _ => "",
        };
        for (at, line) in self.text.lines().enumerate() {
            let word = if at == 0 { word } else { "" };
            writeln!(out, "{place}{:indent$}{word}{line}", "").expect("a string takes any text");
        }
        for diagnostic in &self.beneath {
            diagnostic.click(indent + 2, out);
        }
    }
}
