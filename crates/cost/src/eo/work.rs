//! Plain computation: instructions that touch nothing beyond the first level.
//!
//! # Cost
//! `instruction·n`.
//!
//! # References
//! Ours.

use super::{Constant, Entry, OURS, Probe, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "work",
        "plain computation in registers and the first level",
        OURS,
        &[param("n", "", "instructions")],
    ),
    constants: &[Constant {
        name: "instruction",
        help: "an instruction of ordinary code",
    }],
    constants_of: None,
    terms: |args| vec![args[0].clone()],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[40.0], &[80.0], &[160.0]],
        run: compute,
    }),
};

/// Mixes loads, arithmetic and comparisons as headers ask for them; about ten instructions a step.
fn compute(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let steps = params[0] as usize / 10;
    (0..times as usize).fold(0, |sum: u64, turn| {
        let header = &buffer[turn % 128 * 64..][..64];
        let mut mixed = sum;
        for step in 0..steps {
            let byte = u64::from(header[step * 3 % 64]);
            mixed = if byte > 0x40 {
                mixed.wrapping_add(byte << 2)
            } else {
                mixed ^ byte
            };
        }
        mixed
    })
}
