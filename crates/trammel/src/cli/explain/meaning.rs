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
    while let Some((before, (words, (to, after)))) =
        rest.split_once('[').and_then(|(before, link)| {
            let (words, link) = link.split_once("](")?;
            Some((before, (words, link.split_once(')')?)))
        })
    {
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
