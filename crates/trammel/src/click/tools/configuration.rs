//! The configuration that a tool reads, and the one that it writes.

use super::end::{Done, Failed, fail};
use super::options::Given;
use std::io::{self, Read, Write};
use trammel_router::diagnostic::Diagnostics;
use trammel_router::lang::archive::{self, Member};
use trammel_router::lang::{self, Flat};
use trammel_workbench::source::Files;

/// A configuration, and what was beside it in its archive.
pub(super) struct Source {
    pub(super) text: String,
    pub(super) name: String,
    pub(super) members: Vec<Member>,
}

impl Source {
    /// The one that the options name: an expression, a file, or standard input.
    pub(super) fn of(given: &Given) -> Result<Source, Failed> {
        match (given.last('e'), given.last('f').or(given.words().next())) {
            (Some(text), _) => Ok(Source::expression(text)),
            (None, file) => Source::file(file.unwrap_or("-")),
        }
    }

    pub(super) fn expression(text: &str) -> Source {
        Source {
            text: text.to_owned(),
            name: "config".to_owned(),
            members: Vec::new(),
        }
    }

    pub(super) fn file(path: &str) -> Result<Source, Failed> {
        let name = if path == "-" { "<stdin>" } else { path };
        let bytes = read(path).map_err(|why| {
            let text = why.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            fail(&format!("{name}: {text}"))
        })?;
        let text = lang::text_of(&bytes, name).map_err(|said| {
            tell(&said);
            Failed
        })?;
        let mut members = archive::members(&bytes).unwrap_or_default();
        members.retain(|member| member.name != "config");
        Ok(Source {
            text,
            name: name.to_owned(),
            members,
        })
    }

    /// The flat graph; says what is wrong with it.
    pub(super) fn flat(&self, given: &Given, expand: bool) -> Result<Flat, Failed> {
        let files = Files::new(given.last('C'));
        let variables: Vec<_> = given.variables().collect();
        let options = lang::Options {
            definitions: &variables,
            loader: &files,
            expand_definitions: expand,
            ..lang::Options::default()
        };
        let (flat, said) = lang::parse(&self.text, &self.name, &options);
        tell(&said);
        if said.has_errors() {
            return Err(Failed);
        }
        Ok(flat)
    }
}

/// Says diagnostics in Click's words.
pub(super) fn tell(said: &Diagnostics) {
    let text = said.click();
    if !text.is_empty() {
        trammel_ground::say(text.trim_end_matches('\n'));
    }
}

/// Writes a configuration where the options say, as an archive if there are members beside it.
pub(super) fn write_config(given: &Given, flat: &Flat, members: &[Member]) -> Done {
    let text = lang::flatten::tool(flat);
    if members.is_empty() {
        return write(given, text.as_bytes());
    }
    let mut all = vec![Member {
        name: "config".to_owned(),
        data: text.into_bytes(),
    }];
    all.extend_from_slice(members);
    write(given, &archive::write(&all))
}

/// Writes to the file of `-o`, or standard output.
pub(super) fn write(given: &Given, bytes: &[u8]) -> Done {
    let written = match given.last('o') {
        None | Some("-") => io::stdout().write_all(bytes),
        Some(path) => std::fs::write(path, bytes).map_err(|why| {
            let text = format!("{path}: {why}");
            io::Error::new(why.kind(), text)
        }),
    };
    written.map_err(|why| fail(&why.to_string()))
}

fn read(path: &str) -> io::Result<Vec<u8>> {
    if path == "-" {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path)
}
