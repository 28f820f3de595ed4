//! Transformations of configurations: from one flat graph to another.
//!
//! These are what stands behind `click-undead`, `click-align`, `click-combine` and `click-xform`.
//! None needs the engine: they look at names, configurations and what a class says of its ports
//! (`facts`).

pub mod align;
pub(crate) mod alignment;
pub mod combine;
pub(crate) mod facts;
pub mod rewrite;
pub mod uncombine;
pub mod undead;
mod work;
