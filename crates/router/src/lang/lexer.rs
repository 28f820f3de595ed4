//! Cuts a configuration into tokens and keeps count of files and lines.
//!
//! A line that begins with `#` sets both, so that what a preprocessor wrote keeps its landmarks.
//! Tokens can be put back. A landmark is where the reader stands: the line of the last token it was
//! given, as Click has it.

use std::ops::Range;
use std::sync::Arc;

use super::conf::is_name;
use crate::args::text::{is_space_byte, unquote};
use crate::diagnostic::{Landmark, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    End,
    Name,
    Variable,
    Arrow,
    ManyArrow,
    Colons,
    Bars,
    Dots,
    ElementClass,
    Require,
    Provide,
    Define,
    Char(char),
}

impl Kind {
    pub(crate) fn is_arrow(self) -> bool {
        matches!(self, Kind::Arrow | Kind::ManyArrow)
    }
}

/// A token and the bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) bytes: Range<usize>,
}

const KEYWORDS: [(&str, Kind); 4] = [
    ("elementclass", Kind::ElementClass),
    ("require", Kind::Require),
    ("provide", Kind::Provide),
    ("define", Kind::Define),
];
const SYMBOLS: [(&str, Kind); 5] = [
    ("->", Kind::Arrow),
    ("=>", Kind::ManyArrow),
    ("::", Kind::Colons),
    ("||", Kind::Bars),
    ("...", Kind::Dots),
];

/// A text being read.
pub(crate) struct Lexer {
    text: Arc<str>,
    at: usize,
    line: u32,
    file: Arc<str>,
    given_file: Arc<str>,
    /// Tokens put back, the next one last.
    back: Vec<Token>,
    last: Range<usize>,
    /// Landmarks of lines that begin with `#` and mean nothing.
    pub(crate) bad_directives: Vec<Landmark>,
}

impl Lexer {
    pub(crate) fn new(text: &str, file: &str) -> Lexer {
        let file: Arc<str> = file.into();
        Lexer {
            text: text.into(),
            at: 0,
            line: 1,
            given_file: Arc::clone(&file),
            file,
            back: Vec::new(),
            last: 0..0,
            bad_directives: Vec::new(),
        }
    }

    /// Reads on in a text from byte `at`, in `line` of `file`.
    pub(crate) fn from(text: Arc<str>, at: usize, line: u32, file: Arc<str>) -> Lexer {
        Lexer {
            text,
            at,
            line,
            given_file: Arc::clone(&file),
            file,
            back: Vec::new(),
            last: at..at,
            bad_directives: Vec::new(),
        }
    }

    /// The name of the file that is being read, as landmarks have it.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Where the reader stands.
    pub(crate) fn landmark(&self) -> Landmark {
        let span = Span {
            source: Arc::clone(&self.text),
            bytes: self.last.clone(),
        };
        Landmark {
            file: Arc::clone(&self.file),
            line: self.line,
            span: Some(span),
        }
    }

