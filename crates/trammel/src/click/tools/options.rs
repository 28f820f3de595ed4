//! The command lines of the tools: long options may be shortened and put anywhere, as in Click's.

use super::end::Failed;
use trammel_router::args::text::is_word;

/// An option of a tool.
pub(super) struct Opt {
    /// Its letter, by which it is also asked for; of those that have none a capital one.
    pub(super) letter: char,
    /// Its long name.
    pub(super) long: &'static str,
    /// Whether a value follows.
    pub(super) takes: bool,
    /// One line for people.
    pub(super) help: &'static str,
}

/// A tool as far as its command line goes.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) options: &'static [&'static [Opt]],
}

/// An option with a value.
pub(super) const fn value(letter: char, long: &'static str, help: &'static str) -> Opt {
    Opt {
        letter,
        long,
        takes: true,
        help,
    }
}

/// An option without.
pub(super) const fn flag(letter: char, long: &'static str, help: &'static str) -> Opt {
    Opt {
        letter,
        long,
        takes: false,
        help,
    }
}

/// Those that most tools have.
pub(super) const COMMON: &[Opt] = &[
    value('f', "file", "read the configuration from FILE"),
    value('e', "expression", "use EXPR as the configuration"),
    value('o', "output", "write to FILE"),
    value('C', "clickpath", "where libraries are looked for"),
];

/// Those that every tool has.
const ALWAYS: &[Opt] = &[
    flag('?', "help", "print this message"),
    flag('v', "version", "print the version"),
];

/// What was given: options by letter, and words as `' '`.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) all: Vec<(char, String)>,
}

impl Given {
    pub(super) fn has(&self, letter: char) -> bool {
        self.all.iter().any(|(l, _)| *l == letter)
    }

    /// The last value of an option.
    pub(super) fn last(&self, letter: char) -> Option<&str> {
        let mut all = self.all.iter().rev();
        all.find(|(l, _)| *l == letter)
            .map(|(_, value)| value.as_str())
    }

    /// All values of an option.
    pub(super) fn each(&self, letter: char) -> impl Iterator<Item = &str> {
        let all = self.all.iter().filter(move |(l, _)| *l == letter);
        all.map(|(_, value)| value.as_str())
    }

    /// The words that are no options and set no variables.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.each(' ').filter(|word| !is_definition(word))
    }

    /// The variables that are set.
    pub(super) fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let set = self.each(' ').filter(|word| is_definition(word));
        set.filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    }
}

impl Tool {
    fn each(&self) -> impl Iterator<Item = &'static Opt> {
        self.options.iter().copied().flatten().chain(ALWAYS)
    }

    /// Reads the command line of the process; `None` where a message was asked for, which was
    /// printed.
    pub(super) fn given(&self) -> Result<Option<Given>, Failed> {
        let words = std::env::args_os().skip(1);
        let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
        let given = self.read(&words).map_err(|why| {
            let name = self.name;
            trammel_ground::say(&format!(
                "{name}: {why}\nUsage: {name} [OPTION]... [ROUTERFILE]\n\
                 Try '{name} --help' for more information."
            ));
            Failed
        })?;
        let text = if given.has('?') {
            self.help()
        } else if given.has('v') {
            format!("{} (Trammel) {}", self.name, env!("CARGO_PKG_VERSION"))
        } else {
            return Ok(Some(given));
        };
        trammel_ground::print(&text).map_err(|_| Failed)?;
        Ok(None)
    }

    fn help(&self) -> String {
        let mut text = format!(
            "{}\n\nUsage: {} [OPTION]... [ROUTERFILE]\n\nOptions:",
            self.summary, self.name
        );
        for Opt {
            letter,
            long,
            takes,
            help,
        } in self.each()
        {
            let short = if letter.is_ascii_lowercase() || *letter == 'C' || *letter == 'V' {
                format!("-{letter},")
            } else {
                String::new()
            };
            let value = if *takes { " VALUE" } else { "" };
            let long = format!("{long}{value}");
            text += &format!("\n  {short:3} --{long:22} {help}");
        }
        text
    }

    fn read(&self, words: &[String]) -> Result<Given, String> {
        let mut given = Given::default();
        let mut words = words.iter();
        let mut only_words = false;
        while let Some(word) = words.next() {
            if only_words || word == "-" || !word.starts_with(['-', '+']) {
                given.all.push((' ', word.clone()));
                continue;
            }
            if word == "--" {
                only_words = true;
                continue;
            }
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (long, None),
                };
                let option = self.long(name)?;
                let value = match (option.takes, value) {
                    (true, Some(value)) => value,
                    (true, None) => next(&mut words, word)?,
                    (false, None) => String::new(),
                    (false, Some(_)) => return Err(format!("'--{name}' takes no value")),
                };
                given.all.push((option.letter, value));
                continue;
            }
            let letters = &word[1..];
            for (at, letter) in letters.char_indices() {
                let Some(option) = self.each().find(|option| option.letter == letter) else {
                    return Err(format!("unrecognized option '-{letter}'"));
                };
                if !option.takes {
                    given.all.push((letter, String::new()));
                    continue;
                }
                let rest = &letters[at + letter.len_utf8()..];
                let value = if rest.is_empty() {
                    next(&mut words, word)?
                } else {
                    rest.to_owned()
                };
                given.all.push((letter, value));
                break;
            }
        }
        Ok(given)
    }

    /// The option of this name, or the only one that begins with it.
    fn long(&self, name: &str) -> Result<&'static Opt, String> {
        if let Some(exact) = self.each().find(|option| option.long == name) {
            return Ok(exact);
        }
        let mut alike = self.each().filter(|option| option.long.starts_with(name));
        match (alike.next(), alike.next()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => Err(format!("option '--{name}' is ambiguous")),
            _ => Err(format!("unrecognized option '--{name}'")),
        }
    }
}
/// Whether a word of the command line sets a variable.
fn is_definition(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_word(name))
}

fn next<'a>(words: &mut impl Iterator<Item = &'a String>, option: &str) -> Result<String, String> {
    let value = words.next().cloned();
    value.ok_or_else(|| format!("'{option}' requires an argument"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: Tool = Tool {
        name: "t",
        summary: "",
        options: &[COMMON],
    };

    fn read(words: &[&str]) -> Result<Given, String> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        TOOL.read(&words)
    }

    #[test]
    fn values_follow_in_every_form() {
        let given = read(&[
            "-ofile",
            "--expr=a b",
            "x",
            "--clickpath",
            "p",
            "N=1",
            "--",
            "-y",
        ])
        .unwrap();
        assert_eq!(
            (given.last('o'), given.last('e')),
            (Some("file"), Some("a b"))
        );
        assert_eq!(given.last('C'), Some("p"));
        assert_eq!(given.words().collect::<Vec<_>>(), ["x", "-y"]);
        assert_eq!(given.variables().next(), Some(("N".into(), "1".into())));
    }

    #[test]
    fn what_is_unknown_is_refused() {
        assert_eq!(read(&["-z"]).unwrap_err(), "unrecognized option '-z'");
        assert_eq!(read(&["-o"]).unwrap_err(), "'-o' requires an argument");
        assert_eq!(read(&["--"]).unwrap().all.len(), 0);
    }
}
