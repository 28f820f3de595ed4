//! The format of a `*.clicktest` file: sections, each begun by a line `%name arguments`.
//!
//! | section | meaning |
//! |---|---|
//! | `%info` | what the test is about |
//! | `%require [-q]` | a script that must succeed, or the test is skipped (`-q`: silently) |
//! | `%script` | the script of the test; all its commands must succeed |
//! | `%file [-de] [+N] NAME…`, `%stdin` | a file made before the script runs |
//! | `%expect [-adeiw] [+N] NAME…`, `%stdout`, `%stderr` | lines a file must hold; `{{pattern}}`, `{{?comment}}` |
//! | `%expectx` | the same, each line a pattern |
//! | `%expectv` | the same, to the byte |
//! | `%ignore`, `%ignorex`, `%ignorev` `[NAME]` | lines to leave out of what came |
//! | `%include FILE`, `%cut` | another file's sections; a section that is not there |
//! | `%eot`, `%eof` | the end of a test, others follow; the end of the file |
//!
//! `-a` an alternative, `-d` drops the first character of each line, `-e` base 64, `-i` patterns in
//! any case, `-w` without regard to space, `+N` exactly N bytes. A line may begin with `\%` for a
//! `%`.

use std::collections::VecDeque;
use std::path::Path;

/// How the lines of a section are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To the byte.
    Verbatim,
    /// Literal but for `{{pattern}}`.
    Braces,
    /// Each line a pattern.
    Patterns,
}

/// What a section says of the lines of a file.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// The file; `all` in `%ignore` stands for each.
    pub(crate) name: String,
    /// How they are compared.
    pub(crate) kind: Kind,
    /// Patterns match in any case.
    pub(crate) any_case: bool,
    /// Space does not count.
    pub(crate) any_space: bool,
    /// The line of the test's file that precedes them.
    pub(crate) at: usize,
    /// The lines.
    pub(crate) text: String,
}

/// One test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clicktest {
    /// What it is about.
    pub(crate) info: String,
    /// What must succeed first; nothing where nothing is required.
    pub(crate) require: String,
    /// A skip is not worth a word.
    pub(crate) is_quiet: bool,
    /// What is run.
    pub(crate) script: String,
    /// What is made before.
    pub(crate) files: Vec<(String, String)>,
    /// What must come out; of several for one file one must fit.
    pub(crate) expect: Vec<Lines>,
    /// What is left out of what came.
    pub(crate) ignore: Vec<Lines>,
}

/// The tests of the file at `path`.
pub(crate) fn parse(path: &Path) -> Result<Vec<Clicktest>, String> {
    let text = super::read(path)?;
    let mut reader = Reader {
        lines: numbered(&text),
        at: 0,
    };
    let mut tests = vec![Clicktest::default()];
    let mut is_between = true;
    while let Some(line) = reader.next() {
        let failed = |why: String| format!("{}:{}: {why}", path.display(), reader.at);
        let Some(header) = line.strip_prefix('%') else {
            if is_between || line.trim().is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            return Err(failed(format!("no section holds {line:?}")));
        };
        let (word, arguments) = split_word(header.trim());
        if word == "eof" {
            break;
        }
        is_between = word == "eot";
        if is_between {
            tests.push(Clicktest::default());
            continue;
        }
        if word == "include" {
            let other = path.with_file_name(arguments);
            let mut lines = numbered(&super::read(&other).map_err(failed)?);
            lines.append(&mut reader.lines);
            reader.lines = lines;
            continue;
        }
        let at = reader.at;
        let test = tests.last_mut().expect("one at least");
        section(test, &word, arguments, &mut reader)
            .map_err(|why| format!("{}:{at}: {why}", path.display()))?;
    }
    tests.retain(|test| !test.script.is_empty());
    if tests.is_empty() {
        return Err(format!("{}: no %script", path.display()));
    }
    Ok(tests)
}

/// Adds what a section says to `test`.
fn section(
    test: &mut Clicktest,
    word: &str,
    arguments: &str,
    reader: &mut Reader,
) -> Result<(), String> {
    match word {
        "info" | "desc" => test.info += &reader.body(),
        "cut" => {
            reader.body();
        }
        "script" | "test" => test.script += &reader.body(),
        "require" => {
            test.is_quiet |= arguments == "-q";
            test.require += &reader.body();
        }
        "file" | "stdin" | "input" => file(test, "stdin", arguments, reader)?,
        "expect" | "stdout" | "output" => {
            expect(test, Kind::Braces, "stdout", arguments, reader)?;
        }
        "stderr" => expect(test, Kind::Braces, "stderr", arguments, reader)?,
        "expectx" => expect(test, Kind::Patterns, "stdout", arguments, reader)?,
        "expectv" | "verbatim" => expect(test, Kind::Verbatim, "stdout", arguments, reader)?,
        "ignore" => ignore(test, Kind::Braces, arguments, reader)?,
        "ignorex" => ignore(test, Kind::Patterns, arguments, reader)?,
        "ignorev" => ignore(test, Kind::Verbatim, arguments, reader)?,
        _ => return Err(format!("no section is called %{word}")),
    }
    Ok(())
}

fn file(
    test: &mut Clicktest,
    default: &str,
    arguments: &str,
    reader: &mut Reader,
) -> Result<(), String> {
    let flags = Flags::read(arguments, default, "de")?;
    let text = flags.body(reader)?;
    for name in flags.names {
        if test.files.iter().any(|(known, _)| *known == name) {
            return Err(format!("%file {name} is there twice"));
        }
        test.files.push((name, text.clone()));
    }
    Ok(())
}

