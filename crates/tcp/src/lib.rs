#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod accecn;
pub mod cc;
#[cfg(test)]
mod cc_harness;
#[cfg(test)]
mod cc_tests;
pub mod connection;
mod hystart_plus_plus;
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
