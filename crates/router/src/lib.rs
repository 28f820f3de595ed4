#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod args;
pub mod classify;
pub mod control;
pub mod diagnostic;
pub mod diagram;
pub mod elements;
pub mod engine;
pub mod estimate;
pub mod graph;
mod handler_help;
mod headers;
pub mod host;
pub mod lang;
mod load;
pub mod lookup;
mod memory;
mod neighbours;
#[cfg(test)]
mod probe;
mod rates;
mod reason;
mod script;
pub mod simulate;
pub mod summary;
mod trace;
pub mod transform;

pub use diagnostic::Diagnostics;
pub use engine::{Ctx, Element, Entry, Handler, Options};
pub use host::Host;
pub use load::{BuiltIn, Refused, check, load, load_flat};
pub use memory::{LISTENER, Memory, MemoryDevice, MemoryHost, Sent, Wire};
pub use reason::Reason;
