//! The text between an element's parentheses: split, unquote, quote, assign.
//!
//! Commas separate arguments, spaces separate words. Neither does so within quotes or `\<…>`, and
//! comments count as a space. Quoted text may hold any byte, so `unquote` gives bytes; the rest of a
//! configuration is text.

use std::borrow::Cow;

/// Whether `byte` is a space to C's `isspace`.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether `byte` may stand in the name of a variable.
pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a comment begins at `at`.
fn is_comment(text: &[u8], at: usize) -> bool {
    text[at] == b'/' && matches!(text.get(at + 1), Some(b'/' | b'*'))
}

/// The end of the comment at `at`.
fn comment_end(text: &[u8], at: usize) -> usize {
    let body = at + 2;
    if text[at + 1] == b'*' {
        let close = text[body..].windows(2).position(|w| w == b"*/");
        return close.map_or(text.len(), |p| body + p + 2);
    }
    match text[body..].iter().position(|b| matches!(b, b'\n' | b'\r')) {
        None => text.len(),
        Some(p) if text[body + p..].starts_with(b"\r\n") => body + p + 2,
        Some(p) => body + p + 1,
    }
}

/// The first byte at or after `at` that is neither space nor comment.
pub(crate) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        if is_space(text[at]) {
            at += 1;
        } else if is_comment(text, at) {
            at = comment_end(text, at);
        } else {
            break;
        }
    }
    at
}

/// The end of the escape at `at`, where there is a backslash.
fn escape_end(text: &[u8], at: usize) -> usize {
    match text.get(at + 1) {
        None => at + 1,
        Some(b'<') => {
            let mut s = at + 2;
            while s < text.len() && text[s] != b'>' {
                s = if is_comment(text, s) {
                    comment_end(text, s)
                } else {
                    s + 1
                };
            }
            (s + 1).min(text.len())
        }
        Some(b'\r') if text.get(at + 2) == Some(&b'\n') => at + 3,
        Some(_) => at + 2,
    }
}

/// The end of the quoted text, escape or single byte at `at`.
fn item_end(text: &[u8], at: usize) -> usize {
    match text[at] {
        b'\'' => {
            let close = text[at + 1..].iter().position(|&b| b == b'\'');
            close.map_or(text.len(), |p| at + p + 2)
        }
        b'"' => {
            let mut s = at + 1;
            while s < text.len() && text[s] != b'"' {
                s = if text[s] == b'\\' {
                    escape_end(text, s)
                } else {
                    s + 1
                };
            }
            (s + 1).min(text.len())
        }
        b'\\' if text.get(at + 1) == Some(&b'<') => escape_end(text, at),
        _ => at + 1,
    }
}

/// Reads one argument from `at`, comments replaced by a space and space around it removed; gives it and
/// where it ends: at a comma if `to_comma`, else at the end.
fn argument(text: &str, at: usize, to_comma: bool) -> (Cow<'_, str>, usize) {
    let bytes = text.as_bytes();
    let mut s = skip_space(bytes, at);
    let mut joined: Option<String> = None;
    let (mut left, mut right) = (s, s);
    let mut commented = false;
    while s < bytes.len() {
        if is_space(bytes[s]) {
            s += 1;
        } else if is_comment(bytes, s) {
            s = comment_end(bytes, s);
            commented = true;
        } else if bytes[s] == b',' && to_comma {
            break;
        } else {
            if commented {
                let joined = joined.get_or_insert_default();
                joined.push_str(&text[left..right]);
                joined.push(' ');
                left = s;
                commented = false;
            }
            s = item_end(bytes, s);
            right = s;
        }
    }
    let last = &text[left..right];
    match joined {
        None => (Cow::Borrowed(last), s),
        Some(joined) => (Cow::Owned(joined + last), s),
    }
}

/// Removes comments, and space at both ends.
pub fn uncomment(text: &str) -> String {
    argument(text, 0, false).0.into_owned()
}

/// Splits at commas. An empty last argument does not count.
pub fn split_args(config: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut at = 0;
    while at < config.len() {
        let (argument, end) = argument(config, at, true);
        if !argument.is_empty() || end < config.len() {
            arguments.push(argument.into_owned());
        }
        at = end + 1;
    }
    arguments
}

/// The end of the word at `at`.
fn word_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && !is_space(text[at]) && !is_comment(text, at) {
        at = item_end(text, at);
    }
    at
}

