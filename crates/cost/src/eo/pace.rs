//! A ring in memory paces its frames and stamps them: the cost of measuring, not of what is
//! measured.
//!
//! # Cost
//! `packet + call·calls`, `calls` being 1 over the packets of a batch, both ways. It is in no
//! function's cost. Where latency is measured on rings in memory, the simulation has it too, so
//! that both are of the same thing.
//!
//! # References
//! Ours.

use super::{CALLS, Constant, Entry, OURS, about, nothing};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "pace",
        "a frame that falls due in memory, and its time stamps",
        OURS,
        &[CALLS],
    ),
    constants: &[
        Constant {
            name: "packet",
            help: "a frame's instant, both ways",
        },
        Constant {
            name: "call",
            help: "the time of a batch, both ways",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone()],
    touches: nothing,
    // It is the ring's, and measured there.
    probe: None,
};
