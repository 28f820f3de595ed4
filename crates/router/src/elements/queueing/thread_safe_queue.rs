//! Stores packets for any number of writers and readers.
//!
//! # What it does
//! As `Queue`: here no two elements of a router run at a time, so every queue bears any number of
//! both.
//!
//! # Example
//! ```click
//! // Two ways meet in it.
//! FromDevice(eth0) -> q :: ThreadSafeQueue -> Unqueue -> Discard; FromDevice(eth1) -> q
//! ```

use super::shared::queue_ring::{PARAMS, Queue, Refuses, Tells, Variant};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ThreadSafeQueue",
    "stores packets for any number of writers and readers",
    || {
        Queue::element(Variant {
            refuses: Refuses::New,
            empty: Tells::Lazily,
            full: true,
        })
    },
)
.aliases(&["MSQueue"])
.ports("1/1-2", "h/lh")
.params(PARAMS)
.live()
.ops("0.5 * ring(calls); work(20 * calls + 8)");
