//! Reads statements: declarations, chains of connections, compound classes, groups, requirements.
//!
//! Recursive descent, [`DEEPEST`] levels of compounds and groups deep at most. Elements and links go
//! into the body that is open; each error goes where Click would tell it, and reading goes on after it.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::Options;
use super::body::{
    Body, ClassId, ClassKind, Node, SIDES, TUNNEL, Table, Tunnel, Variable, all_digits,
};
use super::conf::{is_name, is_word, one_string, shift_word, split_args, split_words};
use super::connect::{End, Ports, pairs};
use super::lexer::{Kind, Lexer, Token};
use crate::diagnostic::{Diagnostics, Landmark};

/// How deep compounds and groups, and libraries that ask for libraries, may be nested.
const DEEPEST: usize = 50;
/// The highest port number; no machine has the memory for a router that uses more.
const LAST_PORT: usize = 65_535;
/// How many links may be made, and how many errors told, before reading stops.
pub(super) const MOST_LINKS: usize = 1 << 20;
const MOST_ERRORS: usize = 10_000;

/// What reading gives.
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

/// An element of a chain as written, not yet looked up.
struct Written {
    name: String,
    class: Option<ClassId>,
    declared: Option<ClassId>,
    /// Whether there is nothing but the name.
    bare: bool,
    config: String,
    landmark: Landmark,
    inputs: Ports,
    outputs: Ports,
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
        let Some(classes) = self.options.classes else {
            if self.find(name).is_some() {
                self.error(format!("'{name}' was previously used as an element name"));
            }
            return self.primitive(name);
        };
        if tell {
            let help = nearest(name, classes.names()).map(|near| format!("did you mean '{near}'?"));
            let landmark = self.lexer.landmark();
            self.error_at(&landmark, format!("unknown element class '{name}'"), help);
        }
        self.declare_class(name, ClassKind::Primitive)
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

    /// Reads `[in] name :: class(config) [out], …`; `None` where there is no element.
    fn elements(&mut self, block: &Block, is_first: bool) -> Option<Vec<End>> {
        let mut written: Vec<Written> = Vec::new();
        let mut any_implicit = false;
        loop {
            match self.element(block, is_first, written.is_empty()) {
                Some((element, is_implicit)) => {
                    any_implicit |= is_implicit;
                    written.push(element);
                }
                None if written.is_empty() => return None,
                None => {}
            }
            if self.stopped || !self.lexer.take(Kind::Char(',')) {
                break;
            }
        }
        let token = self.next();
        let before_arrow = token.kind.is_arrow();
        self.lexer.back(token);
        if any_implicit && !is_first && before_arrow {
            self.error("implicit ports used in the middle of a chain");
        }
        let any_ports = written
            .iter()
            .any(|w| !w.inputs.is_empty() || !w.outputs.is_empty());
        if is_first && !before_arrow && !any_ports && !any_implicit {
            self.spread(&mut written);
        }
        Some(
            written
                .into_iter()
                .map(|element| self.look_up(element))
                .collect(),
        )
    }

    /// In `a, b :: Class(config)` on its own, class and configuration are for all.
    fn spread(&self, written: &mut [Written]) {
        let [before @ .., last] = written else {
            return;
        };
        if before.iter().any(|element| !element.bare) || (self.is_tool() && last.declared.is_none())
        {
            return;
        }
        for element in before {
            element.declared = last.declared;
            element.config.clone_from(&last.config);
        }
    }

