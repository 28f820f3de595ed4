//! Arrival processes: when packets or flows are to come, from a plan and never from the present
//! time.
//!
//! A process is an iterator over absolute instants. Whoever runs late still takes the next instant
//! of the plan, so no packet is lost to lateness and lateness can be reported. Spans are drawn in
//! seconds and rounded to picoseconds with the remainder carried on, so that a constant rate that
//! is no whole number of picoseconds does not drift.
//!
//! - [`Renewal`]: independent gaps of one distribution; exponential gaps make a Poisson process.
//! - [`on_off`]: a renewal process that runs only during "on" periods.
//! - [`self_similar`]: a sum of on–off processes whose periods have a power-law tail.
//! - [`modulated`]: a Poisson process whose rate a Markov chain sets.

pub mod modulated;
pub mod on_off;
pub mod self_similar;

use crate::dist::Distribution;
use crate::dist::constant::Constant;
use std::sync::Arc;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// Draws time spans from a distribution of seconds; what is negative counts as zero. A clone draws
/// from the same distribution.
#[derive(Clone, Debug)]
pub struct Spans {
    law: Arc<dyn Distribution>,
    /// Picoseconds per unit of the distribution.
    scale_ps: f64,
    /// The part of a picosecond that rounding has left over.
    carry_ps: f64,
}

impl Spans {
    /// Spans of `law` seconds each.
    pub fn seconds(law: Box<dyn Distribution>) -> Spans {
        Spans {
            law: law.into(),
            scale_ps: 1e12,
            carry_ps: 0.0,
        }
    }

    /// Spans shaped as `law`, scaled so that `per_second` of them follow one another in a second on
    /// average. `None` where the mean of `law` or the rate is not above 0 and finite.
    pub fn at_rate(law: Box<dyn Distribution>, per_second: f64) -> Option<Spans> {
        let scale_ps = 1e12 / (per_second * law.mean()?);
        (scale_ps > 0.0 && scale_ps.is_finite() && per_second > 0.0).then_some(Spans {
            law: law.into(),
            scale_ps,
            carry_ps: 0.0,
        })
    }

    /// Equal spans, `per_second` of them in a second. `None` where that is not above 0 and finite.
    pub fn constant_rate(per_second: f64) -> Option<Spans> {
        Spans::at_rate(Box::new(Constant::new(1.0)), per_second)
    }

    /// The next span.
    pub fn draw(&mut self, rng: &mut Rng) -> Span {
        // `max` also turns not-a-number into zero.
        let exact = (self.law.sample(rng) * self.scale_ps).max(0.0) + self.carry_ps;
        let whole = exact.floor();
        self.carry_ps = exact - whole;
        if !self.carry_ps.is_finite() {
            self.carry_ps = 0.0;
        }
        // Saturates: longer than any run is "never".
        Span::from_ps(whole as u64)
    }

    /// The mean span in seconds, where the distribution has one and gives no negative values.
    pub fn mean_secs(&self) -> Option<f64> {
        let never_negative = self.law.cdf((0.0_f64).next_down()) == 0.0;
        let mean = self.law.mean()? * self.scale_ps / 1e12;
        never_negative.then_some(mean)
    }

    /// The variance of a span in square seconds, where the distribution has one and gives no
    /// negative values.
    pub fn variance_secs2(&self) -> Option<f64> {
        self.mean_secs()?;
        Some(self.law.variance()? * (self.scale_ps / 1e12).powi(2))
    }

    /// The probability of a span of at most `secs` seconds.
    pub fn cdf_secs(&self, secs: f64) -> f64 {
        if secs < 0.0 {
            0.0
        } else {
            self.law.cdf(secs * (1e12 / self.scale_ps))
        }
    }
}

/// A renewal process: the first arrival at its start, then one after each gap. Ends at
/// [`Time::MAX`].
///
/// Gaps that are always zero never reach an end; [`Renewal::mean_rate`] is `None` for them.
/// A Poisson process that is empty at its start is `Renewal::new(…).skip(1)` with exponential gaps.
#[derive(Debug)]
pub struct Renewal {
    next: Time,
    gaps: Spans,
    rng: Rng,
}

impl Renewal {
    /// The process that starts at `start`.
    pub fn new(start: Time, gaps: Spans, rng: Rng) -> Renewal {
        Renewal {
            next: start,
            gaps,
            rng,
        }
    }

    /// Arrivals per second in the long run, where the mean gap exists and is above 0.
    pub fn mean_rate(&self) -> Option<f64> {
        self.gaps
            .mean_secs()
            .filter(|gap| *gap > 0.0)
            .map(f64::recip)
    }
}

