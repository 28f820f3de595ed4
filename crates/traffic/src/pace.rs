//! Waiting for an instant of the monotonic clock, and what day that is.
//!
//! A timer wakes late, by some ten microseconds. So a sender sleeps until shortly before a packet is due and then asks the clock
//! until it is: that costs a part of a core and is exact to some ten nanoseconds, where the core is its own.

use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::clock::{monotonic_ns, sleep_until, wall_ns};

/// How long before an instant sleeping ends, in nanoseconds: longer than timers here wake late.
const AHEAD_NS: i64 = 60_000;
/// The longest sleep: so often is looked whether to stop.
const SLICE_NS: i64 = 20_000_000;
/// Readings of both clocks of which the closest tells how they differ.
const READINGS: usize = 9;

/// How to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Asks the clock for the last part.
    #[default]
    Spin,
    /// Sleeps all the time: late by what the timer is, and no load.
    Sleep,
}

impl Wait {
    /// Waits until [`monotonic_ns`] is at least `at_ns`, or `stop` is set; says what time it is then.
    pub fn until(self, at_ns: i64, stop: &AtomicBool) -> i64 {
        let awake = match self {
            Wait::Spin => at_ns.saturating_sub(AHEAD_NS),
            Wait::Sleep => at_ns,
        };
        loop {
            let now = monotonic_ns();
            if now >= awake || stop.load(Ordering::Relaxed) {
                break;
            }
            sleep_until(awake.min(now + SLICE_NS));
        }
        loop {
            let now = monotonic_ns();
            if now >= at_ns || stop.load(Ordering::Relaxed) {
                return now;
            }
            std::hint::spin_loop();
        }
    }
}

/// The date of instants of the monotonic clock, as it was when this was made: setting the clock later changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Calendar {
    offset_ns: i64,
}

impl Calendar {
    /// By what both clocks show now.
    pub fn now() -> Calendar {
        let reading = || {
            let before = monotonic_ns();
            let wall = wall_ns();
            let after = monotonic_ns();
            (after - before, wall - i64::midpoint(before, after))
        };
        let closest = (0..READINGS)
            .map(|_| reading())
            .min_by_key(|(took, _)| *took);
        Calendar {
            offset_ns: closest.expect("there are readings").1,
        }
    }

    /// Nanoseconds since 1970 at an instant of the monotonic clock.
    pub fn date_ns(&self, monotonic_ns: i64) -> i64 {
        monotonic_ns.saturating_add(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_woken_before_the_time_and_who_is_to_stop_at_once() {
        let go_on = AtomicBool::new(false);
        for wait in [Wait::Spin, Wait::Sleep] {
            let at = monotonic_ns() + 300_000;
            assert!(wait.until(at, &go_on) >= at);
            let past = monotonic_ns();
            assert!(wait.until(past - 5, &go_on) >= past);
            let never = monotonic_ns() + 3_600_000_000_000;
            assert!(wait.until(never, &AtomicBool::new(true)) < never);
        }
    }

    #[test]
    fn a_date_is_what_the_clock_on_the_wall_shows() {
        let calendar = Calendar::now();
        let before = wall_ns();
        let date = calendar.date_ns(monotonic_ns());
        let after = wall_ns();
        // The two clocks are read one after the other, a microsecond apart at most.
        assert!((before - 100_000..=after + 100_000).contains(&date));
    }
}
