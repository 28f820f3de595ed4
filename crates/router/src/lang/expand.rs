//! Puts compounds into the file's body until no compound is left.
//!
//! A compound becomes a pseudoelement; the elements of the version that fits its ports and
//! arguments follow, named after it. The router adds all parts of a compound before it opens the
//! compounds among them; the tools go deep first. Variables are those of where a class was written,
//! not of where it is used.

use std::cell::Cell;

use super::body::{
    Body, ClassId, ClassKind, Link, Node, SIDES, TUNNEL, Table, Tunnel, Variable, printable,
    redeclared,
};
use super::conf::assign;
use super::parser::{MOST_LINKS, Parsed};
use super::variables::{Braces, Form, Variables, substitute};
use super::{Compound, Connection, Declared, Flat, Options, Port, tunnel};
use crate::args::text::split_args;
use crate::diagnostic::{Diagnostics, Landmark};

/// How many elements there may be, how deep compounds may be within each other, and how many bytes
/// may come out of variables: a short text can ask for more than any machine has.
const MOST_ELEMENTS: usize = 1 << 20;
const DEEPEST: usize = 200;
const MOST_BYTES: usize = 1 << 24;

/// The variables of a body in use.
struct Scope {
    depth: usize,
    around: Option<usize>,
    variables: Vec<Variable>,
}

struct Expansion<'a> {
    table: &'a Table,
    flat: Body,
    scopes: Vec<Scope>,
    is_tool: bool,
    /// Where a class that does not fit is told of.
    end: Landmark,
    diagnostics: &'a mut Diagnostics,
    bytes_left: usize,
    refused: Option<&'static str>,
}

/// Makes a flat graph of what was read.
pub(super) fn flatten(parsed: Parsed, options: &Options<'_>) -> (Flat, Diagnostics) {
    let Parsed {
        table,
        mut file,
        requirements,
        mut diagnostics,
        end,
    } = parsed;
    let is_tool = options.classes.is_none();
    let keeps = is_tool && !options.expand_definitions;
    for (name, value) in options.definitions {
        match file
            .variables
            .iter_mut()
            .find(|variable| variable.name == *name)
        {
            Some(variable) => variable.value.clone_from(value),
            // Tools redefine what the file defines, and no more.
            None if keeps => {}
            None => {
                let variable = Variable {
                    name: name.clone(),
                    value: value.clone(),
                };
                file.variables.push(variable);
            }
        }
    }
    let kept = if keeps {
        file.variables.clone()
    } else {
        Vec::new()
    };
    let mut variables = std::mem::take(&mut file.variables);
    if keeps {
        for variable in &mut variables {
            variable.value = format!("${}", variable.name);
        }
    }
    let mut expansion = Expansion {
        table: &table,
        flat: file,
        scopes: vec![Scope {
            depth: 0,
            around: None,
            variables,
        }],
        is_tool,
        end,
        diagnostics: &mut diagnostics,
        bytes_left: MOST_BYTES,
        refused: None,
    };
    let count = expansion.flat.nodes.len();
    for at in 0..count {
        if is_tool {
            // All names are settled before any compound is opened.
            expansion.flat.christen(at);
        }
    }
    for at in 0..count {
        expansion.expand(at, 0, 0);
    }
    if let Some(why) = expansion.refused {
        expansion.diagnostics.error(Some(&expansion.end), why);
    }
    let is_refused = expansion.refused.is_some();
    let flat = expansion.flat;
    let mut links = Vec::new();
    if !is_refused {
        match tunnel::through(&flat, &mut diagnostics) {
            Some(found) => links = found,
            None => diagnostics.error(None, "too many connections"),
        }
    }
    if !is_tool {
        links.sort_by_key(|link| (link.to, link.from));
    }
    let definitions = kept
        .into_iter()
        .map(|variable| (variable.name, variable.value))
        .collect();
    (
        number(&table, flat, links, requirements, definitions),
        diagnostics,
    )
}

