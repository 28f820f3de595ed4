//! Drawings of configurations as Click's papers have them: push ports black, pull ports white.

pub mod dot;
mod layout;
pub mod svg;

use crate::elements;
use crate::graph::flow::FlowCode;
use crate::graph::ports::Ports;
use crate::graph::processing::{Mode, Modes, Shape, resolve};
use crate::lang::{Connection, Flat};

/// What is drawn: the graph, and what each port is.
#[derive(Debug)]
pub struct Picture<'a> {
    /// The graph.
    pub flat: &'a Flat,
    /// The ports of each element.
    pub modes: Vec<Modes>,
}

/// How a port is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    is_push: bool,
    /// It is what its surroundings are: drawn doubled.
    is_agnostic: bool,
}

impl<'a> Picture<'a> {
    /// A picture of `flat`. Of a class that this build does not have all ports are agnostic.
    pub fn of(flat: &'a Flat) -> Picture<'a> {
        let entries: Vec<_> = flat
            .elements
            .iter()
            .map(|e| elements::find(&e.class))
            .collect();
        let mut used = vec![(0, 0); flat.elements.len()];
        for c in &flat.connections {
            let outputs = &mut used[c.from.element].1;
            *outputs = (*outputs).max(c.from.port + 1);
            let inputs = &mut used[c.to.element].0;
            *inputs = (*inputs).max(c.to.port + 1);
        }
        let shapes: Vec<Shape> = entries
            .iter()
            .zip(used)
            .map(|(entry, used)| {
                let counts = entry.map(|entry| Ports::parse(entry.ports).resolve(used.0, used.1));
                let counts = counts.unwrap_or(used);
                Shape {
                    processing: entry.map_or("a/a", |entry| entry.processing),
                    flow: FlowCode::parse(entry.map_or("x/x", |entry| entry.flow)),
                    // Ports that are used and should not be are drawn all the same.
                    inputs: counts.0.max(used.0),
                    outputs: counts.1.max(used.1),
                }
            })
            .collect();
        let wire = |c: &Connection| ((c.from.element, c.from.port), (c.to.element, c.to.port));
        let wires: Vec<_> = flat.connections.iter().map(wire).collect();
        let (modes, _) = resolve(&shapes, &wires);
        Picture { flat, modes }
    }

    fn inputs(&self, at: usize) -> Vec<Look> {
        looks(&self.modes[at].inputs, &self.modes[at].free_inputs)
    }

    fn outputs(&self, at: usize) -> Vec<Look> {
        looks(&self.modes[at].outputs, &self.modes[at].free_outputs)
    }

    /// What is written on an element: its name if it was given one, and its class with its
    /// arguments.
    fn label(&self, at: usize, widest: usize) -> Vec<String> {
        let element = &self.flat.elements[at];
        let own = element.name.rsplit('/').next().unwrap_or_default();
        let is_anonymous = own.starts_with(&format!("{}@", element.class));
        let config = element
            .config
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut class = element.class.clone();
        if !config.is_empty() {
            class = format!("{class}({config})");
        }
        let mut lines = Vec::new();
        if !is_anonymous {
            lines.push(shortened(&element.name, widest));
        }
        lines.push(shortened(&class, widest));
        lines
    }
}

fn looks(modes: &[Mode], free: &[bool]) -> Vec<Look> {
    let look = |(mode, free): (&Mode, &bool)| Look {
        is_push: *mode != Mode::Pull,
        is_agnostic: *free,
    };
    modes.iter().zip(free).map(look).collect()
}

fn shortened(text: &str, widest: usize) -> String {
    if text.chars().count() <= widest {
        return text.to_owned();
    }
    let short: String = text.chars().take(widest.saturating_sub(1)).collect();
    short + "…"
}
