//! How signed times are spread: exact mean, least, greatest and deviation, quantiles to three
//! digits.
//!
//! Quantiles come from two histograms, above and below a reference, so they are right to 0.1 % of
//! their distance from it. The reference is 0, but where the first value is negative or above a
//! second it is that value: then two clocks differ, and the digits belong to what varies.

use trammel_stats::histogram::Histogram;
use trammel_stats::stats::Moments;

/// Nanoseconds up to which values are told apart: 1000 s.
const FURTHEST_NS: u64 = 1_000_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// The most points of a distribution in a report.
pub const MOST_CDF_POINTS: usize = 256;

/// The fractions that reports give.
const FRACTIONS: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Quantiles of signed times, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// What half of the values do not exceed.
    pub p50_ns: i64,
    /// What 90 % do not exceed.
    pub p90_ns: i64,
    /// What 99 % do not exceed.
    pub p99_ns: i64,
    /// What 99.9 % do not exceed.
    pub p999_ns: i64,
}

/// Signed times in nanoseconds, in bounded memory.
#[derive(Debug)]
pub(super) struct Spread {
    digits: u8,
    reference: Option<i64>,
    above: Histogram,
    /// Made when it is needed.
    below: Option<Box<Histogram>>,
    /// Of the distances from the reference.
    moments: Moments,
    sum: i128,
    min: i64,
    max: i64,
}

impl Spread {
    /// With quantiles to `digits` decimal digits; 125 KB at three, 16 KB at two, twice that with
    /// values on both sides.
    pub(super) fn new(digits: u8) -> Spread {
        Spread {
            digits,
            reference: None,
            above: Histogram::new(1, FURTHEST_NS, digits),
            below: None,
            moments: Moments::new(),
            sum: 0,
            min: i64::MAX,
            max: i64::MIN,
        }
    }

    /// The same with 0 as reference whatever comes first.
    pub(super) fn around_zero(digits: u8) -> Spread {
        Spread {
            reference: Some(0),
            ..Spread::new(digits)
        }
    }

    pub(super) fn push(&mut self, ns: i64) {
        let reference = *self.reference.get_or_insert(match ns {
            0..=SECOND_NS => 0,
            _ => ns,
        });
        let distance = i128::from(ns) - i128::from(reference);
        let magnitude =
            u64::try_from(distance.unsigned_abs()).expect("a difference of two i64 fits");
        if distance >= 0 {
            self.above.record(magnitude);
        } else {
            let digits = self.digits;
            self.below
                .get_or_insert_with(|| Box::new(Histogram::new(1, FURTHEST_NS, digits)))
                .record(magnitude);
        }
        self.moments.push(distance as f64);
        self.sum += i128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    pub(super) fn count(&self) -> u64 {
        self.moments.count()
    }
    pub(super) fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }
    pub(super) fn min_ns(&self) -> Option<i64> {
        (self.count() > 0).then_some(self.min)
    }
    pub(super) fn max_ns(&self) -> Option<i64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The standard deviation of the population: divided by n, not by n − 1.
    pub(super) fn population_sd_ns(&self) -> Option<f64> {
        let n = self.count() as f64;
        match self.count() {
            0 => None,
            1 => Some(0.0),
            _ => self
                .moments
                .variance()
                .map(|variance| (variance * (n - 1.0) / n).sqrt()),
        }
    }

    /// The cumulative distribution: values, and the share of all that does not exceed each; the
    /// last is the greatest and 1. Of more points than [`MOST_CDF_POINTS`] those that are 1/200
    /// apart, and 9 of each decade of the last 1/200.
    pub(super) fn cdf(&self) -> Vec<(i64, f64)> {
        let (Some(reference), true) = (self.reference, self.count() > 0) else {
            return Vec::new();
        };
        let all = self.count() as f64;
        let at = |distance: i128| {
            let ns = i128::from(reference) + distance;
            i64::try_from(ns.clamp(self.min.into(), self.max.into()))
                .expect("a value between two i64 fits")
        };
        let below = self.below.as_deref();
        let share_below = below.map_or(0.0, |below| below.count() as f64 / all);
        let mut points: Vec<(i64, f64)> = below
            .into_iter()
            .flat_map(Histogram::cdf_points)
            .map(|(distance, nearer)| (at(-i128::from(distance)), nearer))
            .collect();
        // What is further below is less: of the share that is nearer, the rest and this bucket do
        // not exceed it.
        let mut nearer = 0.0;
        for point in &mut points {
            let up_to = point.1;
            point.1 = (1.0 - nearer) * share_below;
            nearer = up_to;
        }
        points.reverse();
        points.extend(self.above.cdf_points().map(|(distance, share)| {
            (
                at(distance.into()),
                share_below + share * (1.0 - share_below),
            )
        }));
        if let Some(last) = points.last_mut() {
            *last = (self.max, 1.0);
        }
        thinned(points)
    }

    pub(super) fn quantiles(&self) -> Option<Quantiles> {
        let [p50_ns, p90_ns, p99_ns, p999_ns] = FRACTIONS.map(|fraction| self.quantile(fraction));
        Some(Quantiles {
            p50_ns: p50_ns?,
            p90_ns: p90_ns?,
            p99_ns: p99_ns?,
            p999_ns: p999_ns?,
        })
    }

