//! The core's own time: the time-stamp counter, which stands still while the core is taken away.
//!
//! A machine that others use takes the core away for milliseconds, in which a ring in memory overflows and every latency
//! is the scheduler's. Between two calls of any ring lies the router's work on a batch at most; what is many times
//! longer is none of it. Such a gap is cut out of the time, by which frames are due and leave, and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use trammel_packet::cpu::cycles;

/// What the rings of a bed share.
#[derive(Debug, Default)]
struct State {
    /// When it was asked last.
    last: AtomicU64,
    /// Ticks in which it stood still, and in how many gaps.
    away: AtomicU64,
    gaps: AtomicU64,
    /// The longest time between two calls that is the router's own.
    longest: AtomicU64,
}

/// The time of the core that runs a bed, in ticks of the counter. One thread asks; it is atomic so that rings can hold it.
#[derive(Clone, Debug, Default)]
pub(in crate::forwarding) struct CoreTime(Arc<State>);

impl CoreTime {
    /// What time it is.
    #[inline]
    pub(in crate::forwarding) fn now(&self) -> u64 {
        self.at(cycles())
    }

    #[inline]
    fn at(&self, tick: u64) -> u64 {
        let state = &*self.0;
        let gap = tick.saturating_sub(state.last.load(Relaxed));
        state.last.store(tick, Relaxed);
        if gap > state.longest.load(Relaxed) {
            state.cut(gap);
        }
        tick.saturating_sub(state.away.load(Relaxed))
    }

    /// Does work that is none of the router's: the time stands still meanwhile.
    pub(in crate::forwarding) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        let (state, start) = (&*self.0, cycles());
        let done = work();
        let end = cycles();
        state.away.fetch_add(end.saturating_sub(start), Relaxed);
        state.last.store(end, Relaxed);
        done
    }

    /// Begins a window in which gaps of more than so many ticks are cut out; says what time it is.
    pub(in crate::forwarding) fn begin(&self, longest: u64) -> u64 {
        let state = &*self.0;
        let now = cycles();
        for zeroed in [&state.away, &state.gaps] {
            zeroed.store(0, Relaxed);
        }
        state.last.store(now, Relaxed);
        state.longest.store(longest, Relaxed);
        now
    }

    /// Ticks that were cut out since the window began, and in how many gaps.
    pub(in crate::forwarding) fn away(&self) -> (u64, u64) {
        (self.0.away.load(Relaxed), self.0.gaps.load(Relaxed))
    }
}

impl State {
    #[cold]
    fn cut(&self, gap: u64) {
        self.away.fetch_add(gap, Relaxed);
        self.gaps.fetch_add(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_still_in_long_gaps_only() {
        let time = CoreTime::default();
        let start = time.begin(100);
        assert_eq!(time.at(start + 90), start + 90);
        assert_eq!(time.at(start + 190), start + 190);
        assert_eq!(time.at(start + 1190), start + 190);
        assert_eq!(time.at(start + 1200), start + 200);
        assert_eq!(time.away(), (1000, 1));
    }
}
