//! Stores packets, first in first out.
//!
//! # What it does
//! Refuses what comes while it is full. Tells nobody when it is empty or full: readers poll.
//!
//! # Example
//! ```click
//! // It tells nobody when it is empty: who pulls must ask again.
//! FromDevice(eth0) -> SimpleQueue(200) -> TimedUnqueue(0.01, 10) -> Discard
//! ```

use super::shared::queue_ring::{PARAMS, Queue, Refuses, Tells, Variant};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("SimpleQueue", "stores packets, first in first out", || {
    Queue::element(Variant {
        refuses: Refuses::New,
        empty: Tells::Never,
        full: false,
    })
})
.ports("1/1-2", "h/lh")
.params(PARAMS)
.live()
.ops("0.5 * ring(calls); work(20 * calls + 8)");
