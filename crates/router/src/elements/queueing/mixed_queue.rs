//! Stores packets, first in first out for input 0 and last in first out for input 1.
//!
//! # What it does
//! Packets of input 0 join at the tail and are refused while it is full. Packets of input 1 join at
//! the head; while it is full the last packet makes room. Output 1, if there is one, gets the
//! refused.
//!
//! # Example
//! ```click
//! // What comes by input 1 leaves first, the newest before others.
//! FromDevice(eth0) -> [0] q :: MixedQueue(5) -> ToDevice(eth1); RatedSource(RATE 1) -> [1] q
//! ```

use super::shared::queue_ring::{PARAMS, Queue, Refuses, Tells, Variant};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "MixedQueue",
    "stores packets, first in first out or last in first out",
    || {
        Queue::element(Variant {
            refuses: Refuses::New,
            empty: Tells::Lazily,
            full: false,
        })
    },
)
.ports("2/1-2", "h/lh")
.params(PARAMS)
.live()
.ops("0.5 * ring(calls); work(20 * calls + 8)");
