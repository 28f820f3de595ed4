//! Segments that have arrived.

use crate::segment::Flags;
use trammel_core::time::Time;

/// What is kept of arrivals beside the receiver's own state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    /// When a segment last arrived.
    pub(crate) at: Time,
    /// How many arrived before it at that instant.
    pub(crate) before: u64,
    /// The peer has sent a segment that was ECN-capable.
    pub(crate) ecn_seen: bool,
    /// Flags that an ordinary segment may have beside ACK: PSH, and the field ACE where it counts.
    pub(crate) harmless: Flags,
    /// The timestamp of the segment in hand is newer than those before it.
    pub(crate) is_newer: bool,
}

impl Arrivals {
    pub(crate) fn new() -> Arrivals {
        Arrivals {
            at: Time::MAX,
            before: 0,
            ecn_seen: false,
            harmless: Flags::PSH,
            is_newer: false,
        }
    }
}
