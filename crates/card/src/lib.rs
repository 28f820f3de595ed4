#![doc = include_str!("../README.md")]
//!
//! On systems other than Linux the crate has [`tables`] and [`dataplane`] only, which do no I/O.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod accesses;
#[cfg(target_os = "linux")]
pub mod client;
#[cfg(target_os = "linux")]
mod command_line;
pub mod dataplane;
pub mod error;
#[cfg(target_os = "linux")]
pub mod generator;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
pub mod mirror;
#[cfg(target_os = "linux")]
mod protocol;
#[cfg(target_os = "linux")]
pub mod service;
pub mod tables;
#[cfg(target_os = "linux")]
pub mod web;

#[cfg(target_os = "linux")]
pub use accesses::Accesses;
#[cfg(target_os = "linux")]
pub use client::Client;
#[cfg(target_os = "linux")]
pub use command_line::CommandLine;
pub use dataplane::RegisterDataplane;
pub use error::Error;
#[cfg(target_os = "linux")]
pub use live::{Card, Options};
pub use tables::Tables;
