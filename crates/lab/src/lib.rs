//! Scenarios, the engines wired together, papers, reports, and the `trammel` command.
//!
//! A scenario comes from a file ([`scenario::File`]) or from Rust ([`Scenario::dumbbell`]).
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod bench;
#[cfg(target_os = "linux")]
pub mod beside;
pub mod calibrate;
pub mod cli;
pub mod compare;
#[cfg(target_os = "linux")]
pub mod diverge;
pub mod engine;
pub mod fidelity;
#[cfg(target_os = "linux")]
pub mod forwarding;
#[cfg(target_os = "linux")]
pub mod host;
pub mod machines;
mod own_file;
pub mod paper;
pub mod placement;
pub mod registry;
pub mod report;
#[cfg(target_os = "linux")]
pub mod router;
pub mod run_folder;
pub mod scenario;
mod sha256;
pub mod traffic;
#[cfg(target_os = "linux")]
pub mod transfer;
mod whole_file;

pub use scenario::flow::{DelayedAck, Flow, Stack};
pub use scenario::model::Scenario;
pub use scenario::path::{Limit, Queue};
