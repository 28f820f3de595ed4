//! Costs of the parts of a function.

use crate::machine::Machine;

/// A number with what it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Where all accesses overlap.
    pub low: f64,
    /// With as many under way at once as the implementation has.
    pub centre: f64,
    /// Where each access waits for the one before.
    pub high: f64,
}

impl Range {
    /// What work of `core` cycles takes on `machine` that waits for memory besides; `counted`
    /// cycles of it are certain.
    pub fn of(core: f64, counted: f64, memory: Range, machine: &Machine) -> Range {
        let unsure = (core - counted) * machine.spread.min(1.0);
        let shared = machine.memory.spread;
        Range {
            low: core - unsure + memory.low * (1.0 - shared).max(0.0),
            centre: core + memory.centre,
            high: core + unsure + memory.high * (1.0 + shared),
        }
    }

    /// Its ends, where anything is known of how far it reaches: a machine from a paper does not
    /// say.
    pub fn ends(&self) -> Option<(f64, f64)> {
        (self.high > self.low).then_some((self.low, self.high))
    }
}

/// What a part of a function costs a packet of the function's, visits counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The element, or the function where it has one part only.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Visits a packet.
    pub visits: f64,
    /// Cycles that do not depend on where data are.
    pub core: f64,
    /// Cycles for data beyond the first level.
    pub memory: Range,
    /// Accesses to tables and packets.
    pub accesses: f64,
    /// Each operation with its cycles and accesses at one visit.
    pub operations: Vec<(String, f64, f64)>,
}
