//! A packet goes from memory to the I/O buffer.
//!
//! # Cost
//! `base + line·⌈hdr/64⌉`, the line being written back to the last level.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, item 1.

use super::{Constant, Entry, PAPER, Probe, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "mem_io",
        "a packet goes from memory to the I/O buffer",
        PAPER,
        &[
            param("hdr", "B", "bytes of headers"),
            param("data", "B", "bytes that stayed in the last level"),
        ],
    ),
    constants: &[
        Constant {
            name: "base",
            help: "the access to the last level",
        },
        Constant {
            name: "line",
            help: "a line written back to the last level",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone().pieces(64.0)],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[64.0, 0.0], &[128.0, 0.0], &[256.0, 0.0]],
        run: write_lines,
    }),
};

/// Writes so many bytes of one packet after the other.
fn write_lines(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let size = params[0] as usize;
    let packets = buffer.len() / 2048;
    (0..times as usize).fold(0, |sum, turn| {
        let at = turn % packets.max(1) * 2048;
        for line in buffer[at..at + size].chunks_exact_mut(64) {
            for byte in line.iter_mut().step_by(16) {
                *byte = byte.wrapping_add(turn as u8);
            }
        }
        sum.wrapping_add(u64::from(buffer[at]))
    })
}
