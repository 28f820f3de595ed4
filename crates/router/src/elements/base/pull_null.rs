//! Passes pulled packets unchanged.
//!
//! # What it does
//! As `Null`, but its ports are pull.
//!
//! # Example
//! ```click
//! RatedSource(RATE 10) -> Queue -> PullNull -> Unqueue -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::Element;

/// The class.
pub static ENTRY: Entry = Entry::new("PullNull", "passes pulled packets unchanged", || {
    Box::<PullNull>::default()
})
.ports("1/1", "l/l")
.ops("work(0)");

#[derive(Debug, Default)]
struct PullNull;

impl Element for PullNull {}
