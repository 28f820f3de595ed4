//! The words of ITGSend's command line and script files, and of ITGRecv's command line, as tables
//! of flags.
//!
//! [`invocation`] reads a command line, [`serve`] that of the receiver, [`script`] a script file of
//! one flow a line; both give [`Command`]s. Ours reads what the manual of 2.8.1 describes. Where
//! the original does something else, or a word is without effect, the command carries a remark for
//! the user. The empty lines of a script are skipped as in the original; lines that begin with `#`,
//! which the original refuses, are comments.
//!
//! A word after a flag that may be left out (`-l [file]`) is taken unless it begins with `-` or
//! names an application.

mod applications;
mod bounds;
mod error;
mod flags;
mod laws;
mod reader;
mod receiver;
mod remarks;
#[cfg(test)]
mod tests;
mod words;

pub use bounds::MOST_FLOWS;
pub use error::Error;
pub use receiver::serve;

use super::command::{Command, Logs};
use applications::application;
use reader::Reader;

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Invocation {
    /// One flow.
    Flow(Box<Command>),
    /// The flows of a script file.
    Script {
        /// Its path.
        path: String,
        /// What is logged, for all of them.
        logs: Logs,
    },
    /// To wait for requests (`-Q`).
    Daemon {
        /// What is logged.
        logs: Logs,
    },
    /// The list of options (`-h`).
    Help,
}

/// Reads a command line, without the program's name.
///
/// # Errors
/// If it is not one; the message names the word.
pub fn invocation<S: AsRef<str>>(words: &[S]) -> Result<Invocation, Error> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let mut reader = Reader::new(&words, false);
    match words.first() {
        None => return Err(Error::Nothing),
        Some(&"-h" | &"--help") => return Ok(Invocation::Help),
        Some(&"-Q") => {
            reader.at = 1;
            return Ok(Invocation::Daemon {
                logs: reader.only_logs("-Q")?,
            });
        }
        Some(first) if !first.starts_with('-') && application(first).is_none() => {
            reader.at = 1;
            return Ok(Invocation::Script {
                path: (*first).to_owned(),
                logs: reader.only_logs("the script")?,
            });
        }
        Some(_) => {}
    }
    if words.contains(&"--help") {
        return Ok(Invocation::Help);
    }
    Ok(Invocation::Flow(Box::new(reader.flow()?)))
}

/// Reads the text of a script: one flow a line; empty lines and those that begin with `#` are none.
///
/// # Errors
/// If a line is no flow, or has options of logs, which stand on the command line; the message has
/// the line's number. If there is no flow at all.
pub fn script(text: &str) -> Result<Vec<Command>, Error> {
    let mut commands = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first().is_none_or(|first| first.starts_with('#')) {
            continue;
        }
        if commands.len() == MOST_FLOWS {
            return Err(Error::TooMany);
        }
        let command = Reader::new(&words, true).flow();
        commands.push(command.map_err(|error| Error::Line {
            line: number + 1,
            error: Box::new(error),
        })?);
    }
    if commands.is_empty() {
        Err(Error::Nothing)
    } else {
        Ok(commands)
    }
}
