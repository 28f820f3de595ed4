//! Statistics of samples: moments, confidence intervals, percentiles, fairness, correlation.
//!
//! What a sample is too small for, or what is not defined for it, is `None`, never a number or
//! not-a-number.
//!
//! - [`Moments`]: mean and variance in one pass (Welford 1962), merged pairwise (Chan, Golub and
//!   LeVeque 1979).
//! - [`Moments::confidence`]: mean ± t(n − 1, (1 + level) / 2) · s / √n, for independent repeats.
//! - [`mean_of_groups`]: the mean of what comes in groups of unequal size, with the interval of the
//!   ratio estimator (Cochran, *Sampling Techniques*, §6.3).
//! - [`percentile`]: linear interpolation between order statistics, type 7 of Hyndman and Fan 1996.
//! - [`jain`]: (Σx)² / (n · Σx²) (Jain, Chiu and Hawe, DEC-TR-301, 1984).
//! - [`spearman`]: Pearson's correlation of ranks, ties given their mean rank.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Count, mean, variance and extremes of a stream of numbers, in one pass and constant memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    /// The sum of squared deviations from the mean.
    squares: f64,
    min: f64,
    max: f64,
}

/// An estimate and the interval that holds the true value with the level asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The sample mean.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Student's, of the mean of `count` numbers whose sample variance is `variance`, at `level`
    /// such as 0.95. `None` of fewer than two numbers, and where `level` does not lie strictly
    /// between 0 and 1.
    pub fn of_mean(mean: f64, variance: f64, count: u64, level: f64) -> Option<Interval> {
        (count > 1)
            .then(|| Interval::of_student(mean, variance, count, level))
            .flatten()
    }

    fn of_student(mean: f64, variance: f64, count: u64, level: f64) -> Option<Interval> {
        if !(0.0 < level && level < 1.0) {
            return None;
        }
        let error = (variance / count as f64).sqrt();
        let student = StudentsT::new(0.0, 1.0, count.checked_sub(1)? as f64).ok()?;
        let half_width = student.inverse_cdf(f64::midpoint(1.0, level)) * error;
        Some(Interval {
            mean,
            low: mean - half_width,
            high: mean + half_width,
        })
    }

    /// Whether `value` lies in the interval, its ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Default for Moments {
    fn default() -> Moments {
        Moments {
            count: 0,
            mean: 0.0,
            squares: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Moments {
    /// No numbers yet.
    pub fn new() -> Moments {
        Moments::default()
    }

    /// Takes in `value`. Not-a-number makes mean and variance not-a-number.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Takes in all numbers of `other`, as if each had been pushed.
    pub fn merge(&mut self, other: &Moments) {
        if other.count == 0 {
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        let delta = other.mean - self.mean;
        self.count += other.count;
        self.mean += delta * m / (n + m);
        self.squares += other.squares + delta * delta * n * m / (n + m);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many numbers were taken in.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// The mean; `None` of no numbers.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }
    /// The unbiased sample variance (divided by n − 1); `None` of fewer than two numbers.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }
    /// The square root of [`Moments::variance`].
    pub fn std_dev(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }
    /// The smallest number; `None` of no numbers.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }
    /// The largest number; `None` of no numbers.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// Student's confidence interval of the mean at `level`, such as 0.95. `None` of fewer than two
    /// numbers, and where `level` does not lie strictly between 0 and 1.
    pub fn confidence(&self, level: f64) -> Option<Interval> {
        Interval::of_student(self.mean, self.variance()?, self.count, level)
    }
}

/// The mean of numbers that come in groups, each its count and its sum, and Student's interval of
/// it at `level`. Groups are taken to be independent of each other, the numbers in one are not: a
/// group counts by its size, and varies by how far its sum is from what the mean makes of its size.
/// `None` of fewer than two groups with numbers.
pub fn mean_of_groups(
    groups: impl Iterator<Item = (f64, f64)> + Clone,
    level: f64,
) -> Option<Interval> {
    let groups = groups.filter(|(count, _)| *count > 0.0);
    let (mut number, mut count, mut sum) = (0_u64, 0.0, 0.0);
    for (of_one, sum_of_one) in groups.clone() {
        number += 1;
        count += of_one;
        sum += sum_of_one;
    }
    if number < 2 {
        return None;
    }
    let (mean, per_group) = (sum / count, count / number as f64);
    let squares: f64 = groups
        .map(|(of_one, sum_of_one)| (sum_of_one - mean * of_one).powi(2))
        .sum();
    let variance = squares / (number - 1) as f64 / per_group.powi(2);
    Interval::of_student(mean, variance, number, level)
}

impl Extend<f64> for Moments {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        for value in values {
            self.push(value);
        }
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Moments {
        let mut moments = Moments::new();
        moments.extend(values);
        moments
    }
}

/// The `percent`-th percentile (0 to 100) of `values` in any order. With h = (n − 1) · percent /
/// 100 it is the order statistic x₍⌊h⌋₎ plus the fraction h − ⌊h⌋ of the way to the next (type 7,
/// as in R, NumPy and Excel). `None` of no values, of not-a-number, and for a percentage outside 0
/// to 100.
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    percentiles(values, &[percent]).map(|found| found[0])
}

/// [`percentile`] for each of `percents`, sorting `values` once; `None` where one of them would be.
pub fn percentiles(values: &[f64], percents: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    percents
        .iter()
        .map(|percent| {
            if !(0.0..=100.0).contains(percent) {
                return None;
            }
            let h = (sorted.len() - 1) as f64 * percent / 100.0;
            let low = sorted[h.floor() as usize];
            let high = sorted[h.ceil() as usize];
            // Equal neighbours may be infinite, and their difference not a number.
            Some(if low == high {
                low
            } else {
                low + (high - low) * h.fract()
            })
        })
        .collect()
}

/// Jain's fairness index of `shares`: from 1 / n, where one has all, to 1, where all have the same.
/// `None` of no shares, where all are zero, and where one is negative or not finite.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest == 0.0
        || shares
            .iter()
            .any(|share| *share < 0.0 || !share.is_finite())
    {
        return None;
    }
    // Relative to the largest, so that no square overflows or vanishes.
    let sum: f64 = shares.iter().map(|share| share / largest).sum();
    let squares: f64 = shares.iter().map(|share| (share / largest).powi(2)).sum();
    Some(sum * sum / (shares.len() as f64 * squares))
}

/// Spearman's rank correlation of paired samples: 1 where they rise together, −1 where one falls as
/// the other rises. `None` for unequal lengths, fewer than two pairs, a constant sample, and
/// not-a-number.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 2 || x.iter().chain(y).any(|value| value.is_nan()) {
        return None;
    }
    let (x, y) = (ranks(x), ranks(y));
    // Ranks 1 … n have this mean, with ties or without.
    let mean = (x.len() + 1) as f64 / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let spread = (product(&x, &x) * product(&y, &y)).sqrt();
    (spread > 0.0).then(|| (product(&x, &y) / spread).clamp(-1.0, 1.0))
}