/// Splits at spaces.
pub fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let (word, after) = shift_word(rest)
        && !word.is_empty()
    {
        words.push(word.to_owned());
        rest = after;
    }
    words
}

/// The first word, and what follows it.
pub fn shift_word(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let from = skip_space(bytes, 0);
    let to = word_end(bytes, from);
    (&text[from..to], &text[skip_space(bytes, to)..])
}

/// Adds to `out` what the escape at `at` stands for; gives its end.
fn unescape(text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let end = escape_end(text, at);
    let Some(&kind) = text.get(at + 1) else {
        out.push(b'\\');
        return end;
    };
    const NAMED: [(u8, u8); 7] = [
        (b'a', 7),
        (b'b', 8),
        (b'f', 12),
        (b'n', b'\n'),
        (b'r', b'\r'),
        (b't', b'\t'),
        (b'v', 11),
    ];
    match kind {
        b'\r' | b'\n' => end,
        b'0'..=b'7' => {
            let digits = text[at + 1..]
                .iter()
                .take(3)
                .take_while(|b| (b'0'..=b'7').contains(b));
            let (count, value) = digits.fold((0, 0u8), |(n, v), d| {
                (n + 1, v.wrapping_mul(8).wrapping_add(d - b'0'))
            });
            out.push(value);
            at + 1 + count
        }
        b'x' => {
            let digits = text[at + 2..].iter().map_while(|&b| hex(b));
            let (count, value) = digits.fold((0, 0u8), |(n, v), d| {
                (n + 1, v.wrapping_mul(16).wrapping_add(d))
            });
            out.push(value);
            at + 2 + count
        }
        b'<' => {
            let mut high = None;
            let mut s = at + 2;
            while s < end && text[s] != b'>' {
                if is_comment(text, s) {
                    s = comment_end(text, s);
                    continue;
                }
                match (high, hex(text[s])) {
                    (None, Some(digit)) => high = Some(digit),
                    (Some(first), Some(digit)) => {
                        out.push(first * 16 + digit);
                        high = None;
                    }
                    _ => {}
                }
                s += 1;
            }
            end
        }
        _ => {
            let named = NAMED.iter().find(|(name, _)| *name == kind);
            out.push(named.map_or(kind, |(_, value)| *value));
            end
        }
    }
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|d| d as u8)
}

/// Removes comments and one level of quotes.
pub fn unquote(text: &str) -> Vec<u8> {
    let plain = argument(text, 0, false).0;
    let bytes = plain.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut quote = None;
    let mut s = 0;
    while s < bytes.len() {
        let byte = bytes[s];
        let escapes = match quote {
            None => bytes.get(s + 1) == Some(&b'<'),
            Some(open) => open == b'"' && s + 1 < bytes.len(),
        };
        if byte == b'\\' && escapes {
            s = unescape(bytes, s, &mut out);
            continue;
        }
        match quote {
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            Some(open) if open == byte => quote = None,
            _ => out.push(byte),
        }
        s += 1;
    }
    out
}

/// [`unquote`], as text; bytes that are none become U+FFFD.
pub fn unquote_text(text: &str) -> String {
    String::from_utf8_lossy(&unquote(text)).into_owned()
}

/// Quotes `bytes` so that [`unquote`] gives them again.
pub fn quote(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &byte in bytes {
        match byte {
            b'\\' | b'"' | b'$' => out.extend(['\\', char::from(byte)]),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            b'\n' => out.push_str("\\n"),
            32..=126 => out.push(char::from(byte)),
            _ => {
                use std::fmt::Write;
                write!(out, "\\{byte:03o}").expect("a string grows");
            }
        }
    }
    out.push('"');
    out
}

/// The text of a single unquoted or quoted word; `None` where there is no word or more than one.
pub fn one_string(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut s = 0;
    while s < bytes.len() && !is_space(bytes[s]) {
        s = item_end(bytes, s);
    }
    (s > 0 && s == bytes.len()).then(|| unquote_text(text))
}

/// Whether `text` is a word: printable, without quotes, backslashes or commas.
pub fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'\\' | b','))
}

/// Splits `KEY value`; `None` where the argument does not begin with a possible keyword.
pub fn split_keyword(argument: &str) -> Option<(&str, &str)> {
    let end = argument
        .bytes()
        .position(is_space)
        .unwrap_or(argument.len());
    let word = &argument[..end];
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_.:?!".contains(&b);
    if word.is_empty() || !word.bytes().all(allowed) {
        return None;
    }
    Some((
        word,
        argument[end..].trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8)),
    ))
}

