//! Configuration strings: arguments, words, quotes, comments; strings and words.
//!
//! A comment counts as a space, but not between quotes. `'…'` is literal; in `"…"` a backslash
//! escapes as in C; `\<48 65>` is bytes, in double quotes and outside quotes. Nothing here fails:
//! what is not closed runs to the end. All that is looked for is ASCII, so places between such
//! bytes are places between characters.

use super::Error;
use std::fmt::Write;
use std::ops::Range;

/// A space as C has it, the vertical tab included.
pub fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// The same, of a byte.
pub(crate) fn is_space_byte(byte: u8) -> bool {
    is_space(char::from(byte))
}

/// Where the comment at `at` ends; `None` where there is none.
fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    let body = at + 2;
    match bytes.get(at..body)? {
        b"//" => {
            let Some(line) = bytes[body..]
                .iter()
                .position(|b| matches!(b, b'\n' | b'\r'))
            else {
                return Some(bytes.len());
            };
            let end = body + line;
            Some(if bytes[end..].starts_with(b"\r\n") {
                end + 2
            } else {
                end + 1
            })
        }
        b"/*" => {
            let close = bytes[body..].windows(2).position(|pair| pair == b"*/");
            Some(close.map_or(bytes.len(), |close| body + close + 2))
        }
        _ => None,
    }
}

/// Where the `\<…>` at `at` ends.
fn hex_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 2;
    while at < bytes.len() && bytes[at] != b'>' {
        at = comment_end(bytes, at).unwrap_or(at + 1);
    }
    (at + 1).min(bytes.len())
}

/// Where the quote that begins at `at` ends.
fn quote_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let mut at = at + 1;
    while at < bytes.len() {
        at = match bytes[at] {
            byte if byte == quote => return at + 1,
            b'\\' if quote == b'"' && bytes.get(at + 1) == Some(&b'<') => hex_end(bytes, at),
            b'\\' if quote == b'"' => at + 2,
            _ => at + 1,
        };
    }
    bytes.len()
}

/// Where the byte, quote or `\<…>` at `at` ends.
fn piece_end(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        b'"' | b'\'' => quote_end(bytes, at),
        b'\\' if bytes.get(at + 1) == Some(&b'<') => hex_end(bytes, at),
        _ => at + 1,
    }
}

/// The first place from `at` on that is neither in a space nor in a comment.
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match comment_end(bytes, at) {
            Some(end) => at = end,
            None if is_space_byte(bytes[at]) => at += 1,
            None => break,
        }
    }
    at
}

/// The text from `from` up to a comma, if commas end it, without spaces at its ends, a space for
/// each comment; where it is, and where what ended it.
fn argument(text: &str, from: usize, comma_ends: bool) -> (String, Range<usize>, usize) {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut at = skip_space(bytes, from);
    let first = at;
    let (mut left, mut right, mut comment) = (at, at, false);
    while at < bytes.len() {
        if let Some(end) = comment_end(bytes, at) {
            (at, comment) = (end, true);
        } else if is_space_byte(bytes[at]) {
            at += 1;
        } else if bytes[at] == b',' && comma_ends {
            break;
        } else {
            if comment {
                out += &text[left..right];
                out.push(' ');
                (left, comment) = (at, false);
            }
            at = piece_end(bytes, at);
            right = at;
        }
    }
    out += &text[left..right];
    (out, first..right, at)
}

/// `text` without spaces at its ends and with a space for each comment.
pub fn uncomment(text: &str) -> String {
    argument(text, 0, false).0
}

/// The arguments of a configuration string: split at commas, comments removed, an empty last one
/// dropped.
pub fn split_args(text: &str) -> Vec<String> {
    placed_args(text).into_iter().map(|(one, _)| one).collect()
}

/// The same, each with the bytes that it was read from.
pub fn placed_args(text: &str) -> Vec<(String, Range<usize>)> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (one, place, end) = argument(text, at, true);
        if !one.is_empty() || end < text.len() {
            all.push((one, place));
        }
        at = end + 1;
    }
    all
}

/// Arguments joined to a configuration string; nothing is quoted.
pub fn join_args(all: &[String]) -> String {
    all.join(", ")
}

/// The words of `text`: split at spaces and comments, quotes kept.
pub fn split_words(text: &str) -> Vec<String> {
    let mut rest = text;
    let mut all = Vec::new();
    while let Some(word) = take_word(&mut rest) {
        all.push(word.to_string());
    }
    all
}

/// Takes the first word off `text`, with the spaces and comments on both sides of it.
pub fn take_word<'t>(text: &mut &'t str) -> Option<&'t str> {
    let whole = *text;
    let bytes = whole.as_bytes();
    let start = skip_space(bytes, 0);
    let mut end = start;
    while end < bytes.len() && !is_space_byte(bytes[end]) && comment_end(bytes, end).is_none() {
        end = piece_end(bytes, end);
    }
    *text = &whole[skip_space(bytes, end)..];
    (start < end).then(|| &whole[start..end])
}

