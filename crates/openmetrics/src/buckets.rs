//! A histogram that many threads add to and one reads, without locks.
//!
//! Bounds are fixed and few: an addition is a search in an array of twenty and two atomic
//! additions. A reader sees each number as it is at that moment, so a value that is being added may
//! be in the buckets and not yet in the sum.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bounds of times in nanoseconds, from 1 µs to 10 s: of lateness, delays and latencies.
pub const TIMES_NS: &[u64] = &[
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Bounds of work in nanoseconds, from 1 ms to 1000 s: of runs and trials.
pub const WORK_NS: &[u64] = &[
    1_000_000,
    10_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
    20_000_000_000,
    60_000_000_000,
    120_000_000_000,
    300_000_000_000,
    1_000_000_000_000,
];

/// Bounds of shares in millionths: of losses.
pub const SHARES_PPM: &[u64] = &[
    0, 1, 10, 100, 1_000, 10_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
];

/// Counts of whole numbers up to each bound.
#[derive(Debug)]
pub struct Buckets {
    bounds: &'static [u64],
    /// What one is in the unit of the metric: 1e-9 of nanoseconds that are told in seconds.
    scale: f64,
    /// One more than bounds.
    counts: Vec<AtomicU64>,
    sum: AtomicU64,
}

impl Buckets {
    /// Empty, with rising bounds; a number is `scale` units of the metric.
    pub fn new(bounds: &'static [u64], scale: f64) -> Buckets {
        Buckets {
            bounds,
            scale,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Of nanoseconds, told in seconds.
    pub fn of_ns(bounds: &'static [u64]) -> Buckets {
        Buckets::new(bounds, 1e-9)
    }

    /// Adds `value` `times` times.
    pub fn add_n(&self, value: u64, times: u64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at].fetch_add(times, Ordering::Relaxed);
        let sum = value.saturating_mul(times);
        self.sum.fetch_add(sum, Ordering::Relaxed);
    }

    /// Adds `value` once.
    pub fn add(&self, value: u64) {
        self.add_n(value, 1);
    }

    /// What a sample's `le` says of each bound but the last, and how many values are up to it; then
    /// how many there are, and their sum.
    pub(crate) fn read(&self) -> (Vec<(f64, u64)>, u64, f64) {
        let mut count = 0;
        let mut up_to = Vec::with_capacity(self.bounds.len());
        let mut counts = self.counts.iter();
        for (bound, of) in self.bounds.iter().zip(&mut counts) {
            count += of.load(Ordering::Relaxed);
            up_to.push((self.unit(*bound), count));
        }
        count += counts.next().map_or(0, |last| last.load(Ordering::Relaxed));
        (up_to, count, self.unit(self.sum.load(Ordering::Relaxed)))
    }

    /// `value` in the unit of the metric: divided where that is exact, so that 2 µs is 0.000002.
    fn unit(&self, value: u64) -> f64 {
        value as f64 / (1.0 / self.scale).round()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_up_to_its_bound_and_from_there_on() {
        let buckets = Buckets::of_ns(&[1_000, 2_000]);
        for value in [0, 1_000, 1_001, 5_000] {
            buckets.add(value);
        }
        let (up_to, count, sum) = buckets.read();
        assert_eq!(up_to, [(1e-6, 2), (2e-6, 3)]);
        assert_eq!((count, sum), (4, 7_001e-9));
    }
}
