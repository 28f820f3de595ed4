//! Devices under test that the bench builds, in namespaces of their own.

pub mod dut;
pub mod filters;
pub mod namespaces;
pub mod netfpga;
pub(crate) mod process;
