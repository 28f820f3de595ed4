//! Segments that have arrived.

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
}

impl Arrivals {
    pub(crate) fn new() -> Arrivals {
        Arrivals {
            at: Time::MAX,
            before: 0,
            ecn_seen: false,
        }
    }
}
