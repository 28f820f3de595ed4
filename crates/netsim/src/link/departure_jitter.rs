//! Departure jitter: what processing and timers add to the instant at which a packet leaves a
//! queue.
//!
//! Without it a simulation is more exact than any machine. ACK-clocked flows reach a full queue in
//! step with its departures, to the picosecond, and the same flows find room each time: phase
//! effects (Floyd and Jacobson 1992). With it a packet that arrives as another leaves is dropped in
//! half of the cases, rather than in none.
//!
//! The rate is kept: a packet that leaves late delays no other, and packets that leave at one
//! instant stay together.

use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// Draws how late each departure is.
#[derive(Debug)]
pub(super) struct DepartureJitter {
    most: Span,
    /// The last departure: when it was due, by how much it was late, and the latest instant so far.
    due: Time,
    by: Span,
    last: Time,
    rng: Rng,
}

impl DepartureJitter {
    /// Up to `most`, drawn evenly; nothing for no time.
    pub(super) fn new(most: Span, rng: Rng) -> Option<DepartureJitter> {
        (most > Span::ZERO).then_some(DepartureJitter {
            most,
            due: Time::MAX,
            by: Span::ZERO,
            last: Time::ZERO,
            rng,
        })
    }

    /// When a packet leaves that is due at `due`; in the order in which it is asked.
    #[inline]
    pub(super) fn leaves(&mut self, due: Time) -> Time {
        if due != self.due {
            self.due = due;
            self.by = Span::from_ps(self.rng.below(self.most.as_ps()));
        }
        self.last = self.last.max(due + self.by);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn departures_are_late_by_less_than_the_bound_and_keep_their_order() {
        let most = Span::from_us(1);
        let mut late = DepartureJitter::new(most, Rng::new(1, "late")).expect("some time");
        let mut last = Time::ZERO;
        let mut early = 0;
        for step in 0..1000 {
            let due = Time::from_ns(1200 * step);
            let leaves = late.leaves(due);
            assert!(due <= leaves && leaves < due + most && last <= leaves);
            assert_eq!(late.leaves(due), leaves, "one instant, one departure");
            early += u32::from(leaves < due + most / 2);
            last = leaves;
        }
        assert!((400..600).contains(&early), "{early} in the first half");
        // Closer together than they may be late, they bunch and do not overtake.
        for step in 0..1000 {
            let leaves = late.leaves(Time::from_ms(2) + Span::from_ns(10 * step));
            assert!(last <= leaves);
            last = leaves;
        }
    }

    #[test]
    fn no_time_draws_nothing() {
        assert!(DepartureJitter::new(Span::ZERO, Rng::new(1, "late")).is_none());
    }
}
