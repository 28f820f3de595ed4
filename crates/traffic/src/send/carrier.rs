//! What carries a stream's packets.

use crate::stamp::{STAMP_BYTES, Stamp};
use std::io;
use std::sync::atomic::AtomicBool;

/// A packet that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What it tells.
    pub stamp: Stamp,
    /// Bytes of its payload; at least what its carrier says.
    pub bytes: u32,
}

/// What carries a stream's packets.
pub trait Carrier: Send {
    /// How many packets it takes at a time, and bytes of a packet, at most.
    fn most(&self) -> (usize, u32);

    /// Bytes of a packet, at least.
    fn least(&self) -> u32 {
        STAMP_BYTES as u32
    }

    /// Whether it waits for the other end: then a stream beside it on the same thread would wait as
    /// well.
    fn waits(&self) -> bool {
        false
    }

    /// Nothing more is handed over after `at_ns` of the monotonic clock: a carrier that waits for
    /// the other end waits no longer.
    fn end_at(&mut self, at_ns: i64) {
        let _ = at_ns;
    }

    /// Packets of the last call that were not handed over, since it was told to stop or its time
    /// was over.
    fn unsent(&self) -> usize {
        0
    }

    /// Gives packets to the kernel, all of them; says how many calls failed without ending the
    /// stream.
    fn hand_over(&mut self, packets: &[Packet], stop: &AtomicBool) -> io::Result<u64>;
}
