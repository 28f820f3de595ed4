//! Pulls packets at a rate in packets a second and pushes them.
//!
//! # What it does
//! A token bucket decides: it fills at `RATE` and holds `BURST_SIZE` packets, or what it fills in
//! `BURST_DURATION`. It sleeps while everything upstream says that it is empty.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Queue -> RatedUnqueue(RATE 1000, BURST_SIZE 32) -> Discard
//! ```

use super::shared::rate_bucket::{PARAMS_PACKETS, Unit};
use super::shared::rated_unqueue::RatedUnqueue;
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("RatedUnqueue", "pulls at a rate and pushes", || {
    RatedUnqueue::element(Unit::Packets)
})
.ports("1/1", "l/h")
.params(PARAMS_PACKETS)
.restless()
.ops("work(60 * calls + 10)");
