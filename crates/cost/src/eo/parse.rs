//! A field of the packet is loaded into registers.
//!
//! # Cost
//! `word·⌈b/8⌉`: eight bytes at a time, the field being in the first or second level already.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, item 2.

use super::{Constant, Entry, PAPER, Probe, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "parse",
        "a field is loaded into registers",
        PAPER,
        &[param("b", "B", "bytes of the field")],
    ),
    constants: &[Constant {
        name: "word",
        help: "a load of eight bytes",
    }],
    constants_of: None,
    terms: |args| vec![args[0].clone().pieces(8.0)],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[8.0], &[40.0], &[72.0]],
        run: load,
    }),
};

/// Loads the field's words, each packet's at another place.
fn load(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let size = params[0] as usize;
    (0..times as usize).fold(0, |sum, turn| {
        let at = turn * 72 % 8192;
        buffer[at..at + size]
            .chunks_exact(8)
            .fold(sum, |sum, word| {
                let word = <[u8; 8]>::try_from(word).map_or(0, u64::from_be_bytes);
                sum.rotate_left(1) ^ word
            })
    })
}
