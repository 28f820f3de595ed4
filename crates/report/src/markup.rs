//! Pieces of HTML that every block uses: escaped text, prose, badges and links to tables.

use super::units;
use std::borrow::Cow;
use std::collections::BTreeSet;
use trammel_core::label::Label;

/// `text` with the characters that HTML gives a meaning replaced.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// The badge of `label`.
pub(super) fn badge(label: Option<Label>) -> String {
    label.map_or(String::new(), |label| {
        format!(
            "<span class=\"badge label-{}\" title=\"{}\">{}</span>",
            label.key(),
            label.meaning(),
            label.words()
        )
    })
}

pub(super) fn caption(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("<p class=\"caption\">{}</p>\n", prose(text)),
    }
}

/// A link to the table `name` as a file, where the page's folder has it.
pub(super) fn file_link(files: &BTreeSet<String>, name: &str) -> String {
    let file = format!("{name}.csv");
    if !files.contains(&file) {
        return String::new();
    }
    let file = escape(&file);
    format!("<p class=\"file\"><a href=\"{file}\">{file}</a></p>\n")
}

/// Escaped text in which back-quoted words are code, and a unit stays with its number.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    let parts: Vec<_> = text.split('`').collect();
    for (i, part) in parts.iter().enumerate() {
        // The last part of an even number follows a quote that nothing closes.
        match (i % 2 == 1, i + 1 == parts.len()) {
            (true, false) => out = out + "<code>" + &escape(part) + "</code>",
            (true, true) => out = out + "`" + &escape(part),
            (false, _) => out += &units::unbroken(&escape(part)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_quoted_words_are_code_and_still_escaped() {
        assert_eq!(prose("`a<b` & c"), "<code>a&lt;b</code> &amp; c");
        assert_eq!(prose("a `b"), "a `b");
    }
}
