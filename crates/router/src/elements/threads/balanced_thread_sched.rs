//! Distributes elements without a thread over the threads.
//!
//! # What it does
//! Parts of the configuration that queues divide, and that no `StaticThreadSched` names, go to the
//! thread with the fewest elements, the largest first; without this class they run on the first
//! thread. Elements stay where they start, since they share nothing with other threads: `INTERVAL`
//! and `INCREASING` are read and change nothing.
//!
//! # Example
//! ```click
//! // With `-j 2`: it would move tasks so that threads have the same work.
//! BalancedThreadSched; FromDevice(eth0) -> Queue -> ToDevice(eth1)
//! ```

use crate::args::kinds::UINT;
use crate::args::{Args, Kind, Param, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::Element;
use crate::engine::setup::Setup;

const PARAMS: &[Param] = &[
    positional("INTERVAL", UINT, "1000", "milliseconds; changes nothing"),
    positional("INCREASING", Kind::Bool, "true", "changes nothing"),
];

/// The class.
pub static ENTRY: Entry = Entry::new(
    "BalancedThreadSched",
    "distributes elements without a thread over the threads",
    || Box::new(BalancedThreadSched),
)
.ports("0/0", "a/a")
.params(PARAMS);

#[derive(Debug)]
struct BalancedThreadSched;

impl Element for BalancedThreadSched {
    fn configure(&mut self, setup: &mut Setup, _: &Args) -> Result<(), Diagnostics> {
        setup.wishes.is_balanced = true;
        Ok(())
    }
}
