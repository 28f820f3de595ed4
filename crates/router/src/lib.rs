//! A modular router: Click's language and elements, memory-safe and batched.
//!
//! A configuration is read by `lang` into a flat graph of elements. What surrounds the elements
//! are the types of their arguments (`args`), rule sets (`classify`), route tables (`lookup`) and the text
//! form of packets (`summary`).
#![forbid(unsafe_code)]

pub mod args;
pub mod classify;
pub mod control;
pub mod diagnostic;
pub mod diagram;
pub mod element;
pub mod elements;
pub mod engine;
pub mod estimate;
pub mod graph;
pub mod headers;
pub mod host;
pub mod lang;
pub mod load;
pub mod lookup;
pub mod memory;
pub mod neighbours;
#[cfg(test)]
pub(crate) mod probe;
pub mod rates;
pub mod reason;
pub mod script;
pub mod simulate;
pub mod summary;
pub mod trace;
pub mod transform;
