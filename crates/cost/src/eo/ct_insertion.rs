//! A key put into a hash table with the present time, or its time brought up to date.
//!
//! # Cost
//! `(component·N + fixed + word·⌈HE/8⌉ + chunk·⌈HE/32⌉)·(1 + p)`. The line that is written is the
//! one that was read, so the accesses are those of `ht_lookup`. The paper prints twice as many,
//! which its own totals contradict: a machine may say `accesses = 2`.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, item 9 and Figure 5.

use super::{Constant, Entry, LINE, Memory, PAPER, Probe, Touch, about, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "ct_insertion",
        "a key put into a hash table with the present time",
        PAPER,
        &[
            param("N", "", "components of the key"),
            param("HE", "B", "bytes of an entry"),
            param("max", "", "entries at most"),
            param("p", "", "probability of a collision"),
        ],
    ),
    constants: &[
        Constant {
            name: "component",
            help: "hashing and comparing a component of the key",
        },
        Constant {
            name: "fixed",
            help: "the index from the hash, the clock, and the first access",
        },
        Constant {
            name: "word",
            help: "eight bytes of the entry",
        },
        Constant {
            name: "chunk",
            help: "32 bytes of the entry into the first level",
        },
    ],
    constants_of: None,
    terms: |args| {
        let tries = args[3].clone() + 1.0;
        let each = [
            args[0].clone(),
            1.0.into(),
            args[1].clone().pieces(8.0),
            args[1].clone().pieces(32.0),
        ];
        each.map(|term| term * tries.clone()).into()
    },
    touches: |args| {
        let lines = args[1].clone().pieces(LINE);
        vec![Touch {
            accesses: (lines * (args[3].clone() + 1.0)).ceil(),
            of: Memory::Table {
                bytes: args[1].clone() * args[2].clone(),
                entry: args[1].clone(),
                span: args[1].clone() * args[2].clone(),
            },
        }]
    },
    probe: Some(Probe {
        points: &[
            &[1.0, 8.0, 256.0, 0.0],
            &[2.0, 16.0, 256.0, 0.0],
            &[4.0, 32.0, 256.0, 0.0],
            &[1.0, 64.0, 128.0, 0.0],
            &[3.0, 64.0, 128.0, 0.0],
        ],
        run: insert,
    }),
};

/// Hashes keys that do not depend on one another, and writes a time to where each belongs.
fn insert(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let [components, size, entries] = [0, 1, 2].map(|at| params[at] as usize);
    (0..u64::from(times)).fold(0_u64, |found, turn| {
        let hash = (0..components as u64).fold(turn, |hash, part| {
            (hash ^ part.wrapping_add(turn)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        let at = (hash >> 32) as usize % entries * size;
        let entry = &mut buffer[at..at + size];
        let mut value = 0_u64;
        for word in entry.chunks_exact_mut(8) {
            // Of a known length, so that it is a load and a store and no call.
            if let Ok(word) = <&mut [u8; 8]>::try_from(word) {
                value ^= u64::from_le_bytes(*word);
                *word = turn.to_le_bytes();
            }
        }
        found.wrapping_add(value.rotate_left((hash & 7) as u32))
    })
}
