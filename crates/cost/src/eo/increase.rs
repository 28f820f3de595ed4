//! A field is increased, in registers.
//!
//! # Cost
//! `word·⌈b/8⌉`, rounded up to a whole cycle where the machine says that operations take whole
//! ones.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, items 3 and 4.

use super::{Constant, Entry, PAPER, Probe, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "increase",
        "a field is increased",
        PAPER,
        &[param("b", "B", "bytes of the field")],
    ),
    constants: &[Constant {
        name: "word",
        help: "an addition to eight bytes",
    }],
    constants_of: None,
    // A share of a word, as the paper has it: several additions fit into a cycle.
    terms: |args| vec![args[0].clone() * (1.0 / 8.0)],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[8.0], &[24.0], &[64.0]],
        run: add,
    }),
};

/// Adds to so many bytes, in registers that do not wait for one another.
fn add(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let words = (params[0] / 8.0) as usize;
    let mut values = [u64::from(buffer[0]); 8];
    for turn in 0..u64::from(times) {
        for value in &mut values[..words] {
            // What follows must not be known before it is computed.
            *value = std::hint::black_box(value.wrapping_add(turn));
        }
    }
    values.iter().fold(0, |sum, value| sum ^ value)
}
