//! Lets packets be pulled at a rate in packets a second.
//!
//! # What it does
//! Packets leave at even distances if pulls come often enough. Pulls at output 1 give packets while
//! none is due at output 0.
//!
//! # Example
//! ```click
//! // Packets a second.
//! FromDevice(eth0) -> Queue -> Shaper(1000) -> ToDevice(eth1)
//! ```

use super::shared::rate_bucket::Unit;
use super::shared::shaper::Shaper;
use crate::args::kinds::UINT;
use crate::args::mandatory;
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("Shaper", "lets pulls pass at a rate", || {
    Shaper::element(Unit::Packets)
})
.ports("1/1-2", "l/l")
.params(&[mandatory("RATE", UINT, "packets a second")])
.restless()
.ops("work(150 * calls)");
