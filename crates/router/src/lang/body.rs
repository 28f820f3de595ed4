//! What is collected while reading: bodies of elements and links, and the classes they name.
//!
//! The file has a body and so has each version of a compound class. A compound or group stands in a
//! body as three nodes: itself, its `input` and its `output`; what enters the first leaves the
//! second, and what enters the third leaves the first.

use std::collections::BTreeMap;

use super::Port;
use crate::diagnostic::{Diagnostics, Landmark};

/// A class by its place in [`Table`].
pub(crate) type ClassId = usize;

/// The class of pseudoelements.
pub(crate) const TUNNEL: ClassId = 0;

/// A class.
#[derive(Clone)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) kind: ClassKind,
}

/// What stands behind the name of a class.
#[derive(Clone)]
pub(crate) enum ClassKind {
    Tunnel,
    /// The engine has it, or nobody has.
    Primitive,
    /// The versions in the order of preference, by their place in [`Table::bodies`], and the class
    /// that `...` extends.
    Compound {
        versions: Vec<usize>,
        extends: Option<ClassId>,
    },
    /// Another class under this name.
    Synonym(ClassId),
}

/// All classes and bodies.
#[derive(Clone, Default)]
pub(crate) struct Table {
    pub(crate) classes: Vec<Class>,
    pub(crate) bodies: Vec<Body>,
}

impl Table {
    pub(crate) fn new() -> Table {
        let tunnel = Class {
            name: "<tunnel>".to_owned(),
            kind: ClassKind::Tunnel,
        };
        Table {
            classes: vec![tunnel],
            bodies: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, name: &str, kind: ClassKind) -> ClassId {
        self.classes.push(Class {
            name: name.to_owned(),
            kind,
        });
        self.classes.len() - 1
    }

    /// The class itself where `class` is but another name for it.
    pub(crate) fn real(&self, class: ClassId) -> ClassId {
        match self.classes[class].kind {
            ClassKind::Synonym(of) => of,
            _ => class,
        }
    }
}

/// An element of a body.
#[derive(Clone)]
pub(crate) struct Node {
    /// The name; that of an anonymous element begins with a semicolon until the body is complete.
    pub(crate) name: String,
    pub(crate) class: ClassId,
    pub(crate) config: String,
    pub(crate) landmark: Landmark,
    /// How many inputs and outputs the links use.
    pub(crate) ports: [usize; 2],
    pub(crate) tunnel: Tunnel,
}

/// What a node is to the compound or group it belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tunnel {
    No,
    /// The compound or group, with its `input` and `output`.
    Outer(usize, usize),
    /// The `input` of this.
    Input(usize),
    /// The `output` of this.
    Output(usize),
}

/// A connection from an output to an input.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) from: Port,
    pub(crate) to: Port,
    pub(crate) landmark: Landmark,
}

/// A variable: of a parameter, its keyword; of a definition, its value.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Inputs are 0, outputs are 1.
pub(crate) const SIDES: [&str; 2] = ["input", "output"];

/// Elements, links and variables of a file or of a version of a compound class.
#[derive(Clone)]
pub(crate) struct Body {
    pub(crate) class_name: String,
    pub(crate) landmark: Landmark,
    /// How many bodies this one is in.
    pub(crate) depth: usize,
    /// The parameters, then what the body defines.
    pub(crate) variables: Vec<Variable>,
    pub(crate) parameters: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) names: BTreeMap<String, usize>,
    /// How many inputs and outputs a compound has.
    pub(crate) ports: [usize; 2],
}

impl Body {
    pub(crate) fn new(class_name: &str, landmark: Landmark, depth: usize) -> Body {
        Body {
            class_name: class_name.to_owned(),
            landmark,
            depth,
            variables: Vec::new(),
            parameters: 0,
            nodes: Vec::new(),
            links: Vec::new(),
            names: BTreeMap::new(),
            ports: [0, 0],
        }
    }

    /// The element of this name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Adds an element whose name is free.
    pub(crate) fn add(&mut self, node: Node) -> usize {
        let at = self.nodes.len();
        self.names.insert(node.name.clone(), at);
        self.nodes.push(node);
        at
    }

    /// Whether an element of this name would have a part that is all digits; `;` does not count.
    pub(crate) fn has_digit_part(name: &str) -> bool {
        name.split('/')
            .any(|part| part.bytes().all(|b| b.is_ascii_digit()))
    }

    /// The pseudoelement `name`, made if there is none; `None` where an element has the name.
    fn pseudo(
        &mut self,
        name: &str,
        landmark: &Landmark,
        diagnostics: &mut Diagnostics,
    ) -> Option<usize> {
        let Some(at) = self.find(name) else {
            if Body::has_digit_part(name) {
                all_digits(name, landmark, diagnostics);
            }
            return Some(self.add(Node {
                name: name.to_owned(),
                class: TUNNEL,
                config: String::new(),
                landmark: landmark.clone(),
                ports: [0, 0],
                tunnel: Tunnel::No,
            }));
        };
        if self.nodes[at].class == TUNNEL {
            return Some(at);
        }
        redeclared(
            "element",
            name,
            landmark,
            &self.nodes[at].landmark,
            diagnostics,
        );
        None
    }

