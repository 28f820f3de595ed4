#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod address;
mod arp;
mod cli;
pub mod config;
mod control;
mod counters;
pub mod dataplane;
mod interface;
mod ip;
mod machine;
pub mod network;
pub mod pwospf;
mod routes;
mod routing;

pub use cli::Reply;
pub use config::Config;
pub use control::Control;
pub use dataplane::{Dataplane, Neighbour, Route};
pub use interface::Interface;
