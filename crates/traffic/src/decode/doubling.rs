//! Counts of lengths by powers of two: what a burst or an extent of any length fits in.

/// How many lengths lie from `from` to `to`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The least length.
    pub from: u64,
    /// The greatest length.
    pub to: u64,
    /// How many.
    pub count: u64,
}

/// Lengths from 1 on, with their exact number, sum and maximum.
#[derive(Clone, Debug)]
pub(super) struct Doubling {
    counts: [u64; 64],
    count: u64,
    sum: u128,
    max: u64,
}

impl Doubling {
    pub(super) fn new() -> Doubling {
        Doubling {
            counts: [0; 64],
            count: 0,
            sum: 0,
            max: 0,
        }
    }

    /// Counts `length`; 0 is none.
    pub(super) fn push(&mut self, length: u64) {
        let Some(power) = length.checked_ilog2() else {
            return;
        };
        self.counts[power as usize] += 1;
        self.count += 1;
        self.sum += u128::from(length);
        self.max = self.max.max(length);
    }

    pub(super) fn merge(&mut self, other: &Doubling) {
        for (own, other) in self.counts.iter_mut().zip(other.counts) {
            *own += other;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }
    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// The buckets that hold something, in order.
    pub(super) fn buckets(&self) -> Vec<Bucket> {
        let all = self.counts.iter().enumerate();
        all.filter(|(_, count)| **count > 0)
            .map(|(power, count)| Bucket {
                from: 1 << power,
                to: (1_u64 << power) - 1 + (1 << power),
                count: *count,
            })
            .collect()
    }
}