    /// Makes `name`, which may be there, a compound or group; gives it, its `input` and its
    /// `output`.
    pub(crate) fn open(
        &mut self,
        name: &str,
        landmark: &Landmark,
        diagnostics: &mut Diagnostics,
    ) -> Option<[usize; 3]> {
        let names = [
            name.to_owned(),
            format!("{name}/input"),
            format!("{name}/output"),
        ];
        let found = names
            .each_ref()
            .map(|name| self.pseudo(name, landmark, diagnostics));
        let [Some(outer), Some(input), Some(output)] = found else {
            return None;
        };
        let trio = [outer, input, output];
        if let Some(at) = (0..3).find(|&at| self.nodes[trio[at]].tunnel != Tunnel::No) {
            let old = &self.nodes[trio[at]].landmark;
            redeclared("connection tunnel", &names[at], landmark, old, diagnostics);
            return None;
        }
        self.nodes[outer].tunnel = Tunnel::Outer(input, output);
        self.nodes[input].tunnel = Tunnel::Input(outer);
        self.nodes[output].tunnel = Tunnel::Output(outer);
        Some(trio)
    }

    /// Connects an output to an input.
    pub(crate) fn connect(&mut self, from: Port, to: Port, landmark: Landmark) {
        let inputs = &mut self.nodes[to.element].ports[0];
        *inputs = (*inputs).max(to.port + 1);
        let outputs = &mut self.nodes[from.element].ports[1];
        *outputs = (*outputs).max(from.port + 1);
        self.links.push(Link { from, to, landmark });
    }

    /// Gives the anonymous element at `at` its name: `Class@N`, or the next number that is free.
    pub(crate) fn christen(&mut self, at: usize) {
        let Some(wanted) = self.nodes[at].name.strip_prefix(';') else {
            return;
        };
        let mut name = wanted.to_owned();
        if self.names.contains_key(&name)
            && let Some((class, number)) = wanted.rsplit_once('@')
        {
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            let mut number: u64 = digits.parse().unwrap_or(0);
            while self.names.contains_key(&name) {
                number += 1;
                name = format!("{class}@{number}");
            }
        }
        self.names.insert(name.clone(), at);
        self.nodes[at].name = name;
    }

    /// Checks that the pseudoelement at `at` of what is printed as `whole` is used on one side only
    /// and without gaps; gives the number of its ports. `side` is that of the whole, and its first
    /// link is number `since`.
    pub(crate) fn check_pseudo(
        &self,
        at: usize,
        side: usize,
        whole: &str,
        since: usize,
        landmark: &Landmark,
        diagnostics: &mut Diagnostics,
    ) -> usize {
        let count = self.nodes[at].ports[1 - side];
        let mut used = vec![false; count];
        for link in &self.links[since..] {
            let end = if side == 0 { link.from } else { link.to };
            if end.element == at {
                used[end.port] = true;
            }
        }
        let (name, other) = (SIDES[side], SIDES[1 - side]);
        if self.nodes[at].ports[side] > 0 {
            let text = format!("'{whole}' pseudoelement '{name}' may only be used as {other}");
            diagnostics.error(Some(landmark), text);
        }
        for port in (0..count).filter(|port| !used[*port]) {
            diagnostics.error(Some(landmark), format!("'{whole}' {name} {port} missing"));
        }
        count
    }

    /// Checks and completes the body of a compound class.
    pub(crate) fn finish(&mut self, diagnostics: &mut Diagnostics) {
        let whole = printable(&self.class_name).to_owned();
        let landmark = self.landmark.clone();
        for side in 0..2 {
            self.ports[side] = self.check_pseudo(side, side, &whole, 0, &landmark, diagnostics);
        }
        for at in 0..self.nodes.len() {
            self.christen(at);
        }
    }
}

/// The name of a class in messages.
pub(crate) fn printable(name: &str) -> &str {
    if name.is_empty() { "<anonymous>" } else { name }
}

/// Says that `name` is there already.
pub(crate) fn redeclared(
    what: &str,
    name: &str,
    landmark: &Landmark,
    old: &Landmark,
    diagnostics: &mut Diagnostics,
) {
    diagnostics.error(Some(landmark), format!("redeclaration of {what} '{name}'"));
    diagnostics.error(Some(old), format!("'{name}' previously declared here"));
}

/// Says that a part of `name` is all digits.
pub(crate) fn all_digits(name: &str, landmark: &Landmark, diagnostics: &mut Diagnostics) {
    let text = format!("element name '{name}' has all-digit component");
    diagnostics.error_with_help(
        Some(landmark),
        text,
        Some("begin it with a letter".to_owned()),
    );
}