    /// Finds what is written among the elements, or adds it.
    fn look_up(&mut self, mut written: Written) -> End {
        let place = written.landmark.clone();
        let old = self.find(&written.name).filter(|_| written.class.is_none());
        let element = if let Some(old) = old {
            if written.declared.is_some() {
                self.redeclaration(&written, old);
            }
            old
        } else {
            let names_class = written.declared.is_some_and(|class| {
                written.class.is_some()
                    || (self.is_tool() && self.table.classes[class].name == written.name)
            });
            if names_class {
                let text = format!("class '{}' used as element name", written.name);
                self.error_at(&place, text, Some("choose another name".to_owned()));
            }
            if written.declared.is_none() && written.class.is_none() {
                self.undeclared(&mut written);
            }
            let name = match written.class {
                Some(_) => self.anonymous(&written.name),
                None => written.name,
            };
            let class = written
                .class
                .or(written.declared)
                .expect("one of them was set above");
            self.add_element(name, class, written.config, place)
        };
        End {
            element,
            inputs: written.inputs,
            outputs: written.outputs,
        }
    }

    fn undeclared(&mut self, written: &mut Written) {
        if let Some(classes) = self.options.classes {
            let mut names = classes.names();
            let body = self.open.last().expect("the file's body is always open");
            names.extend(body.names.keys().map(String::as_str));
            let help = nearest(&written.name, names).map(|near| format!("did you mean '{near}'?"));
            let text = format!("undeclared element '{}'", written.name);
            self.error_at(&written.landmark, text, help);
        }
        written.class = Some(self.force_class(&written.name, false));
    }

    fn redeclaration(&mut self, written: &Written, old: usize) {
        let (name, here) = (&written.name, self.lexer.landmark());
        let node = &self.body().nodes[old];
        let (class, there) = (node.class, node.landmark.clone());
        let (place, word) = if self.is_tool() {
            (&here, "")
        } else {
            (&written.landmark, "element ")
        };
        self.error_at(place, format!("redeclaration of element '{name}'"), None);
        if class != TUNNEL {
            self.error_at(
                &there,
                format!("{word}'{name}' previously declared here"),
                None,
            );
        }
    }

    /// Reads one element of a list; gives it and whether it is an implied `input` or `output`.
    fn element(
        &mut self,
        block: &Block,
        is_first: bool,
        is_alone: bool,
    ) -> Option<(Written, bool)> {
        let mut inputs = self.ports();
        let mut outputs = Ports::default();
        let mut bare = false;
        let name;
        let mut class = None;
        let token = self.next();
        match token.kind {
            Kind::Name => {
                name = self.lexer.text(&token).to_owned();
                class = self.class(&name);
                bare = true;
            }
            Kind::Char('{') => {
                class = Some(self.compound(""));
                name = String::new();
            }
            Kind::Char('(') => {
                name = self.anonymous("");
                let counts = self.group(&name);
                if inputs.is_empty() {
                    inputs = Ports::first(counts[0]);
                }
                outputs = Ports::first(counts[1]);
            }
            kind => {
                return self.implied(block, is_first, is_alone, inputs, token, kind);
            }
        }
        let landmark = self.lexer.landmark();
        let declared = self.declared_class(&name, &mut bare);
        let config = self.configuration(&name, &mut bare);
        let token = self.next();
        let has_ports = token.kind == Kind::Char('[');
        self.lexer.back(token);
        if has_ports {
            outputs = self.ports();
        }
        let written = Written {
            name,
            class,
            declared,
            bare,
            config,
            landmark,
            inputs,
            outputs,
        };
        Some((written, false))
    }

