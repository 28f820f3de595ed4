//! A random number.
//!
//! # Cost
//! `number`.
//!
//! # References
//! Ours.

use super::{Constant, Entry, OURS, Probe, about, nothing};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about("random", "a random number", OURS, &[]),
    constants: &[Constant {
        name: "number",
        help: "64 bits of a fast generator",
    }],
    constants_of: None,
    terms: |_| vec![1.0.into()],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[]],
        run: draw,
    }),
};

/// Draws numbers from a generator of the xorshift kind, each from the state that the one before
/// left.
fn draw(buffer: &mut [u8], _: &[f64], times: u32) -> u64 {
    let mut state = u64::from(buffer[0]) | 1 << 40;
    (0..times).fold(0, |sum: u64, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sum.wrapping_add(state)
    })
}
