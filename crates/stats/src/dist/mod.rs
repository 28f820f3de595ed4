//! Probability distributions: gaps, sizes, holding times. One file each.
//!
//! A distribution of another crate is made known with [`register`] and then works wherever a
//! built-in one does.

use std::fmt::Debug;
use trammel_core::entry::{About, Params};
use trammel_core::rng::Rng;

include!(concat!(env!("OUT_DIR"), "/dist.rs"));
trammel_core::family!("distribution");

/// A distribution of non-negative or real numbers, in the unit of its user.
pub trait Distribution: Debug + Send + Sync {
    /// One value.
    fn sample(&self, rng: &mut Rng) -> f64;
    /// The mean, if it exists.
    fn mean(&self) -> Option<f64>;
    /// The variance, if it exists.
    fn variance(&self) -> Option<f64>;
    /// The probability of a value of at most `x`.
    fn cdf(&self, x: f64) -> f64;
}

/// One row of [`ALL`].
#[derive(Debug)]
pub struct Entry {
    /// Name, summary, references, parameters.
    pub about: About,
    /// Makes the distribution, or returns which combination of parameters is impossible.
    pub build: fn(&Params) -> Result<Box<dyn Distribution>, String>,
}

/// The number `key` of `params`, or why it cannot be infinite: ranges alone let infinity pass.
pub fn finite(params: &Params, key: &str) -> Result<f64, String> {
    let value = params.float(key);
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("`{key}` must be finite, not {value}"))
    }
}

