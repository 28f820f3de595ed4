//! The commands that write a run folder or a text, as functions of the Python package: made from
//! the table of arguments, so that both have the same options and help. `UPDATE_DOCS=1` writes them
//! anew.

use super::Cli;
use clap::builder::{ValueParser, ValueRange};
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::fmt::Write as _;
use std::path::Path;

const FILE: &str = "../../python/trammel/_commands.py";

/// The commands. `run` is a method of a scenario, and so is `diverge`.
const COMMANDS: [&str; 10] = [
    "bench",
    "compare",
    "conformance",
    "decode",
    "estimate",
    "export",
    "fidelity",
    "import",
    "paper",
    "place",
];

/// Arguments that the package gives by itself, or has no use for.
const OWN: [&str; 6] = ["out", "force", "json", "help", "write_docs", "metrics"];

/// Arguments that take more than the path of a file.
const OBJECTS: [(&str, &str, &str); 4] = [
    ("compare", "runs", "Text | Result"),
    ("estimate", "files", "Text | Scenario"),
    ("export", "of", "Text | Scenario | Result"),
    ("place", "scenario", "Text | Scenario"),
];

const HEAD: &str = r#""""Commands of the program as functions, one argument an option.

Made from the arguments of the command line by a test, `crates/trammel/src/cli/python.rs`:
`UPDATE_DOCS=1 cargo test -p trammel --lib python` writes it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal, Union

from ._command import Scenario, call, text
from ._result import Result

Text = Union[str, PathLike[str]]
"""A word, or the path of a file."""
"#;

fn name(arg: &Arg) -> String {
    match arg.get_id().as_str() {
        // A word of Python's.
        "from" => "from_".to_owned(),
        id => id.to_owned(),
    }
}

/// The name of a command's function; a word of Python's is none.
fn called(command: &Command) -> &str {
    match command.get_name() {
        "import" => "import_files",
        name => name,
    }
}

/// Whether the result is a run folder; else it is what the command writes.
fn has_folder(command: &Command) -> bool {
    command.get_arguments().any(|arg| arg.get_id() == "out")
}

fn is_list(arg: &Arg) -> bool {
    let many = |range: ValueRange| range.max_values() > 1;
    matches!(arg.get_action(), ArgAction::Append) || arg.get_num_args().is_some_and(many)
}

/// The type of one value.
fn one(command: &Command, arg: &Arg) -> String {
    let is_it = |(of, name, _): &&(&str, &str, &str)| {
        (*of, *name) == (command.get_name(), arg.get_id().as_str())
    };
    if let Some((_, _, taken)) = OBJECTS.iter().find(is_it) {
        return (*taken).to_owned();
    }
    let words = arg.get_possible_values();
    if !words.is_empty() && !matches!(arg.get_action(), ArgAction::SetTrue) {
        let words: Vec<_> = words
            .iter()
            .map(|word| format!("\"{}\"", word.get_name()))
            .collect();
        return format!("Literal[{}]", words.join(", "));
    }
    // A share that is written as `5%`.
    if arg
        .get_value_names()
        .is_some_and(|names| names[0] == "PERCENT")
    {
        return "Text".to_owned();
    }
    // Its type is known by comparison alone.
    let parses = |parser: ValueParser| arg.get_value_parser().type_id() == parser.type_id();
    let whole = [
        ValueParser::from(clap::value_parser!(u16)),
        ValueParser::from(clap::value_parser!(u32)),
        ValueParser::from(clap::value_parser!(u64)),
        ValueParser::from(clap::value_parser!(i64)),
        ValueParser::from(clap::value_parser!(usize)),
    ];
    if whole.into_iter().any(parses) {
        "int".to_owned()
    } else if parses(ValueParser::from(clap::value_parser!(f64))) {
        "float".to_owned()
    } else {
        "Text".to_owned()
    }
}

/// The type of an argument, and its default.
fn annotation(command: &Command, arg: &Arg) -> (String, &'static str) {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return ("bool".to_owned(), "False");
    }
    let one = one(command, arg);
    if arg.is_positional() || arg.is_required_set() {
        return (one, "");
    }
    if is_list(arg) {
        (format!("{one} | Sequence[{one}]"), "()")
    } else {
        (format!("{one} | None"), "None")
    }
}

