//! Lets packets be pulled at a rate in bytes a second.
//!
//! # What it does
//! Each packet puts the next one off by its length.
//!
//! # Example
//! ```click
//! // Bytes a second.
//! FromDevice(eth0) -> Queue -> BandwidthShaper(125000) -> ToDevice(eth1)
//! ```

use super::shared::rate_bucket::Unit;
use super::shared::shaper::Shaper;
use crate::args::{Kind, mandatory};
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("BandwidthShaper", "lets pulls pass at a bandwidth", || {
    Shaper::element(Unit::Bytes)
})
.ports("1/1", "l/l")
.params(&[mandatory("RATE", Kind::Bandwidth, "bytes a second")])
.restless()
.ops("work(90)");
