#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod addresses;
#[cfg(test)]
mod fakes;
pub mod frames;
pub mod layer;
pub mod ports;
pub mod procedures;
pub mod recorded;
pub mod rehearsal;
pub mod resets;
pub mod search;
pub mod service;
pub mod summary;
pub mod testbed;
pub mod transfer;
mod transfer_test;
pub mod trial;
pub mod validity;

pub use layer::Layer;
pub use procedures::Bench;
pub use recorded::Recorded;
pub use search::binary::Binary;
pub use search::{Found, Verdict};
pub use testbed::{Testbed, Traffic};
pub use trial::{Load, Trial, TrialOutcome};
pub use validity::Validity;