/// Appends what the backslash at `at` stands for; gives where it ends.
fn escape(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let Some(&letter) = bytes.get(at + 1) else {
        out.push(b'\\');
        return at + 1;
    };
    let digits = |from: usize, most: usize, base: u32| {
        let all = bytes[from..].iter().take(most);
        let all = all.map_while(|b| char::from(*b).to_digit(base));
        all.fold((0_u8, from), |(value, end), digit| {
            (
                value.wrapping_mul(base as u8).wrapping_add(digit as u8),
                end + 1,
            )
        })
    };
    let (byte, end) = match letter {
        b'\r' if bytes.get(at + 2) == Some(&b'\n') => return at + 3,
        b'\r' | b'\n' => return at + 2,
        b'<' => return hex_bytes(bytes, at, out),
        b'0'..=b'7' => digits(at + 1, 3, 8),
        b'x' => digits(at + 2, usize::MAX, 16),
        b'a' => (0x07, at + 2),
        b'b' => (0x08, at + 2),
        b'f' => (0x0c, at + 2),
        b'n' => (b'\n', at + 2),
        b'r' => (b'\r', at + 2),
        b't' => (b'\t', at + 2),
        b'v' => (0x0b, at + 2),
        other => (other, at + 2),
    };
    out.push(byte);
    end
}

/// Appends the bytes of the `\<…>` at `at`; gives where it ends. What is no digit is passed over.
fn hex_bytes(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let end = hex_end(bytes, at);
    let mut high = None;
    let mut at = at + 2;
    while at < end {
        if let Some(after) = comment_end(bytes, at) {
            at = after;
            continue;
        }
        if let Some(digit) = char::from(bytes[at]).to_digit(16) {
            let digit = digit as u8;
            match high.take() {
                Some(high) => out.push(high << 4 | digit),
                None => high = Some(digit),
            }
        }
        at += 1;
    }
    end
}

/// `text` as bytes, one level of quotes removed.
pub fn unquote_bytes(text: &str) -> Vec<u8> {
    let text = uncomment(text);
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut quote = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            (b'\\', Some(b'"')) if next.is_some() => {
                at = escape(bytes, at, &mut out);
                continue;
            }
            (b'\\', None) if next == Some(&b'<') => {
                at = escape(bytes, at, &mut out);
                continue;
            }
            _ => out.push(byte),
        }
        at += 1;
    }
    out
}

/// `text` with one level of quotes removed; bytes that are no UTF-8 become the replacement
/// character.
pub fn unquote(text: &str) -> String {
    String::from_utf8(unquote_bytes(text))
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// `bytes` between double quotes, so that [`unquote_bytes`] gives them back.
pub fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'\\' | b'"' | b'$' => out.extend(['\\', char::from(byte)]),
            b'\t' => out += "\\t",
            b'\r' => out += "\\r",
            b'\n' => out += "\\n",
            32..127 => out.push(char::from(byte)),
            _ => write!(out, "\\{byte:03o}").expect("a string takes any text"),
        }
    }
    out + "\""
}

/// Where the string that `text` begins with ends: at the first space outside quotes.
pub(crate) fn string_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && !is_space_byte(bytes[at]) {
        at = piece_end(bytes, at);
    }
    at.min(bytes.len())
}

/// The bytes of a string, which may be quoted; spaces outside quotes it has not.
pub fn parse_data(text: &str) -> Result<Vec<u8>, Error> {
    if text.is_empty() || string_end(text) < text.len() {
        return Err(Error::Malformed);
    }
    Ok(unquote_bytes(text))
}

/// A string, which may be quoted; spaces outside quotes it has not.
pub fn parse_text(text: &str) -> Result<String, Error> {
    parse_data(text).map(|_| unquote(text))
}

/// Whether `text` is a word: printable ASCII without spaces, quotes, backslashes and commas.
pub fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'\\' | b','))
}

/// A word, which may be quoted.
pub fn parse_word(text: &str) -> Result<String, Error> {
    parse_text(text)
        .ok()
        .filter(|word| is_word(word))
        .ok_or(Error::Malformed)
}

/// A keyword: letters, digits and `_.:?!`.
pub fn parse_keyword(text: &str) -> Result<String, Error> {
    let good = |b: u8| b.is_ascii_alphanumeric() || b"_.:?!".contains(&b);
    let whole = !text.is_empty() && text.bytes().all(good);
    whole.then(|| text.to_string()).ok_or(Error::Malformed)
}

