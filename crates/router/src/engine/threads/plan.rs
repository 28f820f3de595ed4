//! Which thread runs which element.
//!
//! Elements that pass packets to one another without a queue between them, or that name one another
//! in their arguments, are one *region*, and a region runs on one thread: nothing is shared, so no
//! element needs a lock. Regions meet in elements that take packets by push and give them by pull:
//! such an element belongs to who pulls from it, and others' packets are carried to it.
//!
//! ```text
//!   thread 0                          thread 1
//!   FromDevice -> Classifier -> ... ┄┄► Queue -> ToDevice
//! ```

use super::wishes::{Wish, Wishes};
use crate::args::definitions::Definitions;
use crate::args::element_names::ElementNames;
use crate::args::{Args, Kind, Value};
use crate::diagnostic::Diagnostics;
use crate::engine::{ElementId, Node};
use crate::graph::processing::Mode;
use crate::lang::{Connection, Flat};
use std::collections::{BTreeMap, VecDeque};

/// Whether packets that come to `element` by push are taken from it by pull.
fn is_store(node: &Node) -> bool {
    node.modes.inputs.contains(&Mode::Push) && node.modes.outputs.contains(&Mode::Pull)
}

/// Whether a connection may lead from one thread to another.
pub(super) fn may_cross(nodes: &[Node], connection: &Connection) -> bool {
    let to = connection.to;
    let node = &nodes[to.element];
    is_store(node) && node.modes.inputs[to.port] == Mode::Push
}

/// For each element those that must run on the same thread as it.
fn ties(
    flat: &Flat,
    names: &ElementNames,
    nodes: &[Node],
    definitions: &Definitions,
) -> Vec<Vec<ElementId>> {
    let mut ties = vec![Vec::new(); nodes.len()];
    let mut tie = |a: ElementId, b: ElementId| {
        ties[a].push(b);
        ties[b].push(a);
    };
    for connection in &flat.connections {
        if !may_cross(nodes, connection) {
            tie(connection.from.element, connection.to.element);
        }
    }
    for (id, node) in nodes.iter().enumerate() {
        let named = node.entry.params.iter().filter(|p| p.kind == Kind::Element);
        for param in named {
            let within = definitions.within(&flat.elements[id].name, names);
            let args = Args::resolve(node.entry.params, &node.config, &within, None);
            let Ok(args) = args else { continue };
            for value in args.all(param.name) {
                if let Value::Element(Some(other)) = value {
                    tie(id, *other);
                }
            }
        }
    }
    ties
}

/// The way from `from` to `to` along ties, both ends included.
fn way(ties: &[Vec<ElementId>], from: ElementId, to: ElementId) -> Vec<ElementId> {
    let mut before: BTreeMap<ElementId, ElementId> = BTreeMap::from([(from, from)]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for next in &ties[at] {
            if !before.contains_key(next) {
                before.insert(*next, at);
                queue.push_back(*next);
            }
        }
    }
    let mut way = vec![to];
    while let Some(at) = way.last().filter(|at| **at != from) {
        match before.get(at) {
            Some(at) => way.push(*at),
            None => break,
        }
    }
    way.reverse();
    way
}

/// The thread of each element. Says which elements cannot be on the threads that were asked for,
/// and why.
pub(in crate::engine) fn plan(
    flat: &Flat,
    names: &ElementNames,
    nodes: &[Node],
    definitions: &Definitions,
    wishes: &Wishes,
) -> Result<Vec<usize>, Diagnostics> {
    let ties = ties(flat, names, nodes, definitions);
    let mut said = Diagnostics::new();
    let (mut homes, mut seen) = (vec![0; nodes.len()], vec![false; nodes.len()]);
    let mut load = vec![0; wishes.threads.max(1)];
    let mut free: Vec<Vec<ElementId>> = Vec::new();
    for first in 0..nodes.len() {
        if seen[first] {
            continue;
        }
        let region = region(&ties, first);
        for id in &region {
            seen[*id] = true;
        }
        // A wish for a compound yields to one for an element, and one for a queue, which has no
        // task, to one for who pulls from it.
        let strength = |id: ElementId, wish: &Wish| (!is_store(&nodes[id]), wish.is_named);
        let wished = region.iter().filter_map(|id| {
            let wish = wishes.fixed.get(id)?;
            Some((strength(*id, wish), *id, usize::try_from(wish.home).ok()?))
        });
        let wished: Vec<_> = wished.collect();
        let strongest = wished.iter().map(|(strength, ..)| *strength).max();
        let wished = wished.into_iter();
        let mut wished = wished
            .filter(|(strength, ..)| Some(*strength) == strongest)
            .map(|(_, id, home)| (id, home));
        let Some((leader, home)) = wished.next() else {
            free.push(region);
            continue;
        };
        let describe = |id: ElementId| {
            let declared = &flat.elements[id];
            format!("'{} :: {}'", declared.name, declared.class)
        };
        for (other, elsewhere) in wished.filter(|(_, other)| *other != home) {
            let way = way(&ties, leader, other);
            let middle: Vec<String> = way[1..way.len() - 1]
                .iter()
                .map(|id| describe(*id))
                .collect();
            let by = match middle.as_slice() {
                [] => "are connected".to_owned(),
                between => format!("meet in {}", between.join(", ")),
            };
            let (one, two) = (describe(leader), describe(other));
            let text = format!(
                "{one} on thread {home} and {two} on thread {elsewhere} {by} without a queue \
                 between them"
            );
            let help =
                "threads share no elements: put a Queue between them, or give both one thread";
            let landmark = &flat.elements[other].landmark;
            said.error_with_help(Some(landmark), text, Some(help.to_owned()));
        }
        load[home] += region.len();
        for id in region {
            homes[id] = home;
        }
    }
    // The largest first, so that small ones even out what they leave.
    free.sort_by_key(|region| std::cmp::Reverse(region.len()));
    for region in free {
        let home = if wishes.is_balanced && region.len() > 1 {
            (0..load.len())
                .min_by_key(|thread| load[*thread])
                .unwrap_or(0)
        } else {
            0
        };
        load[home] += region.len();
        for id in region {
            homes[id] = home;
        }
    }
    if said.has_errors() {
        return Err(said);
    }
    Ok(homes)
}

/// All elements tied to `first`, in the order of their numbers.
fn region(ties: &[Vec<ElementId>], first: ElementId) -> Vec<ElementId> {
    let mut seen = std::collections::BTreeSet::from([first]);
    let mut open = vec![first];
    while let Some(at) = open.pop() {
        for next in &ties[at] {
            if seen.insert(*next) {
                open.push(*next);
            }
        }
    }
    seen.into_iter().collect()
}
