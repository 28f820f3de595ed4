//! A packet comes from the I/O buffer into memory, its headers into the fastest cache.
//!
//! # Cost
//! `base + line·⌈hdr/64⌉`: an access to the last level, then a line at a time. Data that stay where
//! they are cost nothing, thanks to the device's direct access to that level; a packet of the other
//! socket is all read from memory.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, item 1, and §4.2 for the other socket.

use super::{Constant, Entry, PAPER, Probe, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "io_mem",
        "a packet comes into memory, its headers into the fastest cache",
        PAPER,
        &[
            param("hdr", "B", "bytes of headers"),
            param("data", "B", "bytes that may stay in the last level"),
        ],
    ),
    constants: &[
        Constant {
            name: "base",
            help: "the access to the last level",
        },
        Constant {
            name: "line",
            help: "a line into the first or second level",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone().pieces(64.0)],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[64.0, 0.0], &[128.0, 0.0], &[256.0, 0.0]],
        run: read_lines,
    }),
};

/// Reads so many bytes of one packet after the other.
fn read_lines(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let size = params[0] as usize;
    let packets = buffer.len() / 2048;
    (0..times as usize).fold(0, |sum, turn| {
        let at = turn % packets.max(1) * 2048;
        let packet = &buffer[at..at + size];
        packet.chunks_exact(64).fold(sum, |sum, line| {
            line.iter()
                .step_by(16)
                .fold(sum, |sum: u64, byte| sum.wrapping_add(u64::from(*byte)))
        })
    })
}
