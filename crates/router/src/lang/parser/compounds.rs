//! Compound classes and groups: versions, parameters, what `...` extends.

use std::collections::BTreeMap;

use super::super::body::{Body, ClassId, ClassKind, SIDES, TUNNEL, Variable};
use super::super::lexer::Kind;
use super::{Around, DEEPEST, Parser};

impl Parser<'_> {
    /// Reads `elementclass NAME …`.
    pub(super) fn element_class(&mut self) {
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
    pub(super) fn compound(&mut self, name: &str) -> ClassId {
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
    pub(super) fn group(&mut self, name: &str) -> [usize; 2] {
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
        let since = body.links.len();
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
                since,
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
}
