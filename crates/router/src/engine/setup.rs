//! What an element has while it is configured: who it is and what surrounds it.

use super::element::cast;
use super::threads::wishes::Wishes;
use super::{Classes, Element, ElementId};
use crate::args::definitions::{Definitions, Within};
use crate::args::names::Names;
use crate::graph::index::Index;
use crate::graph::ports::Ports;
use crate::graph::processing::Mode;
use crate::lang::Flat;

/// The place of an element that is being configured.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The classes that elements may be of.
    pub classes: Classes,
    /// Its number.
    pub id: ElementId,
    /// Its name.
    pub name: &'a str,
    /// Its class.
    pub class: &'a str,
    /// Push or pull, for each input.
    pub inputs: &'a [Mode],
    /// Push or pull, for each output.
    pub outputs: &'a [Mode],
    /// What names mean; elements such as `AddressInfo` define more.
    pub definitions: &'a mut Definitions,
    /// Which threads shall run which elements.
    pub wishes: &'a mut Wishes,
    /// Finds elements by name and connections by port.
    pub index: &'a Index,
    /// The flat configuration.
    pub flat: &'a Flat,
    /// Warnings that do not keep the router from running.
    pub warnings: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

impl Setup<'_> {
    /// Names as this element sees them.
    pub fn names(&self) -> Within<'_> {
        self.definitions.within(self.name, &self.index.names)
    }

    /// The element called `name`, or all elements of the compound called so, as this element sees
    /// them.
    pub fn elements_in(&self, name: &str) -> Vec<ElementId> {
        if let Some(element) = self.names().element(name) {
            return vec![element];
        }
        let scope = self.name.rfind('/').map_or("", |at| &self.name[..=at]);
        self.index.names.beginning_with(&format!("{scope}{name}/"))
    }

    /// Whether another element is a `T`.
    pub fn is<T: Element>(&self, element: ElementId) -> bool {
        let class = &self.flat.elements[element].class;
        let entry = self.classes.find(class);
        entry.is_some_and(|entry| cast::<T>((entry.make)().as_mut()).is_some())
    }

    /// The numbers of inputs and outputs of another element.
    pub fn ports_of(&self, element: ElementId) -> (usize, usize) {
        let (inputs, outputs) = self.index.wiring.used(element);
        let class = &self.flat.elements[element].class;
        self.classes.find(class).map_or((inputs, outputs), |entry| {
            Ports::parse(entry.ports).resolve(inputs, outputs)
        })
    }
}
