//! How long packets are: any distribution, rounded to whole bytes and held within bounds.

use super::Error;
use crate::record::MOST_BYTES;
use std::sync::Arc;
use trammel_core::rng::Rng;
use trammel_stats::dist::Distribution;
use trammel_stats::dist::constant::Constant;

/// The most payload of a datagram: 65,535 bytes less the headers of IPv4 and UDP.
pub const DATAGRAM_MAX: u32 = 65_507;

/// A law of sizes. What it gives is rounded to the nearest whole byte, then held within `min` and
/// `max`, which changes its moments: [`Sizes::clamped_share`] tells how often, [`Sizes::mean`] what
/// comes of it.
#[derive(Clone, Debug)]
pub struct Sizes {
    law: Arc<dyn Distribution>,
    min: u32,
    max: u32,
}

/// Steps of the sums over the sizes between the bounds; up to this many bytes they are exact.
const STEPS_MAX: u32 = 1 << 17;

impl Sizes {
    /// Sizes by `law`, in bytes, between `min` and `max`, which is below [`MOST_BYTES`].
    pub fn new(law: Box<dyn Distribution>, min: u32, max: u32) -> Result<Sizes, Error> {
        if min > max || max >= MOST_BYTES {
            return Err(Error::Invalid(format!(
                "sizes from {min} to {max} bytes are impossible; the first must not be above the \
                 second, nor that above {}",
                MOST_BYTES - 1
            )));
        }
        let law = law.into();
        Ok(Sizes { law, min, max })
    }

    /// Always `bytes`, which is below [`MOST_BYTES`].
    pub fn always(bytes: u32) -> Result<Sizes, Error> {
        Sizes::new(Box::new(Constant::new(f64::from(bytes))), bytes, bytes)
    }

    /// The next size in bytes.
    pub fn draw(&self, rng: &mut Rng) -> u32 {
        // A cast saturates, and not-a-number becomes 0.
        (self.law.sample(rng).round() as u32).clamp(self.min, self.max)
    }

    /// The bounds in bytes, both included.
    pub fn bounds(&self) -> (u32, u32) {
        (self.min, self.max)
    }

    /// The share of packets whose size the bounds change.
    pub fn clamped_share(&self) -> f64 {
        let below = 1.0 - self.above(self.min, true);
        below + self.above(self.max, false)
    }

    /// P(rounded > `bytes`), or with `or_equal` P(rounded ≥ `bytes`). A half is rounded away from
    /// zero.
    fn above(&self, bytes: u32, or_equal: bool) -> f64 {
        let from = f64::from(bytes) + if or_equal { -0.5 } else { 0.5 };
        // What rounds to 0 from below counts as 0: nothing is changed but the sign of nothing.
        let from = if from < 0.0 { from } else { from.next_down() };
        1.0 - self.law.cdf(from)
    }

    /// The mean and the mean square of the sizes as drawn, by sums over the distribution: exact to
    /// rounding where the bounds are at most 2¹⁷ apart.
    fn moments(&self) -> (f64, f64) {
        let step = (self.max - self.min).div_ceil(STEPS_MAX).max(1);
        let (mut mean, mut square) = (f64::from(self.min), f64::from(self.min).powi(2));
        let mut at = self.min;
        while at < self.max {
            let next = at.saturating_add(step).min(self.max);
            // E[x] = min + Σ P(x > k); E[x²] = min² + Σ (2k + 1) P(x > k). The middle stands for a
            // step.
            let above = self.above(at + (next - at) / 2, false);
            mean += f64::from(next - at) * above;
            square += (f64::from(next).powi(2) - f64::from(at).powi(2)) * above;
            if above == 0.0 {
                break;
            }
            at = next;
        }
        (mean, square)
    }

    /// The mean size in bytes, after rounding and bounds.
    pub fn mean(&self) -> f64 {
        self.moments().0
    }

    /// The coefficient of variation; 0 where sizes are 0.
    pub fn cv(&self) -> f64 {
        let (mean, square) = self.moments();
        let variance = (square - mean * mean).max(0.0);
        if mean > 0.0 {
            variance.sqrt() / mean
        } else {
            0.0
        }
    }

    /// The standard deviation in bytes, after rounding and bounds.
    pub fn std_dev(&self) -> f64 {
        let (mean, square) = self.moments();
        (square - mean * mean).max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::law;
    use super::*;
    use trammel_stats::stats::Moments;

    #[test]
    fn moments_and_the_clamped_share_are_those_of_the_sample() {
        const COUNT: usize = 200_000;
        for (name, given, min, max) in [
            ("uniform", &[("min", 10.0), ("max", 20.0)][..], 0, 65_507),
            ("exponential", &[("mean", 500.0)], 100, 1472),
            ("normal", &[("mean", 50.0), ("std_dev", 60.0)], 0, 1472),
            ("poisson", &[("mean", 8.0)], 4, 9),
            ("pareto", &[("shape", 1.1), ("scale", 40.0)], 64, 10_000_000),
            ("cauchy", &[("location", 500.0), ("scale", 30.0)], 16, 1000),
        ] {
            let sizes = Sizes::new(law(name, given).unwrap(), min, max).unwrap();
            let mut rng = Rng::new(1, name);
            let sample: Vec<u32> = (0..COUNT).map(|_| sizes.draw(&mut rng)).collect();
            assert!(sample.iter().all(|bytes| (min..=max).contains(bytes)));
            let moments: Moments = sample.iter().copied().map(f64::from).collect();
            let error = (moments.mean().unwrap() - sizes.mean()).abs();
            let bound = 4.5 * sizes.std_dev() / (COUNT as f64).sqrt();
            assert!(error <= bound, "{name}: mean off by {error}, bound {bound}");
            let mut rng = Rng::new(1, name);
            let clamped = (0..COUNT).filter(|_| {
                let bytes = sizes.law.sample(&mut rng).round();
                bytes < f64::from(min) || bytes > f64::from(max)
            });
            let share = clamped.count() as f64 / COUNT as f64;
            let wanted = sizes.clamped_share();
            let bound = 4.5 * (wanted * (1.0 - wanted) / COUNT as f64).sqrt();
            assert!(
                (share - wanted).abs() <= bound,
                "{name}: {share}, not {wanted}"
            );
        }
    }

    #[test]
    fn a_constant_is_exact_and_impossible_bounds_are_refused() {
        let sizes = Sizes::always(172).unwrap();
        assert_eq!(
            (sizes.mean(), sizes.std_dev(), sizes.clamped_share()),
            (172.0, 0.0, 0.0)
        );
        let sizes = Sizes::new(law("constant", &[("value", 3.0)]).unwrap(), 16, 100).unwrap();
        assert_eq!((sizes.mean(), sizes.clamped_share()), (16.0, 1.0));
        assert!(Sizes::always(MOST_BYTES).is_err());
        assert!(Sizes::new(law("constant", &[]).unwrap(), 2, 1).is_err());
    }
}
