//! Chooses the output by the stream's rate in packets per second.
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
//! // Up to 1000 packets a second leave by output 0, what comes while more does by output 1.
//! FromDevice(eth0) -> m :: Meter(1000) -> Queue -> ToDevice(eth1); m[1] -> Discard
//! ```

use super::shared::meter::{Meter, PARAMS};
use super::shared::rate_bucket::Unit;
use crate::elements::Entry;

/// The class.
pub static ENTRY: Entry = Entry::new("Meter", "chooses the output by the stream's rate", || {
    Meter::element(Unit::Packets)
})
.ports("1/2-", "h/h")
.params(PARAMS)
.ops("work(90)");
