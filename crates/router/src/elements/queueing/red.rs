//! Drops packets by chance as the average length of its queues grows.
//!
//! # What it does
//! Up to `MIN_THRESH` nothing is dropped; from there to `MAX_THRESH` the probability rises to
//! `MAX_P`, and from there to 1 at twice `MAX_THRESH`, or at once unless `GENTLE`. The queues are
//! those named by `QUEUES`, or the nearest: downstream where packets are pushed through it,
//! upstream where they are pulled. What is dropped leaves by output 1 where there is one.
//!
//! # Example
//! ```click
//! // From 5 packets on more and more are dropped; at 50, one of fifty.
//! FromDevice(eth0) -> RED(5, 50, 0.02) -> Queue(200) -> RatedUnqueue(1000) -> Discard
//! ```
//!
//! # References
//! Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN
//! 1(4), 1993.

use super::shared::early_drop::{EarlyDrop, PARAMS};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("RED", "drops early by the average queue length", || {
    EarlyDrop::element(false)
})
.ports("1/1-2", "a/ah")
.references(&["Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993"])
.params(PARAMS)
.restless()
.ops("work(70)");
