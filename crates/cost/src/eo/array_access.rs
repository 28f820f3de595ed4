//! An entry of an array, by its index.
//!
//! # Cost
//! `index + word·⌈es/8⌉`, and an access for each line of the entry.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, item 6.

use super::{Constant, Entry, LINE, Memory, PAPER, Probe, Touch, about, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "array_access",
        "an entry of an array, by its index",
        PAPER,
        &[
            param("es", "B", "bytes of an entry"),
            param("max", "", "entries at most"),
        ],
    ),
    constants: &[
        Constant {
            name: "index",
            help: "the place of the entry",
        },
        Constant {
            name: "word",
            help: "eight bytes of the entry",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone().pieces(8.0)],
    touches: |args| {
        let [entry, entries] = [&args[0], &args[1]];
        vec![Touch {
            accesses: entry.clone().pieces(LINE),
            of: Memory::Table {
                bytes: entry.clone() * entries.clone(),
                entry: entry.clone(),
                span: entry.clone() * entries.clone(),
            },
        }]
    },
    probe: Some(Probe {
        points: &[&[8.0, 1024.0], &[32.0, 256.0], &[64.0, 128.0]],
        run: access,
    }),
};

/// Reads entries at places that do not depend on one another.
fn access(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let (size, entries) = (params[0] as usize, params[1] as usize);
    (0..times as usize).fold(0, |sum, turn| {
        let at = turn.wrapping_mul(0x9e37_79b1) % entries * size;
        buffer[at..at + size]
            .chunks_exact(8)
            .fold(sum, |sum, word| {
                sum ^ <[u8; 8]>::try_from(word).map_or(0, u64::from_le_bytes)
            })
    })
}
