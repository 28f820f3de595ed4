//! Waiting for an instant of the monotonic clock, and what day that is.
//!
//! A timer wakes late, by some ten microseconds. So a sender sleeps until shortly before a packet
//! is due and then asks the clock until it is: that costs a part of a core and is exact to some ten
//! nanoseconds, where the core is its own.
//!
//! Who does so before all other programs, and has gaps too short to sleep in, would keep them from
//! running. Linux then takes 50 ms of each second from it, all at once, and so many packets are
//! late. So such a sender gives the processor away by itself, in short pieces ([`Wait::Give`]):
//! more packets are late, and none by more than a piece.

use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::clock::{monotonic_ns, sleep_until, wall_ns};

/// How long before an instant sleeping ends, in nanoseconds: longer than timers here wake late.
const AHEAD_NS: i64 = 60_000;
/// The longest sleep: so often is looked whether to stop.
const SLICE_NS: i64 = 20_000_000;
/// What is given away at once, in nanoseconds: shorter pieces are mostly the change from one
/// program to the other.
const PIECE_NS: i64 = 100_000;
/// Of so much time one part is given away: an eighth. The kernel takes 5 % from who gives less, 50
/// ms at once, and does not count all that is given: 6 and 8 % were not enough, 10 % mostly was.
const PART_OF: i64 = 8;
/// Sleep that counts beforehand, in nanoseconds: what the kernel takes of a second.
const MOST_CREDIT_NS: i64 = 50_000_000;
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
    /// Asks the clock for the last part and gives a share of the time away in short pieces: for who
    /// runs before all others.
    Give,
}

/// Waits as a thread does, and keeps account of what it has slept.
#[derive(Debug)]
pub struct Pace {
    wait: Wait,
    /// Until when the account goes.
    seen_ns: i64,
    /// What is owed to others, in nanoseconds; below 0 more was slept than that.
    owed_ns: i64,
}

impl Pace {
    /// Waits as `wait` says.
    pub fn new(wait: Wait) -> Pace {
        Pace {
            wait,
            seen_ns: monotonic_ns(),
            owed_ns: 0,
        }
    }

    /// Sleeps until `at_ns` at the latest, on account.
    fn sleep(&mut self, at_ns: i64) {
        let before = monotonic_ns();
        sleep_until(at_ns);
        self.owed_ns = (self.owed_ns - (monotonic_ns() - before)).max(-MOST_CREDIT_NS);
    }

    /// Gives away what is owed, where that is a piece.
    fn give(&mut self) {
        let now = monotonic_ns();
        self.owed_ns += (now - self.seen_ns) / PART_OF;
        self.seen_ns = now;
        if self.owed_ns >= PIECE_NS {
            self.sleep(now + PIECE_NS);
        }
    }

    /// Waits until [`monotonic_ns`] is at least `at_ns`, or `stop` is set; says what time it is
    /// then.
    pub fn until(&mut self, at_ns: i64, stop: &AtomicBool) -> i64 {
        if self.wait == Wait::Give {
            self.give();
        }
        let awake = match self.wait {
            Wait::Spin | Wait::Give => at_ns.saturating_sub(AHEAD_NS),
            Wait::Sleep => at_ns,
        };
        loop {
            let now = monotonic_ns();
            if now >= awake || stop.load(Ordering::Relaxed) {
                break;
            }
            self.sleep(awake.min(now + SLICE_NS));
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

/// The date of instants of the monotonic clock, as it was when this was made: setting the clock
/// later changes nothing.
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
        for wait in [Wait::Spin, Wait::Sleep, Wait::Give] {
            let at = monotonic_ns() + 300_000;
            let mut wait = Pace::new(wait);
            assert!(wait.until(at, &go_on) >= at);
            let past = monotonic_ns();
            assert!(wait.until(past - 5, &go_on) >= past);
            let never = monotonic_ns() + 3_600_000_000_000;
            assert!(wait.until(never, &AtomicBool::new(true)) < never);
        }
    }

    #[test]
    fn who_gives_sleeps_its_share_in_pieces_where_there_are_no_gaps() {
        let go_on = AtomicBool::new(false);
        let mut pace = Pace::new(Wait::Give);
        let (mut given, begun) = (0, monotonic_ns());
        // The longest time between two calls: others may have had the processor.
        let (mut last, mut longest) = (begun, 0);
        while last - begun < 50_000_000 {
            let before = pace.owed_ns;
            pace.until(last, &go_on);
            given += i64::from(pace.owed_ns < before);
            let now = monotonic_ns();
            longest = longest.max(now - last);
            last = now;
        }
        // Each piece is longer than it was to be, by what the timer is late, and that counts: there
        // are as many as the machine has room for.
        let most = (monotonic_ns() - begun) / PART_OF / PIECE_NS;
        assert!((1..=most).contains(&given), "{given} of {most}");
        let most = 2 * PIECE_NS + longest / PART_OF;
        assert!(pace.owed_ns < most, "{} of {most}", pace.owed_ns);
        // Who sleeps anyway owes nothing.
        let mut pace = Pace::new(Wait::Give);
        pace.until(monotonic_ns() + 5_000_000, &go_on);
        pace.until(monotonic_ns(), &go_on);
        assert!(pace.owed_ns < 0, "{}", pace.owed_ns);
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
