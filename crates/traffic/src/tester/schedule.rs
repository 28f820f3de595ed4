//! When each frame of a plan is due: loads one after the other, reckoned from the start and never from the present.
//!
//! The n-th frame of a load is due n / rate after the load's start, and a load starts when the one before it has lasted as long as
//! it should: so what is late is made up for, and errors do not add up.

use trammel_core::time::Time;

/// So many frames a second for so long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// All streams together.
    pub frames_per_second: f64,
    /// How long.
    pub duration: Time,
}

impl Load {
    /// Frames that are due within it: the first at its start.
    pub fn frames(&self) -> u64 {
        let frames = self.frames_per_second * self.duration.as_secs_f64();
        // What is a whole number but for rounding is that number.
        (frames - 1e-6).ceil().max(0.0) as u64
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
}

impl Part {
    fn due_ns(&self, number: u64) -> i64 {
        self.start_ns + ((number - self.first) as f64 * self.period_ns) as i64
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
    /// `loads` one after the other. None where one has no rate, or a rate that is not finite.
    pub fn new(loads: &[Load]) -> Option<Schedule> {
        let (mut parts, mut at, mut frames) = (Vec::new(), Time::ZERO, 0);
        for &load in loads {
            let rate = load.frames_per_second;
            if !(rate > 0.0 && rate <= 1e9) {
                return None;
            }
            let end = frames + load.frames();
            parts.push(Part {
                first: frames,
                end,
                start_ns: at.as_ns().cast_signed(),
                period_ns: 1e9 / rate,
            });
            frames = end;
            at = at.saturating_add(load.duration);
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
    pub fn first_due(&self, from: Time) -> u64 {
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
    pub fn due_ns(&self, number: u64) -> i64 {
        if number >= self.frames {
            return i64::MAX;
        }
        self.parts[self.load_of(number)].due_ns(number)
    }

    /// The gap behind frame `number`, in nanoseconds.
    pub fn period_ns(&self, number: u64) -> f64 {
        let part = self.parts.get(self.load_of(number));
        part.map_or(0.0, |part| part.period_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(frames_per_second: f64, ms: u64) -> Load {
        Load {
            frames_per_second,
            duration: Time::from_ms(ms),
        }
    }

    #[test]
    fn loads_follow_each_other_without_a_gap_or_a_drift() {
        let schedule =
            Schedule::new(&[load(3.0, 1000), load(1000.0, 10)]).expect("both have rates");
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
        let long = Schedule::new(&[load(14_880_952.38, 60_000)]).expect("it has a rate");
        let last = schedule_end(&long);
        assert!((59_999_999_900..60_000_000_000).contains(&last), "{last}");
    }

    #[test]
    fn the_first_frame_from_a_time_on_is_found() {
        let schedule =
            Schedule::new(&[load(1000.0, 10), load(100.0, 100)]).expect("both have rates");
        assert_eq!(schedule.end_ns(), 110_000_000);
        let first = |us| schedule.first_due(Time::from_us(us));
        assert_eq!((first(0), first(1), first(9000)), (0, 1, 9));
        assert_eq!(
            (first(10_001), first(100_000), first(100_001)),
            (11, 19, 20)
        );
    }

    fn schedule_end(schedule: &Schedule) -> i64 {
        schedule.due_ns(schedule.frames() - 1)
    }

    #[test]
    fn a_load_has_the_frames_that_are_due_within_it() {
        assert_eq!(load(1000.0, 1000).frames(), 1000);
        assert_eq!(load(0.4, 1000).frames(), 1);
        assert_eq!(load(1.5, 1000).frames(), 2);
        assert_eq!(load(1e6 / 3.0, 3000).frames(), 1_000_000);
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Schedule::new(&[load(rate, 1)]).is_none());
        }
    }
}
