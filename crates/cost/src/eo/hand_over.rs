//! Headers that another core has just written come into this core's fastest cache.
//!
//! # Cost
//! `base + line·⌈hdr/64⌉`, as `io_mem` has them: the lines come by way of the last level. Where the
//! machine charges memory, each line is waited for as that level answers besides, lines of several
//! packets under way at once. That cores pass lines on no slower than the last level answers is an
//! assumption.
//!
//! # References
//! Ours.

use super::{Constant, Entry, LINE, Memory, OURS, Touch, about, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "hand_over",
        "headers come from another core's cache",
        OURS,
        &[param("hdr", "B", "bytes of headers")],
    ),
    constants: NONE,
    constants_of: Some("io_mem"),
    terms: |args| vec![1.0.into(), args[0].clone().pieces(LINE)],
    touches: |args| {
        vec![Touch {
            accesses: args[0].clone().pieces(LINE),
            of: Memory::OtherCore,
        }]
    },
    // Two cores would have to run it.
    probe: None,
};

const NONE: &[Constant] = &[];
