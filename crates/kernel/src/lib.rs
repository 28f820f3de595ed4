//! The Linux kernel's own TCP as a measuring instrument.
//!
//! ```text
//!  source tree ─ build ─> kernel ─┐                        ┌─> answer
//!                                 ├─ boot ─> guest ────────┤
//!  job: hosts, wires, flows ──────┘   network, flows, looks└─> its last words, where it dies
//! ```
//! The kernel is a program of this machine (User-Mode Linux) whose clock is virtual: it jumps from event to event, so what a guest measures does not
//! depend on how fast the machine is or what else it does, and two runs are the same to the last byte. No root is needed, and nothing of
//! the host is read or written: the guest's files are in memory, its answer comes by a pipe.
//!
//! The same job runs with the TCP of this host too, by the clock on the wall ([`host`]).
//!
//! The patch in `gpl/` is part of the kernel and under its licence.
#![cfg(target_os = "linux")]

pub mod boot;
pub mod build;
pub mod cause;
pub mod check;
pub mod guest;
pub mod host;
mod initramfs;
pub mod job;
mod processors;
