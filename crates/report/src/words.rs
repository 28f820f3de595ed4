//! Names and counts in sentences.

/// `a`, `a and b`, `a, b and c`.
pub fn list(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `word` with a capital, as a sentence begins.
#[must_use]
pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_stands_behind_and() {
        let all = ["a", "b", "c"].map(String::from);
        assert_eq!(list(&[]), "");
        assert_eq!(list(&all[..1]), "a");
        assert_eq!(list(&all[..2]), "a and b");
        assert_eq!(list(&all), "a, b and c");
    }

    #[test]
    fn a_sentence_begins_with_a_capital() {
        assert_eq!(capital("each `call`"), "Each `call`");
        assert_eq!(capital("`call`"), "`call`");
        assert_eq!(capital(""), "");
    }
}
