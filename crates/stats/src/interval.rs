//! Confidence intervals of means that stay where the metric can be.
//!
//! Student's interval of a mean is symmetric, so that of a few repeats it says of a delay that it
//! may be negative, and of a share that it may be above one. Here the interval is made where the
//! metric has no ends, and brought back (the delta method; Casella and Berger, *Statistical
//! Inference*, §5.5.4):
//!
//! | the metric | is made of | interval |
//! | --- | --- | --- |
//! | any number | m | m ± t s/√n |
//! | positive | ln m | m · exp(± t s/(√n m)) |
//! | between a and b | ln((m − a)/(b − m)) | the inverse of it ± t s (b − a)/(√n (m − a)(b − m)) |
//!
//! Where a repeat lies at an end itself, its logarithm is none: Student's interval is then cut at
//! the end. So it is where half of it is more than the mean, since exp(t s/(√n m)) leaves all
//! bounds there: a mean of 200 ms had one up to years. A cut interval holds the true mean as often
//! as the whole one, since beyond the end it cannot be. So is an interval that passes what a
//! scenario makes possible, such as its duration or the rate of its links. Two repeats are too few
//! to say how far others may be, and repeats that are all equal have no chance in them: there is no
//! interval then, rather than one of no width.

use crate::stats::{Interval, Moments};

/// The level of every interval.
pub const LEVEL: f64 = 0.95;

/// The least number of repeats that an interval is made of.
pub const LEAST_REPEATS: u64 = 3;

/// Where the numbers of a metric can lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// Anywhere.
    Real,
    /// At zero and above.
    Positive,
    /// Between two numbers, these included.
    Within(f64, f64),
}

impl Support {
    /// Its ends.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Support::Real => (f64::NEG_INFINITY, f64::INFINITY),
            Support::Positive => (0.0, f64::INFINITY),
            Support::Within(low, high) => (low, high),
        }
    }
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Student's, of the numbers as they are.
    Student,
    /// Student's, of the logarithm.
    Log,
    /// Student's, of the logit.
    Logit,
    /// Student's, cut at the end of what is possible.
    Cut,
}

impl Method {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Method::Student => "student",
            Method::Log => "student-log",
            Method::Logit => "student-logit",
            Method::Cut => "student-cut",
        }
    }
}

impl Interval {
    /// This interval, which lies even about its mean, of a metric that lies within `support` and of
    /// which no number is at an end of it.
    pub fn within(self, support: Support) -> (Interval, Method) {
        let Interval { mean, high, .. } = self;
        let half = high - mean;
        let between = |low: f64, high: f64| Interval { mean, low, high };
        match support {
            Support::Real => (self, Method::Student),
            Support::Positive if mean > 0.0 && half <= mean => {
                let factor = (half / mean).exp();
                (between(mean / factor, mean * factor), Method::Log)
            }
            Support::Within(low, high) if low < mean && mean < high && (high - low).is_finite() => {
                let (below, above) = (mean - low, high - mean);
                let half = half * (high - low) / (below * above);
                // Rounding must not put an end on the wrong side of the mean.
                let back = |logit: f64| low + (high - low) / (1.0 + (-logit).exp());
                let centre = (below / above).ln();
                let (from, to) = (back(centre - half), back(centre + half));
                (between(from.min(mean), to.max(mean)), Method::Logit)
            }
            Support::Positive | Support::Within(..) => self.cut(support),
        }
    }

    /// This interval without what lies beyond `support`.
    fn cut(self, support: Support) -> (Interval, Method) {
        let (low, high) = support.ends();
        (self.between(low, high), Method::Cut)
    }

    /// This interval without what lies below `low` and above `high`; its mean stays in it.
    fn between(self, low: f64, high: f64) -> Interval {
        Interval {
            mean: self.mean,
            low: self.low.max(low).min(self.mean),
            high: self.high.min(high).max(self.mean),
        }
    }
}

impl Moments {
    /// The interval of the mean at `level`, such as 0.95, of a metric that lies in `support`.
    /// `None` of fewer than [`LEAST_REPEATS`] numbers and of numbers that are all the same.
    pub fn interval_in(&self, support: Support, level: f64) -> Option<(Interval, Method)> {
        let (min, max) = (self.min()?, self.max()?);
        if self.count() < LEAST_REPEATS || min == max {
            return None;
        }
        let plain = self.confidence(level)?;
        let (low, high) = support.ends();
        Some(if low < min && max < high {
            plain.within(support)
        } else {
            plain.cut(support)
        })
    }

