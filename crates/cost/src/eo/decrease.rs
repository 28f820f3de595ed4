//! A field is decreased, in registers.
//!
//! # Cost
//! `word·⌈b/8⌉`, rounded up to a whole cycle where the machine says that operations take whole
//! ones. As on the processor of the paper, the constant is that of `increase`.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, items 3 and 4.

use super::{Entry, PAPER, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "decrease",
        "a field is decreased",
        PAPER,
        &[param("b", "B", "bytes of the field")],
    ),
    constants: &[],
    constants_of: Some("increase"),
    terms: |args| vec![args[0].clone() * (1.0 / 8.0)],
    touches: nothing,
    probe: None,
};
