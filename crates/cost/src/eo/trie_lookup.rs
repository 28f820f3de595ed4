//! The longest prefix that matches, in a trie: each level waits for the one before.
//!
//! # Cost
//! `fixed + level·levels`, and an access a level to tables of `bytes` bytes together, in pages of
//! `span`.
//!
//! # References
//! Ours.

use super::{Constant, Entry, Memory, OURS, Probe, Touch, about, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "trie_lookup",
        "the longest prefix that matches, in a trie",
        OURS,
        &[
            param("levels", "", "levels that are asked, on average"),
            param("bytes", "B", "bytes of the nodes that are asked"),
            param("span", "B", "bytes of memory over which these lie"),
        ],
    ),
    constants: &[
        Constant {
            name: "fixed",
            help: "the key, and what is found",
        },
        Constant {
            name: "level",
            help: "a level, its node being in the first cache",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone()],
    touches: |args| {
        vec![Touch {
            accesses: args[0].clone(),
            of: Memory::Table {
                bytes: args[1].clone(),
                entry: 8.0.into(),
                span: args[2].clone(),
            },
        }]
    },
    probe: Some(Probe {
        points: &[
            &[1.0, 8192.0, 8192.0],
            &[3.0, 8192.0, 8192.0],
            &[6.0, 8192.0, 8192.0],
        ],
        run: descend,
    }),
};

/// Goes down through nodes of eight bytes, each telling the place of the next.
fn descend(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let levels = params[0] as u32;
    let nodes = params[1] as usize / 8;
    (0..u64::from(times)).fold(0, |sum, turn| {
        let key = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = 0;
        let mut node = 0;
        for level in 0..levels {
            let place = (at as usize + (key >> (level * 8) & 255) as usize) % nodes * 8;
            node = <[u8; 8]>::try_from(&buffer[place..place + 8]).map_or(0, u64::from_le_bytes);
            at = node >> 24;
        }
        sum.wrapping_add(node)
    })
}