fn expect(
    test: &mut Clicktest,
    mut kind: Kind,
    default: &str,
    arguments: &str,
    reader: &mut Reader,
) -> Result<(), String> {
    let allowed = match kind {
        Kind::Verbatim => "ade",
        Kind::Braces => "adeiw",
        Kind::Patterns => "adiw",
    };
    let flags = Flags::read(arguments, default, allowed)?;
    let at = reader.at;
    let text = flags.body(reader)?;
    if flags.is('e') {
        kind = Kind::Verbatim;
    }
    for name in &flags.names {
        let is_known = test
            .expect
            .iter()
            .any(|lines| lines.name == *name && lines.kind == kind);
        if is_known && !flags.is('a') {
            return Err(format!("what {name} must hold is there twice"));
        }
        test.expect
            .push(flags.lines(name.clone(), kind, at, text.clone()));
    }
    Ok(())
}

fn ignore(
    test: &mut Clicktest,
    kind: Kind,
    arguments: &str,
    reader: &mut Reader,
) -> Result<(), String> {
    let flags = Flags::read(arguments, "all", "diw")?;
    let at = reader.at;
    let text = flags.body(reader)?;
    for name in &flags.names {
        test.ignore
            .push(flags.lines(name.clone(), kind, at, text.clone()));
    }
    Ok(())
}

/// The arguments of a section.
struct Flags {
    letters: String,
    length: Option<usize>,
    names: Vec<String>,
}

impl Flags {
    fn read(arguments: &str, default: &str, allowed: &str) -> Result<Flags, String> {
        let mut flags = Flags {
            letters: String::new(),
            length: None,
            names: Vec::new(),
        };
        for word in arguments.split_whitespace() {
            if let Some(letters) = word.strip_prefix('-') {
                if let Some(letter) = letters.chars().find(|&letter| !allowed.contains(letter)) {
                    return Err(format!("-{letter} means nothing here"));
                }
                flags.letters += letters;
            } else if let Some(length) = word.strip_prefix('+') {
                let length = length
                    .parse()
                    .map_err(|_| format!("{word:?} is no length"))?;
                flags.length = Some(length);
            } else if word.starts_with('/') || word.split('/').any(|part| part == "..") {
                return Err(format!("{word:?} is not in the test's directory"));
            } else {
                flags.names.push(word.to_owned());
            }
        }
        if flags.names.is_empty() {
            flags.names.push(default.to_owned());
        }
        Ok(flags)
    }

    fn is(&self, letter: char) -> bool {
        self.letters.contains(letter)
    }

    fn body(&self, reader: &mut Reader) -> Result<String, String> {
        let mut text = match self.length {
            Some(length) => reader.exactly(length)?,
            None => reader.body(),
        };
        if self.is('d') {
            text = text
                .split_inclusive('\n')
                .map(|line| line.get(1..).filter(|_| line != "\n").unwrap_or(line))
                .collect();
        }
        if self.is('e') {
            text = super::text_of(&base64(&text)?);
        }
        Ok(text)
    }

    fn lines(&self, name: String, kind: Kind, at: usize, text: String) -> Lines {
        Lines {
            name,
            kind,
            any_case: self.is('i'),
            any_space: self.is('w'),
            at,
            text,
        }
    }
}

/// The lines of a file, each with its end and its number.
struct Reader {
    lines: VecDeque<(usize, String)>,
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Option<String> {
        let (at, line) = self.lines.pop_front()?;
        self.at = at;
        Some(line)
    }

    /// The lines up to the next section.
    fn body(&mut self) -> String {
        let mut text = String::new();
        while self
            .lines
            .front()
            .is_some_and(|(_, line)| !line.starts_with('%'))
        {
            let line = self.next().expect("it was there");
            text += line
                .strip_prefix('\\')
                .filter(|rest| rest.starts_with('%'))
                .unwrap_or(&line);
        }
        text
    }

    /// The next `length` bytes, whatever they are.
    fn exactly(&mut self, length: usize) -> Result<String, String> {
        let mut text = String::new();
        let mut left = length;
        while left > 0 {
            let line = self.next().ok_or("the file ends within the section")?;
            let (taken, rest) = match line.char_indices().nth(left) {
                Some((end, _)) => line.split_at(end),
                None => (line.as_str(), ""),
            };
            left -= taken.chars().count();
            text += taken;
            if !rest.is_empty() {
                self.lines.push_front((self.at, rest.to_owned()));
            }
        }
        Ok(text)
    }
}

fn numbered(text: &str) -> VecDeque<(usize, String)> {
    (1..)
        .zip(text.split_inclusive('\n').map(str::to_owned))
        .collect()
}

/// The first word, in small letters, and what follows it.
fn split_word(text: &str) -> (String, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word.to_lowercase(), rest.trim())
}

/// Decodes RFC 4648 §4.
fn base64(text: &str) -> Result<Vec<u8>, String> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for c in text
        .bytes()
        .filter(|c| !c.is_ascii_whitespace() && *c != b'=')
    {
        let digit = DIGITS.iter().position(|&digit| digit == c);
        let digit = digit.ok_or_else(|| format!("{:?} is not of base 64", char::from(c)))?;
        bits = bits << 6 | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Ok(bytes)
}
