//! Self-similar arrivals: many on–off sources with Pareto periods, added up.
//!
//! Each source sends at a constant rate during "on" periods. With periods of Pareto's shape a = 3 −
//! 2H, where 1 < a < 2, the sum tends to fractional Gaussian noise with Hurst parameter H as the
//! number of sources and the time scale grow. (Taqqu, Willinger and Sherman, "Proof of a
//! Fundamental Result in Self-Similar Traffic Modeling", 1997, theorem 1.)
//!
//! Periods have no variance, so that no warm-up is long enough: the sources begin in a phase drawn
//! from the long run. What is left of a period then has the density (1 − F(x)) / mean, whose
//! inverse is in closed form. The mean rate of a sample nears the target as time^(H − 1) only,
//! which is what long-range dependence is.

use super::Spans;
use super::on_off::{OnOff, Phase};
use crate::dist;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use trammel_core::entry::{Params, Value};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// The most sources.
pub const MOST_SOURCES: u32 = 100_000;

/// What the sum is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// How many sources: 1 to [`MOST_SOURCES`]; the more, the nearer to the limit.
    pub sources: u32,
    /// The target Hurst parameter, strictly between 0.5 and 1.
    pub hurst: f64,
    /// Arrivals per second of all together in the long run.
    pub per_second: f64,
    /// The mean of an "on" period in seconds.
    pub on_secs: f64,
    /// The mean of an "off" period in seconds.
    pub off_secs: f64,
}

impl Mixture {
    /// The mixture, or what is wrong with it.
    pub fn check(self) -> Result<Mixture, String> {
        // Nearer to the ends the shape is 1 or 2 but for rounding.
        if !(0.500_001..=0.999_999).contains(&self.hurst) {
            let hurst = self.hurst;
            return Err(format!(
                "the Hurst parameter must lie between 0.500001 and 0.999999, not {hurst}"
            ));
        }
        if !(1..=MOST_SOURCES).contains(&self.sources) {
            let sources = self.sources;
            return Err(format!("give 1 to {MOST_SOURCES} sources, not {sources}"));
        }
        for (value, what) in [
            (self.per_second, "the rate"),
            (self.on_secs, "the mean \"on\" period"),
            (self.off_secs, "the mean \"off\" period"),
        ] {
            if !(1e-9..=1e12).contains(&value) {
                return Err(format!("{what} must be between 1e-9 and 1e12, not {value}"));
            }
        }
        Ok(self)
    }

    /// The shape of the periods.
    pub fn shape(&self) -> f64 {
        3.0 - 2.0 * self.hurst
    }

    /// The share of time that a source is "on".
    pub(crate) fn on_share(&self) -> f64 {
        self.on_secs / (self.on_secs + self.off_secs)
    }

    /// Arrivals per second of one source while it is "on".
    pub fn on_rate(&self) -> f64 {
        self.per_second / (f64::from(self.sources) * self.on_share())
    }

    /// Periods of the mean `mean_secs`.
    fn periods(&self, mean_secs: f64) -> Spans {
        let scale = smallest(mean_secs, self.shape());
        let given = [("shape", self.shape()), ("scale", scale)]
            .map(|(key, value)| (key.to_owned(), Value::Float(value)));
        let entry = &dist::pareto::ENTRY;
        let params = Params::resolve(&entry.about, &given).expect("both are above 0");
        Spans::seconds((entry.build)(&params).expect("both are above 0 and finite"))
    }
}

