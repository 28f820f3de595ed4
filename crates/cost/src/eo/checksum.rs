//! The Internet checksum over bytes of the packet.
//!
//! # Cost
//! `pair·⌈b/2⌉ + fixed`, and an access a line: the bytes beyond the headers were not loaded before.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, item 5 and Figure 3; RFC 1071.

use super::{Constant, Entry, LINE, Memory, PAPER, Probe, Touch, about, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "checksum",
        "the Internet checksum over bytes",
        PAPER,
        &[param("b", "B", "bytes that are summed")],
    ),
    constants: &[
        Constant {
            name: "pair",
            help: "two bytes",
        },
        Constant {
            name: "fixed",
            help: "folding the carries, whatever the length",
        },
    ],
    constants_of: None,
    terms: |args| vec![args[0].clone().pieces(2.0), 1.0.into()],
    touches: |args| {
        vec![Touch {
            accesses: args[0].clone().pieces(LINE),
            of: Memory::Packet,
        }]
    },
    probe: Some(Probe {
        points: &[&[20.0], &[64.0], &[256.0], &[1480.0]],
        run: internet_checksum,
    }),
};

/// The checksum of one packet after the other.
fn internet_checksum(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let size = params[0] as usize;
    (0..times as usize).fold(0, |sum, turn| {
        let at = turn % 4 * 2048;
        let mut words = buffer[at..at + size].chunks_exact(8);
        let whole = words.by_ref().fold(0_u128, |sum, word| {
            sum + u128::from(<[u8; 8]>::try_from(word).map_or(0, u64::from_be_bytes))
        });
        let rest = words.remainder().chunks(2).fold(0_u128, |sum, pair| {
            sum + u128::from(pair[0]) * 256 + u128::from(pair.get(1).copied().unwrap_or(0))
        });
        let mut carried = whole + rest;
        while carried > 0xffff {
            carried = (carried >> 16) + (carried & 0xffff);
        }
        sum.wrapping_add(carried as u64)
    })
}
