//! Pulls some packets per interval and pushes them, eight unless told otherwise.
//!
//! # What it does
//! As `TimedUnqueue`.
//!
//! # Example
//! ```click
//! // Up to 32 packets each tenth of a second.
//! FromDevice(eth0) -> Queue -> Burster(0.1, 32) -> Discard
//! ```

use super::shared::timed_unqueue::{TimedUnqueue, params};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("Burster", "pulls packets in bursts and pushes them", || {
    TimedUnqueue::element()
})
.ports("1/1", "l/h")
.params(&params("8"))
.ops("work(100 * calls)");