/// Gives each parameter of a compound its argument. `kinds` are `""` for a positional parameter, a
/// keyword, or `__REST__`; all but the last are mandatory. `None` where the arguments do not fit.
pub fn assign<'a>(arguments: &'a [String], kinds: &[&str]) -> Option<Vec<Cow<'a, str>>> {
    if kinds.last().is_none_or(|kind| kind.is_empty()) {
        let fits = arguments.len() == kinds.len();
        return fits.then(|| {
            arguments
                .iter()
                .map(|a| Cow::Borrowed(a.as_str()))
                .collect()
        });
    }
    let has_rest = kinds.last() == Some(&"__REST__");
    let named = &kinds[..kinds.len() - usize::from(has_rest)];
    let positional = named.iter().take_while(|kind| kind.is_empty()).count();
    let mut values: Vec<Option<&str>> = vec![None; named.len()];
    let mut rest: Vec<&str> = Vec::new();
    let mut placed = 0;
    for argument in arguments {
        if placed < positional {
            values[placed] = Some(argument);
            placed += 1;
            continue;
        }
        let keyword = split_keyword(argument);
        let slot = keyword.and_then(|(word, value)| {
            let at = named
                .iter()
                .skip(positional)
                .position(|kind| *kind == word)?;
            Some((positional + at, value))
        });
        match slot {
            Some((at, value)) => values[at] = Some(value),
            None if has_rest => rest.push(argument),
            None => return None,
        }
    }
    let mut out: Vec<Cow<'a, str>> = Vec::with_capacity(kinds.len());
    for value in values {
        out.push(Cow::Borrowed(value?));
    }
    if has_rest {
        out.push(Cow::Owned(rest.join(", ")));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_quotes_do_not_split() {
        assert_eq!(
            split_args(r#"a, "b, c", 'd,', \<2c , 2c> ,"#),
            ["a", r#""b, c""#, "'d,'", r"\<2c , 2c>"]
        );
    }

    #[test]
    fn an_empty_argument_counts_unless_it_is_last() {
        assert_eq!(split_args("a,,b, "), ["a", "", "b"]);
        assert_eq!(split_args(","), [""]);
        assert!(split_args("  // nothing").is_empty());
    }

    #[test]
    fn comments_become_one_space() {
        assert_eq!(uncomment("  a /* x */   b // y\n c  d "), "a b c  d");
        assert_eq!(uncomment("' /* kept */ '"), "' /* kept */ '");
    }

    #[test]
    fn words_split_at_spaces_and_comments() {
        assert_eq!(
            split_words("a 'b c'd/**/e \"f g\""),
            ["a", "'b c'd", "e", "\"f g\""]
        );
        assert_eq!(shift_word("  x  y z"), ("x", "y z"));
    }

    #[test]
    fn escapes_work_in_double_quotes_and_hex_outside_too() {
        assert_eq!(unquote(r#""a\n\x41\101\q"'\n'"#), b"a\nAAq\\n");
        assert_eq!(unquote(r"\<48 65/*,*/6C6c6 F>x\n"), b"Hellox\\n");
        assert_eq!(unquote("\"a\\\nb\\\r\nc\""), b"abc");
        assert_eq!(unquote("\"\\"), b"\\");
    }

    #[test]
    fn quoting_and_unquoting_give_every_byte_back() {
        let all: Vec<u8> = (0..=255).chain(0..=255).collect();
        assert_eq!(unquote(&quote(&all)), all);
        assert_eq!(quote(b""), "\"\"");
        assert_eq!(quote("$\u{e9}7".as_bytes()), r#""\$\303\2517""#);
    }

    #[test]
    fn parameters_take_positional_then_keyword_then_rest() {
        let strings = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let arguments = strings(&["1", "K 2", "more", "L 3"]);
        assert_eq!(
            assign(&arguments, &["", "K", "__REST__"]).unwrap(),
            ["1", "2", "more, L 3"]
        );
        assert_eq!(assign(&arguments, &["", "K"]), None);
        assert_eq!(assign(&strings(&["1"]), &["", "K"]), None);
        assert_eq!(
            assign(&strings(&["1", "2"]), &["", ""]).unwrap(),
            ["1", "2"]
        );
        assert_eq!(assign(&[], &["__REST__"]).unwrap(), [""]);
    }
}
