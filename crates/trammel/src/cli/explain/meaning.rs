//! One meaning of a word.

/// What a word means in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    /// What the word is: `congestion control`, `key`, `column`.
    pub(super) kind: String,
    /// The word as it is written there.
    pub(super) name: String,
    /// What it means, as Markdown.
    pub(super) text: String,
    /// The command or the page that says more; may be empty.
    pub(super) more: String,
}

/// The text of a page as a terminal shows it: of a link its words, or the page that it names.
pub(super) fn without_links(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    // A bracket that begins no link, as of `[[flow]]`, stays.
    while let Some((before, words, to, after)) = rest.split_once("](").and_then(|(before, link)| {
        let (before, words) = before.rsplit_once('[')?;
        let (to, after) = link.split_once(')')?;
        Some((before, words, to, after))
    }) {
        plain += before;
        plain += &match to.split('#').next() {
            Some(page) if page == words => format!("docs/{page}"),
            _ => words.to_owned(),
        };
        rest = after;
    }
    plain + rest
}

/// Whether `name` is written `word`, but for case and the marks between its parts.
pub(super) fn is_alike(word: &str, name: &str) -> bool {
    plain(word).eq(plain(name))
}

fn plain(text: &str) -> impl Iterator<Item = char> {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.map(|c| if matches!(c, '-' | '_') { ' ' } else { c })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_their_words_and_other_brackets_stay() {
        for (text, wanted) in [
            (
                "one `[[flow]]` ([metrics.md](metrics.md))",
                "one `[[flow]]` (docs/metrics.md)",
            ),
            ("see [Labels](#labels), [a, b]", "see Labels, [a, b]"),
            ("0 to 1 [1/s]", "0 to 1 [1/s]"),
        ] {
            assert_eq!(without_links(text), wanted);
        }
    }
}
