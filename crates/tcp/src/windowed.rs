//! The running minimum or maximum over a sliding window of time, in three samples.
//!
//! Kathleen Nichols' streaming estimate: it keeps the best, the second best of what came after it,
//! and the third best after that, and lets each step up as the one before it leaves the window.
//! Constant space and time; exact while the extreme is in the window, close afterwards.

/// A sample: when, and what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample {
    time: u64,
    value: u64,
}

/// A running extreme over a window. Times are in any unit, so long as it is always the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windowed {
    best: [Sample; 3],
}

impl Windowed {
    /// The present extreme.
    #[inline]
    pub fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Forgets everything but one sample.
    pub fn reset(&mut self, time: u64, value: u64) -> u64 {
        self.best = [Sample { time, value }; 3];
        value
    }

    /// Takes a sample into the running maximum over `window`, and returns the maximum.
    pub fn max(&mut self, window: u64, time: u64, value: u64) -> u64 {
        self.update(window, Sample { time, value }, |a, b| a >= b)
    }

    /// Takes a sample into the running minimum over `window`, and returns the minimum.
    pub fn min(&mut self, window: u64, time: u64, value: u64) -> u64 {
        self.update(window, Sample { time, value }, |a, b| a <= b)
    }

    fn update(&mut self, window: u64, new: Sample, beats: impl Fn(u64, u64) -> bool) -> u64 {
        if beats(new.value, self.best[0].value) || new.time - self.best[2].time > window {
            return self.reset(new.time, new.value);
        }
        if beats(new.value, self.best[1].value) {
            self.best[1] = new;
            self.best[2] = new;
        } else if beats(new.value, self.best[2].value) {
            self.best[2] = new;
        }
        let age = new.time - self.best[0].time;
        if age > window {
            // The best has left the window: the others move up.
            self.best = [self.best[1], self.best[2], new];
            if new.time - self.best[0].time > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].time == self.best[0].time && age > window / 4 {
            // A quarter of the window passed without a runner-up: take one from this quarter.
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].time == self.best[1].time && age > window / 2 {
            self.best[2] = new;
        }
        self.best[0].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_is_forgotten_when_it_leaves_the_window() {
        let mut filter = Windowed::default();
        filter.reset(0, 10);
        for time in 1..=100 {
            assert_eq!(filter.min(100, time, 20 + time), 10);
        }
        assert!(filter.min(100, 101, 121) > 10);
    }

    #[test]
    fn a_maximum_is_never_below_the_last_sample() {
        let mut filter = Windowed::default();
        filter.reset(0, 0);
        for time in 0..1000 {
            let value = (time * 7919) % 101;
            assert!(filter.max(50, time, value) >= value);
        }
    }
}