/// A file's name: `~/` at its front is `home`, `//` is `/`.
// Differs from Click: `~user/` stays as it is.
pub fn parse_filename(text: &str, home: Option<&str>) -> Result<String, Error> {
    let mut name = parse_text(text)?;
    if let (Some(home), Some(rest)) = (home, name.strip_prefix('~'))
        && (rest.is_empty() || rest.starts_with('/'))
    {
        name = format!("{home}{rest}");
    }
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    if out.is_empty() {
        Err(Error::Malformed)
    } else {
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commas_split_but_not_in_quotes_or_comments() {
        assert_eq!(
            split_args("1, two 'a, b' /* , */ x, \"\\\",\", \\<2c, // ,\n>"),
            ["1", "two 'a, b' x", "\"\\\",\"", "\\<2c, // ,\n>",]
        );
        assert_eq!(split_args("a,, b,"), ["a", "", "b"]);
        assert_eq!(split_args(","), [""]);
        assert!(split_args(" /* nothing */ ").is_empty());
        assert_eq!(split_args("a // to the end"), ["a"]);
    }

    #[test]
    fn spaces_beside_comments_become_one() {
        assert_eq!(uncomment(" p   q "), "p   q");
        assert_eq!(uncomment("p  /**/ // x\r\n  q/*"), "p q");
        assert_eq!(uncomment("//"), "");
        assert_eq!(uncomment("'//'"), "'//'");
    }

    #[test]
    fn words_keep_their_quotes() {
        assert_eq!(
            split_words(" one,two 'a  b'c \\<41 42>/*x*/d"),
            ["one,two", "'a  b'c", "\\<41 42>", "d"]
        );
        let mut text = "  first /* gap */ second third ";
        assert_eq!(take_word(&mut text), Some("first"));
        assert_eq!(text, "second third ");
    }

    #[test]
    fn escapes_hold_in_double_quotes_only() {
        assert_eq!(unquote("'a\\n'\"b\\n\"c\\n"), "a\\nb\nc\\n");
        assert_eq!(unquote_bytes("\"\\101\\x4a\\$\\\\\\q\\\nz\""), b"AJ$\\qz");
        assert_eq!(unquote_bytes("x\\<48 65 /* 00 */ 6C6c 6 f>y"), b"xHelloy");
        assert_eq!(unquote_bytes("\"\\xff\\0\""), [0xff, 0]);
        assert_eq!(unquote_bytes("\"open\\"), b"open\\");
        assert_eq!(unquote(" a /* c */ 'b  c' "), "a b  c");
    }

    #[test]
    fn strings_and_words_have_no_bare_spaces() {
        assert_eq!(parse_text("\"a b\"c"), Ok("a bc".into()));
        assert_eq!(parse_text("\"\""), Ok(String::new()));
        assert_eq!(parse_text("a b"), Err(Error::Malformed));
        assert_eq!(parse_text(""), Err(Error::Malformed));
        assert_eq!(parse_word("'up'"), Ok("up".into()));
        assert_eq!(parse_word("'u p'"), Err(Error::Malformed));
        assert_eq!(parse_keyword("a.b:c?"), Ok("a.b:c?".into()));
        assert_eq!(parse_keyword("a-b"), Err(Error::Malformed));
    }

    #[test]
    fn a_tilde_is_the_home_directory() {
        assert_eq!(
            parse_filename("'~//x'", Some("/root")),
            Ok("/root/x".into())
        );
        assert_eq!(
            parse_filename("~other/x", Some("/root")),
            Ok("~other/x".into())
        );
        assert_eq!(parse_filename("\"~\"", None), Ok("~".into()));
        assert_eq!(parse_filename("''", None), Err(Error::Malformed));
    }

    /// Pieces of letters, slashes and spaces, with what may part arguments between them.
    const ARGUMENTS: &str = "([abé/ ]{0,5}(, ?|/\\*,\\*/|'[, ]*')){0,5}x";

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\\\<>'\"/*, \n\r\t.~x0-9é]{0,40}|\\PC{0,20}") {
            let _ = (split_args(&text), split_words(&text), unquote(&text), parse_keyword(&text));
            let _ = (parse_word(&text), parse_filename(&text, Some("/h")));
        }

        #[test]
        fn what_is_quoted_reads_back(bytes: Vec<u8>) {
            prop_assert_eq!(parse_data(&quote(&bytes)), Ok(bytes.clone()));
            prop_assert_eq!(split_args(&quote(&bytes)).len(), 1);
        }

        #[test]
        fn arguments_joined_split_into_the_same(text in ARGUMENTS) {
            let once = split_args(&text);
            // An empty last argument cannot be written.
            prop_assume!(once.last().is_none_or(|last| !last.is_empty()));
            prop_assert_eq!(split_args(&join_args(&once)), once);
        }
    }
}
