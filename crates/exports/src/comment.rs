//! Comments of shell scripts and of YAML files, whatever text is in them.
//!
//! Names of files and texts of scenarios are other people's: a line end in one would begin a line
//! that a shell runs, or a key of a topology.

use std::fmt::Write;

/// Whether a character ends a line somewhere, commands a terminal or is no text of YAML.
fn is_unfit(c: char) -> bool {
    // The line ends of YAML 1.1, what turns the direction of text, and what is no character.
    let is_of_unicode = matches!(
        c,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    );
    c.is_control() || is_of_unicode
}

/// `text` in one line, with `\n` for a line end and the like.
pub(crate) fn fit(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unfit(c) {
            // A text that is written to has no errors.
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// A line of a script that says `text`.
pub(crate) fn line(text: &str) -> String {
    format!("# {}\n", fit(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_one_line() {
        let text = "a\ntouch x\r\u{85}\u{2028}\u{1b}[31m\u{202e}é #";
        assert_eq!(
            line(text),
            "# a\\ntouch x\\r\\u{85}\\u{2028}\\u{1b}[31m\\u{202e}é #\n"
        );
        let all = line(&('\0'..='\u{ffff}').collect::<String>());
        assert_eq!(all.matches(is_unfit).count(), 1, "its own end");
    }
}
