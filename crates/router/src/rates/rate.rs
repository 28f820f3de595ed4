//! A rate as an exponentially weighted moving average over short epochs.
//!
//! What comes in one epoch is one sample; each sample moves the average by a part of the way: by
//! default an epoch is a millisecond and the part a sixteenth.

use crate::args::numbers::unparse_fixed;
use trammel_packet::timestamp::Timestamp;

/// Samples a second, of the default epoch.
pub(crate) const EPOCHS: i64 = 1000;
/// Empty epochs after which nothing of the average is left.
const FORGOTTEN: i64 = 100;

/// A rate: the weight of a sample as a shift, and milliseconds of an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rate<const STABILITY: u32 = 4, const EPOCH_MS: i64 = 1> {
    /// Bits of fraction.
    scale: u8,
    average: i64,
    current: i64,
    epoch: i64,
}

impl<const STABILITY: u32, const EPOCH_MS: i64> Rate<STABILITY, EPOCH_MS> {
    /// Zero, kept with so many bits of fraction.
    pub(crate) fn new(scale: u8) -> Rate<STABILITY, EPOCH_MS> {
        Rate {
            scale,
            average: 0,
            current: 0,
            epoch: 0,
        }
    }

    fn sample(&mut self, value: i64) {
        let half = 1 << (STABILITY - 1);
        let scaled = value << self.scale;
        self.average += (scaled + half - self.average) >> STABILITY;
    }

    /// Adds `count` at `now`.
    #[inline]
    pub(crate) fn add(&mut self, now: Timestamp, count: u64) {
        let epoch = now.0 / (EPOCH_MS * 1_000_000);
        if epoch != self.epoch {
            self.pass(epoch);
        }
        self.current = self.current.saturating_add(count as i64);
    }

    #[cold]
    fn pass(&mut self, epoch: i64) {
        self.sample(self.current);
        let empty = epoch.saturating_sub(self.epoch).saturating_sub(1);
        if empty >= FORGOTTEN {
            self.average = 0;
        } else {
            for _ in 0..empty {
                self.sample(0);
            }
        }
        (self.current, self.epoch) = (0, epoch);
    }

    /// The average an epoch, scaled.
    #[inline]
    pub(crate) fn average(&self) -> i64 {
        self.average
    }

    /// The rate a second at `now`, times `factor`, a power of two, as a decimal number.
    pub(crate) fn text(&mut self, now: Timestamp, factor_shift: u8) -> String {
        self.add(now, 0);
        unparse_fixed(
            self.average * (EPOCHS / EPOCH_MS),
            self.scale - factor_shift,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_found_and_an_old_one_forgotten() {
        let mut rate = Rate::<4, 1>::new(10);
        for ms in 0..2000 {
            rate.add(Timestamp(ms * 1_000_000), 5);
        }
        let steady: f64 = rate
            .text(Timestamp(2_000_000_000), 0)
            .parse()
            .expect("a number");
        assert!((4990.0..5010.0).contains(&steady), "{steady}");
        assert_eq!(rate.text(Timestamp(3_000_000_000), 0), "0");
        let mut slow = Rate::<5, 8>::new(10);
        for ms in 0..4000 {
            slow.add(Timestamp(ms * 1_000_000), 5);
        }
        let steady: f64 = slow
            .text(Timestamp(4_000_000_000), 0)
            .parse()
            .expect("a number");
        assert!((4990.0..5010.0).contains(&steady), "{steady}");
    }
}
