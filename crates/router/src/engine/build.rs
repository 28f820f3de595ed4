//! From a flat configuration to a router: every check, in Click's order, and every message.
//!
//! Classes exist, ports exist, push meets push, every port is used and none twice; then elements
//! are configured by phase, and initialized. Where anything is wrong nothing runs, and what was
//! initialized is cleaned up in reverse.

use super::configure::Given;
use super::context::{Configuration, Ctx, Node, Threading, Wiring};
use super::ids::{ElementId, Target, Way};
use super::options::Options;
use super::threads::plan::plan;
use super::threads::wishes::Wishes;
use super::{Classes, Element, Entry};
use crate::args::definitions::Definitions;
use crate::args::machine_names::Machine;
use crate::diagnostic::Diagnostics;
use crate::graph::flow::FlowCode;
use crate::graph::index::Index;
use crate::graph::multiply;
use crate::graph::ports::Ports;
use crate::graph::processing::{self, Conflict, Mode, Modes, Shape, Wire};
use crate::graph::pull_depth;
use crate::host::{Host, reason};
use crate::lang::{Connection, Flat};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `'name :: Class'`.
fn quoted(flat: &Flat, element: ElementId) -> String {
    let declared = &flat.elements[element];
    format!("'{} :: {}'", declared.name, declared.class)
}

/// The last thing said where a router cannot run.
pub const FAILED: &str = "Router could not be initialized!";

/// A router of elements of these `classes`, which are configured; `initialize` starts it.
pub fn build(
    classes: Classes,
    flat: Flat,
    source: String,
    host: Box<dyn Host>,
    options: Options,
) -> Result<(Ctx, Diagnostics), Diagnostics> {
    let mut said = Diagnostics::new();
    let Some(entries) = entries(classes, &flat, &mut said) else {
        return Err(failed(said));
    };
    let counts = counts(&flat, &entries, &mut said);
    if said.has_errors() {
        return Err(failed(said));
    }
    let modes = modes(&flat, &entries, &counts, &mut said);
    if said.has_errors() {
        return Err(failed(said));
    }
    uses(&flat, &modes, &mut said);
    let wires: Vec<Wire> = flat.connections.iter().map(wire).collect();
    if let Some(at) = pull_depth::too_deep(&modes, &wires, pull_depth::MOST) {
        let who = quoted(&flat, at);
        let text = format!(
            "a pull passes more than {} elements up to {who}",
            pull_depth::MOST
        );
        let help = "put a Queue and an Unqueue between them".to_owned();
        said.error_with_help(Some(&flat.elements[at].landmark), text, Some(help));
    }
    if said.has_errors() {
        return Err(failed(said));
    }
    for (element, output) in multiply::outputs(&flat, &modes) {
        let text = format!(
            "packets multiply: what leaves {} by output {output} comes back to it, \
             with no queue between",
            quoted(&flat, element)
        );
        said.warning(Some(&flat.elements[element].landmark), text);
    }
    let mut host = host;
    let mut definitions = Definitions::of(Machine::new(host.machine_names()));
    let index = Arc::new(Index::new(&flat));
    let mut wishes = Wishes {
        threads: options.threads,
        ..Wishes::default()
    };
    let mut made: Vec<Box<dyn Element>> = entries.iter().map(|entry| (entry.make)()).collect();
    let mut order: Vec<ElementId> = (0..made.len()).collect();
    order.sort_by_key(|id| entries[*id].phase);
    for id in order {
        let element = made[id].as_mut();
        let given = Given {
            classes,
            flat: &flat,
            index: &index,
            id,
            entry: entries[id],
            modes: &modes[id],
            config: &flat.elements[id].config,
        };
        let inner = given.configure(element, &mut definitions, &mut wishes);
        let introduction = format!("While configuring {}:", quoted(&flat, id));
        said.nest(Some(&flat.elements[id].landmark), introduction, inner);
    }
    if said.has_errors() {
        return Err(failed(said));
    }
    let nodes: Vec<Node> = std::iter::zip(&entries, modes)
        .zip(&flat.elements)
        .map(|((entry, modes), declared)| Node {
            entry,
            config: declared.config.clone(),
            modes,
        })
        .collect();
    let homes = if options.threads > 1 {
        match plan(&flat, &index.names, &nodes, &definitions, &wishes) {
            Ok(homes) => homes,
            Err(more) => {
                said.extend(more);
                return Err(failed(said));
            }
        }
    } else {
        Vec::new()
    };
    let quiet = wishes.fixed.iter().filter(|(_, wish)| wish.home < 0);
    let quiet = quiet.map(|(element, _)| *element).collect();
    let (first_output, targets) = wiring(
        &flat,
        &nodes,
        |node| node.modes.outputs.len(),
        |c| (c.from, c.to),
    );
    let (first_input, sources) = wiring(
        &flat,
        &nodes,
        |node| node.modes.inputs.len(),
        |c| (c.to, c.from),
    );
    let wiring = Wiring {
        ways: ways(&first_output, &targets),
        first_output,
        first_input,
        sources,
    };
    let config = Configuration {
        classes,
        nodes,
        flat,
        source,
        definitions,
        index,
    };
    let threads = Threading {
        homes,
        processor: options.processor,
        ..Threading::default()
    };
    let slots = made.into_iter().map(Some).collect();
    let mut ctx = Ctx::new(slots, wiring, config, host, threads, options);
    ctx.schedule.quiet = quiet;
    if let Err(why) = ctx.split() {
        said.error(None, format!("several threads: {}", reason(&why)));
        return Err(failed(said));
    }
    Ok((ctx, said))
}

