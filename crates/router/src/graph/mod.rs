//! The shape of a configuration: port counts, push or pull, and which ports packets pass between.

pub mod flow;
pub mod index;
pub(crate) mod multiply;
pub mod ports;
pub mod processing;
pub(crate) mod pull_depth;
