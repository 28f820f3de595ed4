//! Stores packets, and notifies readers at once when it is empty.
//!
//! # What it does
//! As `Queue`, but readers are told with the last packet rather than after some pulls in vain.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> QuickNoteQueue(200) -> ToDevice(eth1)
//! ```

use super::shared::queue_ring::{PARAMS, Queue, Refuses, Tells, Variant};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "QuickNoteQueue",
    "stores packets and notifies at once when it is empty",
    || {
        Queue::element(Variant {
            refuses: Refuses::New,
            empty: Tells::AtOnce,
            full: true,
        })
    },
)
.ports("1/1-2", "h/lh")
.params(PARAMS)
.live()
.ops("0.5 * ring(calls); work(20 * calls + 8)");
