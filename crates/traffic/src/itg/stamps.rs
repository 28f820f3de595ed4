//! D-ITG's heads of payloads as the stamps of ours, and back.
//!
//! A head has the time of the day, in UTC, and no date: it is of the day that brings it within
//! twelve hours of when it is read. D-ITG counts packets from 1, ours from 0.

use super::line::{DAY_NS, DAY_US};
use super::signalling::Head;
use crate::stamp::Stamp;

/// The head that tells what `stamp` tells; `bytes` is the length of the payload.
#[must_use]
pub fn head(stamp: &Stamp, bytes: u32) -> Head {
    let day_us = stamp.sent_ns.rem_euclid(DAY_NS) / 1000;
    Head {
        flow: stamp.flow,
        // After 2³² packets the original's numbers begin anew as well.
        sequence: stamp.sequence.wrapping_add(1) as u32,
        // A day has 86,400 seconds.
        sent: Some(((day_us / 1_000_000) as u32, (day_us % 1_000_000) as u32)),
        bytes: Some(bytes),
    }
}

/// The stamp of what came at `near_ns` with `head`; one without a time was sent then, as the
/// original has it.
#[must_use]
pub fn stamp(head: &Head, near_ns: i64) -> Stamp {
    let sent_ns = sent_us(head).map_or(near_ns, |us| {
        let of_day = i64::try_from(us).unwrap_or(0) * 1000;
        let same_day = near_ns - near_ns.rem_euclid(DAY_NS) + of_day;
        match same_day - near_ns {
            late if late > DAY_NS / 2 => same_day - DAY_NS,
            late if late < -DAY_NS / 2 => same_day + DAY_NS,
            _ => same_day,
        }
    });
    Stamp {
        flow: head.flow,
        sequence: u64::from(head.sequence.saturating_sub(1)),
        sent_ns,
    }
}

/// Microseconds of the day at which a head says that it was sent; what is no time of a day is taken
/// as one.
#[must_use]
pub fn sent_us(head: &Head) -> Option<u64> {
    let (seconds, us) = head.sent?;
    Some((u64::from(seconds) * 1_000_000 + u64::from(us)) % DAY_US)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_told_is_read_on_either_side_of_midnight(
            sent_us in 0..4_000_000_000_000_000_i64,
            delay_us in -40_000_000_000_i64..40_000_000_000,
            sequence in 0..u64::from(u32::MAX) - 1,
        ) {
            let stamp = Stamp { flow: 3, sequence, sent_ns: sent_us * 1000 };
            let head = head(&stamp, 9);
            prop_assert_eq!(super::stamp(&head, (sent_us + delay_us) * 1000), stamp);
        }

        #[test]
        fn any_head_has_a_stamp(sequence: u32, seconds: u32, us: u32, near in 0..i64::MAX / 2) {
            let head = Head { flow: 1, sequence, sent: Some((seconds, us)), bytes: None };
            let found = super::stamp(&head, near);
            prop_assert!((found.sent_ns - near).abs() <= DAY_NS / 2);
        }
    }
}
