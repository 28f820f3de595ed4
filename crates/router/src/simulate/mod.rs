//! A router in simulated time: the configuration that runs on real packets, with the processor as a
//! resource.
//!
//! Run and simulate are one loop with two clocks. Here the clock is a core's ([`core_clock`]):
//! elements move it by what they cost, drivers of simulated ports ([`port`]) by what they cost, and
//! what waits meanwhile, waits: rings fill and overflow, batches grow, queues drop. Throughput,
//! loss and latency are what comes of it.
//!
//! [`core_clock`]: crate::engine::core_clock

pub mod costs;
mod host;
pub mod offer;
pub mod port;
mod report;
mod run;
#[cfg(test)]
mod tests;

pub use report::{Balance, Report};
pub use run::{Machine, Refusal, Simulation};
