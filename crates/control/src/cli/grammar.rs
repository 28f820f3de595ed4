//! Finds the command that a line means, and reads its arguments.

use super::command::{Args, Command, Value};
use crate::address::read_mac;
use crate::config::rtable;
use crate::machine::Machine;
use std::collections::BTreeSet;
use trammel_core::units::nearest;

/// What one place of a grammar takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// This word or its beginning.
    Word(&'static str),
    /// A value of this name.
    Argument(&'static str),
    /// All words to the end, or none.
    Rest(&'static str),
}

/// The parts of a grammar.
fn parts(grammar: &'static str) -> impl Iterator<Item = Part> {
    grammar.split_whitespace().map(|part| {
        let rest = part
            .strip_prefix('[')
            .and_then(|part| part.strip_suffix("...]"));
        match rest {
            Some(name) => Part::Rest(name),
            None if part.starts_with(|first: char| first.is_ascii_uppercase()) => {
                Part::Argument(part)
            }
            None => Part::Word(part),
        }
    })
}

/// The part of `command` for the word at `place`.
fn part(command: &Command, place: usize) -> Option<Part> {
    let mut last = None;
    for (at, part) in parts(command.grammar).enumerate() {
        if at == place {
            return Some(part);
        }
        last = Some(part);
    }
    last.filter(|part| matches!(part, Part::Rest(_)))
}

/// A word as messages quote it.
fn quoted(word: &str) -> String {
    let short: String = word.chars().take(40).collect();
    let more = if short.len() < word.len() { "…" } else { "" };
    format!("`{}{more}`", short.escape_debug())
}

/// `a`, `a` or `b`, `a`, `b` or `c`.
fn one_of(all: &BTreeSet<&str>) -> String {
    let all: Vec<_> = all.iter().map(|word| format!("`{word}`")).collect();
    match all.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// What may stand at `place`, as the grammar writes it.
fn expected<'a>(commands: &[&'a Command], place: usize) -> BTreeSet<&'a str> {
    let all = commands.iter().filter_map(|command| part(command, place));
    all.map(|part| match part {
        Part::Word(text) | Part::Argument(text) | Part::Rest(text) => text,
    })
    .collect()
}

/// The words that may follow `words`, in the order of the alphabet.
pub(super) fn following(
    commands: &'static [Command],
    words: &[&str],
    machine: &Machine,
) -> Result<BTreeSet<String>, String> {
    let open = beginning(commands, words)?;
    let all = expected(&open, words.len()).into_iter();
    Ok(all
        .flat_map(|word| match word {
            "INTERFACE" => {
                let names = machine.ports().iter().map(|port| &port.interface.name);
                names.cloned().collect()
            }
            "ON" => vec!["off".to_owned(), "on".to_owned()],
            word => vec![word.to_owned()],
        })
        .collect())
}

/// The commands that `words` may begin.
pub(super) fn beginning(
    commands: &'static [Command],
    words: &[&str],
) -> Result<Vec<&'static Command>, String> {
    let mut open: Vec<&Command> = commands.iter().collect();
    for (place, word) in words.iter().enumerate() {
        let literals: BTreeSet<&str> = open
            .iter()
            .filter_map(|command| match part(command, place) {
                Some(Part::Word(text)) => Some(text),
                _ => None,
            })
            .collect();
        let begun: BTreeSet<&str> = if literals.contains(word) {
            BTreeSet::from([*word])
        } else {
            let begins = |literal: &&&str| literal.starts_with(word);
            literals.iter().filter(begins).copied().collect()
        };
        let before = open.clone();
        match begun.len() {
            0 => open.retain(|command| {
                matches!(part(command, place), Some(Part::Argument(_) | Part::Rest(_)))
            }),
            1 => open.retain(|command| {
                matches!(part(command, place), Some(Part::Word(text)) if begun.contains(text))
            }),
            _ => {
                let word = quoted(word);
                return Err(format!("{word} is ambiguous: write {}", one_of(&begun)));
            }
        }
        if open.is_empty() {
            return Err(unknown(&before, words, place));
        }
    }
    Ok(open)
}

/// Says that the word at `place` fits none of the commands that fitted so far.
fn unknown(before: &[&Command], words: &[&str], place: usize) -> String {
    let word = quoted(words[place]);
    let expected = expected(before, place);
    let near = nearest(words[place], expected.iter().copied());
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    if place == 0 {
        let hint = hint.unwrap_or_default();
        let space = if hint.is_empty() { "" } else { " " };
        return format!("{word} is no command: {hint}{space}`help` lists all");
    }
    let so_far = quoted(&words[..place].join(" "));
    if expected.is_empty() {
        return format!("{word} is too much after {so_far}: leave it out");
    }
    let hint = hint.unwrap_or_else(|| format!("write {}", one_of(&expected)));
    format!("{word} cannot follow {so_far}: {hint}")
}

/// The command that `words` are, with its arguments.
pub(super) fn find(
    commands: &'static [Command],
    words: &[&str],
    machine: &Machine,
) -> Result<(&'static Command, Args), String> {
    let open = beginning(commands, words)?;
    let is_whole = |command: &&&'static Command| match part(command, words.len()) {
        None => true,
        Some(part) => matches!(part, Part::Rest(_)),
    };
    let Some(command) = open.iter().find(is_whole).copied() else {
        let so_far = quoted(&words.join(" "));
        let next = one_of(&expected(&open, words.len()));
        return Err(format!("{so_far} is incomplete: {next} follows"));
    };
    let mut args = Args::default();
    for (place, part) in parts(command.grammar).enumerate() {
        match part {
            Part::Word(_) => {}
            Part::Argument(name) => {
                let value = value(name, words[place], machine);
                let value = value.map_err(|what| format!("{what}; write `{}`", command.grammar))?;
                args.0.push((name, value));
            }
            Part::Rest(name) => {
                let rest = words[place..].iter().map(|word| (*word).to_owned());
                args.0.push((name, Value::Words(rest.collect())));
            }
        }
    }
    Ok((command, args))
}

/// Reads an argument by what its name says it is.
fn value(name: &str, text: &str, machine: &Machine) -> Result<Value, String> {
    let wrong = |is: &str| format!("{name} {} is no {is}", quoted(text));
    match name {
        "INTERFACE" => {
            let interfaces: Vec<_> = machine
                .ports()
                .iter()
                .map(|p| p.interface.clone())
                .collect();
            rtable::port(text, &interfaces).map(Value::Port)
        }
        "MAC" => read_mac(text)
            .map(Value::Mac)
            .ok_or_else(|| wrong("MAC address like ca:fe:f0:0d:00:01")),
        "SECONDS" => (text.parse().ok())
            .filter(|seconds| (1..=65_535).contains(seconds))
            .map(Value::Number)
            .ok_or_else(|| wrong("whole number of seconds from 1 to 65535")),
        "AREA" => (text.parse().ok())
            .or_else(|| text.parse().ok().map(core::net::Ipv4Addr::to_bits))
            .map(Value::Number)
            .ok_or_else(|| wrong("area, a number or four with dots")),
        "ON" => match text {
            "on" => Ok(Value::Switch(true)),
            "off" => Ok(Value::Switch(false)),
            _ => Err(wrong("`on` or `off`")),
        },
        _ => (text.parse().map(Value::Address)).map_err(|_| wrong("address like 10.0.0.1")),
    }
}
