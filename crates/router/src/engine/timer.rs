//! Timers: a heap of times, in which a timer that was moved leaves its old entry to be skipped.

use super::ElementId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use trammel_packet::timestamp::Timestamp;

/// A timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub(crate) u32);

#[derive(Clone, Copy, Debug)]
struct Timer {
    owner: ElementId,
    token: u32,
    /// When it fires, and the number of the entry that says so.
    at: Option<(Timestamp, u64)>,
    /// When it fired last, for intervals without drift.
    expiry: Timestamp,
}

/// The timers of one thread. Timers of one time fire in the order in which they were set.
#[derive(Debug, Default)]
pub struct Timers {
    all: Vec<Timer>,
    heap: BinaryHeap<Reverse<(Timestamp, u64, TimerId)>>,
    entries: u64,
}

impl Timers {
    /// A new timer, not set.
    pub fn add(&mut self, owner: ElementId, token: u32) -> TimerId {
        self.all.push(Timer {
            owner,
            token,
            at: None,
            expiry: Timestamp::ZERO,
        });
        TimerId(self.all.len() as u32 - 1)
    }

    /// Sets it to fire at `at`.
    pub fn set(&mut self, timer: TimerId, at: Timestamp) {
        self.entries += 1;
        let one = &mut self.all[timer.0 as usize];
        one.at = Some((at, self.entries));
        one.expiry = at;
        self.heap.push(Reverse((at, self.entries, timer)));
    }

    /// Unsets it.
    pub fn unset(&mut self, timer: TimerId) {
        self.all[timer.0 as usize].at = None;
    }

    /// When it fires.
    pub fn at(&self, timer: TimerId) -> Option<Timestamp> {
        self.all[timer.0 as usize].at.map(|(at, _)| at)
    }

    /// When it fires or fired last.
    pub fn expiry(&self, timer: TimerId) -> Timestamp {
        self.all[timer.0 as usize].expiry
    }

    /// When the next fires.
    pub fn next_at(&mut self) -> Option<Timestamp> {
        while let Some(Reverse((at, entry, timer))) = self.heap.peek().copied() {
            if self.all[timer.0 as usize].at == Some((at, entry)) {
                return Some(at);
            }
            self.heap.pop();
        }
        None
    }

    /// The next that is due at `now`, unset: its owner and token.
    pub fn due(&mut self, now: Timestamp) -> Option<(ElementId, u32)> {
        if self.next_at()? > now {
            return None;
        }
        let Reverse((_, _, timer)) = self.heap.pop()?;
        let one = &mut self.all[timer.0 as usize];
        one.at = None;
        Some((one.owner, one.token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_timer_fires_once_and_ties_keep_their_order() {
        let mut timers = Timers::default();
        let (a, b, c) = (timers.add(0, 10), timers.add(1, 11), timers.add(2, 12));
        timers.set(a, Timestamp(5));
        timers.set(b, Timestamp(7));
        timers.set(c, Timestamp(7));
        timers.set(a, Timestamp(9));
        assert_eq!(timers.next_at(), Some(Timestamp(7)));
        assert_eq!(timers.due(Timestamp(6)), None);
        assert_eq!(timers.due(Timestamp(9)), Some((1, 11)));
        assert_eq!(timers.due(Timestamp(9)), Some((2, 12)));
        assert_eq!(timers.due(Timestamp(9)), Some((0, 10)));
        assert_eq!(timers.due(Timestamp(9)), None);
        assert_eq!(timers.expiry(a), Timestamp(9));
    }
}
