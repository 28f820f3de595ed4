//! Which element costs what: by its name, else by its class, else as any other.

use crate::engine::Ctx;
use crate::engine::core_clock::Cost;
use std::collections::BTreeMap;

/// The costs of a router's elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// Of the elements of these names.
    pub names: BTreeMap<String, Cost>,
    /// Of the other elements of these classes.
    pub classes: BTreeMap<String, Cost>,
    /// Of all others.
    pub others: Cost,
}

impl Costs {
    /// The same for every element.
    pub fn uniform(cost: Cost) -> Costs {
        Costs {
            others: cost,
            ..Costs::default()
        }
    }

    /// With this cost for the element called `name`.
    pub fn with(mut self, name: &str, cost: Cost) -> Costs {
        self.names.insert(name.to_owned(), cost);
        self
    }

    /// The cost of each element of `router`; what is wrong with one, or with a name that no element
    /// has.
    pub(super) fn of(&self, router: &Ctx) -> Result<Vec<Cost>, String> {
        for (name, cost) in self.names.iter().chain(&self.classes) {
            if let Some(fault) = cost.fault() {
                return Err(format!("`{name}`: {fault}"));
            }
        }
        if let Some(fault) = self.others.fault() {
            return Err(format!("other elements: {fault}"));
        }
        if let Some(name) = self.names.keys().find(|n| router.find(n, None).is_none()) {
            return Err(format!(
                "there is a cost for `{name}`, but no element has that name: name one of the \
                 configuration's"
            ));
        }
        let of = |element| {
            let by_name = self.names.get(router.name(element));
            let by_class = || self.classes.get(router.class(element));
            by_name.or_else(by_class).copied().unwrap_or(self.others)
        };
        Ok((0..router.elements()).map(of).collect())
    }
}
