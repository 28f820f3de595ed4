//! Arguments of compounds: which parameter takes which. Splitting and quoting are `args::text`'s.

use crate::args::text::{is_space, string_end, unquote};
use std::borrow::Cow;

/// Whether `byte` may stand in the name of a variable.
pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The text of a single unquoted or quoted word; `None` where there is no word or more than one.
pub fn one_string(text: &str) -> Option<String> {
    (!text.is_empty() && string_end(text) == text.len()).then(|| unquote(text))
}

/// Splits `KEY value`; `None` where the argument does not begin with a possible keyword.
pub fn split_keyword(argument: &str) -> Option<(&str, &str)> {
    let end = argument.find(is_space).unwrap_or(argument.len());
    let word = &argument[..end];
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_.:?!".contains(&b);
    if word.is_empty() || !word.bytes().all(allowed) {
        return None;
    }
    Some((word, argument[end..].trim_start_matches(is_space)))
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
