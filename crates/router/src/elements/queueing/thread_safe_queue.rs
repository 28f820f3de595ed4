//! Stores packets of any number of writers and readers.
//!
//! # What it does
//! As `Queue`: here no two elements of a router run at a time, so every queue bears any number of both.
//!
//! # Example
//! ```text
//! a -> q :: ThreadSafeQueue -> Unqueue -> ...; b -> q
//! ```

use crate::elements::Entry;
use crate::queue_ring::{PARAMS, Queue, Refuses, Tells, Variant};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ThreadSafeQueue",
    "stores packets of any number of writers and readers",
    || {
        Queue::element(Variant {
            refuses: Refuses::New,
            empty: Tells::Lazily,
            full: true,
        })
    },
)
.ports("1/1-2", "h/lh")
.params(PARAMS)
.live()
.ops("0.5 * ring(calls); work(20 * calls + 8)");
