//! Splits a stream at a rate in packets a second.
//!
//! # What it does
//! Packets that a token bucket lets pass leave by output 0, the others by output 1, or end here
//! where there is none.
//!
//! # Example
//! ```click
//! // What is beyond 1000 packets a second leaves by output 1.
//! FromDevice(eth0) -> s :: RatedSplitter(1000) -> Queue -> ToDevice(eth1); s[1] -> Discard
//! ```

use super::shared::rate_bucket::{PARAMS_PACKETS, Unit};
use super::shared::rated_splitter::RatedSplitter;
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("RatedSplitter", "splits a stream at a rate", || {
    RatedSplitter::element(Unit::Packets)
})
.ports("1/1-2", "h/h")
.params(PARAMS_PACKETS)
.restless()
.ops("work(25)");
