//! A modular router: Click's language and elements, memory-safe and batched.
//!
//! A configuration is read by `lang` into a flat graph of elements. What surrounds the elements
//! are the types of their arguments (`args`), rule sets (`classify`), route tables (`lookup`) and the text
//! form of packets (`summary`).
#![forbid(unsafe_code)]

pub mod args;
pub mod classify;
pub mod device_method;
pub mod diagnostic;
pub mod element;
pub mod elements;
pub mod engine;
pub mod graph;
pub mod host;
pub mod lang;
pub mod link_header;
pub mod load;
pub mod lookup;
pub mod memory_device;
pub mod memory_host;
pub mod reason;
pub mod summary;
pub mod voice;
