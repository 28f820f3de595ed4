//! What a simulated port counts, and what it notes of single frames where it is asked to.

use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

/// A frame that has been given to the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When its last bit is out.
    pub at: Time,
    /// Its bytes.
    pub frame: Vec<u8>,
}

/// When a frame came, whether or not there was room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coming {
    /// When its last bit was in.
    pub at: Time,
    /// Of which flow it was: see [`Offer::of_flow`](crate::simulate::offer::Offer::of_flow).
    pub flow: u16,
}

/// When a frame came and when it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When its last bit was in.
    pub came: Time,
    /// When its first bit was out.
    pub left: Time,
    /// Of which flow it was: see [`Offer::of_flow`](crate::simulate::offer::Offer::of_flow).
    pub flow: u16,
}

impl Passage {
    /// How long it took.
    pub fn latency(self) -> Span {
        self.left.saturating_since(self.came)
    }
}

/// What a port counted.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Frames that came to it.
    pub offered: u64,
    /// When the last of them came.
    pub last_offered: Time,
    /// Those that found the ring full.
    pub lost: u64,
    /// When the last of those came.
    pub last_lost: Option<Time>,
    /// Those that are in the ring.
    pub in_receive_ring: u64,
    /// Those that the router took.
    pub received: u64,
    /// Times that it took any.
    pub batches: u64,
    /// Times that it asked in vain.
    pub polls: u64,
    /// Times that it left nothing in the ring, those in vain included.
    pub emptied: u64,
    /// Times that the link stood still when frames were given to it.
    pub link_idle: u64,
    /// Frames that the router gave it.
    pub accepted: u64,
    /// Those that are in the transmit ring.
    pub in_transmit_ring: u64,
    /// Those that are out.
    pub sent: u64,
    /// Their bytes, without checksums.
    pub sent_bytes: u64,
    /// From last bit in to first bit out, of frames that are out and came by a simulated port, in
    /// picoseconds.
    pub latency: Histogram,
    /// When the last bit of the last frame was out.
    pub last_sent: Time,
    /// What the driver took: with frames, and polling in vain.
    pub driver: Span,
    /// See `driver`.
    pub polling: Span,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            offered: 0,
            last_offered: Time::ZERO,
            lost: 0,
            last_lost: None,
            in_receive_ring: 0,
            received: 0,
            batches: 0,
            polls: 0,
            emptied: 0,
            link_idle: 0,
            accepted: 0,
            in_transmit_ring: 0,
            sent: 0,
            sent_bytes: 0,
            latency: Histogram::of_times(),
            last_sent: Time::ZERO,
            driver: Span::ZERO,
            polling: Span::ZERO,
        }
    }
}

impl Counts {
    /// Frames that the router took at a time, on average.
    pub fn mean_batch(&self) -> Option<f64> {
        (self.batches > 0).then(|| self.received as f64 / self.batches as f64)
    }
}
