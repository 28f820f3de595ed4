//! Stores packets, and drops the oldest when it is full.
//!
//! # What it does
//! As `NotifierQueue`, but a packet that comes while it is full takes the place of the one that has
//! waited longest.
//!
//! # Example
//! ```click
//! // Where it is full, the oldest packet goes.
//! FromDevice(eth0) -> FrontDropQueue(200) -> ToDevice(eth1)
//! ```

use super::shared::queue_ring::{PARAMS, Queue, Refuses, Tells, Variant};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FrontDropQueue",
    "stores packets and drops the oldest when it is full",
    || {
        Queue::element(Variant {
            refuses: Refuses::Oldest,
            empty: Tells::Lazily,
            full: false,
        })
    },
)
.ports("1/1-2", "h/lh")
.params(PARAMS)
.live()
.ops("0.5 * ring(calls); work(20 * calls + 8)");
