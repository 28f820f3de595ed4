//! Testbeds: a file for each kind of device under test.

pub mod built_device;
pub mod configuration;
pub mod estimated;
pub mod measurer;
pub mod model;
pub mod netfpga;
mod nodes;
mod offered_frames;
mod passages;
pub mod ports;
pub mod profiled;
pub mod ring;
pub mod self_test;
pub mod simulated;
