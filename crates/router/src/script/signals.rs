//! Signals by name, as scripts write them.

use crate::args::numbers::parse_int;

/// Names without `SIG`, and their numbers on Linux.
const SIGNALS: &[(&str, i32)] = &[
    ("ABRT", 6),
    ("ALRM", 14),
    ("HUP", 1),
    ("INT", 2),
    ("IO", 29),
    ("PIPE", 13),
    ("QUIT", 3),
    ("TERM", 15),
    ("TSTP", 20),
    ("USR1", 10),
    ("USR2", 12),
];

/// The signal called `word`, a name or a number below 32.
pub(crate) fn signal(word: &str) -> Option<i32> {
    let named = SIGNALS.iter().find(|(name, _)| *name == word);
    named
        .map(|(_, number)| *number)
        .or_else(|| i32::try_from(parse_int(word, 0, 31).ok()?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names_and_numbers() {
        assert_eq!((signal("HUP"), signal("9")), (Some(1), Some(9)));
        assert_eq!(
            (signal("SIGHUP"), signal("32"), signal("-1")),
            (None, None, None)
        );
    }
}
