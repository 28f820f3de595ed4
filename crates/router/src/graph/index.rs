//! Finds elements by name and connections by port without looking at all of them.
//!
//! Both are sorted once when a configuration is loaded, so that a search takes the logarithm of
//! what there is: an element that looks for another, or follows the packets, must not cost more
//! because the configuration is long.

use crate::args::element_names::ElementNames;
use crate::lang::{Connection, Flat, Port};

/// What is looked for in a configuration while it is loaded and while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The elements by name.
    pub names: ElementNames,
    /// The connections by port.
    pub wiring: Wiring,
}

impl Index {
    /// That of `flat`.
    pub fn new(flat: &Flat) -> Index {
        Index {
            names: ElementNames::new(flat.elements.iter().map(|e| e.name.clone()).collect()),
            wiring: Wiring::new(&flat.connections),
        }
    }
}

/// The connections, from either end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// Outputs, each with the input that it leads to; those of one output in the order of the
    /// connections.
    from: Vec<(Port, Port)>,
    /// Inputs, each with the output that leads to it.
    to: Vec<(Port, Port)>,
}

impl Wiring {
    /// These connections.
    pub fn new(connections: &[Connection]) -> Wiring {
        let mut from: Vec<(Port, Port)> = connections.iter().map(|c| (c.from, c.to)).collect();
        let mut to: Vec<(Port, Port)> = connections.iter().map(|c| (c.to, c.from)).collect();
        from.sort_by_key(|(near, _)| *near);
        to.sort_by_key(|(near, _)| *near);
        Wiring { from, to }
    }

    /// The inputs that an output leads to.
    pub fn after(&self, output: Port) -> impl Iterator<Item = Port> {
        at(&self.from, output)
    }

    /// The outputs that lead to an input.
    pub fn before(&self, input: Port) -> impl Iterator<Item = Port> {
        at(&self.to, input)
    }

    /// How many inputs and outputs of `element` are used, those before the last used one included.
    pub fn used(&self, element: usize) -> (usize, usize) {
        let count = |side: &[(Port, Port)]| {
            let end = side.partition_point(|(near, _)| near.element <= element);
            let last = end.checked_sub(1).map(|last| side[last].0);
            last.filter(|port| port.element == element)
                .map_or(0, |port| port.port + 1)
        };
        (count(&self.to), count(&self.from))
    }
}

/// The far ends of what is sorted by its near ends.
fn at(side: &[(Port, Port)], near: Port) -> impl Iterator<Item = Port> {
    let first = side.partition_point(|(other, _)| *other < near);
    let all = side[first..].iter();
    all.take_while(move |(other, _)| *other == near)
        .map(|(_, far)| *far)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang;
    use crate::load::BuiltIn;

    #[test]
    fn both_ends_of_a_connection_find_the_other() {
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let text = "t :: Tee -> a :: Null -> d :: Discard; t [2] -> a; Idle -> t";
        let (flat, _) = lang::parse(text, "config", &options);
        let index = Index::new(&flat);
        let port = |name, port| Port {
            element: index.names.find(name).expect("it is declared"),
            port,
        };
        let named = |ports: Vec<Port>| -> Vec<(String, usize)> {
            let name = |at: usize| index.names.get(at).to_owned();
            ports.iter().map(|p| (name(p.element), p.port)).collect()
        };
        let after = named(index.wiring.after(port("t", 2)).collect());
        assert_eq!(after, [("a".to_owned(), 0)]);
        let before = named(index.wiring.before(port("a", 0)).collect());
        assert_eq!(before, [("t".to_owned(), 0), ("t".to_owned(), 2)]);
        assert_eq!(index.wiring.after(port("t", 1)).count(), 0);
        assert_eq!(index.wiring.used(port("t", 0).element), (1, 3));
        assert_eq!(index.wiring.used(port("d", 0).element), (1, 0));
    }
}
