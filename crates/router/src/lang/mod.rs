//! Click's language: from text to a flat graph of elements.
//!
//! `lexer` cuts the text into tokens, `parser` reads statements into bodies — the file and its
//! compound classes —, `connect` matches ports, `expand` puts compounds into the file's body and
//! `tunnel` follows connections through their pseudoelements. There are two dialects: the router's,
//! where a class must be known, and that of the tools, which take any name for a class.

pub mod archive;
mod body;
pub mod conf;
mod connect;
mod expand;
mod flat;
pub mod flatten;
mod lexer;
mod options;
mod parser;
pub mod places;
mod tunnel;
pub mod variables;

#[cfg(test)]
mod tests;

pub use flat::{Compound, Connection, Declared, Flat, Port};
pub use options::{Classes, Libraries, Library, Loader, NoFiles, Options};

use crate::diagnostic::Diagnostics;

/// Reads a configuration. `name` is what landmarks call it: a file's name, `config` for an
/// expression. Where there are errors, the graph is what could be understood.
pub fn parse(text: &str, name: &str, options: &Options<'_>) -> (Flat, Diagnostics) {
    let parsed = parser::parse(text, name, options);
    expand::flatten(parsed, options)
}

/// Reads the compound classes that a file of patterns declares; variables stay as they are.
pub fn compounds(text: &str, name: &str, options: &Options<'_>) -> (Vec<Compound>, Diagnostics) {
    expand::compounds(&parser::parse(text, name, options), options)
}

/// Reads a configuration or an archive that holds one. Bytes that are no text become U+FFFD.
pub fn parse_bytes(bytes: &[u8], name: &str, options: &Options<'_>) -> (Flat, Diagnostics) {
    match text_of(bytes, name) {
        Ok(text) => parse(&text, name, options),
        Err(diagnostics) => (Flat::default(), diagnostics),
    }
}

/// The text of a configuration: the bytes themselves, or an archive's member `config`.
///
/// # Errors
/// What is wrong with the archive.
pub fn text_of(bytes: &[u8], name: &str) -> Result<String, Diagnostics> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if bytes.first() != Some(&b'!') {
        return Ok(text(bytes));
    }
    let mut diagnostics = Diagnostics::new();
    let members = archive::members(bytes).unwrap_or_else(|why| {
        diagnostics.error(None, why);
        Vec::new()
    });
    if let Some(member) = members.iter().find(|member| member.name == "config") {
        return Ok(text(&member.data));
    }
    diagnostics.error(None, format!("{name}: archive has no 'config' section"));
    Err(diagnostics)
}
