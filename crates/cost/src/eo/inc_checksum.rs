//! The Internet checksum brought up to date for bytes that changed.
//!
//! # Cost
//! `pair·⌈b/2⌉ + fixed`. The old checksum and the bytes were parsed before, so nothing is accessed.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, item 5; RFC 1624.

use super::{Constant, Entry, PAPER, Probe, about, nothing, param};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "inc_checksum",
        "the Internet checksum brought up to date for changed bytes",
        PAPER,
        &[param("b", "B", "bytes that changed")],
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
    touches: nothing,
    probe: Some(Probe {
        points: &[&[2.0], &[8.0], &[16.0]],
        run: update,
    }),
};

/// Changes bytes of one header after the other and its checksum with them, as RFC 1624, equation 3.
fn update(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let pairs = (params[0] / 2.0) as usize;
    let pair = |bytes: &[u8]| u32::from(bytes[0]) << 8 | u32::from(bytes[1]);
    (0..times as usize).fold(0, |all, turn| {
        let at = turn % 128 * 64;
        let header = &mut buffer[at..at + 64];
        let mut sum = !pair(&header[10..]) & 0xffff;
        for field in header[12..].chunks_exact_mut(2).take(pairs) {
            let old = pair(field);
            let new = old.wrapping_sub(1) & 0xffff;
            sum += (!old & 0xffff) + new;
            // Of a known length, so that it is a store and no call.
            if let Ok(field) = <&mut [u8; 2]>::try_from(field) {
                *field = (new as u16).to_be_bytes();
            }
        }
        sum = (sum >> 16) + (sum & 0xffff);
        sum += sum >> 16;
        header[10..12].copy_from_slice(&(!sum as u16).to_be_bytes());
        all + u64::from(sum)
    })
}
