//! Stores packets, and notifies readers when it is empty and writers when it is full.
//!
//! # What it does
//! As `NotifierQueue`; writers that ask, such as `InfiniteSource`, sleep while it is full.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> q :: Queue(200) -> ToDevice(eth1);
//! Script(TYPE PASSIVE, return $(q.length) $(q.drops))
//! ```

use super::shared::queue_ring::{PARAMS, Queue, Refuses, Tells, Variant};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "Queue",
    "stores packets and notifies readers and writers",
    || {
        Queue::element(Variant {
            refuses: Refuses::New,
            empty: Tells::Lazily,
            full: true,
        })
    },
)
.ports("1/1-2", "h/lh")
.aliases(&["FullNoteQueue"])
.params(PARAMS)
.live()
.ops("0.5 * ring(calls); work(20 * calls + 8)");
