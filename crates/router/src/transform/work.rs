//! A flat graph while it is being changed: elements keep their places until all is done.

use crate::diagnostic::Landmark;
use crate::lang::{Connection, Declared, Flat, Port};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A graph with gaps where elements were removed.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) elements: Vec<Option<Declared>>,
    pub(super) connections: Vec<Connection>,
    vacant: Vec<usize>,
    requirements: Vec<(String, String)>,
    definitions: Vec<(String, String)>,
}

/// An input or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

/// A port of an element.
pub(super) fn port(element: usize, port: usize) -> Port {
    Port { element, port }
}

/// The landmark of what the program called `name` adds.
pub(super) fn made_by(name: &str) -> Landmark {
    Landmark {
        file: Arc::from(format!("<{name}>")),
        line: 0,
        span: None,
    }
}

impl From<Flat> for Work {
    fn from(flat: Flat) -> Work {
        Work {
            elements: flat.elements.into_iter().map(Some).collect(),
            connections: flat.connections,
            vacant: Vec::new(),
            requirements: flat.requirements,
            definitions: flat.definitions,
        }
    }
}

impl Work {
    /// The graph without its gaps.
    pub(super) fn finish(mut self) -> Flat {
        self.prune();
        let mut places = Vec::with_capacity(self.elements.len());
        let mut elements = Vec::new();
        for element in self.elements {
            places.push(elements.len());
            elements.extend(element);
        }
        for connection in &mut self.connections {
            connection.from.element = places[connection.from.element];
            connection.to.element = places[connection.to.element];
        }
        Flat {
            elements,
            connections: self.connections,
            requirements: self.requirements,
            definitions: self.definitions,
        }
    }

    /// The elements there are, with their places.
    pub(super) fn live(&self) -> impl Iterator<Item = (usize, &Declared)> {
        let each = self.elements.iter().enumerate();
        each.filter_map(|(at, element)| Some((at, element.as_ref()?)))
    }

    /// The elements of this class.
    pub(super) fn of_class(&self, class: &str) -> Vec<usize> {
        let alike = self.live().filter(|(_, element)| element.class == class);
        alike.map(|(at, _)| at).collect()
    }

    /// The element of this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let mut all = self.live();
        all.find(|(_, element)| element.name == name)
            .map(|found| found.0)
    }

    pub(super) fn is_class(&self, at: usize, class: &str) -> bool {
        self.elements[at].as_ref().is_some_and(|e| e.class == class)
    }

    /// Adds an element at the end.
    pub(super) fn add(&mut self, element: Declared) -> usize {
        self.elements.push(Some(element));
        self.elements.len() - 1
    }

    /// Adds an element where one was removed last by [`Work::vacate`], else at the end.
    pub(super) fn settle(&mut self, element: Declared) -> usize {
        match self.vacant.pop() {
            Some(at) => {
                self.elements[at] = Some(element);
                at
            }
            None => self.add(element),
        }
    }

    /// Adds an element without a name of its own.
    pub(super) fn add_anonymous(&mut self, class: &str, landmark: Landmark) -> usize {
        let mut number = self.elements.len() + 1;
        while self.find(&format!("{class}@{number}")).is_some() {
            number += 1;
        }
        self.add(Declared {
            name: format!("{class}@{number}"),
            class: class.to_owned(),
            config: String::new(),
            landmark,
        })
    }

    /// Removes an element; its connections go with [`Work::prune`].
    pub(super) fn remove(&mut self, at: usize) {
        self.elements[at] = None;
    }

    /// Removes an element with its connections; its place is given to the next that settles.
    pub(super) fn vacate(&mut self, at: usize) {
        self.elements[at] = None;
        self.connections
            .retain(|c| c.from.element != at && c.to.element != at);
        self.vacant.push(at);
    }

    /// Removes connections whose ends are gone, and all but the first of those that are alike.
    pub(super) fn prune(&mut self) {
        let elements = &self.elements;
        let mut seen = BTreeSet::new();
        self.connections.retain(|c| {
            let is_live = |port: Port| elements[port.element].is_some();
            is_live(c.from) && is_live(c.to) && seen.insert((c.from, c.to))
        });
    }

    /// Connects an output to an input, once.
    pub(super) fn connect(&mut self, from: Port, to: Port, landmark: &Landmark) {
        let is_there = self
            .connections
            .iter()
            .any(|c| c.from == from && c.to == to);
        if !is_there {
            self.connections.push(Connection {
                from,
                to,
                landmark: landmark.clone(),
            });
        }
    }

    /// The places of the connections at a port.
    pub(super) fn at(&self, side: Side, port: Port) -> Vec<usize> {
        let each = self.connections.iter().enumerate();
        each.filter(|(_, c)| c.end(side) == port)
            .map(|(at, _)| at)
            .collect()
    }

    /// How many ports an element uses on a side.
    pub(super) fn count(&self, side: Side, element: usize) -> usize {
        let ends = self.connections.iter().map(|c| c.end(side));
        let ports = ends.filter(|end| end.element == element);
        ports.map(|end| end.port + 1).max().unwrap_or(0)
    }

    /// Moves every end of a connection on `side` from one port to another.
    pub(super) fn redirect(&mut self, side: Side, old: Port, new: Port) {
        for connection in &mut self.connections {
            if connection.end(side) == old {
                *connection.end_mut(side) = new;
            }
        }
    }
}

/// The ends of a connection by their side.
pub(super) trait Ends {
    fn end(&self, side: Side) -> Port;
    fn end_mut(&mut self, side: Side) -> &mut Port;
}

impl Ends for Connection {
    fn end(&self, side: Side) -> Port {
        match side {
            Side::Input => self.to,
            Side::Output => self.from,
        }
    }

    fn end_mut(&mut self, side: Side) -> &mut Port {
        match side {
            Side::Input => &mut self.to,
            Side::Output => &mut self.from,
        }
    }
}
