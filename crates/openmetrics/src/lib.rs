//! Counters and histograms of a running program as OpenMetrics 1.0 text, and a server of them.
//!
//! ```text
//! data path ──> Buckets, counters ──> Page ──> Server ──> Prometheus, curl
//! ```
//! The data path adds to atomic numbers and never waits; the text is made when somebody asks.
#![forbid(unsafe_code)]

pub mod buckets;
pub mod page;
pub mod reader;
pub mod server;
