//! Click's language: from text to a flat graph of elements.
//!
//! `lexer` cuts the text into tokens, `parser` reads statements into bodies — the file and its compound
//! classes —, `connect` matches ports, `expand` puts compounds into the file's body and `tunnel`
//! follows connections through their pseudoelements. There are two dialects: the router's, where a
//! class must be known, and that of the tools, which take any name for a class.

pub mod archive;
mod body;
pub mod conf;
mod connect;
mod expand;
pub mod flatten;
mod lexer;
mod parser;
pub mod places;
mod tunnel;
pub mod variables;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Diagnostics, Landmark};
use std::sync::Arc;

/// An element as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The whole name, compounds included: `router/q1`.
    pub name: String,
    /// The class.
    pub class: String,
    /// The text between the parentheses, variables substituted.
    pub config: String,
    /// Where it was declared.
    pub landmark: Landmark,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// The element's place in [`Flat::elements`].
    pub element: usize,
    /// The number of the port.
    pub port: usize,
}

/// A connection from an output to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The output.
    pub from: Port,
    /// The input.
    pub to: Port,
    /// Where it was made.
    pub landmark: Landmark,
}

/// A configuration without compounds, groups or variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flat {
    /// The elements, in the order of Click's numbering.
    pub elements: Vec<Declared>,
    /// The connections; no two are alike. For a router they are sorted by input, then output.
    pub connections: Vec<Connection>,
    /// What `require(…)` asked for: the kind (`package`, `library`, …) and the name.
    pub requirements: Vec<(String, String)>,
    /// Variables of the file that tools keep for whoever reads their output.
    pub definitions: Vec<(String, String)>,
}

/// A file that a configuration asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The path by which it was found; a library is read once.
    pub path: String,
    /// Its text, or why it could not be read.
    pub text: Result<String, String>,
}

/// Finds the files and packages that a configuration asks for.
pub trait Loader {
    /// Looks for `name` along CLICKPATH, where an empty part means `directory`, that of the asking file.
    fn library(&self, name: &str, directory: &str) -> Option<Library>;

    /// Loads a package.
    ///
    /// # Errors
    /// Why it is not available.
    fn package(&self, name: &str) -> Result<(), String>;
}

/// Has no libraries and no packages.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn library(&self, _: &str, _: &str) -> Option<Library> {
        None
    }

    fn package(&self, name: &str) -> Result<(), String> {
        Err(format!("can't find required package '{name}'"))
    }
}

/// A loader that a running router keeps, for the configurations that come after its first.
#[derive(Clone)]
pub struct Libraries(Arc<dyn Loader + Send + Sync>);

impl Libraries {
    /// Those that `loader` finds.
    pub fn new(loader: impl Loader + Send + Sync + 'static) -> Libraries {
        Libraries(Arc::new(loader))
    }

    /// Who finds them.
    pub fn loader(&self) -> &dyn Loader {
        self.0.as_ref()
    }
}

/// None.
impl Default for Libraries {
    fn default() -> Libraries {
        Libraries::new(NoFiles)
    }
}

impl PartialEq for Libraries {
    fn eq(&self, other: &Libraries) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for Libraries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Libraries").finish_non_exhaustive()
    }
}

/// The element classes that need no declaration.
pub trait Classes {
    /// Whether there is such a class.
    fn knows(&self, class: &str) -> bool;

    /// All of them, to propose one in place of a misspelt name.
    fn names(&self) -> Vec<&str> {
        Vec::new()
    }
}

impl Classes for [&str] {
    fn knows(&self, class: &str) -> bool {
        self.contains(&class)
    }

    fn names(&self) -> Vec<&str> {
        self.to_vec()
    }
}

/// How to read a configuration.
pub struct Options<'a> {
    /// Variables of the command line; they take the place of those that the file defines.
    pub definitions: &'a [(String, String)],
    /// Where libraries and packages come from.
    pub loader: &'a dyn Loader,
    /// The classes there are; `None` takes any name that is no element for a class, as the tools do.
    pub classes: Option<&'a dyn Classes>,
    /// Whether the file's own variables are replaced where `classes` is `None`; else they are kept
    /// in [`Flat::definitions`].
    pub expand_definitions: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            definitions: &[],
            loader: &NoFiles,
            classes: None,
            expand_definitions: false,
        }
    }
}

/// Reads a configuration. `name` is what landmarks call it: a file's name, `config` for an expression.
/// Where there are errors, the graph is what could be understood.
pub fn parse(text: &str, name: &str, options: &Options<'_>) -> (Flat, Diagnostics) {
    let parsed = parser::parse(text, name, options);
    expand::flatten(parsed, options)
}

/// The inside of a compound class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound {
    /// The name of the class.
    pub name: String,
    /// Its elements. The first two are its `input`, of class `input`, and its `output`.
    pub flat: Flat,
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