/// The number `key` of `params`, or why it must be above 0: ranges include their bounds.
pub fn positive(params: &Params, key: &str) -> Result<f64, String> {
    let value = finite(params, key)?;
    if value > 0.0 {
        Ok(value)
    } else {
        Err(format!("`{key}` must be above 0, not {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Moments;
    use trammel_core::entry::{Kind, Value};

    /// The distribution `name` with some of its numbers given.
    pub(super) fn build(
        name: &str,
        given: &[(&str, f64)],
    ) -> Result<Box<dyn Distribution>, String> {
        let entry = find(name).expect("a built-in name");
        let given: Vec<_> = given
            .iter()
            .map(|(key, value)| {
                let param = entry.about.params.iter().find(|param| param.name == *key);
                let whole = matches!(param.map(|param| param.kind), Some(Kind::Int(..)));
                let value = if whole {
                    Value::Int(*value as i64)
                } else {
                    Value::Float(*value)
                };
                ((*key).to_owned(), value)
            })
            .collect();
        (entry.build)(
            &Params::resolve(&entry.about, &given).expect("the parameters are within their ranges"),
        )
    }

    /// Parameters beside the defaults at which a law takes another shape or its code another
    /// branch.
    const CASES: &[(&str, &[(&str, f64)])] = &[
        ("constant", &[("value", -3.5)]),
        ("uniform", &[("min", -2.0), ("max", 5.0)]),
        ("uniform", &[("min", 4.0), ("max", 4.0)]),
        ("exponential", &[("mean", 1e-4)]),
        ("poisson", &[("mean", 0.1)]),
        ("poisson", &[("mean", 250.0)]),
        ("normal", &[("mean", 100.0), ("std_dev", 15.0)]),
        ("log-normal", &[("mu", 7.0), ("sigma", 0.3)]),
        ("pareto", &[("shape", 6.0), ("scale", 500.0)]),
        ("pareto", &[("shape", 2.5)]),
        (
            "pareto",
            &[("shape", 1.2), ("scale", 3.0), ("bound", 100.0)],
        ),
        ("pareto", &[("shape", 2.0), ("bound", 50.0)]),
        ("cauchy", &[("location", 10.0), ("scale", 0.5)]),
        ("gamma", &[("shape", 0.5), ("scale", 3.0)]),
        ("gamma", &[("shape", 0.1)]),
        ("gamma", &[("shape", 1.0)]),
        ("gamma", &[("shape", 400.0), ("scale", 0.01)]),
        ("pareto", &[("shape", 0.05)]),
        ("weibull", &[("shape", 0.7), ("scale", 5.0)]),
        ("weibull", &[("shape", 1.0)]),
        ("zipf", &[("n", 1.0)]),
        ("zipf", &[("n", 32768.0), ("exponent", 0.8)]),
        ("zipf", &[("n", 1e6), ("exponent", 0.0)]),
        ("zipf", &[("n", 100.0), ("exponent", 3.0)]),
    ];

    /// Every entry at its defaults, every preset of an entry, and [`CASES`], each with a name.
    fn laws() -> Vec<(String, Box<dyn Distribution>)> {
        let mut laws = Vec::new();
        for entry in ALL {
            let law = (entry.build)(&Params::defaults(&entry.about)).expect("defaults build");
            laws.push((entry.about.name.to_owned(), law));
            for param in entry.about.params {
                let Kind::Choice(words) = param.kind else {
                    continue;
                };
                for word in words {
                    let given = [(param.name.to_owned(), Value::Text((*word).to_owned()))];
                    let params = Params::resolve(&entry.about, &given).expect("a choice");
                    let law = (entry.build)(&params).expect("a choice builds");
                    laws.push((format!("{} {word}", entry.about.name), law));
                }
            }
        }
        for (name, given) in CASES {
            laws.push((
                format!("{name} {given:?}"),
                build(name, given).expect("valid"),
            ));
        }
        laws
    }

    fn samples(law: &dyn Distribution, seed: u64, count: usize) -> Vec<f64> {
        let mut rng = Rng::new(seed, "law");
        (0..count).map(|_| law.sample(&mut rng)).collect()
    }

    /// Kolmogorov's distance between a sample and a law.
    fn distance(law: &dyn Distribution, mut values: Vec<f64>) -> f64 {
        let count = values.len() as f64;
        values.sort_unstable_by(f64::total_cmp);
        let (mut distance, mut first) = (0.0_f64, 0);
        for run in values.chunk_by(|a, b| a == b) {
            // At each distinct value both the limit from the left and the value of the two steps
            // count, so that a law with jumps is judged as strictly as a continuous one.
            let below = first as f64 / count;
            first += run.len();
            let at_most = first as f64 / count;
            distance = distance
                .max((law.cdf(run[0].next_down()) - below).abs())
                .max((law.cdf(run[0]) - at_most).abs());
        }
        distance
    }

    #[test]
    fn a_million_draws_follow_each_continuous_law() {
        const COUNT: usize = 1_000_000;
        // Kolmogorov's bound at a significance of 1 %: by chance alone one law in a hundred would
        // fail.
        let bound = 1.628 / (COUNT as f64).sqrt();
        for entry in ALL {
            let name = entry.about.name;
            if DISCRETE.contains(&name) {
                continue;
            }
            let law = (entry.build)(&Params::defaults(&entry.about)).expect("defaults build");
            let distance = distance(law.as_ref(), samples(law.as_ref(), 1, COUNT));
            assert!(
                distance < bound,
                "{name}: distance {distance}, bound {bound}"
            );
        }
    }

    /// The laws of whole numbers.
    const DISCRETE: &[&str] = &["constant", "poisson", "zipf"];

    #[test]
    fn a_million_draws_have_the_frequencies_of_each_law_of_whole_numbers() {
        use statrs::distribution::{ChiSquared, ContinuousCDF};
        const COUNT: f64 = 1e6;
        let cases: [(&str, &[(&str, f64)]); 5] = [
            ("poisson", &[]),
            ("poisson", &[("mean", 250.0)]),
            ("zipf", &[]),
            ("zipf", &[("n", 100.0), ("exponent", 3.0)]),
            ("zipf", &[("n", 32768.0), ("exponent", 0.8)]),
        ];
        for (name, given) in cases {
            let law = build(name, given).expect("valid");
            let mut values = samples(law.as_ref(), 1, COUNT as usize);
            values.sort_unstable_by(f64::total_cmp);
            // Neighbouring values are put together until 5 or more draws are expected of them.
            let (mut square, mut groups) = (0.0, 0);
            let (mut low, mut drawn) = (0.0, 0);
            for value in 0..=1_000_000 {
                let at_most = law.cdf(f64::from(value));
                let rest = (1.0 - at_most) * COUNT;
                let expected = (at_most - low) * COUNT;
                if expected >= 5.0 && !(1e-3..5.0).contains(&rest) {
                    let so_far = values.partition_point(|drawn| *drawn <= f64::from(value));
                    square += ((so_far - drawn) as f64 - expected).powi(2) / expected;
                    groups += 1;
                    (low, drawn) = (at_most, so_far);
                }
                if rest < 1e-3 {
                    break;
                }
            }
            assert!(groups >= 10, "{name}: {groups} groups");
            assert_eq!(drawn, values.len(), "{name}");
            let bound = ChiSquared::new(f64::from(groups - 1))
                .unwrap()
                .inverse_cdf(0.99);
            assert!(
                square < bound,
                "{name}: {square} of {groups} groups, bound {bound}"
            );
        }
    }

    #[test]
    fn a_million_draws_have_the_quantiles_of_laws_without_moments() {
        const COUNT: usize = 1_000_000;
        let without = ALL.iter().filter_map(|entry| {
            let law = (entry.build)(&Params::defaults(&entry.about)).expect("defaults build");
            (law.mean().is_none() || law.variance().is_none()).then_some((entry.about.name, law))
        });
        let without: Vec<_> = without.collect();
        assert!(without.len() >= 2, "{without:?}");
        for (name, law) in without {
            let mut values = samples(law.as_ref(), 2, COUNT);
            values.sort_unstable_by(f64::total_cmp);
            for share in [1e-3, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999] {
                let value = values[(share * COUNT as f64) as usize];
                // The share below an order statistic is that of a binomial: four of its deviations.
                let error = (law.cdf(value) - share).abs();
                let bound = 4.0 * (share * (1.0 - share) / COUNT as f64).sqrt();
                assert!(
                    error < bound,
                    "{name}, {share}: off by {error}, bound {bound}"
                );
            }
        }
    }

    #[test]
    fn samples_follow_the_declared_cdf() {
        const COUNT: usize = 20_000;
        // Kolmogorov's bound at a significance of 10⁻⁴; where there are jumps it is exceeded less
        // often.
        let bound = 2.23 / (COUNT as f64).sqrt();
        for (name, law) in laws() {
            let distance = distance(law.as_ref(), samples(law.as_ref(), 1, COUNT));
            assert!(
                distance < bound,
                "{name}: distance {distance}, bound {bound}"
            );
        }
    }

    #[test]
    fn sample_moments_agree_with_the_declared_ones() {
        const BATCH: usize = 1000;
        for (name, law) in laws() {
            let (Some(mean), Some(variance)) = (law.mean(), law.variance()) else {
                continue;
            };
            // A tail without a fourth moment lets the sample's variance wander; it is judged below.
            let heavy = name.starts_with("pareto") && name.contains("2.5");
            let values = samples(law.as_ref(), 2, 100 * BATCH);
            let all: Moments = values.iter().copied().collect();
            let error = (all.mean().unwrap() - mean).abs();
            let bound = 4.5 * (variance / values.len() as f64).sqrt();
            let rounding = 1e-12 * mean.abs();
            assert!(
                error <= bound + rounding,
                "{name}: mean off by {error}, bound {bound}"
            );
            let batches: Moments = values
                .chunks(BATCH)
                .map(|batch| batch.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / BATCH as f64)
                .collect();
            let interval = batches.confidence(0.99999).unwrap();
            let slack = 1e-12 * variance;
            assert!(
                heavy || interval.low - slack <= variance && variance <= interval.high + slack,
                "{name}: variance {variance} outside {interval:?}"
            );
        }
    }

    #[test]
    fn declared_moments_agree_with_the_integral_of_the_cdf() {
        // E[x] = ∫ (1 − F(x)) − F(−x) dx and E[x²] = ∫ 2x (1 − F(x) + F(−x)) dx over x > 0, on a
        // logarithmic grid; independent of sampling, so heavy tails are judged as well.
        const STEP: f64 = 2e-3;
        for (name, law) in laws() {
            let (mut first, mut second) = (0.0, 0.0);
            for i in -10_000..20_000 {
                let x = (f64::from(i) * STEP).exp();
                let (upper, lower) = (1.0 - law.cdf(x), law.cdf(-x));
                first += (upper - lower) * x * STEP;
                second += 2.0 * (upper + lower) * x * x * STEP;
                if upper == 0.0 && lower == 0.0 {
                    break;
                }
            }
            // The grid's error is of the order of its step; the tail beyond 1 − F = 10⁻¹⁶ is lost.
            if let Some(mean) = law.mean() {
                let scale = law
                    .variance()
                    .map_or(mean, |variance| second.max(variance).sqrt());
                let error = (first - mean).abs() / scale;
                assert!(error < 0.005, "{name}: mean {mean} but integral {first}");
            }
            if let (Some(mean), Some(variance)) = (law.mean(), law.variance()) {
                let error = (second / (variance + mean * mean) - 1.0).abs();
                assert!(error < 0.02, "{name}: E[x²] off by {error}");
            }
        }
    }

    #[test]
    fn a_cdf_rises_from_zero_to_one() {
        for (name, law) in laws() {
            // The heaviest tail of all cases falls as x^−0.05 only.
            assert!(law.cdf(f64::MIN) < 1e-12, "{name}");
            assert!(law.cdf(f64::MAX) > 1.0 - 1e-12, "{name}");
            assert_eq!(law.cdf(f64::NEG_INFINITY), 0.0, "{name}");
            assert_eq!(law.cdf(f64::INFINITY), 1.0, "{name}");
            let mut before = 0.0;
            for i in -2000..2000 {
                let now = law.cdf(f64::from(i) * 0.05);
                assert!((0.0..=1.0).contains(&now), "{name}: {now}");
                // Series and continued fractions meet with an error of a few units in the last
                // place.
                assert!(
                    now >= before - 1e-14,
                    "{name} falls at {}",
                    f64::from(i) * 0.05
                );
                before = now;
            }
        }
    }

    #[test]
    fn one_seed_gives_one_sequence_of_finite_numbers() {
        for (name, law) in laws() {
            let once = samples(law.as_ref(), 3, 100);
            assert_eq!(once, samples(law.as_ref(), 3, 100), "{name}");
            assert!(once.iter().all(|value| value.is_finite()), "{name}");
            if law.variance() != Some(0.0) {
                assert_ne!(once, samples(law.as_ref(), 4, 100), "{name}");
            }
        }
    }

    #[test]
    fn infinite_and_zero_parameters_are_refused_with_their_key() {
        for entry in ALL {
            for param in entry.about.params {
                let Kind::Float(low, high) = param.kind else {
                    continue;
                };
                if high.is_infinite() {
                    let error = build(entry.about.name, &[(param.name, high)]).unwrap_err();
                    assert!(error.contains(param.name), "{}: {error}", entry.about.name);
                }
                if low == 0.0 && param.help.contains("above 0") {
                    let error = build(entry.about.name, &[(param.name, 0.0)]).unwrap_err();
                    assert_eq!(error, format!("`{}` must be above 0, not 0", param.name));
                }
            }
        }
    }
}