/// Makes a flat graph of the last version of each compound class that has a name.
pub(super) fn compounds(parsed: &Parsed, options: &Options<'_>) -> (Vec<Compound>, Diagnostics) {
    let mut diagnostics = parsed.diagnostics.clone();
    let mut compounds = Vec::new();
    for class in &parsed.table.classes {
        let ClassKind::Compound { versions, .. } = &class.kind else {
            continue;
        };
        let (Some(last), false) = (versions.last(), class.name.is_empty()) else {
            continue;
        };
        let mut table = parsed.table.clone();
        let mut file = table.bodies[*last].clone();
        file.variables.clear();
        file.parameters = 0;
        // What is in and out of the compound are elements like others here.
        for (at, side) in SIDES.into_iter().enumerate() {
            file.nodes[at].class = table.add(side, ClassKind::Primitive);
        }
        let alone = Parsed {
            table,
            file,
            requirements: Vec::new(),
            diagnostics: Diagnostics::new(),
            end: parsed.end.clone(),
        };
        let (flat, said) = flatten(alone, options);
        diagnostics.extend(said);
        compounds.push(Compound {
            name: class.name.clone(),
            flat,
        });
    }
    (compounds, diagnostics)
}

/// Leaves the pseudoelements out and numbers the rest.
fn number(
    table: &Table,
    body: Body,
    links: Vec<Link>,
    requirements: Vec<(String, String)>,
    definitions: Vec<(String, String)>,
) -> Flat {
    let mut elements = Vec::new();
    let mut place = vec![None; body.nodes.len()];
    for (at, node) in body.nodes.into_iter().enumerate() {
        if node.class != TUNNEL {
            place[at] = Some(elements.len());
            let class = table.classes[table.real(node.class)].name.clone();
            let Node {
                name,
                config,
                landmark,
                ..
            } = node;
            elements.push(Declared {
                name,
                class,
                config,
                landmark,
            });
        }
    }
    let port = |port: Port| {
        Some(Port {
            element: place[port.element]?,
            port: port.port,
        })
    };
    let connections = links
        .into_iter()
        .filter_map(|link| {
            let (from, to) = (port(link.from)?, port(link.to)?);
            Some(Connection {
                from,
                to,
                landmark: link.landmark,
            })
        })
        .collect();
    Flat {
        elements,
        connections,
        requirements,
        definitions,
    }
}

