#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod act;
mod agent;
pub mod environment;
pub mod feature;
pub mod interval;
pub mod many;
mod watched;
