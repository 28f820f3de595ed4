//! Splits a stream at a rate in bytes a second.
//!
//! # What it does
//! Packets that a token bucket lets pass leave by output 0, the others by output 1, or end here
//! where there is none.
//!
//! # Example
//! ```click
//! // What is beyond the rate leaves by output 1.
//! FromDevice(eth0) -> s :: BandwidthRatedSplitter(RATE 1Mbps) -> Queue -> ToDevice(eth1);
//! s[1] -> Discard
//! ```

use super::shared::rate_bucket::{PARAMS_BYTES, Unit};
use super::shared::rated_splitter::RatedSplitter;
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "BandwidthRatedSplitter",
    "splits a stream at a bandwidth",
    || RatedSplitter::element(Unit::Bytes),
)
.ports("1/1-2", "h/h")
.params(PARAMS_BYTES)
.restless()
.ops("work(35)");
