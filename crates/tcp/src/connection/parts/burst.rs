//! The burst that is leaving: segmentation offload and pacing.

use trammel_core::time::Time;

/// Segments sent since [`poll_transmit`](super::super::Connection::poll_transmit) last returned
/// nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    /// New segments sent.
    pub(crate) sent: u32,
    /// Segments of a super-segment that has begun to leave.
    pub(crate) left: u32,
    /// The congestion window ended the burst.
    pub(crate) is_window_limited: bool,
}

/// Pacing of segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    /// When the next segment may leave, ns.
    pub(crate) until_ns: u64,
    /// When the sender tries again; [`Time::MAX`] while pacing holds nothing back.
    pub(crate) timer: Time,
}

impl Pacing {
    pub(crate) fn new() -> Pacing {
        Pacing {
            until_ns: 0,
            timer: Time::MAX,
        }
    }
}