/// `text` as a sentence of Python's: options are arguments there.
fn sentence(text: &str) -> String {
    let text = text
        .replace('\n', " ")
        .replace("(may be repeated)", "(several as a list)");
    let mut parts = text.split("--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let (option, rest) = part.split_at(end.unwrap_or(part.len()));
        let option = option.replace('-', "_");
        if out.ends_with('`') {
            out += &option;
        } else {
            write!(out, "`{option}`").expect("a text takes every write");
        }
        out += rest;
    }
    if !out.ends_with('.') {
        out.push('.');
    }
    out
}

fn wrapped(begin: &str, indent: &str, text: &str) -> String {
    let mut lines = vec![begin.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first line");
        if line.chars().count() + 1 + word.chars().count() > 100 {
            lines.push(format!("{indent}{word}"));
        } else {
            if !line.ends_with([' ', '"']) {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

fn help(arg: &Arg) -> String {
    let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    // A default that clap shows stands behind the text.
    let default = arg.get_default_values();
    if default.is_empty() || matches!(arg.get_action(), ArgAction::SetTrue) {
        return sentence(&text);
    }
    let words: Vec<_> = default.iter().map(|word| word.to_string_lossy()).collect();
    sentence(&format!("{text} [default: {}]", words.join(",")))
}

/// The function of a command.
fn function(command: &Command) -> String {
    let args = command.get_arguments();
    // What does not go with a run folder has no result that could be read from one.
    let goes_with_folder = |arg: &&Arg| {
        let conflicts = command.get_arg_conflicts_with(arg);
        !conflicts.iter().any(|other| other.get_id() == "out")
    };
    let args = args.filter(|arg| !OWN.contains(&arg.get_id().as_str()));
    let args = args.filter(goes_with_folder);
    let (places, options): (Vec<&Arg>, Vec<&Arg>) = args.partition(|arg| arg.is_positional());
    let mut out = format!("\n\ndef {}(\n", called(command));
    for arg in &places {
        let (annotation, _) = annotation(command, arg);
        let star = if is_list(arg) { "*" } else { "" };
        writeln!(out, "    {star}{}: {annotation},", name(arg)).unwrap();
    }
    if !places.iter().any(|arg| is_list(arg)) {
        out += "    *,\n";
    }
    for arg in &options {
        let (annotation, default) = annotation(command, arg);
        let default = match default {
            "" => String::new(),
            default => format!(" = {default}"),
        };
        writeln!(out, "    {}: {annotation}{default},", name(arg)).unwrap();
    }
    out += if has_folder(command) {
        "    out: Text | None = None,\n    force: bool = False,\n) -> Result:\n"
    } else {
        ") -> str:\n"
    };
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    out += &wrapped("    \"\"\"", "    ", &sentence(&about));
    out += "\n\n    Args:\n";
    for arg in places.iter().chain(&options) {
        let begin = format!("        {}:", name(arg));
        out += &wrapped(&begin, "            ", &help(arg));
        out += "\n";
    }
    if has_folder(command) {
        out += "        out: Run folder to write and keep.\n";
        out += "        force: Replace the folder, whatever run it holds.\n";
    }
    out += "    \"\"\"\n";
    out += "    options = {\n";
    for arg in &options {
        let long = arg
            .get_long()
            .expect("an option has a long name")
            .replace('-', "_");
        writeln!(out, "        \"{long}\": {},", name(arg)).unwrap();
    }
    out += "    }\n";
    let places: Vec<_> = places
        .iter()
        .map(|arg| format!("{}{}", if is_list(arg) { "*" } else { "" }, name(arg)))
        .collect();
    let (call, more) = if has_folder(command) {
        ("call", ", out, force")
    } else {
        ("text", "")
    };
    let (name, places) = (command.get_name(), places.join(", "));
    writeln!(
        out,
        "    return {call}(\"{name}\", [{places}], options{more})"
    )
    .unwrap();
    out
}

#[test]
fn the_functions_of_python_are_the_commands() {
    let mut cli = Cli::command();
    cli.build();
    let mut wanted = HEAD.to_owned();
    for name in COMMANDS {
        wanted += &function(cli.find_subcommand(name).expect("there is such a command"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, wanted).unwrap();
        return;
    }
    let is = std::fs::read_to_string(path).unwrap_or_default();
    for (n, (is, should)) in is.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(is, should, "{FILE}:{}; UPDATE_DOCS=1 mends it", n + 1);
    }
    assert_eq!(is.len(), wanted.len(), "{FILE}: UPDATE_DOCS=1 mends it");
}
