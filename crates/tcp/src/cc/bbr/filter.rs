//! Largest value of a sliding window of rounds, from three samples.
//!
//! The best, second and third best value of successively later parts of the window are kept, so
//! that when the best one grows old its successor is at hand (K. Nichols' estimator, as BBR uses
//! it).

/// One value and the round in which it was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    round: u32,
    value: u64,
}

/// The running maximum over a window of rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxFilter {
    best: Sample,
    second: Sample,
    third: Sample,
}

impl MaxFilter {
    /// The maximum.
    pub(super) fn get(&self) -> u64 {
        self.best.value
    }

    /// Forgets all but `value`.
    pub(super) fn reset(&mut self, round: u32, value: u64) {
        let sample = Sample { round, value };
        (self.best, self.second, self.third) = (sample, sample, sample);
    }

    /// Takes in `value`, seen in `round`; keeps values of at most `window` rounds.
    pub(super) fn update(&mut self, window: u32, round: u32, value: u64) {
        let sample = Sample { round, value };
        if value >= self.best.value || round.wrapping_sub(self.third.round) > window {
            self.reset(round, value);
            return;
        }
        if value >= self.second.value {
            (self.second, self.third) = (sample, sample);
        } else if value >= self.third.value {
            self.third = sample;
        }
        self.age(window, sample);
    }

    /// Promotes the successors of a best value that has left the window, and takes a late one where
    /// a quarter or half of it passed without a new second or third.
    fn age(&mut self, window: u32, sample: Sample) {
        let old = sample.round.wrapping_sub(self.best.round);
        if old > window {
            (self.best, self.second, self.third) = (self.second, self.third, sample);
            if sample.round.wrapping_sub(self.best.round) > window {
                (self.best, self.second, self.third) = (self.second, self.third, sample);
            }
        } else if self.second.round == self.best.round && old > window / 4 {
            (self.second, self.third) = (sample, sample);
        } else if self.third.round == self.second.round && old > window / 2 {
            self.third = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_old_maximum_gives_way_to_the_later_ones() {
        let mut filter = MaxFilter::default();
        filter.update(10, 0, 100);
        for round in 1..=10 {
            filter.update(10, round, 50);
            assert_eq!(filter.get(), 100);
        }
        filter.update(10, 11, 50);
        assert_eq!(filter.get(), 50);
    }

    proptest! {
        /// Never under the newest value, never over the true maximum of the window.
        #[test]
        fn lies_between_the_newest_and_the_window_maximum(
            values in proptest::collection::vec(0_u64..1000, 1..200)
        ) {
            let mut filter = MaxFilter::default();
            filter.reset(0, 0);
            for (round, value) in values.iter().enumerate() {
                filter.update(10, round as u32, *value);
                let window = &values[round.saturating_sub(10)..=round];
                let most = *window.iter().max().expect("not empty");
                prop_assert!(*value <= filter.get() && filter.get() <= most);
            }
        }
    }
}
