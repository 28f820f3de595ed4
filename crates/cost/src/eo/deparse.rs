//! A field of the packet is stored from registers.
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
        "deparse",
        "a field is stored from registers",
        PAPER,
        &[param("b", "B", "bytes of the field")],
    ),
    constants: &[Constant {
        name: "word",
        help: "a store of eight bytes",
    }],
    constants_of: None,
    terms: |args| vec![args[0].clone().pieces(8.0)],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[8.0], &[40.0], &[72.0]],
        run: store,
    }),
};

/// Stores the field's words, each packet's at another place.
fn store(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let size = params[0] as usize;
    let mut value = u64::from(buffer[0]);
    for turn in 0..times as usize {
        let at = turn * 72 % 8192;
        value = value.wrapping_add(0x9e37_79b9);
        for word in buffer[at..at + size].chunks_exact_mut(8) {
            // Of a known length, so that it is a store and no call.
            if let Ok(word) = <&mut [u8; 8]>::try_from(word) {
                *word = value.to_be_bytes();
            }
        }
    }
    value
}
