//! The words of an assertion.

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Int(i64),
    Text(String),
    Name(String),
    Sign(&'static str),
}

/// Signs, those of two characters first.
const SIGNS: &[&str] = &[
    "//", "==", "!=", "<=", ">=", "+=", "-=", "+", "-", "*", "%", "&", "|", "(", ")", ",", "<",
    ">", "=",
];

/// The words of `text`; an error says what is none.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if first.is_ascii_digit() {
            let digits = &rest[..end];
            let value = match digits.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            let value = value.map_err(|_| format!("`{digits}` is no whole number of 63 bits"))?;
            tokens.push(Token::Int(value));
            rest = &rest[end..];
        } else if is_word(first) {
            tokens.push(Token::Name(rest[..end].to_owned()));
            rest = &rest[end..];
        } else if first == '\'' || first == '"' {
            let Some(len) = rest[1..].find(first) else {
                return Err(format!("no `{first}` ends the text that begins here"));
            };
            tokens.push(Token::Text(rest[1..=len].to_owned()));
            rest = &rest[len + 2..];
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else {
            return Err(format!("`{first}` is no part of an assertion"));
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}
