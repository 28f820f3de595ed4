//! Passes packets unchanged.
//!
//! # Example
//! ```click
//! // A name for a place of the graph that does nothing.
//! Idle -> before :: Null -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::Element;

/// The class.
pub static ENTRY: Entry = Entry::new("Null", "passes packets unchanged", || Box::new(Null))
    .aliases(&[
        "Null1", "Null2", "Null3", "Null4", "Null5", "Null6", "Null7", "Null8",
    ])
    .ops("work(0)");

#[derive(Debug)]
struct Null;

impl Element for Null {}