    /// Within a compound or group a chain may begin and end with an arrow: `input` or `output` is meant.
    fn implied(
        &mut self,
        block: &Block,
        is_first: bool,
        is_alone: bool,
        ports: Ports,
        token: Token,
        kind: Kind,
    ) -> Option<(Written, bool)> {
        let is_nested = block.around != Around::File || self.open.len() > 1;
        let has_ports = !ports.is_empty();
        let is_implied = is_nested
            && match kind {
                Kind::Arrow | Kind::ManyArrow => is_first && (has_ports || is_alone),
                Kind::Char(',') => has_ports,
                Kind::Colons => false,
                _ => !is_first && (has_ports || is_alone),
            };
        if !is_implied {
            if has_ports {
                self.error("stranded port ignored");
            }
            if !is_alone {
                // The list goes on without it.
                return None;
            }
            let is_quiet = if self.is_tool() {
                !is_first
            } else {
                is_nested && is_first
            };
            if is_quiet {
                self.lexer.back(token);
            } else {
                self.syntax_error(&token);
            }
            return None;
        }
        if kind.is_arrow() && !has_ports && !block.ended_at_output {
            let arrow = self.lexer.text(&token);
            let text = format!("suggest 'input {arrow}' or '[0] {arrow}' to start connection");
            let landmark = self.lexer.landmark();
            self.diagnostics.warning(Some(&landmark), text);
        }
        self.lexer.back(token);
        let name = SIDES[usize::from(!is_first)].to_owned();
        let class = self.class(&name);
        let (inputs, outputs) = if is_first {
            (Ports::default(), ports)
        } else {
            (ports, Ports::default())
        };
        let landmark = self.lexer.landmark();
        let (declared, config) = (None, String::new());
        let bare = false;
        let written = Written {
            name,
            class,
            declared,
            bare,
            config,
            landmark,
            inputs,
            outputs,
        };
        Some((written, true))
    }

    /// Reads `:: class` if it is there.
    fn declared_class(&mut self, name: &str, bare: &mut bool) -> Option<ClassId> {
        let token = self.next();
        if token.kind != Kind::Colons {
            self.lexer.back(token);
            return None;
        }
        *bare = false;
        let token = self.next();
        let class = match token.kind {
            Kind::Name => {
                let class = self.lexer.text(&token).to_owned();
                self.force_class(&class, true)
            }
            Kind::Char('{') => self.compound(""),
            _ => {
                self.error("missing element type in declaration");
                let class = self.force_class(name, true);
                self.lexer.back(token);
                class
            }
        };
        Some(class)
    }

    /// Reads `(config)` if it is there.
    fn configuration(&mut self, name: &str, bare: &mut bool) -> String {
        let token = self.next();
        if token.kind != Kind::Char('(') {
            self.lexer.back(token);
            return String::new();
        }
        *bare = false;
        if self.find(name).is_some() {
            self.error("configuration string ignored on element reference");
        }
        let config = self.lexer.config();
        self.expect(Kind::Char(')'), "')'");
        config
    }

    /// Reads `[0, 2-4, …]` if it is there.
    fn ports(&mut self) -> Ports {
        let mut ports = Ports::default();
        if self.stopped || !self.lexer.take(Kind::Char('[')) {
            return ports;
        }
        let mut range_from = None;
        let mut last = None;
        loop {
            let token = self.next();
            match token.kind {
                Kind::Name => {
                    let port = self.port_number(&token);
                    let from = match (range_from.take(), last) {
                        (Some(()), Some(last)) => last + 1,
                        _ => port,
                    };
                    ports.list.extend(from..=port);
                    last = Some(if from > port { from } else { port });
                    if ports.list.len() > LAST_PORT + 1 {
                        self.stop("too many ports");
                        return Ports::default();
                    }
                }
                Kind::Char(']') => {
                    if ports.list.is_empty() {
                        ports.list.push(0);
                    }
                    ports.open = true;
                    return ports;
                }
                _ => {
                    self.error("syntax error: expected port number");
                    self.lexer.back(token);
                    return ports;
                }
            }
            let token = self.next();
            match token.kind {
                Kind::Char(']') => return ports,
                Kind::Char('-') if range_from.is_none() => range_from = Some(()),
                Kind::Char(',') => range_from = None,
                _ => {
                    self.error("syntax error: expected ','");
                    self.lexer.back(token);
                }
            }
        }
    }

    fn port_number(&mut self, token: &Token) -> usize {
        match integer(self.lexer.text(token)) {
            Some(port) if port <= LAST_PORT => return port,
            Some(_) => self.error(format!("port number out of range, bound {LAST_PORT}")),
            None => self.error("syntax error: port number should be integer"),
        }
        0
    }

