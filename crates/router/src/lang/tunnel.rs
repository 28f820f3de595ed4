//! Follows connections through compounds and groups, whose ports are no element's.
//!
//! What enters a compound's input leaves its pseudoelement `input` by the same port, and what
//! enters its pseudoelement `output` leaves the compound. A link between two elements stands for
//! every path through such pairs from the one to the other.

use std::collections::{BTreeMap, BTreeSet};

use super::Port;
use super::body::{Body, Link, SIDES, TUNNEL, Tunnel};
use super::parser::MOST_LINKS;
use crate::diagnostic::Diagnostics;

/// How many links may be followed before it is too much.
const MOST_STEPS: usize = 1 << 26;

struct Graph<'a> {
    body: &'a Body,
    /// The links at each port of a pseudoelement: those to an input, those from an output.
    at: [BTreeMap<Port, Vec<usize>>; 2],
}

impl Graph<'_> {
    fn is_tunnel(&self, port: Port) -> bool {
        self.body.nodes[port.element].class == TUNNEL
    }

    /// The pseudoelement on the other side of an input (`side` 0) or output (1), if it has that
    /// side.
    fn across(&self, port: Port, side: usize) -> Option<Port> {
        let element = match (self.body.nodes[port.element].tunnel, side) {
            (Tunnel::Outer(input, _), 0) => input,
            (Tunnel::Outer(_, output), 1) => output,
            (Tunnel::Input(outer), 1) | (Tunnel::Output(outer), 0) => outer,
            _ => return None,
        };
        Some(Port {
            element,
            port: port.port,
        })
    }

    /// The ends that follow an end on `side`, by the links on the other side of its pair.
    fn beyond(&self, port: Port, side: usize) -> Option<Vec<Port>> {
        let across = self.across(port, side)?;
        let links = self.at[1 - side]
            .get(&across)
            .map_or(&[][..], Vec::as_slice);
        let end = |link: &usize| {
            let link = &self.body.links[*link];
            if side == 0 { link.to } else { link.from }
        };
        Some(links.iter().map(end).collect())
    }

    /// Tells what is wrong along the paths from an end; `told` are the ends already seen.
    fn check(
        &self,
        from: Port,
        side: usize,
        told: &mut BTreeSet<(Port, usize)>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut stack = vec![from];
        while let Some(port) = stack.pop() {
            if !self.is_tunnel(port) {
                continue;
            }
            let Some(beyond) = self.beyond(port, side) else {
                if self.across(port, 1 - side).is_some() {
                    let node = &self.body.nodes[port.element];
                    let text = format!("'{}' used as {}", node.name, SIDES[side]);
                    diagnostics.error(Some(&node.landmark), text);
                }
                continue;
            };
            if !told.insert((port, side)) {
                continue;
            }
            if beyond.is_empty() {
                self.dead_end(port, side, diagnostics);
            }
            stack.extend(beyond.into_iter().rev());
        }
    }

    /// Tells that a port of a compound or group leads nowhere.
    fn dead_end(&self, port: Port, side: usize, diagnostics: &mut Diagnostics) {
        let nodes = &self.body.nodes;
        // Seen from outside, the port is not there; from inside, nobody uses it.
        let (outer, is_inside, which) = match nodes[port.element].tunnel {
            Tunnel::Input(outer) => (outer, true, 0),
            Tunnel::Output(outer) => (outer, true, 1),
            _ => (port.element, false, side),
        };
        let name = &nodes[outer].name;
        let text = if is_inside {
            format!("'{name}' {} {} unused", SIDES[which], port.port)
        } else {
            format!("'{name}' has no {} {}", SIDES[which], port.port)
        };
        diagnostics.error(Some(&nodes[outer].landmark), text);
    }

    /// The outputs of elements that lead to an output of a pseudoelement.
    fn sources(&self, to: Port, seen: &mut [usize], round: usize, steps: &mut usize) -> Vec<Port> {
        let mut found = Vec::new();
        let mut stack = vec![to];
        while let Some(port) = stack.pop() {
            let Some(across) = self.across(port, 1) else {
                continue;
            };
            let links = self.at[0].get(&across).map_or(&[][..], Vec::as_slice);
            *steps += links.len() + 1;
            if *steps > MOST_STEPS {
                return found;
            }
            for &link in links {
                if seen[link] == round {
                    continue;
                }
                seen[link] = round;
                let from = self.body.links[link].from;
                if self.is_tunnel(from) {
                    stack.push(from);
                } else {
                    found.push(from);
                }
            }
        }
        found
    }
}

/// All links between elements, those of the body first, none twice; `None` where they are too many.
pub(super) fn through(body: &Body, diagnostics: &mut Diagnostics) -> Option<Vec<Link>> {
    let mut graph = Graph {
        body,
        at: [BTreeMap::new(), BTreeMap::new()],
    };
    let mut given = BTreeSet::new();
    let mut links = Vec::new();
    for (at, link) in body.links.iter().enumerate() {
        for (side, port) in [link.to, link.from].into_iter().enumerate() {
            if graph.is_tunnel(port) {
                graph.at[side].entry(port).or_default().push(at);
            }
        }
        let is_plain = !graph.is_tunnel(link.from) && !graph.is_tunnel(link.to);
        if is_plain && given.insert((link.from, link.to)) {
            links.push(link.clone());
        }
    }
    let mut told = BTreeSet::new();
    let mut seen = vec![usize::MAX; body.links.len()];
    let mut steps = 0;
    for (at, link) in body.links.iter().enumerate() {
        graph.check(link.from, 1, &mut told, diagnostics);
        graph.check(link.to, 0, &mut told, diagnostics);
        if !graph.is_tunnel(link.from) || graph.is_tunnel(link.to) {
            continue;
        }
        for from in graph.sources(link.from, &mut seen, at, &mut steps) {
            if given.insert((from, link.to)) {
                links.push(Link {
                    from,
                    to: link.to,
                    landmark: link.landmark.clone(),
                });
            }
        }
        if steps > MOST_STEPS || links.len() > MOST_LINKS {
            return None;
        }
    }
    Some(links)
}
