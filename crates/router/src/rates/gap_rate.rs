//! Events at even distances: when the next is due, by the count within the second.
//!
//! Within each second of the clock, the n-th event is due at n · ⌊4096·10⁶ / rate⌋ / 4096 µs. What
//! a second is late carries over to the next.

use trammel_packet::timestamp::Timestamp;

/// Bits of fraction of a microsecond.
const SHIFT: u32 = 12;
/// Nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;
/// The highest rate, and a second in the unit of gaps.
pub(crate) const MAX_RATE: u32 = 1_000_000 << SHIFT;

/// A rate and the events so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GapRate {
    rate: u32,
    /// Between events, in 1/4096 µs.
    gap: u32,
    /// Of this second.
    count: i64,
    /// Nothing before the first event and after a reset.
    second: Option<i64>,
}

impl GapRate {
    /// A rate, in events a second; at most [`MAX_RATE`].
    pub(crate) fn new(rate: u32) -> GapRate {
        let mut one = GapRate {
            rate: 0,
            gap: 0,
            count: 0,
            second: None,
        };
        one.set_rate(rate);
        one
    }

    /// The rate.
    pub(crate) fn rate(&self) -> u32 {
        self.rate
    }

    /// Changes the rate; what is due is as if it had been so all the second, once
    /// [`GapRate::align`] is called.
    pub(crate) fn set_rate(&mut self, rate: u32) {
        self.rate = rate.min(MAX_RATE);
        self.gap = MAX_RATE.checked_div(self.rate).unwrap_or(MAX_RATE + 1);
    }

    /// Counts as if all that was due by `now` had happened.
    pub(crate) fn align(&mut self, now: Timestamp) {
        if self.second.is_some() && self.rate > 0 {
            self.count = self.due_by(now);
        }
    }

    fn due_by(&self, now: Timestamp) -> i64 {
        i64::from(in_second(now) / self.gap)
    }

    /// How many events are due at `now`.
    pub(crate) fn due(&mut self, now: Timestamp) -> i64 {
        let by_now = self.due_by(now);
        let second = now.secs();
        match self.second {
            None => {
                self.second = Some(second);
                let into_gap = in_second(now) % self.gap;
                self.count = by_now + i64::from(into_gap > self.gap / 2);
            }
            Some(before) if second > before => {
                self.second = Some(second);
                if self.count > 0 {
                    self.count -= i64::from(self.rate);
                }
            }
            Some(_) => {}
        }
        by_now - self.count + 1
    }

    /// When the next event is due, after [`GapRate::due`] was asked.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        let second = self.second?;
        let due = self.count.max(0) as u64 * u64::from(self.gap);
        let us = due.div_ceil(1 << SHIFT) as i64;
        // What is due by the count only in the next second is due when that begins.
        Some(Timestamp(second * SECOND_NS + us.min(1_000_000) * 1000))
    }

    /// So many events have happened.
    pub(crate) fn happened(&mut self, events: usize) {
        self.count += events as i64;
    }

    /// Forgets what happened.
    pub(crate) fn reset(&mut self) {
        self.second = None;
    }
}

fn in_second(now: Timestamp) -> u32 {
    ((now.subsec_ns() / 1000) as u32) << SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: i64) -> Timestamp {
        Timestamp(us * 1000)
    }

    #[test]
    fn events_are_due_at_even_distances() {
        let mut rate = GapRate::new(1000);
        let mut times = Vec::new();
        for us in 0..10_000 {
            if rate.due(at(us)) > 0 {
                rate.happened(1);
                times.push(us);
            }
        }
        assert_eq!(times, (0..10).map(|n| n * 1000).collect::<Vec<i64>>());
    }

    #[test]
    fn the_next_event_is_told_and_then_due() {
        for number in [1, 3, 7, 333, 1000] {
            let mut rate = GapRate::new(number);
            let (mut now, mut happened) = (at(0), 0);
            while now < at(3_000_000) {
                if rate.due(now) > 0 {
                    rate.happened(1);
                    happened += 1;
                } else {
                    let next = rate.next().expect("it was asked");
                    assert!(next > now, "{number}: {next:?} at {now:?}");
                    now = next;
                }
            }
            let wanted = i64::from(number) * 3;
            assert!(
                (wanted..=wanted + 1).contains(&happened),
                "{number}: {happened}"
            );
        }
    }

    #[test]
    fn a_second_takes_over_what_the_one_before_was_late() {
        let mut rate = GapRate::new(10);
        assert_eq!(rate.due(at(0)), 1);
        rate.happened(1);
        assert_eq!(rate.due(at(999_999)), 9);
        rate.happened(4);
        assert_eq!(rate.due(at(1_000_000)), 6);
    }

    #[test]
    fn a_rate_of_nothing_has_no_more_than_its_first_event() {
        let mut rate = GapRate::new(0);
        assert_eq!(rate.due(at(1)), 1);
        rate.happened(1);
        assert_eq!(rate.due(at(999_999)), 0);
    }
}