impl Expansion<'_> {
    /// Replaces variables in the configuration of the element at `at` and opens it if it is a
    /// compound.
    fn expand(&mut self, at: usize, scope: usize, depth: usize) {
        self.flat.christen(at);
        if self.flat.nodes[at].class == TUNNEL || self.refused.is_some() {
            return;
        }
        let config = std::mem::take(&mut self.flat.nodes[at].config);
        self.flat.nodes[at].config = self.substitute(&config, scope);
        let class = self.table.real(self.flat.nodes[at].class);
        let ClassKind::Compound { .. } = self.table.classes[class].kind else {
            self.flat.nodes[at].class = class;
            return;
        };
        if depth >= DEEPEST {
            self.refused = Some("maximum compound element nesting depth exceeded");
            return;
        }
        let node = &self.flat.nodes[at];
        let (arguments, ports) = (split_args(&node.config), node.ports);
        let landmark = if self.is_tool {
            node.landmark.clone()
        } else {
            self.end.clone()
        };
        match self.resolve(class, &arguments, ports, &landmark) {
            Some(Resolved::Primitive(class)) => self.flat.nodes[at].class = class,
            Some(Resolved::Body(body, values)) => {
                let scope = self.open_scope(body, values, scope);
                self.open(at, &self.table.bodies[body], scope, depth);
            }
            // An error was told; what stands there does not matter.
            None => self.flat.nodes[at].class = TUNNEL,
        }
    }

    fn substitute(&mut self, text: &str, scope: usize) -> String {
        if !text.contains('$') {
            return text.to_owned();
        }
        let view = View {
            scopes: &self.scopes,
            scope,
            bytes_left: Cell::new(self.bytes_left),
            is_spent: Cell::new(false),
        };
        let out = substitute(text, &view, false, 0);
        self.bytes_left = view.bytes_left.get();
        if view.is_spent.get() {
            self.refused = Some("variables expand to too much text");
        }
        out
    }

    /// The version of the compound class that fits; if none does and there is a near one, that.
    fn resolve(
        &mut self,
        class: ClassId,
        arguments: &[String],
        ports: [usize; 2],
        landmark: &Landmark,
    ) -> Option<Resolved> {
        let mut candidates: Vec<usize> = Vec::new();
        let mut near = None;
        let mut next = Some(class);
        while let Some(class) = next {
            let ClassKind::Compound { versions, extends } = &self.table.classes[class].kind else {
                return Some(Resolved::Primitive(class));
            };
            for &at in versions {
                candidates.push(at);
                let body = &self.table.bodies[at];
                let Some(values) = assign(arguments, &kinds(body)) else {
                    continue;
                };
                let values = || {
                    values
                        .into_iter()
                        .map(std::borrow::Cow::into_owned)
                        .collect()
                };
                if body.ports == ports {
                    return Some(Resolved::Body(at, values()));
                }
                near = Some(Resolved::Body(at, values()));
            }
            next = *extends;
        }
        if candidates.len() == 1 && near.is_some() {
            return near;
        }
        let name = &self.table.classes[class].name;
        let count = match arguments.len() {
            0 => String::new(),
            1 => "1 argument, ".to_owned(),
            count => format!("{count} arguments, "),
        };
        let text = format!(
            "no match for '{}[{count}{}]'",
            printable(name),
            counts(ports)
        );
        let help = "connect all of its ports, and give it the arguments of one of these";
        self.diagnostics
            .error_with_help(Some(landmark), text, Some(help.to_owned()));
        let mut beneath = Diagnostics::new();
        for body in candidates.iter().map(|at| &self.table.bodies[*at]) {
            beneath.note(Some(&body.landmark), self.signature(body));
        }
        let first = candidates
            .first()
            .map(|at| self.table.bodies[*at].landmark.clone());
        self.diagnostics
            .nest(first.as_ref(), "candidates are:", beneath);
        near
    }

    /// How a version of a class is printed: `A(<arg>, KEY, ...)[1 input, 2 outputs]`.
    fn signature(&self, body: &Body) -> String {
        let kinds: Vec<&str> = kinds(body)
            .into_iter()
            .map(|kind| match kind {
                "" => "<arg>",
                "__REST__" => "...",
                keyword => keyword,
            })
            .collect();
        // The tools print no parameters.
        let kinds = match kinds.len() {
            0 => String::new(),
            _ if self.is_tool => String::new(),
            _ => format!("({})", kinds.join(", ")),
        };
        format!(
            "{}{kinds}[{}]",
            printable(&body.class_name),
            counts(body.ports)
        )
    }

    /// Makes the variables of a compound: its arguments, then what it defines.
    fn open_scope(&mut self, body: usize, values: Vec<String>, used_in: usize) -> usize {
        let body = &self.table.bodies[body];
        let mut around = Some(used_in);
        while let Some(at) = around.filter(|at| self.scopes[*at].depth >= body.depth) {
            around = self.scopes[at].around;
        }
        let (parameters, defined) = body.variables.split_at(body.parameters);
        let variables = parameters
            .iter()
            .zip(values)
            .map(|(parameter, value)| Variable {
                name: parameter.name.clone(),
                value,
            })
            .collect();
        let at = self.scopes.len();
        self.scopes.push(Scope {
            depth: body.depth,
            around,
            variables,
        });
        for variable in defined {
            let value = self.substitute(&variable.value, at);
            self.scopes[at].variables.push(Variable {
                name: variable.name.clone(),
                value,
            });
        }
        at
    }

    /// Puts the parts of a compound in the place of the element at `outer`.
    fn open(&mut self, outer: usize, body: &Body, scope: usize, depth: usize) {
        let Node { name, landmark, .. } = self.flat.nodes[outer].clone();
        self.flat.nodes[outer].class = TUNNEL;
        // Pseudoelements are made when all has been read, and Click says so.
        let made_at = if self.is_tool {
            landmark.clone()
        } else {
            self.end.clone()
        };
        let opened = self.flat.open(&name, &made_at, self.diagnostics);
        let mut places: Vec<Option<usize>> = match opened {
            Some([_, input, output]) => vec![Some(input), Some(output)],
            None => vec![None, None],
        };
        places.resize(body.nodes.len(), None);
        for (at, node) in body.nodes.iter().enumerate().skip(2) {
            if self.flat.nodes.len() >= MOST_ELEMENTS {
                self.refused = Some("too many elements");
            }
            if self.refused.is_some() {
                return;
            }
            let part = format!("{name}/{}", node.name);
            if matches!(node.tunnel, Tunnel::Input(_) | Tunnel::Output(_)) {
                continue;
            }
            if let Some(old) = self.flat.find(&part) {
                let old = &self.flat.nodes[old].landmark;
                let here = if self.is_tool {
                    &node.landmark
                } else {
                    &landmark
                };
                redeclared("element", &part, here, old, self.diagnostics);
                continue;
            }
            if let Tunnel::Outer(input, output) = node.tunnel {
                let trio = self.flat.open(&part, &made_at, self.diagnostics);
                if let Some(trio) = trio {
                    for (from, to) in [at, input, output].into_iter().zip(trio) {
                        places[from] = Some(to);
                    }
                }
                continue;
            }
            let node = Node {
                name: part,
                ports: [0, 0],
                ..node.clone()
            };
            let place = self.flat.add(node);
            places[at] = Some(place);
            if self.is_tool {
                // Which version of a class is meant depends on the ports, and these on the links.
                self.flat.nodes[place].ports = body.nodes[at].ports;
                self.expand(place, scope, depth + 1);
            }
        }
        for link in &body.links {
            let port = |port: Port| {
                Some(Port {
                    element: places[port.element]?,
                    port: port.port,
                })
            };
            if let (Some(from), Some(to)) = (port(link.from), port(link.to)) {
                self.flat.connect(from, to, link.landmark.clone());
            }
        }
        if self.flat.links.len() > MOST_LINKS {
            self.refused = Some("too many connections");
        }
        if !self.is_tool {
            for place in places.into_iter().skip(2).flatten() {
                self.expand(place, scope, depth + 1);
            }
        }
    }
}

