//! A place in the text of a script: what comes next, taken character by character or token by
//! token.
//!
//! What a dot or a sign means depends on where it stands (`.` is a flag, `.1` a time, `...` an
//! ellipsis), so the parser asks for what it expects instead of being handed tokens.

use super::{Place, ReadError};
use trammel_core::time::Span;

/// A place in a text, which moves on as what stands there is taken.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
    place: Place,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor {
            rest: text,
            place: Place { line: 1, column: 1 },
        }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    pub(super) fn malformed(&self, what: impl Into<String>) -> ReadError {
        ReadError::Malformed {
            place: self.place,
            what: what.into(),
        }
    }

    pub(super) fn out_of_scope(&self, what: impl Into<String>) -> ReadError {
        ReadError::OutOfScope {
            place: self.place,
            what: what.into(),
        }
    }

    /// `expected X, found Y`.
    pub(super) fn expected(&mut self, what: &str) -> ReadError {
        self.skip_space();
        let word: String = match self.rest.chars().next() {
            None => "the end".to_owned(),
            Some(first) if is_word(first) => {
                let word: String = self.rest.chars().take_while(|c| is_word(*c)).collect();
                format!("`{word}`")
            }
            Some(first) => format!("`{first}`"),
        };
        self.malformed(format!("expected {what}, found {word}"))
    }

    /// The next character, whatever it is.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        for c in taken.chars() {
            if c == '\n' {
                self.place.line += 1;
                self.place.column = 1;
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    /// Skips blanks, line ends and comments.
    pub(super) fn skip_space(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            if self.rest.starts_with("//") {
                let line = self.rest.find('\n').unwrap_or(self.rest.len());
                self.advance(line);
            } else if self.rest.starts_with("/*") {
                let comment = self.rest.find("*/").map_or(self.rest.len(), |at| at + 2);
                self.advance(comment);
            } else {
                return;
            }
        }
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.rest.is_empty()
    }

    /// Whether `text` comes next.
    pub(super) fn sees(&mut self, text: &str) -> bool {
        self.skip_space();
        self.rest.starts_with(text)
    }

    /// Takes `text` if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let seen = self.sees(text);
        if seen {
            self.advance(text.len());
        }
        seen
    }

    /// Takes `text` if it comes next without a blank before.
    pub(super) fn eat_adjacent(&mut self, text: &str) -> bool {
        let seen = self.rest.starts_with(text);
        if seen {
            self.advance(text.len());
        }
        seen
    }

    pub(super) fn demand(&mut self, text: &str) -> Result<(), ReadError> {
        if self.eat(text) {
            return Ok(());
        }
        Err(self.expected(&format!("`{text}`")))
    }

    /// Takes a word if one comes next.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.skip_space();
        let first = self.rest.chars().next()?;
        if !first.is_ascii_alphabetic() && first != '_' {
            return None;
        }
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        Some(self.advance(end))
    }

    /// Takes the word `wanted` if it comes next, and is not merely the beginning of another.
    pub(super) fn eat_word(&mut self, wanted: &str) -> bool {
        let before = self.clone();
        let seen = self.word() == Some(wanted);
        if !seen {
            *self = before;
        }
        seen
    }

    /// Takes what comes next up to a blank.
    pub(super) fn until_blank(&mut self) -> &'a str {
        let end = self
            .rest
            .find(char::is_whitespace)
            .unwrap_or(self.rest.len());
        self.advance(end)
    }

    /// Takes what comes next up to `end`, which is taken too.
    pub(super) fn until(&mut self, end: &str) -> Result<&'a str, ReadError> {
        let Some(at) = self.rest.find(end) else {
            return Err(self.malformed(format!("no `{end}` ends what begins here; add it")));
        };
        let taken = self.advance(at);
        self.advance(end.len());
        Ok(taken)
    }

    /// Takes a whole number, decimal or `0x…`, if one comes next.
    pub(super) fn integer(&mut self) -> Result<Option<i64>, ReadError> {
        self.skip_space();
        let before = self.clone();
        let sign = if self.eat_adjacent("-") { -1 } else { 1 };
        let (digits, radix) = match self.rest.strip_prefix("0x") {
            Some(hex) => (hex, 16),
            None => (self.rest, 10),
        };
        let len = digits
            .find(|c: char| !c.is_digit(radix))
            .unwrap_or(digits.len());
        if len == 0 {
            *self = before;
            return Ok(None);
        }
        let value = i64::from_str_radix(&digits[..len], radix);
        let prefix = self.rest.len() - digits.len();
        self.advance(prefix + len);
        match value {
            Ok(value) => Ok(Some(sign * value)),
            Err(_) => Err(before.malformed("a number of more than 63 bits; make it smaller")),
        }
    }

    /// Whether a digit comes next.
    pub(super) fn peek_number(&mut self) -> bool {
        self.skip_space();
        self.rest.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Takes a whole number from 0 to `most`.
    pub(super) fn number(&mut self, what: &str, most: u32) -> Result<u32, ReadError> {
        self.skip_space();
        let before = self.clone();
        match self.integer()? {
            Some(value) if (0..=i64::from(most)).contains(&value) => Ok(value as u32),
            Some(value) => {
                Err(before.malformed(format!("{what} is {value}; it goes from 0 to {most}")))
            }
            None => Err(self.expected(what)),
        }
    }

    /// Takes a time in seconds, to the microsecond, if one comes next.
    pub(super) fn time(&mut self) -> Result<Option<Span>, ReadError> {
        self.skip_space();
        let before = self.clone();
        let digits = |text: &str| {
            text.find(|c: char| !c.is_ascii_digit())
                .unwrap_or(text.len())
        };
        let whole_len = digits(self.rest);
        let whole = self.advance(whole_len);
        // The dots of an ellipsis belong to no number.
        let has_fraction =
            self.rest.starts_with('.') && self.rest[1..].starts_with(|c: char| c.is_ascii_digit());
        let mut fraction = "";
        if has_fraction {
            self.advance(1);
            let len = digits(self.rest);
            fraction = self.advance(len);
        }
        if whole.is_empty() && fraction.is_empty() {
            return Ok(None);
        }
        let seconds: u64 = if whole.is_empty() {
            0
        } else {
            // A day is longer than any script, and the picoseconds of 200 of them fit a `Span`.
            match whole.parse() {
                Ok(seconds) if seconds <= 86_400 => seconds,
                _ => return Err(before.malformed("a time of more than a day; make it shorter")),
            }
        };
        let micros = format!("{fraction:0<6}");
        let micros: u64 = micros[..6].parse().expect("six digits are a number");
        Ok(Some(Span::from_us(seconds * 1_000_000 + micros)))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_does_not_swallow_the_dots_of_an_ellipsis() {
        let mut cursor = Cursor::new("0...0.25 x");
        assert_eq!(cursor.time(), Ok(Some(Span::ZERO)));
        assert!(cursor.eat("..."));
        assert_eq!(cursor.time(), Ok(Some(Span::from_ms(250))));
        assert_eq!(cursor.time(), Ok(None));
    }

    #[test]
    fn comments_are_blanks_and_places_are_kept() {
        let mut cursor = Cursor::new("// one\n/* two\n */ word");
        assert_eq!(cursor.word(), Some("word"));
        assert_eq!(cursor.place(), Place { line: 3, column: 9 });
    }

    #[test]
    fn a_number_has_a_range() {
        assert_eq!(
            Cursor::new(" 65535").number("the window", 65_535),
            Ok(65_535)
        );
        let error = Cursor::new("65536").number("the window", 65_535);
        assert_eq!(
            error.unwrap_err().to_string(),
            "1:1: the window is 65536; it goes from 0 to 65535"
        );
    }
}
