//! Reads statements: declarations, chains of connections, compound classes, groups, requirements.
//!
//! Recursive descent, [`DEEPEST`] levels of compounds and groups deep at most. Elements and links
//! go into the body that is open; each error goes where Click would tell it, and reading goes on
//! after it.

mod compounds;
mod elements;
mod requirements;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::Options;
use super::body::{Body, ClassId, ClassKind, Node, Table, Tunnel, all_digits};
use super::connect::{End, pairs};
use super::lexer::{Kind, Lexer, Token};
use crate::diagnostic::{Diagnostics, Landmark};

/// How deep compounds and groups, and libraries that ask for libraries, may be nested.
const DEEPEST: usize = 50;
/// How many links may be made, and how many errors told, before reading stops.
pub(super) const MOST_LINKS: usize = 1 << 20;
const MOST_ERRORS: usize = 10_000;
/// After how many errors nothing is proposed any more: comparing names takes time.
const MOST_PROPOSALS: usize = 20;

/// What reading gives.
#[derive(Clone)]
pub(super) struct Parsed {
    pub(super) table: Table,
    pub(super) file: Body,
    pub(super) requirements: Vec<(String, String)>,
    pub(super) diagnostics: Diagnostics,
    /// Where reading ended.
    pub(super) end: Landmark,
}

/// What a list of statements is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    File,
    Compound,
    Group,
}

/// A list of statements that is being read.
struct Block {
    around: Around,
    /// Whether the last chain ended at `output` alone, after which a chain may begin with an arrow.
    ended_at_output: bool,
}

struct Parser<'a> {
    options: &'a Options<'a>,
    lexer: Lexer,
    table: Table,
    /// The bodies that are open; the last one is being filled.
    open: Vec<Body>,
    /// Names of classes, one map for each open body.
    scopes: Vec<BTreeMap<String, ClassId>>,
    /// How many compounds and groups are open.
    depth: usize,
    libraries: BTreeSet<String>,
    library_depth: usize,
    requirements: Vec<(String, String)>,
    diagnostics: Diagnostics,
    stopped: bool,
}

/// Reads a configuration.
pub(super) fn parse(text: &str, name: &str, options: &Options<'_>) -> Parsed {
    let lexer = Lexer::new(text, name);
    let file = Body::new("", lexer.landmark(), 0);
    let mut parser = Parser {
        options,
        lexer,
        table: Table::new(),
        open: vec![file],
        scopes: vec![BTreeMap::new()],
        depth: 0,
        libraries: BTreeSet::new(),
        library_depth: 0,
        requirements: Vec::new(),
        diagnostics: Diagnostics::new(),
        stopped: false,
    };
    parser.statements(Around::File);
    let end = parser.lexer.landmark();
    let Parser {
        table,
        mut open,
        requirements,
        diagnostics,
        ..
    } = parser;
    let file = open.swap_remove(0);
    Parsed {
        table,
        file,
        requirements,
        diagnostics,
        end,
    }
}

