//! The router on real packets: namespaces joined by the command, by each method.
//!
//! Where the machine does not allow namespaces or AF_XDP, a test prints why it did nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

mod control;
mod hotswap;
mod kernel_interfaces;
mod kernel_routes;
mod lacks;
mod methods;
mod rig;
mod routing;
mod sockets;
mod tester;
