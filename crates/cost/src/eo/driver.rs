//! A packet is taken from a device and another given to one: descriptors, buffers, doorbells.
//!
//! # Cost
//! `packet + call·calls + line·⌈frame/64⌉`, `calls` being 1 over the packets of a batch. The paper
//! has no driver, which is what makes its inflated operations look right from end to end.
//!
//! # References
//! Ours; Baldi and Sapio 2018, §4.3, is where the gap shows.

use super::{CALLS, Constant, Entry, OURS, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "driver",
        "a packet taken from a device and given to one",
        OURS,
        &[param("frame", "B", "bytes of the frame"), CALLS],
    ),
    constants: &[
        Constant {
            name: "packet",
            help: "descriptors and buffers of a packet, both ways",
        },
        Constant {
            name: "call",
            help: "a call for a batch, both ways",
        },
        Constant {
            name: "line",
            help: "a line that is copied, where the way into the machine copies",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[1].clone(), args[0].clone().pieces(64.0)],
    touches: nothing,
    // It is no pure function: it is measured where the device is.
    probe: None,
};
