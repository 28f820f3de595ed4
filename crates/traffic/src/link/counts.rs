//! What an end counts of a stream.

use crate::decode::live::{Arrived, Live};
use crate::signal::link::Told;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Delays of a while.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    count: u64,
    sum: i128,
    min: i64,
    max: i64,
}

impl Delays {
    fn push(&mut self, delay_ns: i64) {
        let is_first = self.count == 0;
        self.min = if is_first {
            delay_ns
        } else {
            self.min.min(delay_ns)
        };
        self.max = if is_first {
            delay_ns
        } else {
            self.max.max(delay_ns)
        };
        self.count += 1;
        self.sum += i128::from(delay_ns);
    }

    fn tell(&self, told: &mut Told) {
        told.delays = self.count;
        told.delay_mean_ns = match self.count {
            0 => 0,
            count => (self.sum / i128::from(count)) as i64,
        };
        told.delay_min_ns = self.min;
        told.delay_max_ns = self.max;
    }
}

#[derive(Debug, Default)]
struct Inner {
    told: Told,
    live: Live,
    since_last: Delays,
    all: Delays,
}

/// What is counted of a stream, by who moves it and who tells of it.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<Inner>);

impl Counts {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, packets: u64, bytes: u64) {
        let told = &mut self.inner().told;
        told.packets += packets;
        told.bytes += bytes;
    }

    /// Takes in datagrams that came, of their sequence numbers, when each was sent and when it
    /// came.
    pub(super) fn arrive(&self, came: &[(u64, i64, i64)], bytes: u64) {
        let inner = &mut *self.inner();
        for (sequence, sent_ns, came_ns) in came {
            let delay_ns = came_ns.saturating_sub(*sent_ns);
            match inner.live.arrive(*sequence, delay_ns, *came_ns) {
                Arrived::First { is_reordered } => {
                    inner.told.packets += 1;
                    inner.told.bytes += bytes;
                    inner.told.reordered += u64::from(is_reordered);
                    inner.since_last.push(delay_ns);
                    inner.all.push(delay_ns);
                }
                Arrived::Again => inner.told.duplicates += 1,
            }
        }
        inner.told.lost = inner.live.expected().saturating_sub(inner.told.packets);
        inner.told.jitter_ns = inner.live.jitter_ns();
    }

    /// So many were sent: those behind the last that came are lost as well.
    pub(super) fn sent(&self, packets: u64) {
        let told = &mut self.inner().told;
        told.lost = told.lost.max(packets.saturating_sub(told.packets));
    }

    /// What was measured of delays until now is left out.
    pub(super) fn begin(&self) {
        self.inner().all = Delays::default();
    }

    pub(super) fn breaks(&self) {
        self.inner().told.broken = 1;
    }

    /// What has been counted, and the delays since the last time.
    pub(super) fn tell(&self) -> Told {
        let inner = &mut *self.inner();
        let since_last = std::mem::take(&mut inner.since_last);
        let mut told = inner.told;
        since_last.tell(&mut told);
        told
    }

    /// The same with the delays of all.
    pub(super) fn tell_all(&self) -> Told {
        let inner = &*self.inner();
        let mut told = inner.told;
        inner.all.tell(&mut told);
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_copies_and_delays_are_told_by_sequence() {
        let counts = Counts::default();
        counts.arrive(&[(0, 0, 100), (2, 0, 300), (2, 0, 310), (1, 0, 350)], 50);
        let told = counts.tell();
        assert_eq!((told.packets, told.bytes, told.lost), (3, 150, 0));
        assert_eq!((told.duplicates, told.reordered), (1, 1));
        assert_eq!(
            (
                told.delays,
                told.delay_min_ns,
                told.delay_mean_ns,
                told.delay_max_ns
            ),
            (3, 100, 250, 350)
        );
        counts.arrive(&[(5, i64::MAX, i64::MIN)], 50);
        let told = counts.tell();
        assert_eq!(
            (told.packets, told.lost, told.delays, told.delay_min_ns),
            (4, 2, 1, i64::MIN)
        );
        counts.sent(10);
        let all = counts.tell_all();
        assert_eq!((all.lost, all.delays, all.delay_max_ns), (6, 4, 350));
        assert_eq!(Told::of_words(all.words()), all);
    }
}