impl Parser<'_> {
    // Tokens and errors.

    fn next(&mut self) -> Token {
        if self.stopped {
            return Token {
                kind: Kind::End,
                bytes: 0..0,
            };
        }
        let token = self.lexer.next();
        for landmark in mem::take(&mut self.lexer.bad_directives) {
            self.diagnostics
                .error(Some(&landmark), "unknown preprocessor directive");
        }
        token
    }

    fn expect(&mut self, kind: Kind, printed: &str) -> bool {
        let is_there = self.lexer.take(kind);
        if !is_there {
            self.error(format!("expected {printed}"));
        }
        is_there
    }

    fn error(&mut self, text: impl Into<String>) {
        let landmark = self.lexer.landmark();
        self.error_at(&landmark, text, None);
    }

    fn error_at(&mut self, landmark: &Landmark, text: impl Into<String>, help: Option<String>) {
        if self.stopped {
            return;
        }
        self.diagnostics.error_with_help(Some(landmark), text, help);
        if self.diagnostics.len() >= MOST_ERRORS {
            self.diagnostics.error(Some(landmark), "too many errors");
            self.stopped = true;
        }
    }

    fn syntax_error(&mut self, token: &Token) {
        let text = format!("syntax error near '{}'", self.lexer.text(token));
        self.error(text);
    }

    /// Refuses the rest of the configuration.
    fn stop(&mut self, text: &str) {
        self.error(text);
        self.stopped = true;
    }

    /// Whether any name may be a class, as the tools have it.
    fn is_tool(&self) -> bool {
        self.options.classes.is_none()
    }

    fn body(&mut self) -> &mut Body {
        self.open
            .last_mut()
            .expect("the file's body is always open")
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.open.last().and_then(|body| body.find(name))
    }

    // Classes.

    fn class(&mut self, name: &str) -> Option<ClassId> {
        if let Some(class) = self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
            return Some(*class);
        }
        let is_known = self
            .options
            .classes
            .is_some_and(|classes| classes.knows(name));
        is_known.then(|| self.primitive(name))
    }

    /// A class that is not made of others, to be known in the whole file.
    fn primitive(&mut self, name: &str) -> ClassId {
        let class = self.table.add(name, ClassKind::Primitive);
        self.scopes[0].insert(name.to_owned(), class);
        class
    }

    fn declare_class(&mut self, name: &str, kind: ClassKind) -> ClassId {
        let class = self.table.add(name, kind);
        if !name.is_empty() {
            let scope = self
                .scopes
                .last_mut()
                .expect("the file's scope is always open");
            scope.insert(name.to_owned(), class);
        }
        class
    }

    /// The class of this name; if there is none, one that stands in, and an error if `tell`.
    fn force_class(&mut self, name: &str, tell: bool) -> ClassId {
        if let Some(class) = self.class(name) {
            return class;
        }
        if self.is_tool() {
            if self.find(name).is_some() {
                self.error(format!("'{name}' was previously used as an element name"));
            }
            return self.primitive(name);
        }
        if tell {
            let help = self.propose(name, false);
            let landmark = self.lexer.landmark();
            self.error_at(&landmark, format!("unknown element class '{name}'"), help);
        }
        self.declare_class(name, ClassKind::Primitive)
    }

    /// Proposes a class, or also an element, in place of an unknown name.
    fn propose(&self, name: &str, or_element: bool) -> Option<String> {
        if self.diagnostics.len() > MOST_PROPOSALS {
            return None;
        }
        let mut names = self.options.classes?.names();
        let body = self.open.last().filter(|_| or_element);
        names.extend(
            body.into_iter()
                .flat_map(|body| body.names.keys().map(String::as_str)),
        );
        nearest(name, names).map(|near| format!("did you mean '{near}'?"))
    }

    // Elements.

    fn anonymous(&self, class: &str) -> String {
        let body = self.open.last().expect("the file's body is always open");
        // The pseudoelements of a compound do not count.
        let offset = if body.depth > 0 { 2 } else { 0 };
        format!(";{class}@{}", body.nodes.len() - offset + 1)
    }

    fn add_element(
        &mut self,
        name: String,
        class: ClassId,
        config: String,
        landmark: Landmark,
    ) -> usize {
        if let Some(at) = self.find(&name) {
            return at;
        }
        if Body::has_digit_part(&name) {
            let here = self.lexer.landmark();
            all_digits(&name, &here, &mut self.diagnostics);
        }
        let node = Node {
            name,
            class,
            config,
            landmark,
            ports: [0, 0],
            tunnel: Tunnel::No,
        };
        self.body().add(node)
    }

    // Statements.

    /// Reads statements up to what ends them; gives that token's kind.
    fn statements(&mut self, around: Around) -> Kind {
        let mut block = Block {
            around,
            ended_at_output: true,
        };
        loop {
            let token = self.next();
            match token.kind {
                Kind::Name | Kind::Arrow | Kind::ManyArrow | Kind::Char('[' | '{' | '(') => {
                    self.lexer.back(token);
                    self.chain(&mut block);
                }
                Kind::ElementClass => self.element_class(),
                Kind::Require => self.require(),
                Kind::Define => self.define(),
                Kind::Char(';') => {}
                Kind::Char('}') | Kind::Bars if around == Around::Compound => return token.kind,
                Kind::Char('}') | Kind::Bars => {
                    self.syntax_error(&token);
                    if around == Around::Group && !self.is_tool() {
                        self.lexer.back(token);
                        return Kind::Char(')');
                    }
                }
                Kind::Char(')') if around == Around::Group => return token.kind,
                Kind::End => {
                    match around {
                        Around::Group => self.error("expected ')'"),
                        Around::Compound => self.error("expected '}'"),
                        Around::File => {}
                    }
                    return Kind::End;
                }
                _ => self.syntax_error(&token),
            }
        }
    }

    /// Reads `elements -> elements -> …`.
    fn chain(&mut self, block: &mut Block) {
        let mut left: Vec<End> = Vec::new();
        let mut arrow = Kind::Arrow;
        while let Some(right) = self.elements(block, left.is_empty()) {
            if left.is_empty() {
                if right.iter().any(|end| !end.inputs.is_empty()) {
                    self.error("input ports ignored at start of chain");
                }
            } else {
                self.connect(&left, &right, arrow);
            }
            left = right;
            match self.arrow() {
                Some(kind) => arrow = kind,
                None => break,
            }
        }
        if left.iter().any(|end| !end.outputs.is_empty()) {
            self.error("output ports ignored at end of chain");
        }
        block.ended_at_output = match &left[..] {
            [end] => Some(end.element) == self.find("output"),
            _ => false,
        };
    }

    /// Reads the arrow after elements; `None` at the end of the chain.
    fn arrow(&mut self) -> Option<Kind> {
        loop {
            let token = self.next();
            match token.kind {
                Kind::Arrow | Kind::ManyArrow => return Some(token.kind),
                Kind::Char(',') | Kind::Colons => {
                    self.syntax_error(&token);
                    continue;
                }
                Kind::Char(';') | Kind::End => {}
                Kind::Name
                | Kind::Bars
                | Kind::ElementClass
                | Kind::Require
                | Kind::Provide
                | Kind::Define
                | Kind::Char('{' | '}' | '[' | ')') => self.lexer.back(token),
                _ => {
                    self.syntax_error(&token);
                    if !matches!(token.kind, Kind::Char(_)) {
                        self.lexer.back(token);
                    }
                }
            }
            return None;
        }
    }

    fn connect(&mut self, left: &[End], right: &[End], arrow: Kind) {
        let (pairs, wrong) = pairs(left, right, arrow);
        for text in wrong {
            self.error(text);
        }
        let landmark = self.lexer.landmark();
        if self.body().links.len() + pairs.len() > MOST_LINKS {
            self.stop("too many connections");
            return;
        }
        for (from, to) in pairs {
            self.body().connect(from, to, landmark.clone());
        }
    }
}

/// The name that is most like `name`, if one is like it at all.
fn nearest<'a>(name: &str, names: Vec<&'a str>) -> Option<&'a str> {
    let scored = names
        .into_iter()
        .map(|other| (strsim::damerau_levenshtein(name, other), other));
    let (distance, nearest) = scored.min()?;
    (distance <= 1 + name.len() / 4).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("Queu", vec!["Idle", "Queue"]), Some("Queue"));
        assert_eq!(nearest("Foo", vec!["Idle", "Queue"]), None);
    }
}
