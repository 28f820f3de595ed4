//! What of a plan is to be sent now, and what is done about packets that are late.
//!
//! A packet is *overdue* when the one after it is due as well. What happens then is the stream's
//! choice ([`Late`]); a packet that is late by less goes, and the plan stays as it is, so that
//! small delays do not add up.

use crate::stream::{Departure, Late};
use std::iter::Peekable;

/// A packet that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// When, in nanoseconds from the stream's start, with what was put off.
    pub(crate) at_ns: i64,
    /// Bytes of its payload.
    pub(crate) bytes: u32,
}

/// Who leaves out what is overdue leaves out so many at a time: to look through a plan for what is
/// due just now would take a sender that is far too slow longer than to send.
const MOST_SKIPPED: u32 = 16;

/// A plan that is being sent.
pub(crate) struct Schedule<P: Iterator<Item = Departure>> {
    plan: Peekable<P>,
    late: Late,
    /// By how much the plan is put off, and packets that were left out.
    pub(crate) shift_ns: i64,
    pub(crate) skipped: u64,
}

fn ns(departure: &Departure) -> i64 {
    i64::try_from(departure.at.as_ns()).unwrap_or(i64::MAX)
}

impl<P: Iterator<Item = Departure>> Schedule<P> {
    pub(crate) fn new(plan: P, late: Late) -> Schedule<P> {
        Schedule {
            plan: plan.peekable(),
            late,
            shift_ns: 0,
            skipped: 0,
        }
    }

    /// How many packets are left, so many at most, and whether there are more.
    pub(crate) fn left(&mut self, most: u64) -> (u64, bool) {
        let mut left = 0;
        while left < most && self.plan.next().is_some() {
            left += 1;
        }
        (left, self.plan.peek().is_some())
    }

    /// When the next packet is due; none where the plan is over.
    pub(crate) fn next_ns(&mut self) -> Option<i64> {
        let at = ns(self.plan.peek()?);
        Some(at.saturating_add(self.shift_ns))
    }

    /// Puts what is to be sent at `now_ns` into `into`, in order, so many at most.
    pub(crate) fn take(&mut self, now_ns: i64, most: usize, into: &mut Vec<Due>) {
        into.clear();
        let mut skipped = 0;
        while into.len() < most {
            let shift = self.shift_ns;
            let is_due = |next: &Departure| ns(next).saturating_add(shift) <= now_ns;
            let Some(next) = self.plan.next_if(is_due) else {
                return;
            };
            let due = Due {
                at_ns: ns(&next) + shift,
                bytes: next.bytes,
            };
            let is_overdue = self.plan.peek().is_some_and(is_due);
            match self.late {
                Late::Skip if is_overdue && skipped < MOST_SKIPPED => {
                    self.skipped += 1;
                    skipped += 1;
                }
                Late::Skip => {
                    into.push(due);
                    skipped = 0;
                }
                Late::Stretch if is_overdue => {
                    self.shift_ns += now_ns - due.at_ns;
                    into.push(due);
                }
                _ => into.push(due),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::time::Time;

    /// Ten packets, one a microsecond.
    fn schedule(late: Late) -> Schedule<impl Iterator<Item = Departure>> {
        let plan = (0..10).map(|at| Departure {
            at: Time::from_us(at),
            bytes: 100 + at as u32,
        });
        Schedule::new(plan, late)
    }

    fn taken(schedule: &mut Schedule<impl Iterator<Item = Departure>>, now_ns: i64) -> Vec<i64> {
        let mut into = Vec::new();
        schedule.take(now_ns, 64, &mut into);
        into.iter().map(|due| due.at_ns).collect()
    }

    #[test]
    fn who_is_in_time_sends_each_by_itself_whatever_the_policy() {
        for late in [Late::Burst, Late::Skip, Late::Stretch] {
            let mut schedule = schedule(late);
            for at in 0..10 {
                assert_eq!(schedule.next_ns(), Some(at * 1000));
                // Late by less than a gap.
                assert_eq!(taken(&mut schedule, at * 1000 + 900), [at * 1000]);
            }
            assert_eq!(schedule.next_ns(), None);
            assert_eq!((schedule.skipped, schedule.shift_ns), (0, 0));
        }
    }

    #[test]
    fn who_is_late_catches_up_leaves_out_or_puts_off() {
        let mut burst = schedule(Late::Burst);
        assert_eq!(taken(&mut burst, 3500), [0, 1000, 2000, 3000]);
        assert_eq!(burst.next_ns(), Some(4000));

        let mut skip = schedule(Late::Skip);
        assert_eq!(taken(&mut skip, 3500), [3000]);
        assert_eq!((skip.skipped, skip.next_ns()), (3, Some(4000)));

        let mut stretch = schedule(Late::Stretch);
        assert_eq!(taken(&mut stretch, 3500), [0]);
        // The gap after it is whole again.
        assert_eq!((stretch.next_ns(), stretch.shift_ns), (Some(4500), 3500));
        assert_eq!(taken(&mut stretch, 4500), [4500]);
    }

    #[test]
    fn who_is_far_too_late_to_leave_out_all_sends_one_in_a_few() {
        let plan = (0..10_000).map(|at| Departure {
            at: Time::from_ns(at),
            bytes: 100,
        });
        let (mut skip, mut sent) = (Schedule::new(plan, Late::Skip), 0);
        let mut into = Vec::new();
        while skip.next_ns().is_some() {
            skip.take(1_000_000, 64, &mut into);
            assert!(!into.is_empty());
            sent += into.len() as u64;
        }
        assert_eq!(sent + skip.skipped, 10_000);
        assert_eq!(sent, 10_000_u64.div_ceil(u64::from(MOST_SKIPPED) + 1));
    }

    #[test]
    fn what_is_left_is_counted_as_far_as_asked() {
        let mut schedule = schedule(Late::Burst);
        taken(&mut schedule, 2500);
        assert_eq!(schedule.left(5), (5, true));
        assert_eq!(schedule.left(5), (2, false));
    }

    #[test]
    fn a_batch_is_no_longer_than_asked() {
        let mut burst = schedule(Late::Burst);
        let mut into = Vec::new();
        burst.take(9000, 4, &mut into);
        assert_eq!(into.len(), 4);
        burst.take(9000, 64, &mut into);
        assert_eq!((into.len(), burst.next_ns()), (6, None));
        burst.take(9000, 64, &mut into);
        assert!(into.is_empty());
    }
}
