//! Chooses the output by the stream's rate in bytes per second.
//!
//! # What it does
//! The rate is an exponentially weighted moving average. Below the first rate of the arguments
//! packets leave by output 0, below the second by output 1, and so on; from the last on by the last
//! output.
//!
//! # Handlers
//! - `meters`: the rates between outputs
//!
//! # Example
//! ```click
//! // Up to a megabyte a second leaves by output 0, what comes while more does by output 1.
//! FromDevice(eth0) -> m :: BandwidthMeter(1MBps) -> Queue -> ToDevice(eth1); m[1] -> Discard
//! ```

use super::shared::meter::{Meter, PARAMS};
use super::shared::rate_bucket::Unit;
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "BandwidthMeter",
    "chooses the output by the stream's bandwidth",
    || Meter::element(Unit::Bytes),
)
.ports("1/2-", "h/h")
.params(PARAMS)
.ops("work(100)");
