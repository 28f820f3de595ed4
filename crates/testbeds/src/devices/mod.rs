//! Devices under test that the bench builds, in namespaces of their own.

pub mod dut;
pub mod filters;
pub mod namespaces;
pub(crate) mod process;
