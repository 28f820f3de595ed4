//! Gives patterns of rewriters names.
//!
//! # What it does
//! Each argument is a name and a pattern. Rewriters and mappers that use the name share the place
//! in the pattern's range.
//!
//! # Example
//! ```click
//! // One pattern, and so one set of ports, for two elements.
//! IPRewriterPatterns(out 1.0.0.1 1024-65535# - -);
//! a :: IPRewriter(pattern out 0 0); b :: IPRewriter(pattern out 0 0);
//! Idle -> a -> Discard; Idle -> b -> Discard
//! ```

use super::shared::rewriter::patterns::Patterns;
use crate::args::{Kind, Need, param};
use crate::elements::Entry;
use crate::engine::element::PHASE_INFO;

/// The class.
pub static ENTRY: Entry = Entry::new("IPRewriterPatterns", "names patterns of rewriters", || {
    Box::<Patterns>::default()
})
.ports("0/0", "a/a")
.phase(PHASE_INFO)
.params(&[param(
    "PATTERN",
    Need::Rest,
    Kind::Raw,
    "",
    "a name and a pattern",
)]);
