//! Output beside what a document shows of it: a line `…` stands for any lines, `[..]` for any text.

/// Is `line` what the document shows as `pattern`?
pub(crate) fn line_fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let first = parts.next().expect("a split has a first part");
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        let place = if parts.peek().is_none() {
            rest.rfind(part)
        } else {
            rest.find(part)
        };
        match place {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

/// Are `lines` what the document shows as `patterns`?
pub(crate) fn fits(patterns: &[&str], lines: &[&str]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        Some((first, rest)) => {
            let Some((line, lines)) = lines.split_first() else {
                return false;
            };
            line_fits(first, line) && fits(rest, lines)
        }
    }
}
