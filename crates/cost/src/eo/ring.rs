//! A descriptor is put into a ring and taken out of it.
//!
//! # Cost
//! `packet + call·calls`, `calls` being 1 over the packets that are put at a time.
//!
//! # References
//! Ours.

use super::{CALLS, Constant, Entry, OURS, Probe, about, nothing};

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "ring",
        "a descriptor put into a ring and taken out of it",
        OURS,
        &[CALLS],
    ),
    constants: &[
        Constant {
            name: "packet",
            help: "a descriptor in and out",
        },
        Constant {
            name: "call",
            help: "a call for a batch, in and out",
        },
    ],
    constants_of: None,
    terms: |args| vec![1.0.into(), args[0].clone()],
    touches: nothing,
    probe: Some(Probe {
        points: &[&[1.0], &[0.25], &[0.03125]],
        run: pass,
    }),
};

/// Passes descriptors of four bytes through a ring, a batch at a time.
fn pass(buffer: &mut [u8], params: &[f64], times: u32) -> u64 {
    let batch = (1.0 / params[0]) as u32;
    let (mut head, mut tail, mut sum) = (0_usize, 0_usize, 0);
    let slots = 2048;
    let mut done = 0;
    while done < times {
        let count = batch.min(times - done);
        for at in 0..count {
            let slot = &mut buffer[tail % slots * 4..][..4];
            let old = <[u8; 4]>::try_from(&*slot).map_or(0, u32::from_le_bytes);
            slot.copy_from_slice(&(old ^ (done + at)).to_le_bytes());
            tail += 1;
        }
        std::hint::black_box(&mut *buffer);
        for _ in 0..count {
            let slot = &buffer[head % slots * 4..][..4];
            sum += u64::from(<[u8; 4]>::try_from(slot).map_or(0, u32::from_le_bytes));
            head += 1;
        }
        done += count;
    }
    sum
}
