//! Round trips of one flow: smoothed as a sender does, and their distribution.

use std::collections::BTreeMap;

/// Bits of a value that its bucket keeps: quantiles are right to one part in a thousand.
const KEPT_BITS: u32 = 11;

/// Samples in microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    /// How often each value came, rounded.
    counts: BTreeMap<u64, u64>,
    count: u64,
    sum: f64,
    least: Option<f64>,
    greatest: Option<f64>,
    last: Option<f64>,
    smoothed: Option<f64>,
}

impl RoundTrips {
    pub(super) fn push_ns(&mut self, ns: i64) {
        let us = ns.max(0) as f64 / 1e3;
        self.count += 1;
        self.sum += us;
        self.least = Some(self.least.map_or(us, |least| least.min(us)));
        self.greatest = Some(self.greatest.map_or(us, |greatest| greatest.max(us)));
        self.last = Some(us);
        // RFC 6298, (2.2) and (2.3): an eighth of the new sample.
        self.smoothed = Some(self.smoothed.map_or(us, |old| old + (us - old) / 8.0));
        let whole = us.round() as u64;
        let shift = (u64::BITS - whole.leading_zeros()).saturating_sub(KEPT_BITS);
        *self.counts.entry(whole >> shift << shift).or_default() += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn mean_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    pub(super) fn min_us(&self) -> Option<f64> {
        self.least
    }

    pub(super) fn last_us(&self) -> Option<f64> {
        self.last
    }

    pub(super) fn smoothed_us(&self) -> Option<f64> {
        self.smoothed
    }

    /// The least value that `fraction` of the samples do not exceed.
    pub(super) fn quantile_us(&self, fraction: f64) -> Option<f64> {
        let wanted = (self.count as f64 * fraction).ceil().max(1.0) as u64;
        let mut so_far = 0;
        self.counts.iter().find_map(|(value, times)| {
            so_far += times;
            // A bucket begins below what is in it, and may begin below all that there is.
            let value = || {
                let value = *value as f64;
                let least = self.least.unwrap_or(value);
                value.max(least).min(self.greatest.unwrap_or(value))
            };
            (so_far >= wanted).then(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_a_thousandth() {
        let mut all = RoundTrips::default();
        for us in 1..=100_000 {
            all.push_ns(us * 1000);
        }
        for (fraction, wanted) in [(0.05, 5e3), (0.5, 5e4), (0.99, 9.9e4)] {
            let got = all.quantile_us(fraction).unwrap();
            assert!((got / wanted - 1.0).abs() < 1e-3, "{fraction}: {got}");
        }
        assert_eq!(all.mean_us(), Some(50_000.5));
        assert_eq!(all.min_us(), Some(1.0));
    }

    #[test]
    fn quantiles_lie_between_the_least_and_the_greatest() {
        let mut all = RoundTrips::default();
        for _ in 0..100 {
            all.push_ns(50_000_000);
        }
        for fraction in [0.0, 0.05, 0.5, 0.99, 1.0] {
            assert_eq!(all.quantile_us(fraction), Some(50_000.0), "{fraction}");
        }
    }
}
