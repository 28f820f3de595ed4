//! Several threads, which share nothing.
//!
//! Each thread has a context of its own: its elements, tasks, timers, notifiers, devices and
//! packets. What they have in common is read-only: the graph, names, and which thread runs which
//! element (`plan`). Packets cross in queues (`crossing`); handlers of elements on other threads
//! are read and written by letters, answered between two rounds of the other's tasks. At rest —
//! before a run, after it, and each time that it is looked at — the first context holds the others,
//! so whoever holds it sees one router.
//!
//! In virtual time one thread runs everything, in an order that is always the same; the plan is
//! made and checked all the same.

mod crossing;
mod letters;
mod members;
pub(crate) mod plan;
mod portal;
mod run;
mod split;
pub(super) mod team;
#[cfg(test)]
mod tests;
pub(crate) mod wishes;