    // Compounds and groups.

    /// Reads `elementclass NAME …`.
    fn element_class(&mut self) {
        let token = self.next();
        let mut name = String::new();
        if token.kind == Kind::Name {
            self.lexer.text(&token).clone_into(&mut name);
            if self.is_tool() && self.find(&name).is_some() {
                self.error(format!("'{name}' already used as an element name"));
                name.clear();
            }
        } else {
            self.lexer.back(token);
            self.error("expected element type name");
        }
        let token = self.next();
        match token.kind {
            Kind::Char('{') => {
                self.compound(&name);
            }
            Kind::Name => {
                let of = self.lexer.text(&token).to_owned();
                let of = self.force_class(&of, true);
                let of = self.table.real(of);
                self.declare_class(&name, ClassKind::Synonym(of));
            }
            _ => {
                self.syntax_error(&token);
                self.declare_class(&name, ClassKind::Primitive);
            }
        }
    }

    /// Reads a compound class from after its `{` to its `}`.
    fn compound(&mut self, name: &str) -> ClassId {
        let mut versions = Vec::new();
        let mut extends = None;
        loop {
            let token = self.next();
            if token.kind != Kind::Dots {
                self.lexer.back(token);
                let (version, end) = self.version(name);
                versions.extend(version);
                if end != Kind::Bars {
                    break;
                }
                continue;
            }
            extends = Some(self.extended(name));
            let token = self.next();
            if token.kind == Kind::Char('}') && !versions.is_empty() {
                break;
            }
            self.error("'...' should occur last, after one or more compounds");
            self.lexer.back(token);
        }
        self.declare_class(name, ClassKind::Compound { versions, extends })
    }

    /// The class that `...` extends.
    fn extended(&mut self, name: &str) -> ClassId {
        if let Some(class) = self.class(name).filter(|_| !name.is_empty()) {
            return self.table.real(class);
        }
        if self.is_tool() && !name.is_empty() {
            return self.force_class(name, false);
        }
        self.error(match name {
            "" if self.is_tool() => "cannot extend anonymous compound element class".to_owned(),
            _ => format!("cannot extend unknown element class '{name}'"),
        });
        self.table.add("Error", ClassKind::Primitive)
    }

    /// Reads a version of a compound class up to `||` or `}`; gives its body and what ended it.
    fn version(&mut self, name: &str) -> (Option<usize>, Kind) {
        if self.depth + 1 >= DEEPEST {
            self.stop("maximum compound element nesting depth exceeded");
            return (None, Kind::End);
        }
        // The token after the brace is where Click says that the class is.
        let token = self.next();
        let landmark = self.lexer.landmark();
        self.lexer.back(token);
        let depth = self.body().depth + 1;
        self.open.push(Body::new(name, landmark.clone(), depth));
        self.scopes.push(BTreeMap::new());
        self.depth += 1;
        for side in SIDES {
            self.add_element(side.to_owned(), TUNNEL, String::new(), landmark.clone());
        }
        self.parameters();
        let end = self.statements(Around::Compound);
        self.depth -= 1;
        self.scopes.pop();
        let mut body = self.open.pop().expect("it was pushed above");
        if self.stopped {
            return (None, end);
        }
        body.finish(&mut self.diagnostics);
        self.table.bodies.push(body);
        (Some(self.table.bodies.len() - 1), end)
    }

