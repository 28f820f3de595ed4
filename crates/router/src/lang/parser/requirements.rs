//! `define(…)` and `require(…)`: variables, packages, libraries.

use std::mem;

use super::super::body::Variable;
use super::super::conf::{is_name, one_string};
use super::super::lexer::{Kind, Lexer};
use super::{Around, DEEPEST, Parser};
use crate::args::text::{is_word, split_args, split_words, take_word};
use crate::diagnostic::Diagnostics;

impl Parser<'_> {
    /// Reads `define($x value, …)`.
    pub(super) fn define(&mut self) {
        if !self.expect(Kind::Char('('), "'('") {
            return;
        }
        let config = self.lexer.config();
        self.expect(Kind::Char(')'), "')'");
        for argument in split_args(&config) {
            if argument.is_empty() {
                continue;
            }
            let mut value = argument.as_str();
            let variable = take_word(&mut value).unwrap_or_default();
            let name = variable.strip_prefix('$').unwrap_or_default();
            if name.is_empty() || !name.bytes().all(is_name) {
                self.error("bad 'define' declaration: not a variable");
                continue;
            }
            let sign = if self.is_tool() { "" } else { "$" };
            let body = self.body();
            if body.variables.iter().any(|variable| variable.name == name) {
                self.error(format!("parameter '{sign}{name}' multiply defined"));
                continue;
            }
            let variable = Variable {
                name: name.to_owned(),
                value: value.to_owned(),
            };
            body.variables.push(variable);
        }
    }

    /// Reads `require(package p, library l, …)`.
    pub(super) fn require(&mut self) {
        if !self.expect(Kind::Char('('), "'('") {
            return;
        }
        let config = self.lexer.config();
        self.expect(Kind::Char(')'), "')'");
        self.lexer.take(Kind::Char(';'));
        for argument in split_args(&config) {
            let words = split_words(&argument);
            let Some(first) = words.first() else {
                continue;
            };
            let kind = one_string(first)
                .filter(|word| is_word(word))
                .unwrap_or_default();
            let value = words.get(1).and_then(|word| one_string(word));
            match (kind.as_str(), words.len(), value) {
                ("compact_config", 1, _) => self.requirements.push((kind, String::new())),
                ("package", 2, Some(package)) => self.package(package),
                ("library", 2, Some(library)) => self.library(&library),
                ("" | "package" | "library", ..) | (_, 2.., _) => {
                    self.error("syntax error at requirement");
                }
                _ => self.package(kind),
            }
        }
    }

    fn package(&mut self, name: String) {
        if !self.is_tool()
            && let Err(why) = self.options.loader.package(&name)
        {
            let mut beneath = Diagnostics::new();
            beneath.error(None, why);
            self.diagnostics
                .nest(None, format!("While loading package '{name}':"), beneath);
            self.diagnostics
                .error(None, format!("requirement '{name}' not available"));
        }
        self.requirements.push(("package".to_owned(), name));
    }

    fn library(&mut self, name: &str) {
        if self.open.len() > 1 {
            self.error("'require library' must be used at file scope");
            return;
        }
        let directory = match self.lexer.file().rfind('/') {
            Some(at) if at > 0 => self.lexer.file()[..at].to_owned(),
            _ => ".".to_owned(),
        };
        let Some(library) = self.options.loader.library(name, &directory) else {
            // The tools print the path that they did not find.
            let name = if self.is_tool() { "" } else { name };
            self.error(format!("library '{name}' not found in CLICKPATH/conf"));
            return;
        };
        if !self.libraries.insert(library.path.clone()) {
            return;
        }
        if self.library_depth >= DEEPEST {
            self.stop("maximum library nesting depth exceeded");
            return;
        }
        match library.text {
            Err(why) => self.error(why),
            Ok(text) => {
                let outer = mem::replace(&mut self.lexer, Lexer::new(&text, &library.path));
                let depth = mem::take(&mut self.depth);
                self.library_depth += 1;
                self.statements(Around::File);
                self.library_depth -= 1;
                self.depth = depth;
                self.lexer = outer;
            }
        }
    }
}