/// A version of a class, with the values of its parameters.
enum Resolved {
    Primitive(ClassId),
    Body(usize, Vec<String>),
}

/// The keywords of a version's parameters.
fn kinds(body: &Body) -> Vec<&str> {
    body.variables[..body.parameters]
        .iter()
        .map(|variable| variable.value.as_str())
        .collect()
}

fn counts(ports: [usize; 2]) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let [inputs, outputs] = ports;
    format!(
        "{inputs} input{}, {outputs} output{}",
        plural(inputs),
        plural(outputs)
    )
}

/// The variables that are seen from a scope.
struct View<'a> {
    scopes: &'a [Scope],
    scope: usize,
    bytes_left: Cell<usize>,
    is_spent: Cell<bool>,
}

impl View<'_> {
    /// Takes `bytes` of what may come out of variables; nothing once that is too much.
    fn spend(&self, bytes: usize) -> Option<()> {
        let left = self.bytes_left.get().checked_sub(bytes);
        self.is_spent.set(self.is_spent.get() || left.is_none());
        self.bytes_left.set(left?);
        (!self.is_spent.get()).then_some(())
    }
}

impl Variables for View<'_> {
    fn value(&self, name: &str, form: Form, depth: u32) -> Option<String> {
        let braces = match form {
            Form::Braces => Braces::read(name),
            Form::Plain | Form::Call => Braces {
                name,
                word: None,
                default: None,
            },
        };
        let mut scope = Some(self.scope);
        let mut found = None;
        while let (None, Some(at)) = (found, scope) {
            let here = &self.scopes[at];
            found = here
                .variables
                .iter()
                .find(|variable| variable.name == braces.name);
            scope = here.around;
        }
        let text = match found {
            Some(variable) => variable.value.as_str(),
            None => braces.default?,
        };
        self.spend(text.len() + 1)?;
        // A variable that the tools keep stands for itself.
        let is_kept = text.strip_prefix('$') == Some(braces.name);
        let text = if is_kept {
            text.to_owned()
        } else {
            let expanded = substitute(text, self, false, depth + 1);
            // Quotes within quotes double at every level.
            self.spend(expanded.len().saturating_sub(text.len()))?;
            expanded
        };
        Some(if found.is_some() {
            braces.select(text)
        } else {
            text
        })
    }
}
