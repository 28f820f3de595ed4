//! Pulls packets at a rate in bytes a second and pushes them.
//!
//! # What it does
//! A token bucket decides: it fills at `RATE` and holds `BURST_BYTES` bytes, or what it fills in
//! `BURST_DURATION`. It sleeps while everything upstream says that it is empty.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Queue -> BandwidthRatedUnqueue(RATE 1Mbps) -> Discard
//! ```

use super::shared::rate_bucket::{PARAMS_BYTES, Unit};
use super::shared::rated_unqueue::RatedUnqueue;
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "BandwidthRatedUnqueue",
    "pulls at a bandwidth and pushes",
    || RatedUnqueue::element(Unit::Bytes),
)
.ports("1/1", "l/h")
.params(PARAMS_BYTES)
.restless()
.ops("work(65)");