impl Iterator for Renewal {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        let at = self.next;
        if at == Time::MAX {
            return None;
        }
        self.next = at.saturating_add(self.gaps.draw(&mut self.rng));
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::find;
    use crate::stats::Moments;
    use trammel_core::entry::{Params, Value};

    pub(super) fn law(name: &str, given: &[(&str, f64)]) -> Box<dyn Distribution> {
        let entry = find(name).unwrap();
        let given: Vec<_> = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Value::Float(*value)))
            .collect();
        (entry.build)(&Params::resolve(&entry.about, &given).unwrap()).unwrap()
    }

    pub(super) fn constant(seconds: f64) -> Spans {
        Spans::seconds(law("constant", &[("value", seconds)]))
    }

    #[test]
    fn a_constant_rate_does_not_drift() {
        // 3,000,000.3 ps between two; rounded one by one, ten million of them would be 3 us too
        // short.
        let gaps = Spans::constant_rate(1e12 / 3_000_000.3).unwrap();
        let last = Renewal::new(Time::ZERO, gaps, Rng::new(1, "rate")).nth(10_000_000);
        let exact_ps = 30_000_003_000_000_u64;
        assert!(last.unwrap().as_ps().abs_diff(exact_ps) <= 1, "{last:?}");
    }

    #[test]
    fn the_first_arrival_is_at_the_start() {
        let process = Renewal::new(Time::from_secs(1), constant(0.25), Rng::new(1, "start"));
        let found: Vec<_> = process.take(3).map(Time::as_ms).collect();
        assert_eq!(found, [1000, 1250, 1500]);
    }

    #[test]
    fn exponential_gaps_make_a_poisson_process() {
        let gaps = Spans::at_rate(law("exponential", &[("mean", 7.0)]), 1000.0).unwrap();
        let process = Renewal::new(Time::ZERO, gaps, Rng::new(1, "poisson")).skip(1);
        let mut counts = vec![0_u32; 1000];
        for at in process.take_while(|at| *at < Time::from_secs(10)) {
            counts[at.as_ms() as usize / 10] += 1;
        }
        // Counts in 10 ms are Poisson with mean 10: variance and mean are the same.
        let counts: Moments = counts.into_iter().map(f64::from).collect();
        assert!((counts.mean().unwrap() - 10.0).abs() < 4.0 * (10.0_f64 / 1000.0).sqrt());
        // The standard deviation of the ratio over n windows is √(2 / n), 0.045.
        let dispersion = counts.variance().unwrap() / counts.mean().unwrap();
        assert!((dispersion - 1.0).abs() < 0.18, "{dispersion}");
    }

    #[test]
    fn any_law_can_be_scaled_to_a_rate() {
        for name in [
            "uniform",
            "gamma",
            "weibull",
            "log-normal",
            "pareto",
            "zipf",
        ] {
            let gaps = Spans::at_rate(law(name, &[]), 1e5).unwrap();
            let process = Renewal::new(Time::ZERO, gaps, Rng::new(1, name));
            assert!(
                (process.mean_rate().unwrap() / 1e5 - 1.0).abs() < 1e-12,
                "{name}"
            );
            if name != "pareto" {
                let last = { process }.nth(100_000).unwrap().as_secs_f64();
                assert!((last - 1.0).abs() < 0.02, "{name}: {last} s");
            }
        }
        assert!(Spans::at_rate(law("cauchy", &[]), 1e5).is_none());
        assert!(Spans::at_rate(law("normal", &[]), 1e5).is_none());
        assert!(Spans::constant_rate(0.0).is_none());
        assert!(Spans::constant_rate(-1.0).is_none());
        assert!(Spans::constant_rate(f64::INFINITY).is_none());
        assert!(Spans::constant_rate(f64::NAN).is_none());
    }

    #[test]
    fn negative_gaps_count_as_none() {
        let mut process = Renewal::new(Time::ZERO, constant(-1.0), Rng::new(1, "negative"));
        assert_eq!(process.nth(100), Some(Time::ZERO));
        assert_eq!(process.mean_rate(), None);
        let gaps = Spans::seconds(law("normal", &[("mean", 1.0)]));
        let times: Vec<_> = Renewal::new(Time::ZERO, gaps, Rng::new(1, "normal"))
            .take(1000)
            .collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn a_process_ends_with_time() {
        let mut process = Renewal::new(Time::ZERO, constant(1e7), Rng::new(1, "end"));
        assert_eq!(process.by_ref().count(), 2);
        assert_eq!(process.next(), None);
    }
}
