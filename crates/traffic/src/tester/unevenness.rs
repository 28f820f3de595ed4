//! Watches how frames leave: whether they come to the device as the plan has them, or in bursts of
//! the tester's making.
//!
//! Lateness alone harms nobody: a tester that is late and stays so sends evenly. What harms is
//! lateness that goes down again, since then more frames leave in a time than the plan has in it.
//! So the watch keeps what a device would have in its buffer that forwards exactly the load, in
//! time of the plan:
//!
//! ```text
//! held = max(0, held + lateness before - lateness now)        at the first and the last frame of what left together
//! ```
//! What is more than [`EVEN`] overflows and is counted: the generic cell rate algorithm (ITU-T
//! I.371) with the plan's own rate.

use super::observation::{EVEN, Unevenness};
use super::schedule::Schedule;
use trammel_core::time::Span;

/// The watch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    /// Places of the schedule that have left.
    left: u64,
    /// The lateness of the last of them.
    before_ns: i64,
    held_ns: i64,
    /// When the last call came back.
    pub(crate) at_ns: i64,
    latest_ns: i64,
    /// In frames.
    overflowed: f64,
    burst: f64,
}

impl Watch {
    /// Notes that all places before `left` have left by `at_ns` from the start.
    pub(crate) fn note(&mut self, schedule: &Schedule, left: u64, at_ns: i64) {
        if left <= self.left {
            return;
        }
        // Nothing is early: what is due in the future waits.
        let late = |place| (at_ns - schedule.due_ns(place)).max(0);
        let (first_ns, last_ns) = (late(self.left), late(left - 1));
        self.held_ns = (self.held_ns + self.before_ns - first_ns).max(0) + first_ns - last_ns;
        self.latest_ns = self.latest_ns.max(first_ns);
        self.before_ns = last_ns;
        let even_ns = EVEN.as_ns().cast_signed();
        if self.held_ns > even_ns {
            let period_ns = schedule.period_ns(left - 1);
            let over = (self.held_ns - even_ns) as f64 / period_ns;
            self.overflowed += over.min((left - self.left) as f64);
            // What overflowed just before was of the same burst.
            self.burst = self.burst.max(self.held_ns as f64 / period_ns);
            self.held_ns = even_ns;
        }
        self.left = left;
        self.at_ns = at_ns;
    }

    /// Places of the schedule that have left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn seen(&self) -> Unevenness {
        Unevenness {
            latest: Span::from_ns(self.latest_ns.cast_unsigned()),
            bunched: self.overflowed as u64,
            burst: self.burst as u64,
            // Who knows when the first was made adds it.
            sending: Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::Load;
    use super::super::traffic::Bursts;
    use super::*;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    fn schedule(fps: f64, bursts: Option<Bursts>) -> Schedule {
        let load = Load {
            frames_per_second: fps,
            duration: Span::from_secs(1),
        };
        Schedule::new(&[load], bursts).expect("the stream has a rate")
    }

    /// Frames that leave as soon as they are due, but in the times that `stalls` have, from and to
    /// in ns; one that leaves takes `each_ns`.
    fn sent(schedule: &Schedule, stalls: &[(i64, i64)], each_ns: i64) -> (Unevenness, Vec<i64>) {
        let (mut watch, mut now, mut instants) = (Watch::default(), 0, Vec::new());
        for place in 0..schedule.frames() {
            now = (now + each_ns).max(schedule.due_ns(place));
            for &(from, to) in stalls {
                if (from..to).contains(&now) {
                    now = to;
                }
            }
            watch.note(schedule, place + 1, now);
            instants.push(now);
        }
        (watch.seen(), instants)
    }

    /// What a device loses that forwards `fps` and holds so many frames besides the one that it is
    /// at.
    fn lost(instants: &[i64], fps: f64, holds: f64) -> u64 {
        let (mut held, mut before, mut lost) = (0.0_f64, 0, 0);
        for &now in instants {
            held = (held - (now - before) as f64 * fps / 1e9).max(0.0);
            before = now;
            if held > holds {
                lost += 1;
            } else {
                held += 1.0;
            }
        }
        lost
    }

    #[test]
    fn frames_that_leave_when_they_are_due_are_even() {
        let of = schedule(20_000.0, None);
        assert_eq!(sent(&of, &[], 0).0, Unevenness::default());
        // By bursts, where the plan has them.
        let bursts = Bursts {
            frames: 64,
            gap: Span::from_us(1),
        };
        let of = schedule(20_000.0, Some(bursts));
        assert_eq!(sent(&of, &[], 0).0.bunched, 0);
    }

    #[test]
    fn a_tester_that_is_slow_all_the_time_is_late_and_even() {
        let of = schedule(20_000.0, None);
        let (seen, _) = sent(&of, &[], 60_000);
        assert!(
            seen.latest > Span::from_ms(150) && seen.bunched == 0,
            "{seen:?}"
        );
    }

    #[test]
    fn what_is_made_up_for_after_a_stall_is_a_burst() {
        let of = schedule(20_000.0, None);
        let (seen, _) = sent(&of, &[(300 * MS, 340 * MS)], 1_000);
        assert_eq!(seen.latest, Span::from_ms(40));
        // 800 frames were due meanwhile; 16 come while these leave, and one may be held.
        assert!((780..=800).contains(&seen.bunched), "{seen:?}");
        // It is never made up for: there is no burst.
        let (seen, _) = sent(&of, &[(990 * MS, 1040 * MS)], 50_000);
        assert!(seen.bunched < 3, "{seen:?}");
    }

    proptest! {
        #[test]
        fn a_device_of_the_load_loses_no_more_than_what_is_bunched(
            stalls in prop::collection::vec((0..900 * MS, 0..60 * MS), 0..6),
            each_ns in 0..45_000_i64, holds in 2..300_u32,
        ) {
            let of = schedule(20_000.0, None);
            let stalls: Vec<_> = stalls.iter().map(|&(at, length)| (at, at + length)).collect();
            let (seen, instants) = sent(&of, &stalls, each_ns);
            let lost = lost(&instants, 20_000.0, f64::from(holds));
            // Each part of a frame that is rounded away is none.
            prop_assert!(lost <= seen.bunched + 1, "{} {:?}", lost, seen);
        }
    }
}
