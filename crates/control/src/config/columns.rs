//! Files of lines of columns: what SCONE reads.

use super::{Error, Faults};
use core::net::Ipv4Addr;

/// Lines of a file, at most.
const MOST_LINES: usize = 10_000;

/// Bytes of a file, at most.
const MOST_BYTES: usize = 1 << 20;

/// Reads `text`, each line that is not empty by `read` from `N` columns. What begins with `#` is a
/// comment.
pub(super) fn lines<T, const N: usize>(
    file: &str,
    text: &str,
    names: [&str; N],
    mut read: impl FnMut([&str; N], &[T]) -> Result<T, String>,
) -> Result<Vec<T>, Error> {
    let (mut all, mut faults) = (Vec::new(), Faults::default());
    if text.len() > MOST_BYTES {
        let bytes = text.len();
        faults.add(
            file,
            format!("{bytes} bytes are more than {MOST_BYTES}: shorten the file"),
        );
        return faults.result(all);
    }
    for (number, line) in text.lines().enumerate() {
        let place = format!("{file}:{}", number + 1);
        if number >= MOST_LINES {
            faults.add(
                &place,
                format!("the file has more than {MOST_LINES} lines: shorten it"),
            );
            break;
        }
        let line = line.split_once('#').map_or(line, |(before, _)| before);
        let columns: Vec<&str> = line.split_whitespace().collect();
        if columns.is_empty() {
            continue;
        }
        match <[&str; N]>::try_from(columns) {
            Ok(columns) => match read(columns, &all) {
                Ok(value) => all.push(value),
                Err(what) => faults.add(&place, what),
            },
            Err(columns) => {
                let count = columns.len();
                let names = names.join(" ");
                faults.add(
                    &place,
                    format!("the line has {count} columns, and {N} belong there: write `{names}`"),
                );
            }
        }
    }
    faults.result(all)
}

/// Reads an address in a column called `name`.
pub(super) fn address(name: &str, text: &str) -> Result<Ipv4Addr, String> {
    text.parse().map_err(|_| {
        format!(
            "{name} `{}` is no address: write four numbers of 0 to 255, for example 10.0.0.1",
            text.escape_default()
        )
    })
}
