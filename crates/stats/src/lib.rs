//! Distributions, arrival processes, histograms, confidence intervals and typed tables.
//!
//! Nothing here knows of packets, sockets, files or clocks.
#![forbid(unsafe_code)]

pub mod arrivals;
pub mod dist;
pub mod histogram;
pub mod interval;
pub mod stats;
pub mod table;
