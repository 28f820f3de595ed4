//! Pulls some packets per interval and pushes them.
//!
//! # What it does
//! Each interval a burst of one packet, or of `BURST`, leaves. While everything upstream is empty
//! it sleeps; then the first packet that comes leaves at once.
//!
//! # Example
//! ```click
//! // Up to 10 packets each 20 ms.
//! FromDevice(eth0) -> Queue -> TimedUnqueue(0.02, 10) -> Discard
//! ```

use super::shared::timed_unqueue::{TimedUnqueue, params};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "TimedUnqueue",
    "pulls some packets per interval and pushes them",
    || TimedUnqueue::element(),
)
.ports("1/1", "l/h")
.params(&params("1"))
.ops("work(100 * calls)");
