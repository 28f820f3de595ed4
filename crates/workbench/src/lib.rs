//! The subject *forwarding*: what a router or network function does on a machine.
//!
//! A Click configuration is put on a workbench: its devices and sources become rings in memory that
//! give frames of any size and any number of flows, and everything else stays as it is. The same
//! bench serves the engines: the estimate learns from a short run how often packets visit which
//! element, the measurement times a long one.
//!
//! ```text
//! FILE.click ──> bench ──┬─ visits ──> cost_of ──> estimate on any machine, refined by a live router's visits
//!                        └─ time    ──> cycles a packet on this one
//! ```
#![forbid(unsafe_code)]

pub mod arrivals;
pub mod bench;
pub mod beside;
pub mod calibrate;
pub mod card;
pub mod chain;
pub mod controlled;
pub mod device;
pub mod estimate;
pub mod frames;
pub mod host;
pub mod inputs;
pub mod lost;
pub mod machines;
pub mod measure;
pub mod middlebox;
pub mod names;
pub mod neighbours;
pub mod paced;
pub mod recovery;
pub mod refine;
#[cfg(target_os = "linux")]
pub mod refused;
pub mod ring;
pub mod samples;
pub mod simulated;
pub mod source;
#[cfg_attr(target_family = "wasm", path = "stopwatch_without_clock.rs")]
mod stopwatch;
pub mod traffic;
#[cfg(target_os = "linux")]
pub mod veth;
pub mod view;