    /// Reads `$a, KEY $b, __REST__ $c |`.
    fn parameters(&mut self) {
        let mut told_order = false;
        loop {
            let token = self.next();
            let mut keyword = String::new();
            let variable = match token.kind {
                Kind::Char('|') => return,
                Kind::Variable => token,
                Kind::Name => {
                    let second = self.next();
                    if second.kind != Kind::Variable {
                        if self.body().parameters > 0 {
                            self.error("expected variable");
                        }
                        self.lexer.back(second);
                        self.lexer.back(token);
                        return;
                    }
                    self.lexer.text(&token).clone_into(&mut keyword);
                    second
                }
                _ => {
                    if self.body().parameters > 0 {
                        self.error("expected variable");
                    }
                    self.lexer.back(token);
                    return;
                }
            };
            let name = self.lexer.text(&variable).to_owned();
            self.parameter(name, keyword, &mut told_order);
            let token = self.next();
            match token.kind {
                Kind::Char('|') => return,
                Kind::Char(',') => {}
                _ => {
                    self.error("expected ',' or '|'");
                    self.lexer.back(token);
                    return;
                }
            }
        }
    }

    fn parameter(&mut self, name: String, keyword: String, told_order: &mut bool) {
        let body = self.body();
        if body.variables.iter().any(|variable| variable.name == name) {
            self.error(format!("parameter '${name}' multiply defined"));
            return;
        }
        let is_repeated = !keyword.is_empty() && body.variables.iter().any(|v| v.value == keyword);
        let is_late = body.variables.last().is_some_and(|last| {
            last.value == "__REST__" || (keyword.is_empty() && !last.value.is_empty())
        });
        let text = format!("repeated keyword parameter '{keyword}' in compound element");
        body.variables.push(Variable {
            name,
            value: keyword,
        });
        body.parameters += 1;
        if is_repeated {
            self.error(text);
        }
        if is_late && !*told_order {
            *told_order = true;
            self.error(
                "compound element parameters out of order\n\
                 (The correct order is '[positional], [keywords], [__REST__]'.)",
            );
        }
    }

    /// Reads a group from after its `(` to its `)`; gives how many inputs and outputs it has.
    fn group(&mut self, name: &str) -> [usize; 2] {
        if self.depth + 1 >= DEEPEST {
            self.stop("maximum element group nesting depth exceeded");
            return [0, 0];
        }
        let landmark = self.lexer.landmark();
        let body = self
            .open
            .last_mut()
            .expect("the file's body is always open");
        let Some([_, input, output]) = body.open(name, &landmark, &mut self.diagnostics) else {
            // An element has the name, and that was told.
            self.statements(Around::Group);
            return [0, 0];
        };
        let outside = SIDES.map(|side| body.names.remove(side));
        for (side, at) in SIDES.iter().zip([input, output]) {
            body.names.insert((*side).to_owned(), at);
        }
        self.depth += 1;
        self.statements(Around::Group);
        self.depth -= 1;
        let landmark = self.lexer.landmark();
        let body = self
            .open
            .last_mut()
            .expect("the file's body is always open");
        let counts = [input, output].map(|at| {
            let side = usize::from(at == output);
            body.check_pseudo(
                at,
                side,
                "<anonymous group>",
                &landmark,
                &mut self.diagnostics,
            )
        });
        for (side, at) in SIDES.iter().zip(outside) {
            body.names.remove(*side);
            if let Some(at) = at {
                body.names.insert((*side).to_owned(), at);
            }
        }
        counts
    }

    // Requirements and definitions.

    /// Reads `define($x value, …)`.
    fn define(&mut self) {
        if !self.expect(Kind::Char('('), "'('") {
            return;
        }
        let config = self.lexer.config();
        self.expect(Kind::Char(')'), "')'");
        for argument in split_args(&config) {
            if argument.is_empty() {
                continue;
            }
            let (variable, value) = shift_word(&argument);
            let name = variable.strip_prefix('$').unwrap_or_default();
            if name.is_empty() || !name.bytes().all(is_name) {
                self.error("bad 'define' declaration: not a variable");
                continue;
            }
            let sign = if self.is_tool() { "" } else { "$" };
            let body = self.body();
            if body.variables.iter().any(|variable| variable.name == name) {
                self.error(format!("parameter '{sign}{name}' multiply defined"));
                continue;
            }
            let variable = Variable {
                name: name.to_owned(),
                value: value.to_owned(),
            };
            body.variables.push(variable);
        }
    }

