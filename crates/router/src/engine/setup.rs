//! What an element has while it is configured: who it is and what surrounds it.

use super::ElementId;
use crate::args::definitions::{Definitions, Within};
use crate::graph::processing::Mode;

/// The place of an element that is being configured.
#[derive(Debug)]
pub struct Setup<'a> {
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
    /// The names of all elements.
    pub elements: &'a [String],
    /// Warnings that do not keep the router from running.
    pub warnings: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

impl Setup<'_> {
    /// Names as this element sees them.
    pub fn names(&self) -> Within<'_> {
        self.definitions.within(self.name, self.elements)
    }
}
