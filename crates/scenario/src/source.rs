//! A scenario's text: read from its file, and as a tree.

use crate::diagnose::{Problem, Problems};
use crate::reading::Reading;
use crate::{ReadError, sweep_edit, tree};
use std::path::Path;

/// Standard input, where a file's path is asked for.
const STANDARD_INPUT: &str = "-";

/// The name and the text of the file at `path`, and the folder that files which it names are
/// relative to; of standard input (`-`), the folder at hand.
pub(crate) fn read(path: &Path) -> Result<(String, String, &Path), ReadError> {
    if path == Path::new(STANDARD_INPUT) {
        let name = "standard input";
        let text = std::io::read_to_string(std::io::stdin().lock());
        let text = text.map_err(|error| unreadable(name, path, &error))?;
        return Ok((name.to_owned(), text, Path::new(".")));
    }
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(&name, path, &error))?;
    Ok((name, text, path.parent().unwrap_or(Path::new("."))))
}

/// The tree of `text`, with the keys set that `reading` sets.
pub(crate) fn root(name: &str, text: &str, reading: &Reading<'_>) -> Result<tree::Node, ReadError> {
    let refuse = |list| ReadError::Faults(Box::new(Problems::new(name, text, list)));
    let mut root = tree_of(text).map_err(|fault| refuse(vec![fault]))?;
    for (key, value) in reading.set {
        let node = tree::Node {
            span: 0..0,
            value: value.clone(),
        };
        if let Err(why) = sweep_edit::set(&mut root, key, &node) {
            return Err(refuse(vec![Problem {
                span: 0..0,
                what: format!("`{key}` cannot be set"),
                why,
                help: String::new(),
            }]));
        }
    }
    Ok(root)
}

/// The tree of a scenario's text, or why it has none.
fn tree_of(text: &str) -> Result<tree::Node, Problem> {
    let root = tree::Node::parse(text).map_err(|error| Problem {
        span: error.span,
        what: "this is not TOML".to_owned(),
        help: help_with(&error.message),
        why: error.message,
    })?;
    if text.trim().is_empty() {
        return Err(Problem {
            span: 0..0,
            what: "the file is empty".to_owned(),
            why: "a scenario says what to run".to_owned(),
            help: "begin with a file of `examples`, or with `trammel doc scenario`".to_owned(),
        });
    }
    Ok(root)
}

/// Why the file at `path` cannot be read, and what to do.
fn unreadable(name: &str, path: &Path, error: &std::io::Error) -> ReadError {
    use std::io::ErrorKind as Kind;
    let (why, help) = match error.kind() {
        Kind::NotFound => ("there is no such file".to_owned(), neighbour(path)),
        Kind::InvalidData => (
            "it is not text in UTF-8".to_owned(),
            "a scenario is a text file in TOML".to_owned(),
        ),
        Kind::PermissionDenied => (
            "you may not read it".to_owned(),
            format!("`chmod u+r {name}` lets its owner"),
        ),
        _ if path.is_dir() => (
            "it is a folder".to_owned(),
            "give a scenario file in it".to_owned(),
        ),
        _ => (error.to_string(), "give another file".to_owned()),
    };
    ReadError::Io {
        file: name.to_owned(),
        why,
        help,
    }
}

/// What to give in place of a file that is not there: the one beside it whose name is nearest.
fn neighbour(path: &Path) -> String {
    let folder = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = names
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    match trammel_core::units::nearest(&wanted, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{}`?", path.with_file_name(name).display()),
        None => "give the path of a scenario file".to_owned(),
    }
}

/// What to do about a fault of TOML's grammar, as far as its message tells.
fn help_with(message: &str) -> String {
    let help = if message.contains("duplicate key") {
        "keep one of the two"
    } else if message.contains("number overflowed") {
        "give a smaller number; whole numbers end at 9223372036854775807"
    } else {
        "https://toml.io/en/v1.0.0 shows how values and tables are written"
    };
    help.to_owned()
}
