//! Counts of a renewal process: their variance, and the index of heavy tails.
//!
//! With M the renewal function and m the mean gap, the stationary process has (Cox, "Renewal
//! Theory", 1962, §4.5)
//!
//! ```text
//! Var N(t) = t/m + (2/m) ∫₀ᵗ M(u) du − (t/m)²,    M(t) = F(t) + ∫₀ᵗ M(t − u) dF(u)
//! ```
//!
//! M is computed on a grid by the rule of mid-points (Xie, "On the Solution of Renewal-Type
//! Integral Equations", 1989). Of constant and of exponential gaps there are closed forms, which
//! are used.

use trammel_stats::arrivals::Spans;

/// Grid points of the numeric solution.
const POINTS: usize = 4000;

/// The longest interval of the numeric solution in mean gaps: beyond, differences of large numbers
/// lose it.
const MEAN_GAPS_MAX: f64 = 50.0;

/// IDC(t) of a stationary renewal process at t = `secs`; `None` beyond 50 mean gaps where there is
/// no closed form.
pub fn dispersion(gaps: &Spans, secs: f64) -> Option<f64> {
    let mean = gaps.mean_secs().filter(|mean| *mean > 0.0)?;
    if !(secs > 0.0 && secs.is_finite()) {
        return None;
    }
    Some(Counts::of(gaps, secs)?.variance(secs)? / (secs / mean))
}

/// The variance of the number of renewals in an interval, up to a horizon.
#[derive(Clone, Debug)]
pub struct Counts {
    mean_secs: f64,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Constant,
    Exponential,
    /// Var N on a grid of this step.
    Grid(f64, Vec<f64>),
}

impl Counts {
    /// Of renewals after `gaps`, in intervals of up to `horizon_secs`; `None` where the mean is 0
    /// or not known, and where the horizon is too far for the numeric solution.
    pub fn of(gaps: &Spans, horizon_secs: f64) -> Option<Counts> {
        let mean_secs = gaps.mean_secs().filter(|mean| *mean > 0.0)?;
        let form = if gaps.variance_secs2() == Some(0.0) {
            Form::Constant
        } else if is_exponential(gaps) {
            Form::Exponential
        } else if horizon_secs <= MEAN_GAPS_MAX * mean_secs {
            let step = horizon_secs / POINTS as f64;
            Form::Grid(step, grid(gaps, mean_secs, step))
        } else {
            return None;
        };
        Some(Counts { mean_secs, form })
    }

    /// Var N in an interval of `secs`, which is not beyond the horizon.
    pub fn variance(&self, secs: f64) -> Option<f64> {
        let mean_count = secs / self.mean_secs;
        match &self.form {
            // Either the whole number below or the one above.
            Form::Constant => Some(mean_count.fract() * (1.0 - mean_count.fract())),
            Form::Exponential => Some(mean_count),
            Form::Grid(step, variances) => {
                let at = (secs / step).max(0.0);
                let low = (at as usize).min(POINTS - 1);
                let share = at - low as f64;
                (share <= 1.0 + 1e-9)
                    .then(|| variances[low] * (1.0 - share) + variances[low + 1] * share)
            }
        }
    }
}

/// Var N at 0, 1, 2 … steps.
fn grid(gaps: &Spans, mean_secs: f64, step: f64) -> Vec<f64> {
    // F at the mid-points: half a step, one and a half …
    let middles: Vec<f64> = (0..POINTS)
        .map(|at| gaps.cdf_secs((at as f64 + 0.5) * step))
        .collect();
    let (mut renewals, mut growth) = (vec![0.0], vec![0.0]);
    for i in 1..=POINTS {
        let sum: f64 = growth[1..]
            .iter()
            .zip(middles[1..i].iter().rev())
            .map(|(m, f)| m * f)
            .sum();
        let known = gaps.cdf_secs(i as f64 * step) + sum - middles[0] * renewals[i - 1];
        let now = known / (1.0 - middles[0]);
        growth.push(now - renewals[i - 1]);
        renewals.push(now);
    }
    let mut integral = 0.0;
    let mut variances = vec![0.0];
    for i in 1..=POINTS {
        integral += f64::midpoint(renewals[i - 1], renewals[i]) * step;
        let mean_count = i as f64 * step / mean_secs;
        let variance = mean_count + 2.0 * integral / mean_secs - mean_count * mean_count;
        variances.push(variance.max(0.0));
    }
    variances
}

/// Whether spans are exponential, by their distribution at several points.
pub(crate) fn is_exponential(spans: &Spans) -> bool {
    spans.mean_secs().is_some_and(|mean| {
        [0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0].iter().all(|x| {
            let exact = -f64::exp_m1(-x);
            (spans.cdf_secs(x * mean) - exact).abs() < 1e-12
        })
    })
}

/// The value that spans exceed with the probability `tail`, in seconds.
pub(super) fn quantile_from_above(spans: &Spans, tail: f64) -> f64 {
    let (mut low, mut high) = (1e-15_f64, 1e15_f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if 1.0 - spans.cdf_secs(middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The index a of a tail that falls as x^−a, measured where a share of 10⁻⁵ is left; `None` where
/// it falls faster than x^−2, so that the variance exists, or not at all.
pub(crate) fn tail_index(spans: &Spans) -> Option<f64> {
    let far = quantile_from_above(spans, 1e-5);
    let left = |x: f64| 1.0 - spans.cdf_secs(x);
    let index = (left(far) / left(10.0 * far)).log10();
    (index > 1.0 && index < 2.0).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::law;

    #[test]
    fn the_numeric_variance_is_that_of_closed_forms() {
        // Erlang of two stages of rate 2: Var N(t) = t/2 + 1/8 − e^(−8t)/8 … at mean 1, stage rate
        // r = 2.
        let gaps = Spans::seconds(law("gamma", &[("shape", 2.0), ("scale", 0.5)]).unwrap());
        for t in [0.1_f64, 1.0, 10.0, 40.0] {
            let exact = t / 2.0 + (1.0 - (-4.0 * t).exp()) / 8.0;
            let found = dispersion(&gaps, t).unwrap() * t;
            assert!((found / exact - 1.0).abs() < 2e-3, "{t}: {found}, {exact}");
        }
        // Exponential gaps by the grid that is not needed for them.
        let gaps = Spans::seconds(law("exponential", &[]).unwrap());
        let variances = grid(&gaps, 1.0, 10.0 / POINTS as f64);
        assert!((variances[POINTS] / 10.0 - 1.0).abs() < 1e-3);
        assert_eq!(dispersion(&gaps, 1e9), Some(1.0));
    }

    #[test]
    fn constant_gaps_have_whole_counts() {
        let gaps = Spans::constant_rate(10.0).unwrap();
        assert!((dispersion(&gaps, 0.25).unwrap() - 0.1).abs() < 1e-9);
        assert!(dispersion(&gaps, 0.5).unwrap() < 1e-9);
        assert_eq!(dispersion(&gaps, 0.0), None);
        assert_eq!(dispersion(&gaps, f64::NAN), None);
    }

    #[test]
    fn the_index_of_a_tail_is_measured() {
        let pareto = Spans::seconds(law("pareto", &[("shape", 1.4)]).unwrap());
        assert!((tail_index(&pareto).unwrap() - 1.4).abs() < 1e-6);
        let pareto = Spans::seconds(law("pareto", &[("shape", 2.5)]).unwrap());
        assert_eq!(tail_index(&pareto), None);
        let exponential = Spans::seconds(law("exponential", &[]).unwrap());
        assert_eq!(tail_index(&exponential), None);
    }
}
