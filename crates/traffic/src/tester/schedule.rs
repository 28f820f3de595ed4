//! When each frame of a plan is due: loads one after the other, reckoned from the start and never
//! from the present.
//!
//! The n-th frame of a load is due n / rate after the load's start, and a load starts when the one
//! before it has lasted as long as it should: so what is late is made up for, and errors do not add
//! up. Of frames in bursts the first is due when it would be without them, and the others follow it
//! as closely as the medium lets them.

use super::traffic::Bursts;
use trammel_core::time::{Span, Time};

/// So many frames a second for so long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// All streams together.
    pub frames_per_second: f64,
    /// How long.
    pub duration: Span,
}

impl Load {
    /// Frames that it has room for with the gap behind each, so that they are never more than its
    /// rate has; one at least.
    pub fn frames(&self) -> u64 {
        let frames = self.frames_per_second * self.duration.as_secs_f64();
        // What is a whole number but for rounding is that number: a picosecond is a
        // hundred-thousandth of a frame at the most.
        (frames + 1e-3).floor().max(1.0) as u64
    }
}

/// Where a load lies in the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Its first frame's number, and how many are before its end.
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) start_ns: i64,
    pub(crate) period_ns: f64,
    /// Frames of a burst, and from one of them to the next.
    burst: u64,
    gap_ns: f64,
}

impl Part {
    fn due_ns(&self, number: u64) -> i64 {
        let place = number - self.first;
        if self.burst <= 1 {
            return self.start_ns + (place as f64 * self.period_ns) as i64;
        }
        let within = place % self.burst;
        let burst_ns = (place - within) as f64 * self.period_ns;
        self.start_ns + (burst_ns + within as f64 * self.gap_ns) as i64
    }
}

/// The loads of a plan.
#[derive(Clone, Debug)]
pub struct Schedule {
    parts: Vec<Part>,
    frames: u64,
    end_ns: i64,
}

impl Schedule {
    /// `loads` one after the other, in bursts where there are any. None where one has no rate, or a
    /// rate that is not finite.
    pub fn new(loads: &[Load], bursts: Option<Bursts>) -> Option<Schedule> {
        let (burst, gap) = bursts.map_or((1, Span::ZERO), |all| (all.frames.into(), all.gap));
        let (mut parts, mut at, mut frames) = (Vec::new(), Time::ZERO, 0);
        for &load in loads {
            let rate = load.frames_per_second;
            if !(rate > 0.0 && rate <= 1e9) {
                return None;
            }
            let (end, period_ns) = (frames + load.frames(), 1e9 / rate);
            parts.push(Part {
                first: frames,
                end,
                start_ns: at.as_ns().cast_signed(),
                period_ns,
                burst,
                gap_ns: (gap.as_ps() as f64 / 1e3).min(period_ns),
            });
            frames = end;
            at += load.duration;
        }
        Some(Schedule {
            parts,
            frames,
            end_ns: at.as_ns().cast_signed(),
        })
    }

    /// Frames of all loads.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// When the last load is over, in nanoseconds from the start.
    pub fn end_ns(&self) -> i64 {
        self.end_ns
    }