fn failed(mut said: Diagnostics) -> Diagnostics {
    said.error(None, FAILED);
    said
}

/// The class of every element.
fn entries(classes: Classes, flat: &Flat, said: &mut Diagnostics) -> Option<Vec<&'static Entry>> {
    let mut entries = Vec::new();
    for declared in &flat.elements {
        match classes.find(&declared.class) {
            Some(entry) => entries.push(entry),
            None => said.error(
                Some(&declared.landmark),
                format!("unknown element class '{}'", declared.class),
            ),
        }
    }
    (entries.len() == flat.elements.len()).then_some(entries)
}

/// Ports that exist: how many inputs and outputs each element has.
fn counts(flat: &Flat, entries: &[&Entry], said: &mut Diagnostics) -> Vec<(usize, usize)> {
    let mut used = vec![(0, 0); entries.len()];
    for connection in &flat.connections {
        let outputs = &mut used[connection.from.element].1;
        *outputs = (*outputs).max(connection.from.port + 1);
        let inputs = &mut used[connection.to.element].0;
        *inputs = (*inputs).max(connection.to.port + 1);
    }
    let counts: Vec<(usize, usize)> = std::iter::zip(entries, used)
        .map(|(entry, (inputs, outputs))| Ports::parse(entry.ports).resolve(inputs, outputs))
        .collect();
    for connection in &flat.connections {
        let ends = [
            (connection.from, counts[connection.from.element].1, "output"),
            (connection.to, counts[connection.to.element].0, "input"),
        ];
        for (end, count, what) in ends {
            if end.port >= count {
                let who = quoted(flat, end.element);
                let text = format!("{who} has no {what} {}", end.port);
                said.error(Some(&connection.landmark), text);
            }
        }
    }
    counts
}

/// Push or pull, for every port.
fn modes(
    flat: &Flat,
    entries: &[&Entry],
    counts: &[(usize, usize)],
    said: &mut Diagnostics,
) -> Vec<Modes> {
    let shapes: Vec<Shape> = std::iter::zip(entries, counts)
        .map(|(entry, (inputs, outputs))| Shape {
            processing: entry.processing,
            flow: FlowCode::parse(entry.flow),
            inputs: *inputs,
            outputs: *outputs,
        })
        .collect();
    let wires: Vec<Wire> = flat.connections.iter().map(wire).collect();
    let (modes, conflicts) = processing::resolve(&shapes, &wires);
    for conflict in conflicts {
        match conflict {
            Conflict::Connection(at) => {
                let connection = &flat.connections[at];
                let (from, to) = (connection.from, connection.to);
                let text = format!(
                    "{} {} output {} connected to {} {} input {}",
                    quoted(flat, from.element),
                    modes[from.element].outputs[from.port].word(),
                    from.port,
                    quoted(flat, to.element),
                    modes[to.element].inputs[to.port].word(),
                    to.port,
                );
                said.unplaced_error(&connection.landmark, text);
            }
            Conflict::Through {
                element,
                input,
                output,
            } => {
                let text = format!(
                    "agnostic {} in mixed context: {} input {input}, {} output {output}",
                    quoted(flat, element),
                    modes[element].inputs[input].word(),
                    modes[element].outputs[output].word(),
                );
                said.unplaced_error(&flat.elements[element].landmark, text);
            }
        }
    }
    modes
}

fn wire(connection: &Connection) -> Wire {
    let (from, to) = (connection.from, connection.to);
    ((from.element, from.port), (to.element, to.port))
}

