//! Tests of network devices over one trait, [`trial::Trial`]: what is tested, this crate does not know.
#![forbid(unsafe_code)]

pub mod addresses;
#[cfg(test)]
mod fakes;
pub mod frames;
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
pub mod trial;
pub mod validity;
