//! The elements of a router by name, number and class.

use super::{Counters, Ctx, Element, ElementId, Entry, Node};
use crate::args::definitions::Within;
use crate::lang::Flat;

/// Names and places.
impl Ctx {
    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.config.nodes.len()
    }

    /// An element's name.
    pub fn name(&self, element: ElementId) -> &str {
        &self.config.flat.elements[element].name
    }

    /// An element's class as it was declared.
    pub fn class(&self, element: ElementId) -> &str {
        &self.config.flat.elements[element].class
    }

    /// `name :: Class`, as messages show elements.
    pub fn declaration(&self, element: ElementId) -> String {
        format!("{} :: {}", self.name(element), self.class(element))
    }

    /// What is known of an element.
    pub fn node(&self, element: ElementId) -> &Node {
        &self.config.nodes[element]
    }

    /// The class of an element.
    pub fn entry(&self, element: ElementId) -> &'static Entry {
        self.config.nodes[element].entry
    }

    /// What the operations of an element's class call by names, as it is configured.
    pub fn quantities(&self, element: ElementId) -> Vec<(&'static str, f64)> {
        let ctx = self.at_rest(element).unwrap_or(self);
        let element = ctx.slots.get(element).and_then(|slot| slot.as_deref());
        element.map_or_else(Vec::new, Element::quantities)
    }

    /// What was counted around an element.
    pub fn counters(&self, element: ElementId) -> &Counters {
        if let Some(ctx) = self.at_rest(element) {
            return &ctx.path.counters[element];
        }
        &self.path.counters[element]
    }

    /// The flat configuration.
    pub fn flat(&self) -> &Flat {
        &self.config.flat
    }

    /// The element called `name`, looked for in the compounds around element `from`, the innermost
    /// first.
    pub fn find(&self, name: &str, from: Option<ElementId>) -> Option<ElementId> {
        let mut scope = from.map_or("", |from| self.name(from));
        loop {
            scope = scope.rfind('/').map_or("", |at| &scope[..at]);
            let full = match scope {
                "" => name.to_owned(),
                scope => format!("{scope}/{name}"),
            };
            if let Some(at) = self.config.index.names.find(&full) {
                return Some(at);
            }
            if scope.is_empty() {
                return None;
            }
        }
    }

    /// Names of addresses, ports, protocols and elements as this element sees them.
    pub fn names(&self) -> Within<'_> {
        let names = &self.config.index.names;
        self.config.definitions.within(names.get(self.me), names)
    }
}
