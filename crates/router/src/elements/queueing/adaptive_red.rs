//! Drops packets by chance so that the average length of its queues stays near a target.
//!
//! # What it does
//! As `RED` with thresholds of a half and of three halves of `TARGET`, which is at least 10; twice
//! a second `MAX_P` moves so that the average comes towards the target.
//!
//! # Handlers
//! - `min_thresh`, `max_thresh`: the average lengths between which packets are dropped more and
//!   more
//!
//! # Example
//! ```click
//! // The queue is held at about 20 packets.
//! FromDevice(eth0) -> AdaptiveRED(20, 0.02) -> Queue(200) -> RatedUnqueue(1000) -> Discard
//! ```
//!
//! # References
//! Floyd, Gummadi and Shenker, "Adaptive RED", 2001.

use super::shared::early_drop::{EarlyDrop, PARAMS_ADAPTIVE};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("AdaptiveRED", "RED that adapts its probability", || {
    EarlyDrop::element(true)
})
.ports("1/1-2", "a/ah")
.references(&["Floyd, Gummadi and Shenker 2001, Adaptive RED"])
.params(PARAMS_ADAPTIVE)
.restless()
.ops("work(70)");
