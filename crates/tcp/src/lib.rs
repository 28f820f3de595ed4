//! TCP without I/O: connections, congestion controls and analytic models.
//!
//! Nothing here opens a socket or reads a clock: every call takes the time as an argument.
#![forbid(unsafe_code)]

pub mod cc;
#[cfg(test)]
mod cc_harness;
#[cfg(test)]
mod cc_tests;
pub mod connection;
pub mod models;
mod receiver;
mod scoreboard;
pub mod segment;
pub mod seq;
pub mod stack;
pub mod timer;
mod tp;
pub mod windowed;
pub mod wire;
