//! What network functions cost on a machine, without running them.
//!
//! A function is a list of *elementary operations* (`eo`), each with its cost as a formula in its parameters.
//! A machine gives the constants of these formulas and its memory's levels. Together they
//! give cycles and memory accesses a packet, the rate, what limits it, and where to put functions (`place`).
//!
//! Baldi and Sapio, "Network Function Modeling and Performance Estimation", IJECE 8(5), 2018, is the method's
//! source; what it lacks (caches, overlap, batching, contention) is added and said where it is.
#![forbid(unsafe_code)]

pub mod capacity_profile;
pub mod chain;
pub mod device_profile;
pub mod eo;
pub mod estimate;
pub mod expr;
mod expr_reader;
pub mod fit;
pub mod fit_pages;
pub mod fit_share;
pub mod function;
pub mod machine;
pub mod machine_reader;
pub mod machine_writer;
pub mod machines;
pub mod place;
pub mod probes;
pub mod residency;