    /// The text of a token; of a variable, its name.
    pub(crate) fn text(&self, token: &Token) -> &str {
        let skip = usize::from(token.kind == Kind::Variable);
        &self.text[token.bytes.start + skip..token.bytes.end]
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Token {
        let token = match self.back.pop() {
            Some(token) => token,
            None => self.read(),
        };
        self.last = token.bytes.clone();
        token
    }

    /// Puts a token back.
    pub(crate) fn back(&mut self, token: Token) {
        self.back.push(token);
    }

    /// Takes the next token if it is of this kind; else nothing has been read.
    pub(crate) fn take(&mut self, kind: Kind) -> bool {
        if let Some(token) = self.back.last() {
            let is_that = token.kind == kind;
            if is_that {
                self.next();
            }
            return is_that;
        }
        let before = (
            self.at,
            self.line,
            Arc::clone(&self.file),
            self.last.clone(),
        );
        let complaints = self.bad_directives.len();
        if self.next().kind == kind {
            return true;
        }
        (self.at, self.line, self.file, self.last) = before;
        self.bad_directives.truncate(complaints);
        false
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn starts(&self, what: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(what.as_bytes())
    }

    /// Steps over one byte, or over `\r\n`, counting lines.
    fn step(&mut self) {
        match self.byte(self.at) {
            Some(b'\n') => self.line = self.line.wrapping_add(1),
            Some(b'\r') => {
                self.line = self.line.wrapping_add(1);
                if self.byte(self.at + 1) == Some(b'\n') {
                    self.at += 1;
                }
            }
            _ => {}
        }
        self.at += 1;
    }

    fn at_line_start(&self) -> bool {
        self.at == 0 || matches!(self.byte(self.at - 1), Some(b'\n' | b'\r'))
    }

    /// Steps over a comment, if one begins here.
    fn skip_comment(&mut self) -> bool {
        if self.starts("//") {
            self.skip_line();
        } else if self.starts("/*") {
            self.at += 2;
            while self.at < self.text.len() && !self.starts("*/") {
                self.step();
            }
            self.at = (self.at + 2).min(self.text.len());
        } else {
            return false;
        }
        true
    }

    fn skip_line(&mut self) {
        while let Some(byte) = self.byte(self.at) {
            self.step();
            if matches!(byte, b'\n' | b'\r') {
                break;
            }
        }
    }

    fn read(&mut self) -> Token {
        while let Some(byte) = self.byte(self.at) {
            if is_space_byte(byte) {
                self.step();
            } else if byte == b'#' && self.at_line_start() {
                self.directive();
            } else if !self.skip_comment() {
                break;
            }
        }
        let from = self.at;
        let kind = self.token_kind();
        Token {
            kind,
            bytes: from..self.at,
        }
    }

    fn token_kind(&mut self) -> Kind {
        let from = self.at;
        let is_word = |byte: Option<u8>| byte.is_some_and(|b| is_name(b) || b == b'@');
        if is_word(self.byte(from)) {
            while is_word(self.byte(self.at))
                || (self.byte(self.at) == Some(b'/') && is_word(self.byte(self.at + 1)))
            {
                self.at += 1;
            }
            let word = &self.text[from..self.at];
            let keyword = KEYWORDS.iter().find(|(name, _)| *name == word);
            return keyword.map_or(Kind::Name, |(_, kind)| *kind);
        }
        if self.byte(from) == Some(b'$') && self.byte(from + 1).is_some_and(is_name) {
            self.at += 1;
            while self.byte(self.at).is_some_and(is_name) {
                self.at += 1;
            }
            return Kind::Variable;
        }
        if let Some((symbol, kind)) = SYMBOLS.iter().find(|(symbol, _)| self.starts(symbol)) {
            self.at += symbol.len();
            return *kind;
        }
        match self.text[from..].chars().next() {
            None => Kind::End,
            Some(char) => {
                self.at += char.len_utf8();
                Kind::Char(char)
            }
        }
    }

    /// Reads `# 12 "file"` or `#line 12 "file"`; stops before the end of the line.
    fn directive(&mut self) {
        let start = self.at;
        let blanks = |lexer: &mut Lexer| {
            while matches!(lexer.byte(lexer.at), Some(b' ' | b'\t')) {
                lexer.at += 1;
            }
        };
        self.at += 1;
        blanks(self);
        if self.starts("line ") || self.starts("line\t") {
            self.at += 5;
            blanks(self);
        }
        if !self.byte(self.at).is_some_and(|b| b.is_ascii_digit()) {
            self.last = start..self.at;
            self.bad_directives.push(self.landmark());
            self.skip_line();
            return;
        }
        let mut line: u32 = 0;
        while let Some(digit) = self.byte(self.at).filter(u8::is_ascii_digit) {
            line = line.wrapping_mul(10).wrapping_add((digit - b'0') as u32);
            self.at += 1;
        }
        // The end of this line will count one.
        self.line = line.wrapping_sub(1);
        blanks(self);
        let ends = |b: &u8| matches!(b, b'\n' | b'\r');
        let rest = &self.text.as_bytes()[self.at..];
        let end = self.at + rest.iter().position(ends).unwrap_or(rest.len());
        if self.byte(self.at) == Some(b'"') {
            let mut close = self.at + 1;
            while close < end && self.byte(close) != Some(b'"') {
                close += 1 + usize::from(self.byte(close) == Some(b'\\'));
            }
            let name = unquote(&format!("{}\"", &self.text[self.at..close.min(end)]));
            // No name means the file that was given.
            self.file = if name.is_empty() {
                Arc::clone(&self.given_file)
            } else {
                name.as_str().into()
            };
        }
        self.at = end;
    }

    /// The text up to the parenthesis that closes the one just read.
    pub(crate) fn config(&mut self) -> String {
        let from = self.at;
        let mut out = String::new();
        let mut copied = from;
        let mut depth = 1;
        while let Some(byte) = self.byte(self.at) {
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'#' if self.at_line_start() => {
                    out.push_str(&self.text[copied..self.at]);
                    self.directive();
                    copied = self.at;
                    continue;
                }
                b'/' if self.skip_comment() => continue,
                b'\'' | b'"' => {
                    self.skip_quoted(byte);
                    continue;
                }
                b'\\' if self.starts("\\<") => {
                    self.skip_hex();
                    continue;
                }
                _ => {}
            }
            self.step();
        }
        out.push_str(&self.text[copied..self.at]);
        self.last = from..self.at;
        out
    }

    fn skip_quoted(&mut self, open: u8) {
        self.at += 1;
        while let Some(byte) = self.byte(self.at) {
            if byte == open {
                self.at += 1;
                return;
            }
            if byte == b'\\' && open == b'"' && self.at + 1 < self.text.len() {
                if self.starts("\\<") {
                    self.skip_hex();
                    continue;
                }
                self.at += 1;
            }
            self.step();
        }
    }

    /// Steps over `\<…>`.
    fn skip_hex(&mut self) {
        self.at += 2;
        while let Some(byte) = self.byte(self.at) {
            if self.skip_comment() {
                continue;
            }
            self.step();
            if byte == b'>' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, String)> {
        let mut lexer = Lexer::new(text, "f");
        std::iter::from_fn(|| {
            let token = lexer.next();
            (token.kind != Kind::End).then(|| (token.kind, lexer.text(&token).to_owned()))
        })
        .collect()
    }

    #[test]
    fn names_hold_single_slashes_inside() {
        let names: Vec<String> = kinds("a/b@1/c a//b\n /a a/")
            .into_iter()
            .map(|(_, t)| t)
            .collect();
        assert_eq!(names, ["a/b@1/c", "a", "/", "a", "a", "/"]);
    }

    #[test]
    fn symbols_and_keywords_are_told_apart() {
        let kinds: Vec<Kind> = kinds("define a->=>:::||...$x $ ==")
            .into_iter()
            .map(|(k, _)| k)
            .collect();
        use Kind::*;
        assert_eq!(
            kinds,
            [
                Define,
                Name,
                Arrow,
                ManyArrow,
                Colons,
                Char(':'),
                Bars,
                Dots,
                Variable,
                Char('$'),
                Char('='),
                Char('=')
            ]
        );
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        let mut lexer = Lexer::new("a\nb\r\nc\rd/*\n*/e//\nf", "f");
        let lines: Vec<u32> = (0..6).map(|_| (lexer.next(), lexer.line).1).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn directives_set_file_and_line() {
        let mut lexer = Lexer::new(
            "a\n# 7 \"x\\\"y\" 1 2\nb\n#line 3\nc\n#\td\n# 9 \"\"\ne",
            "f",
        );
        let places: Vec<String> = (0..4)
            .map(|_| (lexer.next(), lexer.landmark().to_string()).1)
            .collect();
        assert_eq!(places, ["f:1", "x\"y:7", "x\"y:3", "f:9"]);
        assert_eq!(lexer.bad_directives.len(), 1);
        assert_eq!(lexer.bad_directives[0].to_string(), "x\"y:4");
    }

    #[test]
    fn configurations_end_at_their_own_parenthesis() {
        let mut lexer = Lexer::new(
            "a (b)\n# 8 \"\"\n \")\" ')' // )\n \\<29 > /* ) */ c) d",
            "f",
        );
        assert_eq!(
            lexer.config(),
            "a (b)\n\n \")\" ')' // )\n \\<29 > /* ) */ c"
        );
        assert!(lexer.take(Kind::Char(')')));
        assert_eq!(lexer.landmark().line, 9);
    }
}
