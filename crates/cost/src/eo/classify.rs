//! A packet is told apart by rules.
//!
//! # Cost
//! `fixed + step·steps`, a step being a field that is loaded and compared or a branch that is
//! taken.
//!
//! # References
//! Ours.

use super::{Constant, Entry, OURS, Probe, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "classify",
        "a packet told apart by rules",
        OURS,
        &[param("steps", "", "steps of the decision, on average")],
    ),
    constants: &[
        Constant {
            name: "fixed",
            help: "finding the headers, and sending the packet on its way",
        },
        Constant {
            name: "step",
            help: "a field loaded and compared",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone()],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[1.0], &[4.0], &[8.0]],
        run: decide,
    }),
};

/// Compares fields of one header after the other under a mask, as far as the steps go.
fn decide(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let steps = params[0] as usize;
    (0..times as usize).fold(0, |sum, turn| {
        let header = &buffer[turn % 128 * 64..][..64];
        let mut taken = 0_u64;
        for word in header.chunks_exact(4).take(steps) {
            let word = <[u8; 4]>::try_from(word).map_or(0, u32::from_be_bytes);
            taken = taken << 1 | u64::from(word & 0xff00_ffff > 0x7f00_0000);
        }
        sum.wrapping_add(taken)
    })
}
