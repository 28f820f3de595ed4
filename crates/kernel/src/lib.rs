#![doc = include_str!("../README.md")]
//!
//! ```text
//!  source tree ─ build ─> kernel ─┐                        ┌─> answer
//!                                 ├─ boot ─> guest ────────┤
//!  job: hosts, wires, flows ──────┘   network, flows, looks└─> its last words, where it dies
//! ```
#![cfg(target_os = "linux")]

pub mod boot;
pub mod build;
mod cable;
pub mod cause;
pub mod check;
pub mod frames;
pub mod guest;
pub mod host;
mod initramfs;
pub mod job;
mod processors;

pub use boot::{Limits, Machine};
pub use job::{Answer, GuestFlow, GuestJob, Host, Route, Way, Wire};
