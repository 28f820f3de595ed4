//! A device is asked for packets and has none: a turn of the router's loop in vain.
//!
//! # Cost
//! `empty`. It is in no packet's cost; a router that polls spends on it what is left of the core,
//! and a packet waits for the end of such a turn.
//!
//! # References
//! Ours.

use super::{Constant, Entry, OURS, about, nothing};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "poll",
        "a device asked for packets that has none",
        OURS,
        &[],
    ),
    constants: &[Constant {
        name: "empty",
        help: "a turn of the router's loop that finds nothing",
    }],
    constants_of: None,
    terms: |_| vec![1.0.into()],
    touches: nothing,
    // It is the router's, and measured there.
    probe: None,
};
