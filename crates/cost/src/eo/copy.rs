//! Bytes are copied from one buffer to another, both in the first level.
//!
//! # Cost
//! `fixed + line·⌈b/64⌉`.
//!
//! # References
//! Ours.

use super::{Constant, Entry, OURS, Probe, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "copy",
        "bytes copied from one buffer to another",
        OURS,
        &[param("b", "B", "bytes that are copied")],
    ),
    constants: &[
        Constant {
            name: "fixed",
            help: "the call, whatever the length",
        },
        Constant {
            name: "line",
            help: "a line read and written",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone().pieces(64.0)],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[64.0], &[256.0], &[1536.0]],
        run: copy,
    }),
};

/// Copies packets from one half of the buffer to the other.
fn copy(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let size = params[0] as usize;
    let (from, to) = buffer.split_at_mut(8192);
    for turn in 0..times as usize {
        let at = turn % 4 * 2048;
        to[at..at + size].copy_from_slice(&from[at..at + size]);
        // Copies must not be made into one.
        std::hint::black_box(&mut *to);
    }
    u64::from(to[0])
}