/// Every port is used, push outputs and pull inputs once only.
fn uses(flat: &Flat, modes: &[Modes], said: &mut Diagnostics) {
    let mut used: BTreeMap<(ElementId, bool, usize), usize> = BTreeMap::new();
    for connection in &flat.connections {
        let (from, to) = (connection.from, connection.to);
        let ends = [
            (
                from,
                true,
                modes[from.element].outputs[from.port] == Mode::Push,
                "push output",
            ),
            (
                to,
                false,
                modes[to.element].inputs[to.port] == Mode::Pull,
                "pull input",
            ),
        ];
        for (end, is_output, once, what) in ends {
            let count = used.entry((end.element, is_output, end.port)).or_default();
            *count += 1;
            if once && *count == 2 {
                let who = quoted(flat, end.element);
                let text = format!("illegal reuse of {who} {what} {}", end.port);
                said.error(Some(&flat.elements[end.element].landmark), text);
            }
        }
    }
    for (element, modes) in modes.iter().enumerate() {
        let sides = [
            (false, modes.inputs.len(), "input"),
            (true, modes.outputs.len(), "output"),
        ];
        for (is_output, count, what) in sides {
            for port in 0..count {
                if !used.contains_key(&(element, is_output, port)) {
                    let text = format!("{} {what} {port} unused", quoted(flat, element));
                    said.error(Some(&flat.elements[element].landmark), text);
                }
            }
        }
    }
}

/// For each element where its ports begin, and for each port where the other end is.
fn wiring(
    flat: &Flat,
    nodes: &[Node],
    count: impl Fn(&Node) -> usize,
    ends: impl Fn(&Connection) -> (crate::lang::Port, crate::lang::Port),
) -> (Vec<u32>, Vec<Target>) {
    let mut first = vec![0];
    for node in nodes {
        first.push(first.last().expect("it has the first") + count(node) as u32);
    }
    let mut targets = vec![Target::NONE; *first.last().expect("it has the first") as usize];
    for connection in &flat.connections {
        let (near, far) = ends(connection);
        targets[first[near.element] as usize + near.port] = Target {
            element: far.element as u32,
            port: far.port as u32,
        };
    }
    (first, targets)
}

/// Outputs with their lanes: that of the element's first output which leads to the same input.
fn ways(first_output: &[u32], targets: &[Target]) -> Vec<Way> {
    let of = |bounds: &[u32]| {
        let (first, end) = (bounds[0] as usize, bounds[1] as usize);
        let mut lanes = BTreeMap::new();
        let lane = move |at: usize| {
            let to = targets[at];
            let lane = *lanes.entry((to.element, to.port)).or_insert(at as u32);
            Way { to, lane }
        };
        (first..end).map(lane).collect::<Vec<Way>>()
    };
    first_output.windows(2).flat_map(of).collect()
}

impl Ctx {
    /// Prepares, initializes and starts every element, in the order of its phase.
    pub fn initialize(&mut self) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let mut order: Vec<ElementId> = (0..self.config.nodes.len()).collect();
        order.sort_by_key(|id| self.config.nodes[*id].entry.phase);
        for id in &order {
            self.with(*id, Element::prepare);
        }
        for (at, id) in order.iter().enumerate() {
            let result = self.with(*id, Element::initialize);
            if let Some(Err(text)) = result {
                let mut inner = Diagnostics::new();
                for line in text.lines() {
                    inner.error(None, line);
                }
                let introduction =
                    format!("While initializing {}:", quoted(&self.config.flat, *id));
                let landmark = self.config.flat.elements[*id].landmark.clone();
                said.nest(Some(&landmark), introduction, inner);
                for done in order[..at].iter().rev() {
                    self.with(*done, Element::cleanup);
                }
                self.close_opened();
                return Err(failed(said));
            }
        }
        for at in 0..self.others().len() {
            let started = self.others()[at].initialize();
            let lacks = self.others()[at].world.lacks;
            if let Err(mut more) = started {
                self.world.lacks |= lacks;
                for ctx in &mut self.others()[..at] {
                    ctx.cleanup();
                }
                self.clean_elements();
                self.close_opened();
                more.extend(said);
                return Err(more);
            }
        }
        for id in order {
            self.with(id, Element::start);
        }
        Ok(())
    }

    /// Cleans every element up, in reverse, and closes the devices.
    pub fn cleanup(&mut self) {
        for ctx in self.others() {
            ctx.cleanup();
        }
        self.clean_elements();
        self.close_devices(|_| true);
    }

    /// Cleans every element up, in reverse.
    pub(super) fn clean_elements(&mut self) {
        for id in (0..self.config.nodes.len()).rev() {
            self.with(id, Element::cleanup);
        }
    }
}
