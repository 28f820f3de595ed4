//! Prints a flat graph as a configuration again.
//!
//! Chains of connections are printed together: after a connection to input 0 of an element comes
//! one from its output 0. Handlers print the bare configuration; the tools add lines that say where
//! each element was declared.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Flat, Port};
use crate::args::text::quote;
use crate::diagnostic::Landmark;

/// The configuration as the handlers `config` and `flatconfig` print it.
pub fn router(flat: &Flat) -> String {
    let mut out = String::new();
    requirements(flat, &mut out);
    for element in &flat.elements {
        declaration(&element.name, &element.class, &element.config, &mut out);
    }
    if !flat.elements.is_empty() {
        out.push('\n');
    }
    chains(flat, &mut out);
    out
}

/// The configuration as `click-flatten` prints it.
pub fn tool(flat: &Flat) -> String {
    let mut out = String::new();
    requirements(flat, &mut out);
    if !flat.definitions.is_empty() {
        let each = flat
            .definitions
            .iter()
            .map(|(name, value)| format!("${name} {value}"));
        writeln!(out, "define({});\n", each.collect::<Vec<_>>().join(", ")).expect("it grows");
    }
    for element in &flat.elements {
        let Landmark { file, line, .. } = &element.landmark;
        writeln!(out, "# {line} \"{file}\"").expect("a string takes any text");
        declaration(&element.name, &element.class, &element.config, &mut out);
    }
    if !flat.connections.is_empty() {
        let line = out.bytes().filter(|byte| *byte == b'\n').count() + 2;
        writeln!(out, "# {line} \"\"").expect("a string takes any text");
    }
    chains(flat, &mut out);
    out
}

fn requirements(flat: &Flat, out: &mut String) {
    if flat.requirements.is_empty() {
        return;
    }
    let each = flat
        .requirements
        .iter()
        .map(|(kind, name)| match name.as_str() {
            "" => kind.clone(),
            name => format!("{kind} {}", quote(name.as_bytes())),
        });
    writeln!(out, "require({});\n", each.collect::<Vec<_>>().join(", ")).expect("it grows");
}

fn declaration(name: &str, class: &str, config: &str, out: &mut String) {
    write!(out, "{name} :: {class}").expect("a string takes any text");
    if !config.is_empty() {
        write!(out, "({config})").expect("a string takes any text");
    }
    out.push_str(";\n");
}

fn chains(flat: &Flat, out: &mut String) {
    let connections = &flat.connections;
    let mut leaving: BTreeMap<Port, Vec<usize>> = BTreeMap::new();
    for (at, connection) in connections.iter().enumerate() {
        leaving.entry(connection.from).or_default().push(at);
    }
    let mut next = vec![None; connections.len()];
    let mut is_start = vec![true; connections.len()];
    for (at, connection) in connections.iter().enumerate() {
        if connection.to.port != 0 {
            continue;
        }
        // The first that goes on to an input 0, else the last there is.
        let after = leaving.get(&connection.to).map_or(&[][..], Vec::as_slice);
        let others = || after.iter().copied().filter(|other| *other != at);
        let goes_on = |other: &usize| connections[*other].to.port == 0;
        if let Some(chosen) = others().find(goes_on).or_else(|| others().next_back()) {
            next[at] = Some(chosen);
            is_start[chosen] = false;
        }
    }
    let mut used = vec![false; connections.len()];
    let starts = (0..connections.len()).filter(|at| is_start[*at]);
    // Then what is left: cycles.
    for start in starts.chain(0..connections.len()) {
        if used[start] {
            continue;
        }
        let Port { element, port } = connections[start].from;
        out.push_str(&flat.elements[element].name);
        if port > 0 {
            write!(out, " [{port}]").expect("a string takes any text");
        }
        let mut at = Some(start);
        while let Some(here) = at.filter(|at| !used[*at]) {
            out.push_str(if here == start { " -> " } else { "\n    -> " });
            let Port { element, port } = connections[here].to;
            if port > 0 {
                write!(out, "[{port}] ").expect("a string takes any text");
            }
            out.push_str(&flat.elements[element].name);
            used[here] = true;
            at = next[here];
        }
        out.push_str(";\n");
    }
}
