//! The programs that stand beside `click`: `click-flatten`, `click-buildtool provides`.

use super::command::Files;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use trammel_router::args::text::is_word;
use trammel_router::elements;
use trammel_router::lang::{self, flatten};

/// What does the work of the program called `name`, where there is one.
pub fn find(name: &str) -> Option<fn() -> ExitCode> {
    Some(match name {
        "click" => super::click::main,
        "click-buildtool" => buildtool,
        "click-flatten" => flatten_tool,
        _ => return None,
    })
}

/// `click-buildtool provides X…`: whether each is a class or feature of this router.
fn buildtool() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(("provides", names)) = arguments.split_first().map(|(a, b)| (a.as_str(), b)) else {
        crate::cli::say("usage: click-buildtool provides NAME…");
        return ExitCode::FAILURE;
    };
    let has = |name: &String| elements::find(name).is_some() || FEATURES.contains(&name.as_str());
    ExitCode::from(u8::from(!names.iter().all(has)))
}

/// What this router has besides its classes.
const FEATURES: &[&str] = &["userlevel", "int64", "analysis", "ip6", "umultithread"];

/// `click-flatten [-f FILE] [-e EXPR] [-o FILE] [-C PATH] [FILE]`.
fn flatten_tool() -> ExitCode {
    let (mut file, mut text, mut output, mut path) = ("-".to_owned(), None, None, None);
    let mut classes = false;
    let mut arguments = std::env::args().skip(1);
    let mut variables = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-e" | "--expression" => text = arguments.next(),
            "-f" | "--file" => file = arguments.next().unwrap_or(file),
            "-o" | "--output" => output = arguments.next(),
            "-C" | "--clickpath" => path = arguments.next(),
            "-c" | "--classes" => classes = true,
            other => match other.split_once('=') {
                Some((name, value)) if is_word(name) => {
                    variables.push((name.to_owned(), value.to_owned()));
                }
                _ => file = other.to_owned(),
            },
        }
    }
    let files = Files::new(path.as_deref());
    let options = lang::Options {
        definitions: &variables,
        loader: &files,
        ..lang::Options::default()
    };
    let is_expression = text.is_some();
    let text = match text {
        Some(text) => text,
        None => match read(&file) {
            Ok(bytes) => match lang::text_of(&bytes, &file) {
                Ok(text) => text,
                Err(said) => {
                    crate::cli::say(said.click().trim_end());
                    return ExitCode::FAILURE;
                }
            },
            Err(why) => {
                crate::cli::say(&format!("{file}: {why}"));
                return ExitCode::FAILURE;
            }
        },
    };
    let name = match (is_expression, file.as_str()) {
        (true, _) => "config",
        (false, "-") => "<stdin>",
        (false, file) => file,
    };
    let (flat, said) = lang::parse(&text, name, &options);
    let messages = said.click();
    if !messages.is_empty() {
        crate::cli::say(messages.trim_end_matches('\n'));
    }
    if said.has_errors() {
        return ExitCode::FAILURE;
    }
    let printed = if classes {
        let mut names: Vec<&str> = flat.elements.iter().map(|e| e.class.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.iter().map(|name| format!("{name}\n")).collect()
    } else {
        flatten::tool(&flat)
    };
    let written = match output.as_deref() {
        None | Some("-") => io::stdout().write_all(printed.as_bytes()),
        Some(path) => std::fs::write(path, printed),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            crate::cli::say(&why.to_string());
            ExitCode::FAILURE
        }
    }
}

fn read(file: &str) -> io::Result<Vec<u8>> {
    if file == "-" {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(file)
}
