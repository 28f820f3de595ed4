//! Stores packets, and notifies readers when it is empty.
//!
//! # What it does
//! As `SimpleQueue`, but readers sleep while it is empty.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> NotifierQueue(200) -> ToDevice(eth1)
//! ```

use super::shared::queue_ring::{PARAMS, Queue, Refuses, Tells, Variant};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "NotifierQueue",
    "stores packets and notifies readers when it is empty",
    || {
        Queue::element(Variant {
            refuses: Refuses::New,
            empty: Tells::Lazily,
            full: false,
        })
    },
)
.ports("1/1-2", "h/lh")
.params(PARAMS)
.live()
.ops("0.5 * ring(calls); work(20 * calls + 8)");
