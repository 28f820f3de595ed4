//! The engine: what elements stand on while they run.
//!
//! A [`Ctx`] owns the elements, the packets in flight and the clock. An element that runs is taken
//! out of its slot, so it and the context are borrowed side by side and the engine needs no unsafe
//! code.
//!
//! What an element emits is not delivered at once but waits on a stack until the element has
//! returned, in the order in which it was emitted and depth first: the order of calls is the one
//! that direct calls would give, the stack never grows with the length of the graph, and a loop of
//! elements cannot enter one twice. A pull is a direct call, as the packets are its result.

pub mod build;
pub(crate) mod classic_random;
pub mod clock;
mod configure;
mod context;
pub mod core_clock;
mod counters;
mod data_path;
pub mod devices;
pub mod driver;
pub(crate) mod element;
mod files;
pub(crate) mod handler;
pub mod handlers;
mod hotswap;
mod ids;
mod long_turns;
pub mod notify;
mod options;
mod places;
mod profile;
pub mod search;
mod services;
pub mod setup;
pub mod simulated_core;
pub mod study;
pub mod task;
pub(crate) mod threads;
pub mod timer;
pub mod trace;

pub use context::{Ctx, Node};
pub use counters::{Counters, Started};
pub use data_path::NOWHERE;
pub use element::{Classes, Element, Entry};
pub use handler::Handler;
pub use ids::ElementId;
pub use options::Options;
