//! A modular router: Click's language and elements, memory-safe and batched.
//!
//! A configuration is read by `lang` into a flat graph of elements. What surrounds the elements
//! are the types of their arguments (`args`), rule sets (`classify`), route tables (`lookup`) and the text
//! form of packets (`summary`).
#![forbid(unsafe_code)]

pub mod args;
pub mod classify;
pub mod classifying;
pub mod diagnostic;
pub mod draw;
pub mod element;
pub mod elements;
pub mod engine;
pub mod graph;
pub mod header_faults;
pub mod host;
pub mod ip_check;
pub mod ip_lookup;
pub mod ip_packet;
pub mod lang;
pub mod load;
pub mod lookup;
pub mod memory_host;
#[cfg(test)]
pub(crate) mod probe;
pub mod reason;
pub mod resizing;
pub mod script;
pub mod summary;
pub mod transform;
pub mod voice;
