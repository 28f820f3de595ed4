//! A handler as an element declares it.

use std::borrow::Cow;

/// A handler: a name by which others read or change an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The name.
    pub name: Cow<'static, str>,
    /// It can be read.
    pub read: bool,
    /// Reading takes parameters.
    pub read_param: bool,
    /// It can be written.
    pub write: bool,
    /// Its text is printed as it is, without a newline added.
    pub raw: bool,
    /// Only elements may use it, not a control connection.
    pub private: bool,
    /// Drawn as a button: what is written does not matter.
    pub button: bool,
    /// Drawn as a checkbox.
    pub checkbox: bool,
    /// Reading it twice gives the same unless something happened.
    pub calm: bool,
    /// Reading it costs time.
    pub expensive: bool,
    /// Kept for old configurations.
    pub deprecated: bool,
    /// Few need it: tools need not show it.
    pub uncommon: bool,
    /// What is written becomes this argument, by its place and keyword, of the configuration, and
    /// the element is configured anew.
    pub argument: Option<(usize, &'static str)>,
}

impl Handler {
    /// A handler by the letters that the handler `handlers` prints: `r` read, `w` write, `+` read
    /// with parameters, `b` button, `c` (or `x`) checkbox, `.` calm, `$` expensive, `%` raw, `U`
    /// uncommon, `D` deprecated; and `-` private, which is not printed.
    pub fn new(name: impl Into<Cow<'static, str>>, letters: &str) -> Handler {
        let has = |letter| letters.contains(letter);
        Handler {
            name: name.into(),
            read: has('r'),
            read_param: has('+'),
            write: has('w'),
            raw: has('%'),
            private: has('-'),
            button: has('b'),
            checkbox: has('c') || has('x'),
            calm: has('.'),
            expensive: has('$'),
            deprecated: has('D'),
            uncommon: has('U'),
            argument: None,
        }
    }

    /// A handler that is written to change the argument `keyword`, which may stand at `place`.
    #[must_use]
    pub fn of_argument(mut self, place: usize, keyword: &'static str) -> Handler {
        self.argument = Some((place, keyword));
        self
    }

    /// The letters again, as the handler `handlers` prints them.
    pub fn letters(&self) -> String {
        let flags = [
            (self.read, 'r'),
            (self.write, 'w'),
            (self.read_param, '+'),
            (self.raw, '%'),
            (self.calm, '.'),
            (self.expensive, '$'),
            (self.uncommon, 'U'),
            (self.deprecated, 'D'),
            (self.button, 'b'),
            (self.checkbox, 'c'),
        ];
        flags.iter().filter(|(is, _)| *is).map(|(_, c)| c).collect()
    }
}
