//! How delay varies from packet to packet, by the three definitions in use.
//!
//! With D the difference of two packets' delays, (R_j − R_i) − (S_j − S_i):
//!
//! | name | pairs | what of them |
//! | --- | --- | --- |
//! | D-ITG's jitter | consecutive in the order of arrival | mean of \|D\| |
//! | RFC 3550 §6.4.1, A.8 | consecutive in the order of arrival | J += (\|D\| − J) / 16 |
//! | IPDV, RFC 5481 §4.1 | consecutive in the order of sending, both received | the distribution of D with its sign |

use super::spread::{Quantiles, Spread};

/// Jitter over packets as they came; duplicates are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JitterReport {
    /// How many pairs there were.
    pub pairs: u64,
    /// D-ITG's: the mean of |D| over all pairs; `None` of none.
    pub mean_ns: Option<f64>,
    /// RFC 3550's after the last packet; `None` of no pairs, and for several flows together.
    pub rfc3550_last_ns: Option<f64>,
    /// The greatest that RFC 3550's reached; `None` of no pairs.
    pub rfc3550_max_ns: Option<f64>,
}

/// Delay variation between packets sent one after the other (RFC 5481, RFC 3393).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IpdvReport {
    /// How many pairs were received; a pair whose earlier packet was settled when the later came is
    /// not counted.
    pub pairs: u64,
    /// The mean, near 0 where delay has no trend.
    pub mean_ns: f64,
    /// The least: the most that a packet gained on its predecessor.
    pub min_ns: i64,
    /// The greatest.
    pub max_ns: i64,
    /// The standard deviation, of the population.
    pub sd_ns: f64,
    /// Quantiles, right to 1 %.
    pub quantiles: Quantiles,
}

/// D-ITG's and RFC 3550's jitter.
#[derive(Clone, Debug, Default)]
pub(super) struct Jitter {
    before_ns: Option<i64>,
    pairs: u64,
    sum: u128,
    smoothed: Option<f64>,
    max: Option<f64>,
}

impl Jitter {
    /// Takes in a packet's delay, in the order of arrival, and gives |D| with the one before.
    pub(super) fn push(&mut self, delay_ns: i64) -> Option<u64> {
        let difference = delay_ns.abs_diff(self.before_ns.replace(delay_ns)?);
        self.pairs += 1;
        self.sum += u128::from(difference);
        //= rfc3550 §6.4.1
        //# J(i) = J(i-1) + (|D(i-1,i)| - J(i-1))/16
        let before = self.smoothed.unwrap_or(0.0);
        let smoothed = before + (difference as f64 - before) / 16.0;
        self.smoothed = Some(smoothed);
        self.max = Some(self.max.unwrap_or(0.0).max(smoothed));
        Some(difference)
    }

    /// Takes in another flow's: pairs are within flows.
    pub(super) fn merge(&mut self, other: &Jitter) {
        self.pairs += other.pairs;
        self.sum += other.sum;
        self.smoothed = None;
        self.max = self.max.into_iter().chain(other.max).reduce(f64::max);
    }

    pub(super) fn report(&self) -> JitterReport {
        JitterReport {
            pairs: self.pairs,
            mean_ns: (self.pairs > 0).then(|| self.sum as f64 / self.pairs as f64),
            rfc3550_last_ns: self.smoothed,
            rfc3550_max_ns: self.max,
        }
    }
}

/// Of a spread of D.
pub(super) fn ipdv(spread: &Spread) -> Option<IpdvReport> {
    Some(IpdvReport {
        pairs: spread.count(),
        mean_ns: spread.mean_ns()?,
        min_ns: spread.min_ns()?,
        max_ns: spread.max_ns()?,
        sd_ns: spread.population_sd_ns()?,
        quantiles: spread.quantiles()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_by_hand() {
        let mut jitter = Jitter::default();
        let differences: Vec<_> = [100, 116, 100, 100].map(|delay| jitter.push(delay)).into();
        assert_eq!(differences, [None, Some(16), Some(16), Some(0)]);
        let report = jitter.report();
        assert_eq!((report.pairs, report.mean_ns), (3, Some(32.0 / 3.0)));
        // 1, then 1 + 15/16 = 1.9375, then 1.9375 × 15/16.
        assert_eq!(report.rfc3550_max_ns, Some(1.9375));
        assert_eq!(report.rfc3550_last_ns, Some(1.81640625));
    }

    #[test]
    fn delays_at_the_ends_of_their_range_do_not_overflow() {
        let mut jitter = Jitter::default();
        jitter.push(i64::MIN);
        assert_eq!(jitter.push(i64::MAX), Some(u64::MAX));
    }
}