    /// As [`Moments::interval_in`], and cut at the ends of what is possible here.
    pub fn interval_between(
        &self,
        support: Support,
        (low, high): (f64, f64),
        level: f64,
    ) -> Option<(Interval, Method)> {
        let (interval, method) = self.interval_in(support, level)?;
        Some(if interval.low < low || interval.high > high {
            (interval.between(low, high), Method::Cut)
        } else {
            (interval, method)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trammel_core::rng::Rng;

    fn of(values: &[f64], support: Support) -> Option<(Interval, Method)> {
        values
            .iter()
            .copied()
            .collect::<Moments>()
            .interval_in(support, 0.95)
    }

    #[test]
    fn a_delay_is_never_negative_and_a_share_never_above_one() {
        let (delay, method) = of(&[10.0, 20.0, 14.0], Support::Positive).unwrap();
        assert_eq!(method, Method::Log);
        assert!(
            delay.low > 0.0 && delay.low < 10.0 && delay.high > 20.0,
            "{delay:?}"
        );
        // Student's is 0.15 to 1.46.
        let (share, method) = of(&[0.97, 0.95, 0.5], Support::Within(0.0, 1.0)).unwrap();
        assert_eq!(method, Method::Logit);
        assert!(share.low > 0.0 && share.high < 1.0, "{share:?}");
        assert!(share.contains(share.mean));
    }

    #[test]
    fn an_interval_wider_than_its_mean_stays_finite() {
        // Student's is -10.7 to 47.3; the logarithm's would end at 89.
        let (delay, method) = of(&[8.0, 31.0, 16.0], Support::Positive).unwrap();
        assert_eq!((delay.low, method), (0.0, Method::Cut));
        assert!((delay.high - 47.34).abs() < 0.01, "{delay:?}");
    }

    #[test]
    fn a_narrow_interval_is_students() {
        let values: Vec<f64> = (0..20).map(|n| 100.0 + f64::from(n % 5) * 0.01).collect();
        let (log, _) = of(&values, Support::Positive).unwrap();
        let (plain, _) = of(&values, Support::Real).unwrap();
        assert!((log.low - plain.low).abs() < 1e-5 && (log.high - plain.high).abs() < 1e-5);
    }

    #[test]
    fn a_repeat_at_an_end_cuts_the_interval_there() {
        let (drops, method) = of(&[0.0, 0.0, 3.0], Support::Positive).unwrap();
        assert_eq!((drops.low, method), (0.0, Method::Cut));
        let (used, method) = of(&[1.0, 0.9, 0.95], Support::Within(0.0, 1.0)).unwrap();
        assert_eq!((used.high, method), (1.0, Method::Cut));
    }

    #[test]
    fn an_interval_ends_at_what_the_scenario_makes_possible() {
        let active: Moments = [9.2, 9.9, 9.8].into_iter().collect();
        let between = |ends| {
            let of = active.interval_between(Support::Positive, ends, 0.95);
            of.unwrap()
        };
        let (whole, method) = between((0.0, f64::INFINITY));
        assert!(whole.high > 10.0 && method == Method::Log, "{whole:?}");
        let (cut, method) = between((0.0, 10.0));
        assert_eq!((cut.low, cut.high, method), (whole.low, 10.0, Method::Cut));
        // Ends that the mean itself passes do not put it outside.
        let (odd, _) = between((0.0, 9.0));
        assert_eq!(odd.high, odd.mean);
    }

    #[test]
    fn no_chance_and_too_few_repeats_have_no_interval() {
        assert_eq!(of(&[5.0; 10], Support::Positive), None);
        assert_eq!(of(&[5.0, 6.0], Support::Positive), None);
        assert_eq!(of(&[], Support::Real), None);
    }

    /// Of 95 % intervals about 95 in a hundred hold the true mean, also of a skewed law and near an
    /// end.
    #[test]
    fn intervals_hold_the_mean_as_often_as_they_say() {
        let mut rng = Rng::new(7, "coverage");
        let mut held = [0_u32; 2];
        let tries = 2000;
        for _ in 0..tries {
            let mut exponential = || -rng.unit().max(1e-12).ln();
            // The sum of eight has mean 8; a part of two sums has mean a half.
            let mut sum = || (0..8).map(|_| exponential()).sum::<f64>();
            let positive: Vec<f64> = (0..5).map(|_| sum()).collect();
            let parts: Vec<f64> = (0..5)
                .map(|_| {
                    let (a, b) = (sum(), sum());
                    a / (a + b)
                })
                .collect();
            let (delay, _) = of(&positive, Support::Positive).unwrap();
            let (share, _) = of(&parts, Support::Within(0.0, 1.0)).unwrap();
            held[0] += u32::from(delay.contains(8.0));
            held[1] += u32::from(share.contains(0.5));
        }
        for held in held {
            let rate = f64::from(held) / f64::from(tries);
            assert!((0.93..=0.97).contains(&rate), "{rate}");
        }
    }

    proptest! {
        #[test]
        fn intervals_lie_where_the_metric_can(
            values in prop::collection::vec(0.0..=1.0_f64, 3..12),
            scale in 1e-6..1e6_f64,
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
            for (values, support) in [
                (&values, Support::Within(0.0, 1.0)), (&scaled, Support::Positive)
            ] {
                let Some((interval, _)) = of(values, support) else { continue };
                let (low, high) = support.ends();
                prop_assert!(low <= interval.low && interval.high <= high, "{:?}", interval);
                prop_assert!(interval.low < interval.high, "{:?}", interval);
                prop_assert!(interval.contains(interval.mean), "{:?}", interval);
            }
        }
    }
}
