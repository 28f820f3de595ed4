#![doc = include_str!("../README.md")]
//!
//! | module | idea |
//! | --- | --- |
//! | [`codec`] | segments as Ethernet frames of IPv4 and TCP, and back |
//! | [`pattern`] | what the bytes of a stream are, so that both ends can check them |
//! | [`neighbours`] | Ethernet addresses of IPv4 addresses: ARP, asked and answered |
//! | [`host`] | connections by their four numbers, ports that listen, resets for all others |
//! | [`faults`] | loss, duplicates, reordering and congestion marks, drawn from a seed |
//! | [`drive`] | a device, a clock and a host in a loop |
#![forbid(unsafe_code)]

pub mod codec;
pub mod drive;
pub mod faults;
pub mod host;
pub mod neighbours;
pub mod pattern;

pub use codec::LARGEST_FRAME;
pub use drive::{Clock, Driver, Turn};
pub use faults::{Faults, Rates};
pub use host::{FlowId, Host, HostConnection, Maker};