/// The rank of each value from 1; ties share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = before as f64 + (tied.len() + 1) as f64 / 2.0;
        for at in tied {
            ranks[*at] = rank;
        }
        before += tied.len();
    }
    ranks
}

/// (`ours` − `reference`) / |`reference`|, with its sign. `None` where `reference` is zero and
/// where a number is not finite; two zeros agree and give 0.
pub fn relative_error(ours: f64, reference: f64) -> Option<f64> {
    if ours == 0.0 && reference == 0.0 {
        return Some(0.0);
    }
    let error = (ours - reference) / reference.abs();
    (reference != 0.0 && error.is_finite()).then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() <= 1e-9 * b.abs().max(1.0))
    }

    #[test]
    fn groups_of_one_size_are_a_sample_of_their_means_and_others_count_by_their_size() {
        let means = [3.0, 4.5, 7.0, 2.5];
        let alike = mean_of_groups(means.iter().map(|mean| (10.0, mean * 10.0)), 0.95);
        let sample: Moments = means.into_iter().collect();
        let (alike, sample) = (alike.unwrap(), sample.confidence(0.95).unwrap());
        assert!((alike.mean - sample.mean).abs() < 1e-12);
        assert!((alike.high - sample.high).abs() < 1e-12);
        // A small group that is far off hardly counts, and the mean is that of all numbers.
        let uneven = [
            (1000.0, 5000.0),
            (1000.0, 5100.0),
            (1000.0, 4900.0),
            (2.0, 1000.0),
        ];
        let interval = mean_of_groups(uneven.into_iter(), 0.95).unwrap();
        assert!((interval.mean - 16_000.0 / 3002.0).abs() < 1e-12);
        assert!(interval.low > 3.0 && interval.high < 8.0, "{interval:?}");
        assert_eq!(
            mean_of_groups([(4.0, 1.0), (0.0, 0.0)].into_iter(), 0.95),
            None
        );
    }

    #[test]
    fn moments_of_a_known_sample() {
        let moments: Moments = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
            .into_iter()
            .collect();
        assert!(close(moments.mean(), 5.0));
        assert!(close(moments.variance(), 32.0 / 7.0));
        assert_eq!((moments.min(), moments.max()), (Some(2.0), Some(9.0)));
    }

    #[test]
    fn a_large_offset_does_not_cancel() {
        let moments: Moments = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]
            .into_iter()
            .collect();
        assert!(close(moments.variance(), 30.0));
    }

    #[test]
    fn too_few_numbers_give_nothing() {
        let mut moments = Moments::new();
        assert_eq!(
            (moments.mean(), moments.min(), moments.max()),
            (None, None, None)
        );
        moments.push(3.0);
        assert_eq!((moments.mean(), moments.variance()), (Some(3.0), None));
        assert_eq!(moments.confidence(0.95), None);
    }

    #[test]
    fn confidence_intervals_have_the_tabulated_widths() {
        // Quantiles of Student's distribution from printed tables: (numbers, level, t).
        for (count, level, t) in [
            (2, 0.95, 12.706),
            (3, 0.95, 4.303),
            (10, 0.95, 2.262),
            (10, 0.99, 3.250),
            (31, 0.90, 1.697),
            (1001, 0.95, 1.962),
        ] {
            let moments: Moments = (0..count).map(f64::from).collect();
            let interval = moments.confidence(level).unwrap();
            let error = moments.std_dev().unwrap() / f64::from(count).sqrt();
            let found = (interval.high - interval.mean) / error;
            assert!(
                (found - t).abs() < 6e-4,
                "t({}, {level}) is {found}",
                count - 1
            );
            assert!(close(
                Some(interval.mean - interval.low),
                interval.high - interval.mean
            ));
            assert!(interval.contains(interval.mean) && !interval.contains(interval.high + 1.0));
        }
        let moments: Moments = [1.0, 2.0].into_iter().collect();
        assert_eq!(moments.confidence(1.0), None);
        assert_eq!(moments.confidence(f64::NAN), None);
    }

    #[test]
    fn equal_repeats_give_an_interval_of_no_width() {
        let moments: Moments = [5.0; 10].into_iter().collect();
        let interval = moments.confidence(0.95).unwrap();
        assert_eq!((interval.low, interval.high), (5.0, 5.0));
    }

    #[test]
    fn percentiles_interpolate_as_type_7() {
        let values = [40.0, 10.0, 30.0, 20.0];
        let found = percentiles(&values, &[0.0, 25.0, 50.0, 95.0, 100.0]).unwrap();
        for (found, expected) in found.iter().zip([10.0, 17.5, 25.0, 38.5, 40.0]) {
            assert!(close(Some(*found), expected), "{found} {expected}");
        }
        assert_eq!(percentile(&[7.0], 99.9), Some(7.0));
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(percentile(&values, 100.1), None);
        assert_eq!(percentile(&values, f64::NAN), None);
        assert_eq!(percentile(&[1.0, f64::NAN], 50.0), None);
        assert_eq!(percentile(&[f64::INFINITY; 3], 40.0), Some(f64::INFINITY));
    }

    #[test]
    fn fairness_of_known_shares() {
        assert!(close(jain(&[3.0, 3.0, 3.0]), 1.0));
        assert!(close(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25));
        assert!(close(jain(&[1.0, 2.0, 3.0]), 36.0 / 42.0));
        assert!(close(jain(&[1e300, 1e300]), 1.0));
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(jain(&[1.0, -1.0]), None);
        assert_eq!(jain(&[1.0, f64::NAN]), None);
        assert_eq!(jain(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn rank_correlation_of_known_samples() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!(close(spearman(&x, &[1.0, 8.0, 27.0, 64.0, 125.0]), 1.0));
        assert!(close(spearman(&x, &[5.0, 4.0, 3.0, 2.0, 1.0]), -1.0));
        // 1 − 6 Σd² / (n (n² − 1)) with d = 1, 1, 1, 1, 0.
        assert!(close(spearman(&x, &[2.0, 1.0, 4.0, 3.0, 5.0]), 0.8));
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / √(4.5 · 5).
        let tied = spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]);
        assert!(close(tied, 4.5 / 22.5_f64.sqrt()));
        assert_eq!(spearman(&x, &[1.0; 5]), None);
        assert_eq!(spearman(&x, &x[..4]), None);
        assert_eq!(spearman(&[1.0], &[1.0]), None);
    }

    #[test]
    fn relative_errors_keep_their_sign() {
        assert!(close(relative_error(90.0, 100.0), -0.1));
        assert!(close(relative_error(-90.0, -100.0), 0.1));
        assert_eq!(relative_error(1.0, 0.0), None);
        assert_eq!(relative_error(0.0, 0.0), Some(0.0));
        assert_eq!(relative_error(f64::INFINITY, 1.0), None);
        assert_eq!(relative_error(1.0, f64::INFINITY), None);
        assert_eq!(relative_error(f64::NAN, 1.0), None);
    }

    proptest! {
        #[test]
        fn merging_is_pushing(
            a in prop::collection::vec(-1e6..1e6_f64, 0..20),
            b in prop::collection::vec(-1e6..1e6_f64, 0..20),
        ) {
            let mut merged: Moments = a.iter().copied().collect();
            merged.merge(&b.iter().copied().collect());
            let pushed: Moments = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged.count(), pushed.count());
            prop_assert_eq!((merged.min(), merged.max()), (pushed.min(), pushed.max()));
            if let Some(mean) = pushed.mean() {
                prop_assert!((merged.mean().unwrap() - mean).abs() < 1e-6);
            }
            if let Some(variance) = pushed.variance() {
                let error = (merged.variance().unwrap() - variance).abs();
                prop_assert!(error <= 1e-9 * (1.0 + variance));
            }
        }

        #[test]
        fn percentiles_rise_within_the_sample(
            values in prop::collection::vec(-1e6..1e6_f64, 1..30),
            p in 0.0..=100.0_f64,
            q in 0.0..=100.0_f64,
        ) {
            let found = percentiles(&values, &[0.0, p.min(q), p.max(q), 100.0]).unwrap();
            prop_assert!(found.is_sorted(), "{:?}", found);
        }

        #[test]
        fn fairness_lies_between_one_nth_and_one(
            shares in prop::collection::vec(0.0..1e9_f64, 1..20),
        ) {
            if let Some(index) = jain(&shares) {
                let least = 1.0 / shares.len() as f64;
                prop_assert!(index >= least - 1e-12 && index <= 1.0 + 1e-12, "{}", index);
            }
        }
    }
}
