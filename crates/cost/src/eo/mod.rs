//! Elementary operations: what network functions do to packets and tables, with the cost of each as
//! a formula.
//!
//! An operation's cycles are a sum of *terms*, each a formula in its parameters times a constant of
//! the machine: `io_mem(hdr, data)` costs `base·1 + line·⌈hdr/64⌉`. So a machine is a table of
//! constants, and fitting them to measurements is linear. What an operation touches in memory is
//! told apart from what it computes.
//!
//! ```text
//! parse(b)       word·⌈b/8⌉
//! ht_lookup(…)   (component·N + fixed + word·⌈HE/8⌉ + chunk·⌈HE/32⌉)·(1 + p)    and ⌈⌈HE/64⌉·(1 + p)⌉ accesses
//! ```
//!
//! Sources: Baldi and Sapio 2018, Table 1 and §2.2, for the nine of the paper; what is ours says
//! so.

use crate::expr::Expr;
use trammel_core::entry::{About, Kind, Param};

include!(concat!(env!("OUT_DIR"), "/eo.rs"));
trammel_core::family!("elementary operation");

/// Bytes of a cache line, on every processor described so far.
pub const LINE: f64 = 64.0;

/// A row of the table of operations.
pub struct Entry {
    /// Name, summary, references; `params` are its parameters, in their order.
    pub about: About,
    /// The constants that a machine gives, one for each term.
    pub constants: &'static [Constant],
    /// The operation whose constants these are, where it has none of its own.
    pub constants_of: Option<&'static str>,
    /// The formula of each term, from the parameters.
    pub terms: fn(&[Expr]) -> Vec<Expr>,
    /// What it touches in memory, from the parameters.
    pub touches: fn(&[Expr]) -> Vec<Touch>,
    /// The same work as a pure function over a buffer, to be timed.
    pub probe: Option<Probe>,
}

/// A constant of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Its name in machine files: `line`.
    pub name: &'static str,
    /// What it is, in a line; its unit is a cycle.
    pub help: &'static str,
}

/// Memory that an operation touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// Accesses, each to one cache line.
    pub accesses: Expr,
    /// What is touched.
    pub of: Memory,
}

/// What an operation touches.
#[derive(Clone, Debug, PartialEq)]
pub enum Memory {
    /// A table of so many bytes, at a place that the packet's key tells.
    Table {
        /// The bytes of the whole table.
        bytes: Expr,
        /// The bytes of an entry.
        entry: Expr,
        /// The bytes of memory over which these lie; pages of it are looked up.
        span: Expr,
    },
    /// The packet itself, beyond the headers that were loaded already.
    Packet,
    /// Lines that another core has just written: the last level answers, and memory is not asked.
    OtherCore,
}

/// The same work over a buffer, to be timed by who has a clock.
pub struct Probe {
    /// Parameters to try, as many lists as fix all constants at least.
    pub points: &'static [&'static [f64]],
    /// Does the work so many times with these parameters, over a buffer that stays in the first
    /// cache, and gives something that depends on all of it.
    pub run: fn(buffer: &mut [u8], params: &[f64], times: u32) -> u64,
}

/// A parameter: a whole number or a formula that gives one.
const fn param(name: &'static str, unit: &'static str, help: &'static str) -> Param {
    Param {
        name,
        kind: Kind::Float(0.0, 1e15),
        default: "",
        unit,
        help,
    }
}

/// How often a batch is handed over.
const CALLS: Param = param("calls", "", "calls a packet: 1 over the packets of a batch");

/// What an entry of the paper says of itself.
const fn about(
    name: &'static str,
    summary: &'static str,
    references: &'static [&'static str],
    params: &'static [Param],
) -> About {
    About {
        name,
        aliases: &[],
        summary,
        references,
        params,
    }
}

/// Where the paper's own operations come from.
const PAPER: &[&str] = &["Baldi and Sapio 2018, Table 1 and §2.2"];
/// Where ours come from.
const OURS: &[&str] = &["ours: what Baldi and Sapio 2018, §4.3, finds to be missing"];

impl Entry {
    /// The name under which machines list its constants.
    pub(crate) fn constants_name(&self) -> &'static str {
        self.constants_of.unwrap_or(self.about.name)
    }

    /// Its constants' names: its own or those of the operation that it is made of.
    pub fn constants(&self) -> &'static [Constant] {
        match self.constants_of.and_then(find) {
            Some(other) => other.constants,
            None => self.constants,
        }
    }
}

/// Nothing is touched that is not in the first cache.
fn nothing(_: &[Expr]) -> Vec<Touch> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_term_for_each_constant() {
        for entry in all() {
            let args: Vec<Expr> = entry.about.params.iter().map(|_| Expr::from(1.0)).collect();
            let terms = (entry.terms)(&args);
            assert_eq!(terms.len(), entry.constants().len(), "{}", entry.about.name);
            assert!(terms.iter().all(|term| term.number().is_some()));
            (entry.touches)(&args);
        }
    }

    #[test]
    fn every_probe_does_work_that_depends_on_its_buffer() {
        for entry in all() {
            let Some(probe) = &entry.probe else { continue };
            let rank = probe.points.len();
            assert!(rank >= entry.constants().len(), "{}", entry.about.name);
            for point in probe.points {
                assert_eq!(
                    point.len(),
                    entry.about.params.len(),
                    "{}",
                    entry.about.name
                );
                let run = |seed: u8| {
                    let mut buffer: Vec<u8> = (0..16384_u32)
                        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 ^ seed)
                        .collect();
                    let said = (probe.run)(&mut buffer, point, 7);
                    (said, buffer)
                };
                assert_ne!(run(0), run(0x5a), "{} {point:?}", entry.about.name);
                assert_eq!(run(0), run(0), "{} {point:?}", entry.about.name);
            }
        }
    }
}
