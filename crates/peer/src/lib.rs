//! A host on the wire that speaks TCP with the simulator's stack: `trammel_tcp`'s connections as real packets.
//!
//! A connection of `trammel_tcp` neither reads a clock nor knows bytes. Here a [`host::Host`] gives it an
//! address, a neighbour and packets ([`codec`]), and [`drive::Driver`] a device and the time. So any variant of
//! the `cc` family talks to any kernel, and what the simulator's stack does is held against a real peer's.
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
