//! Passes pushed packets unchanged.
//!
//! # What it does
//! As `Null`, but its ports are push.
//!
//! # Example
//! ```click
//! RatedSource(RATE 10) -> PushNull -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::Element;

/// The class.
pub static ENTRY: Entry = Entry::new("PushNull", "passes pushed packets unchanged", || {
    Box::<PushNull>::default()
})
.ports("1/1", "h/h")
.ops("work(0)");

#[derive(Debug, Default)]
struct PushNull;

impl Element for PushNull {}