    /// The smallest value that at least `fraction` of the values do not exceed.
    fn quantile(&self, fraction: f64) -> Option<i64> {
        let reference = i128::from(self.reference?);
        let rank = ((fraction * self.count() as f64).ceil() as u64).max(1);
        // Half a rank less, so that no rounding makes it the next one.
        let of = |histogram: &Histogram, rank: u64| {
            histogram.quantile((rank as f64 - 0.5) / histogram.count() as f64)
        };
        let below = self.below.as_deref();
        let count_below = below.map_or(0, Histogram::count);
        let distance = match below {
            Some(below) if rank <= count_below => -i128::from(of(below, count_below - rank + 1)?),
            _ => i128::from(of(&self.above, rank - count_below)?),
        };
        let ns = (reference + distance).clamp(self.min.into(), self.max.into());
        Some(i64::try_from(ns).expect("it lies between two i64"))
    }
}

/// At most [`MOST_CDF_POINTS`] of a distribution's points.
fn thinned(points: Vec<(i64, f64)>) -> Vec<(i64, f64)> {
    const EVEN: f64 = 200.0;
    const A_DECADE: f64 = 9.0;
    if points.len() <= MOST_CDF_POINTS {
        return points;
    }
    // 200 steps, and 9 for each of the six decades that a histogram of a billion packets can tell
    // apart behind them.
    let step = |share: f64| {
        let rest = ((1.0 - share) * EVEN).clamp(1e-6, 1.0);
        (share * EVEN).floor() + (-rest.log10() * A_DECADE).floor()
    };
    let mut kept: Vec<(i64, f64)> = Vec::with_capacity(MOST_CDF_POINTS);
    for point in points {
        if point.1 == 1.0 || kept.last().is_none_or(|last| step(last.1) < step(point.1)) {
            kept.push(point);
        }
    }
    kept.truncate(MOST_CDF_POINTS);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn of_nothing_there_is_nothing() {
        let none = Spread::new(3);
        assert_eq!(
            (none.mean_ns(), none.min_ns(), none.population_sd_ns()),
            (None, None, None)
        );
        assert_eq!(none.quantiles(), None);
    }

    #[test]
    fn the_extremes_do_not_overflow() {
        let mut spread = Spread::new(3);
        for ns in [i64::MIN, i64::MAX, 0] {
            spread.push(ns);
        }
        assert_eq!(
            (spread.min_ns(), spread.max_ns()),
            (Some(i64::MIN), Some(i64::MAX))
        );
        assert!(spread.quantiles().is_some());
    }

    #[test]
    fn clocks_an_hour_apart_keep_the_digits_of_what_varies() {
        let mut spread = Spread::new(3);
        let hour = 3_600_000_000_000;
        for us in 0..1000 {
            spread.push(-hour + us * 1000);
        }
        let p50 = spread.quantiles().unwrap().p50_ns + hour;
        assert!((p50 - 499_000).abs() <= 500, "{p50}");
        let sd = spread.population_sd_ns().unwrap();
        assert!((sd - 288_674.99).abs() < 0.01, "{sd}");
    }

    #[test]
    fn a_long_distribution_is_thinned_and_keeps_its_tail() {
        let mut spread = Spread::new(3);
        for n in 0..1_000_000 {
            spread.push(1_000_000_000 / (1_000_000 - n));
        }
        let cdf = spread.cdf();
        assert!(
            (200..=MOST_CDF_POINTS).contains(&cdf.len()),
            "{}",
            cdf.len()
        );
        assert_eq!(cdf.last(), Some(&(1_000_000_000, 1.0)));
        assert!(cdf.windows(2).all(|pair| pair[1].1 - pair[0].1 < 0.02));
        assert!(cdf.iter().filter(|(_, share)| *share > 0.999).count() > 5);
    }

    proptest! {
        #[test]
        fn agrees_with_the_sorted_values(
            values in prop::collection::vec(-1_000_000_000..2_000_000_000_i64, 1..80),
            fraction in 0.0..1.0_f64,
        ) {
            let mut spread = Spread::new(3);
            for value in &values {
                spread.push(*value);
            }
            let n = values.len() as f64;
            let mean = values.iter().map(|v| *v as f64).sum::<f64>() / n;
            let sd = (values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>() / n).sqrt();
            prop_assert!((spread.mean_ns().unwrap() - mean).abs() <= 1e-6 * mean.abs().max(1.0));
            prop_assert!((spread.population_sd_ns().unwrap() - sd).abs() <= 1e-6 * sd.max(1.0));
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let exact = sorted[((fraction * n).ceil() as usize).max(1) - 1];
            let cdf = spread.cdf();
            prop_assert_eq!(cdf.last(), Some(&(*sorted.last().unwrap(), 1.0)));
            prop_assert!(cdf.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1), "{:?}", cdf);
            for (ns, share) in &cdf {
                // A bucket's end may be 0.1 % further from the reference than its values: both
                // sides are looked at.
                let room = ((*ns - spread.reference.unwrap()).abs() / 500 + 1).min(4_000_000);
                let count = |limit: i64| values.iter().filter(|v| **v <= limit).count() as f64 / n;
                prop_assert!(count(ns - room) <= share + 1e-9 && *share <= count(ns + room) + 1e-9,
                    "{} of {} in {:?}", share, ns, sorted);
            }
            let found = spread.quantile(fraction).unwrap();
            let reference = spread.reference.unwrap();
            let apart = (exact - reference).abs() as f64;
            prop_assert!((found - exact).abs() as f64 <= 1e-3 * apart + 0.5,
                "{} for {}", found, exact);
        }
    }
}
