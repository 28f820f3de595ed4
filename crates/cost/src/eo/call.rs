//! A batch of packets is handed to an element: the router's own work around what the element does.
//!
//! # Cost
//! `packet + call·calls`, `calls` being 1 over the packets of a batch.
//!
//! # References
//! Ours.

use super::{CALLS, Constant, Entry, OURS, about, nothing};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about("call", "a batch handed to an element", OURS, &[CALLS]),
    constants: &[
        Constant {
            name: "packet",
            help: "a packet on its way from element to element",
        },
        Constant {
            name: "call",
            help: "a call of an element, for a whole batch",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone()],
    touches: nothing,
    // It is the router's, and measured there.
    probe: None,
};
