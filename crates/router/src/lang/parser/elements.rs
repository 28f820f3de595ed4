//! Elements of a chain: `[in] name :: class(config) [out]`, lists of them, implied pseudoelements.

use super::super::body::{ClassId, SIDES, TUNNEL};
use super::super::connect::{End, Ports};
use super::super::lexer::{Kind, Token};
use super::{Around, Block, Parser};
use crate::diagnostic::Landmark;

/// The highest port number; no machine has the memory for a router that uses more.
const LAST_PORT: usize = 65_535;

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

impl Parser<'_> {
    /// Reads `[in] name :: class(config) [out], …`; `None` where there is no element.
    pub(super) fn elements(&mut self, block: &Block, is_first: bool) -> Option<Vec<End>> {
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
        if !self.is_tool() {
            let help = self.propose(&written.name, true);
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

    /// Within a compound or group a chain may begin and end with an arrow: `input` or `output` is
    /// meant.
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
}

/// A port number: decimal, `0x` hexadecimal, `0b` binary or `0` octal; one `_` may stand between
/// digits.
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
}
