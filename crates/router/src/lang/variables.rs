//! Variables in configuration strings: `$x`, `${x}`, `${x-default}`, `${x[2]}`, `$(handler call)`.
//!
//! Nothing is replaced in single quotes or comments; in double quotes the value is escaped so that
//! it stays one quoted text. A value may itself hold variables; ten levels of that are followed.

use super::conf::is_name;
use crate::args::text::{is_space_byte, quote, skip_space, take_word};

/// How a variable was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `$x`, `$?`, `$#`, `$$`.
    Plain,
    /// `${…}`.
    Braces,
    /// `$(…)`.
    Call,
}

/// What variables stand for.
pub trait Variables {
    /// The value of what was written as `name` between the braces, or `None` to leave it as it is.
    fn value(&self, name: &str, form: Form, depth: u32) -> Option<String>;
}

/// How deep values may name variables.
const DEEPEST: u32 = 10;

/// Replaces the variables of `text`. With `quoting`, values outside quotes are quoted.
pub fn substitute(text: &str, variables: &dyn Variables, quoting: bool, depth: u32) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    let mut open = None;
    let mut s = 0;
    while s < bytes.len() {
        match bytes[s] {
            b'\\' if open == Some(b'"') => s += 1,
            byte @ (b'\'' | b'"') => match open {
                None => open = Some(byte),
                Some(quote) if quote == byte => open = None,
                Some(_) => {}
            },
            b'/' if open.is_none() && matches!(bytes.get(s + 1), Some(b'/' | b'*')) => {
                s = skip_space(bytes, s);
                continue;
            }
            b'$' if open != Some(b'\'') && depth <= DEEPEST => match written(bytes, s) {
                Written::Nothing => {}
                Written::Unclosed => break,
                Written::Variable {
                    form,
                    name: (from, to),
                    end,
                    nested,
                } => {
                    let mut name = text[from..to].to_owned();
                    if nested {
                        name = substitute(&name, variables, false, depth + 1);
                    }
                    out.push_str(&text[copied..s]);
                    copied = end;
                    match variables.value(&name, form, depth) {
                        None if nested => {
                            out.push_str(&text[s..from]);
                            out.push_str(&name);
                            out.push_str(&text[to..end]);
                        }
                        None => copied = s,
                        Some(value) if open.is_some() => {
                            let quoted = quote(value.as_bytes());
                            out.push_str(&quoted[1..quoted.len() - 1]);
                        }
                        Some(value) if quoting => out.push_str(&quote(value.as_bytes())),
                        Some(value) => out.push_str(&value),
                    }
                    s = end;
                    continue;
                }
            },
            _ => {}
        }
        s += 1;
    }
    out.push_str(&text[copied..]);
    out
}

/// What follows a `$`.
enum Written {
    Nothing,
    Unclosed,
    Variable {
        form: Form,
        name: (usize, usize),
        end: usize,
        nested: bool,
    },
}

fn written(bytes: &[u8], dollar: usize) -> Written {
    let from = dollar + 2;
    let variable = |form, from, to, end| {
        let nested = form != Form::Plain && bytes[from..to].contains(&b'$');
        Written::Variable {
            form,
            name: (from, to),
            end,
            nested,
        }
    };
    match bytes.get(dollar + 1) {
        Some(b'{') => match bytes[from..].iter().position(|&b| b == b'}') {
            None => Written::Unclosed,
            Some(length) => variable(Form::Braces, from, from + length, from + length + 1),
        },
        Some(b'(') => match call_end(bytes, from) {
            None => Written::Unclosed,
            Some(to) => variable(Form::Call, from, to, to + 1),
        },
        Some(&byte) if is_name(byte) => {
            let length = bytes[dollar + 1..]
                .iter()
                .take_while(|b| is_name(**b))
                .count();
            variable(
                Form::Plain,
                dollar + 1,
                dollar + 1 + length,
                dollar + 1 + length,
            )
        }
        Some(b'?' | b'#' | b'$') => variable(Form::Plain, dollar + 1, from, from),
        _ => Written::Nothing,
    }
}

