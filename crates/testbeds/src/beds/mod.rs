//! Testbeds: a file for each kind of device under test.

pub mod configuration;
pub mod dut;
pub mod estimated;
pub mod filters;
pub mod measurer;
pub mod model;
pub mod namespaces;
pub mod netfpga;
mod nodes;
mod passages;
pub mod ports;
pub(crate) mod process;
pub mod profiled;
pub mod ring;
pub mod self_test;
pub mod simulated;
