//! `trammel bench` on real frames: what it finds of devices whose limits are known, and what it
//! leaves behind.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

mod busy;
mod command;
mod compared;
mod left_behind;
mod netfpga;
mod rig;
mod troubles;
mod truth;
