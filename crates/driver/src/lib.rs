//! The user-level driver: runs a Click configuration on the devices, sockets and files of this
//! machine (Linux).
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod capture_device;
pub mod command;
pub mod devices;
mod fitted;
pub mod guard;
pub mod kernel_tables;
pub mod machine;
pub mod sockets;
pub mod watch;
pub mod written;
