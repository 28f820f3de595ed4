//! The core's own time: the time-stamp counter, which stands still while the core is taken away.
//!
//! A machine that others use takes the core away for milliseconds, in which a ring in memory
//! overflows and every latency is the scheduler's. Between two calls of any ring lies the router's
//! work on a batch at most; what is many times longer is none of it. Such a *gap* is cut out of the
//! time, by which frames are due and leave, and counted: after it the caches are others'.
//!
//! Once it is known what a frame takes, *interruptions* are told from the router's work as well,
//! though they are no longer than a batch: a timer's tick takes some ten microseconds, and at high
//! loads the frames that wait for its end would be the slowest in a hundred. What goes beyond the
//! work on the frames that the router holds is cut out.

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
    /// Frames that the router may have worked on since the last call.
    held: AtomicU64,
    /// The time that each of them takes, and what may be added to it; 0 while it is not known.
    frame: AtomicU64,
    slack: AtomicU64,
}

/// How much longer than usual the work on frames may take, in quarters.
const MORE_QUARTERS: u64 = 5;

/// What is the router's own work, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// The longest time between two calls that may be.
    pub(crate) longest: u64,
    /// The time that a frame takes, 0 where that is not known, and what may be added to that of all
    /// that are held.
    pub(crate) frame: u64,
    /// See `frame`.
    pub(crate) slack: u64,
}

/// The time of the core that runs a bed, in ticks of the counter. One thread asks; it is atomic so
/// that rings can hold it.
#[derive(Clone, Debug, Default)]
pub struct CoreTime(Arc<State>);

impl CoreTime {
    /// What time it is.
    #[inline]
    pub fn now(&self) -> u64 {
        self.at(cycles())
    }

    #[inline]
    fn at(&self, tick: u64) -> u64 {
        let state = &*self.0;
        let gap = tick.saturating_sub(state.last.load(Relaxed));
        state.last.store(tick, Relaxed);
        if gap > state.slack.load(Relaxed) {
            state.look_at(gap);
        }
        tick.saturating_sub(state.away.load(Relaxed))
    }

    /// Does work that is none of the router's: the time stands still meanwhile.
    pub fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        let (state, start) = (&*self.0, cycles());
        let done = work();
        let end = cycles();
        state.away.fetch_add(end.saturating_sub(start), Relaxed);
        state.last.store(end, Relaxed);
        done
    }

    /// Until the next call the router works on so many frames, or on as many as were handed over by
    /// then.
    #[inline]
    pub fn hold(&self, frames: usize) {
        self.0.held.store(frames as u64, Relaxed);
    }

    /// It worked on so many frames at least.
    #[inline]
    pub(crate) fn hold_at_least(&self, frames: usize) {
        if self.0.held.load(Relaxed) < frames as u64 {
            self.hold(frames);
        }
    }

    /// Begins a window; says what time it is.
    pub(crate) fn begin(&self, limits: Limits) -> u64 {
        let state = &*self.0;
        let now = cycles();
        state.frame.store(limits.frame, Relaxed);
        let slack = if limits.frame == 0 {
            limits.longest
        } else {
            limits.slack.min(limits.longest)
        };
        state.slack.store(slack, Relaxed);
        for zeroed in [&state.away, &state.gaps, &state.held] {
            zeroed.store(0, Relaxed);
        }
        state.last.store(now, Relaxed);
        state.longest.store(limits.longest, Relaxed);
        now
    }

    /// Ticks that were cut out since the window began, and in how many gaps.
    pub(crate) fn away(&self) -> (u64, u64) {
        (self.0.away.load(Relaxed), self.0.gaps.load(Relaxed))
    }
}

impl State {
    /// Cuts out of a long time between two calls what is none of the router's work.
    #[cold]
    fn look_at(&self, gap: u64) {
        let work = self.held.load(Relaxed) * self.frame.load(Relaxed);
        if gap > self.longest.load(Relaxed) {
            self.gaps.fetch_add(1, Relaxed);
        } else if gap <= self.slack.load(Relaxed) + work * MORE_QUARTERS / 4 {
            return;
        }
        self.away.fetch_add(gap.saturating_sub(work), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_still_in_long_gaps_only() {
        let time = CoreTime::default();
        let start = time.begin(Limits {
            longest: 100,
            ..Limits::default()
        });
        assert_eq!(time.at(start + 90), start + 90);
        assert_eq!(time.at(start + 190), start + 190);
        assert_eq!(time.at(start + 1190), start + 190);
        assert_eq!(time.at(start + 1200), start + 200);
        assert_eq!(time.away(), (1000, 1));
    }

    #[test]
    fn what_goes_beyond_the_work_on_the_frames_that_are_held_is_cut_out() {
        let time = CoreTime::default();
        let start = time.begin(Limits {
            longest: 1000,
            frame: 40,
            slack: 50,
        });
        // Nothing is held: only the slack is the router's.
        assert_eq!(time.at(start + 50), start + 50);
        assert_eq!(time.at(start + 101), start + 50);
        time.hold(4);
        // Four frames of 40, a quarter more, and the slack.
        assert_eq!(time.at(start + 351), start + 300);
        assert_eq!(time.at(start + 602), start + 460);
        time.hold_at_least(2);
        time.hold_at_least(8);
        assert_eq!(time.at(start + 1052), start + 910);
        // No interruption is as long as a gap, and only gaps are counted.
        assert_eq!(time.away(), (142, 0));
        time.at(start + 2053);
        assert_eq!(time.away(), (142 + 1001 - 320, 1));
    }
}
