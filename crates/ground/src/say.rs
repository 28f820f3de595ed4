//! What is said to the person at the terminal, on standard error, and printed on standard output.

use crate::stdout::stdout;
use std::io::{self, Write};

/// Says `text` to the person at the terminal; names in it cannot command the terminal.
pub fn say(text: &str) {
    tell(&printable(text));
}

/// Says `text` with the colours that we have given it.
pub fn tell(text: &str) {
    // A closed standard error leaves no one to tell.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes `text` and a line end to standard output.
pub fn print(text: &str) -> io::Result<()> {
    writeln!(stdout(), "{text}")
}

/// `text` of a file in a message: what would command a terminal is replaced.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\n' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}
