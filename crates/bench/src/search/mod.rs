//! Searches for the load that a device bears.

pub mod binary;