    /// The first frame that is due at `from` or later; one behind the last where none is.
    pub(crate) fn first_due(&self, from: Time) -> u64 {
        let from_ns = i64::try_from(from.as_ns()).unwrap_or(i64::MAX);
        let (mut low, mut high) = (0, self.frames);
        while low < high {
            let middle = low.midpoint(high);
            if self.due_ns(middle) < from_ns {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Which load frame `number` belongs to; the last one for those behind the end.
    #[inline]
    pub fn load_of(&self, number: u64) -> usize {
        let behind = self.parts.partition_point(|part| part.end <= number);
        behind.min(self.parts.len().saturating_sub(1))
    }

    /// When frame `number` is due, in nanoseconds from the start; never, behind the last.
    #[inline]
    pub(crate) fn due_ns(&self, number: u64) -> i64 {
        if number >= self.frames {
            return i64::MAX;
        }
        self.parts[self.load_of(number)].due_ns(number)
    }

    /// What lies between two frames of the load that frame `number` belongs to, in the mean, in
    /// nanoseconds.
    pub(crate) fn period_ns(&self, number: u64) -> f64 {
        self.parts[self.load_of(number)].period_ns
    }

    /// From when frame `number` is due until the next is or, behind the last, until the last load
    /// is over; in nanoseconds.
    pub(crate) fn gap_ns(&self, number: u64) -> i64 {
        if number >= self.frames {
            return 0;
        }
        let next_ns = self.due_ns(number + 1).min(self.end_ns);
        (next_ns - self.due_ns(number)).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bursts_keep_the_number_and_the_order(
            frames in 1_u32..100, gap_ns in 0_u64..100_000, rate in 1.0..1e6_f64,
        ) {
            let bursts = Bursts { frames, gap: Span::from_ns(gap_ns) };
            let loads = [load(rate, 20), load(rate * 2.0, 10)];
            let even = Schedule::new(&loads, None).expect("the stream has a rate");
            let burst = Schedule::new(&loads, Some(bursts)).expect("the stream has a rate");
            prop_assert_eq!((even.frames(), even.end_ns()), (burst.frames(), burst.end_ns()));
            let mut before = 0;
            for number in 0..burst.frames().min(2000) {
                let due = burst.due_ns(number);
                // Never later than without bursts, and never before the frame ahead.
                prop_assert!(before <= due && due <= even.due_ns(number) + 1, "{} {}", number, due);
                before = due;
            }
        }
    }

    fn load(frames_per_second: f64, ms: u64) -> Load {
        Load {
            frames_per_second,
            duration: Span::from_ms(ms),
        }
    }

    #[test]
    fn loads_follow_each_other_without_a_gap_or_a_drift() {
        let schedule = Schedule::new(&[load(3.0, 1000), load(1000.0, 10)], None)
            .expect("the stream has a rate");
        assert_eq!(schedule.frames(), 13);
        let due: Vec<i64> = (0..5).map(|number| schedule.due_ns(number)).collect();
        assert_eq!(
            due,
            [0, 333_333_333, 666_666_666, 1_000_000_000, 1_001_000_000]
        );
        assert_eq!(
            (
                schedule.load_of(2),
                schedule.load_of(3),
                schedule.load_of(99)
            ),
            (0, 1, 1)
        );
        assert_eq!(schedule.due_ns(13), i64::MAX);
        let long =
            Schedule::new(&[load(14_880_952.38, 60_000)], None).expect("the stream has a rate");
        let last = schedule_end(&long);
        // One frame more would need a gap that is not there.
        assert!((59_999_999_865..60_000_000_000).contains(&last), "{last}");
    }

    #[test]
    fn the_first_frame_from_a_time_on_is_found() {
        let schedule = Schedule::new(&[load(1000.0, 10), load(100.0, 100)], None)
            .expect("the stream has a rate");
        assert_eq!(schedule.end_ns(), 110_000_000);
        let first = |us| schedule.first_due(Time::from_us(us));
        assert_eq!((first(0), first(1), first(9000)), (0, 1, 9));
        assert_eq!(
            (first(10_001), first(100_000), first(100_001)),
            (11, 19, 20)
        );
    }

    #[test]
    fn frames_of_a_burst_follow_each_other_closely() {
        let bursts = Bursts {
            frames: 3,
            gap: Span::from_us(10),
        };
        let loads = [load(1000.0, 10), load(1e6, 1)];
        let schedule = Schedule::new(&loads, Some(bursts)).expect("the stream has a rate");
        assert_eq!(schedule.frames(), 1010);
        let due_us: Vec<i64> = (0..12)
            .map(|number| schedule.due_ns(number) / 1000)
            .collect();
        let first = [0, 10, 20, 3000, 3010, 3020, 6000, 6010, 6020, 9000];
        assert_eq!(due_us[..10], first);
        // A load that leaves less room than the medium asks for is an even flow.
        assert_eq!(due_us[10..], [10_000, 10_001]);
        assert_eq!(schedule.first_due(Time::from_us(3001)), 4);
    }

    #[test]
    fn the_gap_behind_the_last_frame_ends_with_the_load() {
        // 81.3 frames a second make 325 in four seconds, the last of which is due 14 ms before
        // their end.
        let schedule = Schedule::new(&[load(81.274, 4000)], None).expect("the stream has a rate");
        assert_eq!(schedule.frames(), 325);
        assert_eq!(
            schedule_end(&schedule) + schedule.gap_ns(324),
            4_000_000_000
        );
        assert_eq!(schedule.gap_ns(0), schedule.due_ns(1));
        assert_eq!(schedule.gap_ns(325), 0);
    }

    fn schedule_end(schedule: &Schedule) -> i64 {
        schedule.due_ns(schedule.frames() - 1)
    }

    #[test]
    fn a_load_has_the_frames_that_are_due_within_it() {
        assert_eq!(load(1000.0, 1000).frames(), 1000);
        assert_eq!(load(0.4, 1000).frames(), 1);
        assert_eq!(load(1.5, 1000).frames(), 1);
        // Of a line that carries 23,496.24 frames a second, so many fit into a second.
        assert_eq!(load(23_496.24, 1000).frames(), 23_496);
        assert_eq!(load(1e6 / 3.0, 3000).frames(), 1_000_000);
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Schedule::new(&[load(rate, 1)], None).is_none());
        }
    }
}