/// The smallest value of a Pareto law with a mean.
fn smallest(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

/// What is left of a Pareto period at an instant of the long run: uniform up to the smallest period
/// with probability (a − 1) / a, and beyond it a Pareto tail of the shape a − 1.
fn rest_secs(mean_secs: f64, shape: f64, rng: &mut Rng) -> f64 {
    let smallest = smallest(mean_secs, shape);
    // P(more is left), in (0, 1].
    let tail = 1.0 - rng.unit();
    if tail >= 1.0 / shape {
        (1.0 - tail) * mean_secs
    } else {
        smallest * (tail * shape).powf(-1.0 / (shape - 1.0))
    }
}

/// The process: arrivals of all sources in the order of time.
#[derive(Debug)]
pub struct SelfSimilar {
    sources: Vec<OnOff>,
    /// The next arrival of each source; the lower number first among equals.
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

impl SelfSimilar {
    /// The process that starts at `start`, or what is wrong with the mixture; `seed` and `entity`
    /// name its random streams as in [`Rng::new`].
    pub fn new(
        start: Time,
        mixture: Mixture,
        seed: u64,
        entity: &str,
    ) -> Result<SelfSimilar, String> {
        let mixture = mixture.check()?;
        let (on, off) = (
            mixture.periods(mixture.on_secs),
            mixture.periods(mixture.off_secs),
        );
        let gap_secs = 1.0 / mixture.on_rate();
        let gaps = Spans::constant_rate(mixture.on_rate())
            .ok_or_else(|| format!("a source cannot send every {gap_secs} s"))?;
        let mut phases = Rng::new(seed, &format!("{entity}:phases"));
        let mut sources = Vec::new();
        let mut heap = BinaryHeap::new();
        for number in 0..mixture.sources {
            let is_on = phases.chance(mixture.on_share());
            let mean_secs = if is_on {
                mixture.on_secs
            } else {
                mixture.off_secs
            };
            let phase = Phase {
                is_on,
                rest: Span::from_secs_f64(rest_secs(mean_secs, mixture.shape(), &mut phases)),
                gap: Span::from_secs_f64(gap_secs * phases.unit()),
            };
            let name = format!("{entity}:{number}");
            let (on, off, gaps) = (on.clone(), off.clone(), gaps.clone());
            let mut source = OnOff::under_way(start, phase, on, off, gaps, seed, &name);
            heap.extend(source.next().map(|at| Reverse((at, number))));
            sources.push(source);
        }
        Ok(SelfSimilar { sources, heap })
    }
}

impl Iterator for SelfSimilar {
    type Item = Time;

    fn next(&mut self) -> Option<Time> {
        let Reverse((at, number)) = self.heap.pop()?;
        let next = self.sources[number as usize].next();
        self.heap.extend(next.map(|next| Reverse((next, number))));
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIXTURE: Mixture = Mixture {
        sources: 50,
        hurst: 0.8,
        per_second: 10_000.0,
        on_secs: 0.05,
        off_secs: 0.1,
    };

    #[test]
    fn the_sum_is_sorted_repeats_by_seed_and_reaches_its_rate() {
        let sample = |seed| {
            let process = SelfSimilar::new(Time::ZERO, MIXTURE, seed, "sum").unwrap();
            process.take(100_000).collect::<Vec<_>>()
        };
        let times = sample(1);
        assert!(times.is_sorted());
        assert_eq!(times, sample(1));
        assert_ne!(times, sample(2));
        // Over ten seeds of 10 s each; 0.05 is the spread that H = 0.8 leaves (about 4 % a seed,
        // 1.3 % of ten).
        let secs: f64 = (1..=10)
            .map(|seed| sample(seed)[99_999].as_secs_f64())
            .sum();
        assert!((secs / 100.0 - 1.0).abs() < 0.05, "{secs} s");
    }

    #[test]
    fn what_is_left_of_a_period_follows_the_integrated_tail() {
        // Mean 1 and shape 1.5: the smallest period is 1/3; P(rest > x) is 1 − x below and
        // (1/(3x))^0.5 / 1.5 above.
        let mut rng = Rng::new(1, "rest");
        let rests: Vec<f64> = (0..100_000)
            .map(|_| rest_secs(1.0, 1.5, &mut rng))
            .collect();
        for (x, wanted) in [
            (0.1, 0.9),
            (1.0 / 3.0, 2.0 / 3.0),
            (3.0, 2.0 / 9.0),
            (300.0, 2.0 / 90.0),
        ] {
            let share = rests.iter().filter(|rest| **rest > x).count() as f64 / 1e5;
            // Four standard deviations of 10⁵ draws.
            assert!((share - wanted).abs() < 0.0064, "{x}: {share}, {wanted}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_a_mixture() {
        let error = |mixture| SelfSimilar::new(Time::ZERO, mixture, 1, "bad").unwrap_err();
        assert!(
            error(Mixture {
                hurst: 0.5,
                ..MIXTURE
            })
            .contains("Hurst")
        );
        assert!(
            error(Mixture {
                hurst: f64::NAN,
                ..MIXTURE
            })
            .contains("Hurst")
        );
        assert!(
            error(Mixture {
                sources: 0,
                ..MIXTURE
            })
            .contains("sources")
        );
        assert!(
            error(Mixture {
                per_second: 0.0,
                ..MIXTURE
            })
            .contains("rate")
        );
    }
}