/// Where the parenthesis that closes a `$(` stands, if it is closed.
fn call_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut level = 1;
    let mut open = None;
    let mut s = from;
    while s < bytes.len() {
        match bytes[s] {
            b'(' if open.is_none() => level += 1,
            b')' if open.is_none() => {
                level -= 1;
                if level == 0 {
                    return Some(s);
                }
            }
            byte @ (b'"' | b'\'') => match open {
                None => open = Some(byte),
                Some(quote) if quote == byte => open = None,
                Some(_) => {}
            },
            b'\\' if open != Some(b'\'') => s += 1,
            _ => {}
        }
        s += 1;
    }
    None
}

/// The parts of what stands between braces: `name`, `name[2]`, `name-default`.
pub struct Braces<'a> {
    /// The variable.
    pub name: &'a str,
    /// Which of its words is meant.
    pub word: Option<usize>,
    /// What stands in where there is no such variable.
    pub default: Option<&'a str>,
}

impl<'a> Braces<'a> {
    /// Reads what stands between the braces.
    pub fn read(text: &'a str) -> Braces<'a> {
        let bytes = text.as_bytes();
        let space = |at: usize| {
            at + bytes[at..]
                .iter()
                .take_while(|b| is_space_byte(**b))
                .count()
        };
        let from = space(0);
        let to = from + bytes[from..].iter().take_while(|b| is_name(**b)).count();
        let mut s = space(to);
        let mut word = None;
        if bytes.get(s) == Some(&b'[') {
            let first = space(s + 1);
            let digits = bytes[first..]
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count();
            s = first + digits;
            if digits > 0 && bytes.get(s) == Some(&b']') {
                word = text[first..s].parse().ok();
                s = space(s + 1);
            }
        }
        let default = (bytes.get(s) == Some(&b'-')).then(|| &text[s + 1..]);
        Braces {
            name: &text[from..to],
            word,
            default,
        }
    }

    /// The word of `value` that is meant.
    pub fn select(&self, value: String) -> String {
        let Some(word) = self.word else {
            return value;
        };
        let mut rest = value.as_str();
        let mut last = "";
        for _ in 0..=word {
            if rest.is_empty() && last.is_empty() {
                break;
            }
            last = take_word(&mut rest).unwrap_or_default();
        }
        last.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Variables for Fixed {
        fn value(&self, name: &str, form: Form, _: u32) -> Option<String> {
            let braces = Braces::read(name);
            let name = if form == Form::Braces {
                braces.name
            } else {
                name
            };
            let value = match (form, name) {
                (Form::Call, call) => format!("<{call}>"),
                (_, "a") => "1 2 3".to_owned(),
                (_, "q") => "say \"hi\"".to_owned(),
                (_, "n") => "1".to_owned(),
                (Form::Braces, _) => return braces.default.map(str::to_owned),
                _ => return None,
            };
            Some(if form == Form::Braces {
                braces.select(value)
            } else {
                value
            })
        }
    }

    fn of(text: &str) -> String {
        substitute(text, &Fixed, false, 0)
    }

    #[test]
    fn forms_are_replaced() {
        assert_eq!(
            of("x $a${a}-$b ${b-none} ${a[1]}${ a [9] }."),
            "x 1 2 31 2 3-$b none 2."
        );
        assert_eq!(
            of("${a[$n]} $(add $n (2)) $( ')' )"),
            "2 <add 1 (2)> < ')' >"
        );
    }

    #[test]
    fn quotes_and_comments_are_respected() {
        assert_eq!(
            of("'$a' \"$q\" \"\\$a\" // $a\n$n/*$n*/"),
            "'$a' \"say \\\"hi\\\"\" \"\\$a\" // $a\n1/*$n*/"
        );
        assert_eq!(substitute("$q", &Fixed, true, 0), "\"say \\\"hi\\\"\"");
    }

    #[test]
    fn what_is_not_closed_stays() {
        assert_eq!(of("$n ${a"), "1 ${a");
        assert_eq!(of("$n $(a ) $(b"), "1 <a > $(b");
        assert_eq!(of("$ $"), "$ $");
    }
}
