//! How long a device takes to recover from an overload.
//!
//! Two times, both from the instant at which the load is reduced. RFC 2544 asks for that of the
//! last loss. A device whose rings drain loses nothing any more as soon as less comes than it can
//! do, while what has gathered still makes frames wait; so the second is that of the first frame
//! which takes no longer than twice the median at the lower load.

use trammel_core::time::{Span, Time};
use trammel_router::simulate::port::Passage;

/// The overload, as a share of the throughput.
//= rfc2544 §26.5
//# Send a stream of frames at a rate 110% of the recorded throughput rate or the maximum rate for
//# the media, whichever is lower
pub const OVERLOAD: f64 = 1.1;

/// The lower load, as a share of the overload.
//= rfc2544 §26.5
//# At Timestamp A reduce the frame rate to 50% of the above rate and record the time of the last
//# frame lost (Timestamp B).
pub const REDUCED: f64 = 0.5;

/// How many times the median a frame may take that is not held up any more.
const USUAL: u64 = 2;

/// The times from the reduction on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Until the last frame was lost at a receive ring; zero where none was after it.
    pub last_loss: Span,
    /// Until a frame came that took no longer than usual; none where that was not seen.
    pub delay: Option<Span>,
}

/// What a device did whose load was reduced at `reduced`: `passages` in any order, the instant of
/// the last loss, and the median latency at the lower load.
pub fn recovery(
    passages: &[Passage],
    reduced: Time,
    last_lost: Option<Time>,
    median: Span,
) -> Recovery {
    let after = passages.iter().filter(|one| one.came >= reduced);
    let usual = after.filter(|one| one.latency() <= median * USUAL);
    Recovery {
        last_loss: last_lost.map_or(Span::ZERO, |at| at.saturating_since(reduced)),
        delay: usual.map(|one| one.came).min().map(|came| came - reduced),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_when_a_frame_takes_what_is_usual() {
        let us = Time::from_us;
        let passage = |came, took| Passage {
            came: us(came),
            left: us(came + took),
            flow: 0,
        };
        let passages = [
            passage(90, 1),
            passage(100, 9),
            passage(110, 5),
            passage(120, 2),
        ];
        let found = recovery(&passages, us(100), Some(us(103)), Span::from_us(1));
        assert_eq!(
            (found.last_loss, found.delay),
            (Span::from_us(3), Some(Span::from_us(20)))
        );
        let found = recovery(&passages, us(100), Some(us(99)), Span::from_ns(900));
        assert_eq!((found.last_loss, found.delay), (Span::ZERO, None));
    }
}