    /// Reads `require(package p, library l, …)`.
    fn require(&mut self) {
        if !self.expect(Kind::Char('('), "'('") {
            return;
        }
        let config = self.lexer.config();
        self.expect(Kind::Char(')'), "')'");
        self.lexer.take(Kind::Char(';'));
        for argument in split_args(&config) {
            let words = split_words(&argument);
            let Some(first) = words.first() else {
                continue;
            };
            let kind = one_string(first)
                .filter(|word| is_word(word))
                .unwrap_or_default();
            let value = words.get(1).and_then(|word| one_string(word));
            match (kind.as_str(), words.len(), value) {
                ("compact_config", 1, _) => self.requirements.push((kind, String::new())),
                ("package", 2, Some(package)) => self.package(package),
                ("library", 2, Some(library)) => self.library(&library),
                ("" | "package" | "library", ..) | (_, 2.., _) => {
                    self.error("syntax error at requirement");
                }
                _ => self.package(kind),
            }
        }
    }

    fn package(&mut self, name: String) {
        if !self.is_tool()
            && let Err(why) = self.options.loader.package(&name)
        {
            let mut beneath = Diagnostics::new();
            beneath.error(None, why);
            self.diagnostics
                .nest(None, format!("While loading package '{name}':"), beneath);
            self.diagnostics
                .error(None, format!("requirement '{name}' not available"));
        }
        self.requirements.push(("package".to_owned(), name));
    }

    fn library(&mut self, name: &str) {
        if self.open.len() > 1 {
            self.error("'require library' must be used at file scope");
            return;
        }
        let directory = match self.lexer.file().rfind('/') {
            Some(at) if at > 0 => self.lexer.file()[..at].to_owned(),
            _ => ".".to_owned(),
        };
        let Some(library) = self.options.loader.library(name, &directory) else {
            // The tools print the path that they did not find.
            let name = if self.is_tool() { "" } else { name };
            self.error(format!("library '{name}' not found in CLICKPATH/conf"));
            return;
        };
        if !self.libraries.insert(library.path.clone()) {
            return;
        }
        if self.library_depth >= DEEPEST {
            self.stop("maximum library nesting depth exceeded");
            return;
        }
        match library.text {
            Err(why) => self.error(why),
            Ok(text) => {
                let outer = mem::replace(&mut self.lexer, Lexer::new(&text, &library.path));
                let depth = mem::take(&mut self.depth);
                self.library_depth += 1;
                self.statements(Around::File);
                self.library_depth -= 1;
                self.depth = depth;
                self.lexer = outer;
            }
        }
    }
}

/// A port number: decimal, `0x` hexadecimal, `0b` binary or `0` octal; one `_` may stand between digits.
fn integer(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let (digits, base) = match (lower.strip_prefix("0x"), lower.strip_prefix("0b")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 2),
        _ if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    let mut value: usize = 0;
    for part in digits.split('_') {
        if part.is_empty() {
            return None;
        }
        for char in part.chars() {
            let digit = char.to_digit(base)? as usize;
            // Too large is all the same: there is a bound far below.
            value = value.saturating_mul(base as usize).saturating_add(digit);
        }
    }
    Some(value)
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
    fn port_numbers_are_read_in_four_bases() {
        assert_eq!(
            ["10", "0x1F", "010", "0b11", "1_0", "0"].map(integer),
            [Some(10), Some(31), Some(8), Some(3), Some(10), Some(0)]
        );
        assert_eq!(["x", "1_", "0x", "9a", "_1", "08"].map(integer), [None; 6]);
        assert!(integer("99999999999999999999999").is_some());
    }

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("Queu", vec!["Idle", "Queue"]), Some("Queue"));
        assert_eq!(nearest("Foo", vec!["Idle", "Queue"]), None);
    }
}
