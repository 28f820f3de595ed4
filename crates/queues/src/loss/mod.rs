//! Loss models: which packets a path loses without a queue being full. One file each.

use std::fmt::Debug;
use trammel_core::entry::{About, Params};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

include!(concat!(env!("OUT_DIR"), "/loss.rs"));
trammel_core::family!("loss model");

/// Decides about each packet; the packets of one link direction arrive in order of time.
pub trait LossModel: Debug + Send {
    /// Whether the packet of `bytes` bytes that leaves at `now` is lost.
    fn loses(&mut self, now: Time, bytes: u32, rng: &mut Rng) -> bool;
    /// The path changes: the probability becomes the given one, and a generator of the model's own
    /// starts anew from `seed`, as that of Linux's netem where its options change. A model that is
    /// no single probability stays as it is.
    fn change(&mut self, probability: Option<f64>, seed: u64) {
        let _ = (probability, seed);
    }
    /// The long-run loss ratio, if the model knows it.
    fn mean_loss(&self) -> Option<f64>;
}

/// One row of [`ALL`].
#[derive(Debug)]
pub struct Entry {
    /// Name, summary, references, parameters.
    pub about: About,
    /// Makes the model, or returns which combination of parameters is impossible.
    pub build: fn(&Params) -> Result<Box<dyn LossModel>, String>,
}

/// Independent trials of one probability at the cost of one random number a success: the failures
/// before the next success are drawn at once, from the geometric distribution.
#[derive(Clone, Debug)]
pub struct Trials {
    probability: f64,
    /// Failures still to come before the next success; nothing before the first draw.
    failures: Option<u64>,
}

impl Trials {
    /// Trials that succeed with this probability.
    pub fn new(probability: f64) -> Trials {
        Trials {
            probability,
            failures: None,
        }
    }

    /// Of the next `count` trials, the failures before the first that succeeds; those after it are
    /// not made. Nothing where all `count` fail.
    pub fn first_of(&mut self, count: u64, rng: &mut Rng) -> Option<u64> {
        if self.probability <= 0.0 || self.probability >= 1.0 {
            return (self.probability >= 1.0 && count > 0).then_some(0);
        }
        let failures = match self.failures {
            Some(failures) => failures,
            None => self.draw(rng),
        };
        self.failures = failures.checked_sub(count);
        self.failures.is_none().then_some(failures)
    }

    /// Whether the next trial succeeds.
    pub fn succeeds(&mut self, rng: &mut Rng) -> bool {
        self.first_of(1, rng).is_some()
    }

    /// Inverts the distribution: P(failures ≥ n) = (1 − p)ⁿ.
    fn draw(&self, rng: &mut Rng) -> u64 {
        // In (0, 1], so that the logarithm is finite.
        let uniform = 1.0 - rng.unit();
        (uniform.ln() / (-self.probability).ln_1p()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::{Kind, Value};

    /// Builds `entry` with its defaults, and with something moderate where it has none.
    fn build(entry: &Entry) -> Box<dyn LossModel> {
        let given: Vec<_> = entry
            .about
            .params
            .iter()
            .filter(|param| param.default.is_empty())
            .map(|param| {
                let value = match param.kind {
                    Kind::Int(..) => Value::Int(50),
                    Kind::Float(..) => Value::Float(0.1),
                    Kind::Floats => Value::Floats(vec![5.0, 6.0, 100.0]),
                    other => panic!("`{}` is {other:?}", param.name),
                };
                (param.name.to_owned(), value)
            })
            .collect();
        let params = Params::resolve(&entry.about, &given).expect("within the ranges");
        (entry.build)(&params).expect("a possible combination")
    }

    fn run(entry: &Entry, seed: u64, packets: usize) -> Vec<bool> {
        let (mut model, mut rng) = (build(entry), Rng::new(seed, "loss"));
        (0..packets)
            .map(|n| model.loses(Time::from_us(n as u64), 1500, &mut rng))
            .collect()
    }

    #[test]
    fn every_model_repeats_with_its_seed_and_loses_some() {
        for entry in ALL {
            let losses = run(entry, 3, 10_000);
            assert_eq!(losses, run(entry, 3, 10_000), "{}", entry.about.name);
            assert!(losses.contains(&true), "{}", entry.about.name);
            assert!(losses.contains(&false), "{}", entry.about.name);
        }
    }

    #[test]
    fn every_model_knows_its_own_mean() {
        for entry in ALL {
            let Some(mean) = build(entry).mean_loss() else {
                continue;
            };
            let packets = 400_000;
            let lost = run(entry, 11, packets).iter().filter(|l| **l).count() as f64;
            // Losses come in bursts of ten in the burstiest of these: the deviation is below
            // sqrt(2 · 10 · n · mean), of which these are four.
            let four_deviations = 4.0 * (20.0 * packets as f64 * mean).sqrt();
            let off = (lost - mean * packets as f64).abs();
            assert!(off < four_deviations, "{}: {lost}", entry.about.name);
        }
    }

    #[test]
    fn trials_are_geometric_and_draw_once_a_success() {
        let p = 0.05;
        let (mut trials, mut rng) = (Trials::new(p), Rng::new(1, "trials"));
        let (mut gaps, mut gap) = (Vec::new(), 0_u32);
        for _ in 0..1_000_000 {
            if trials.succeeds(&mut rng) {
                gaps.push(gap);
                gap = 0;
            } else {
                gap += 1;
            }
        }
        let n = gaps.len() as f64;
        // Four standard deviations of a binomial(10^6, 0.05) are 872.
        assert!((n - 50_000.0).abs() < 872.0, "{n}");
        // P(gap = 0) = p, and P(gap ≥ 20) = 0.95^20 = 0.358; deviations below 0.0022.
        let share = |test: fn(&u32) -> bool| gaps.iter().filter(|gap| test(gap)).count() as f64 / n;
        assert!((share(|gap| *gap == 0) - p).abs() < 0.004);
        assert!((share(|gap| *gap >= 20) - 0.358_49).abs() < 0.009);
        // One draw for each success and one more for the success that is still to come.
        let mut other = Rng::new(1, "trials");
        let draws = gaps.len() + usize::from(trials.failures.is_some());
        for _ in 0..draws {
            other.unit();
        }
        assert_eq!(rng.unit(), other.unit());
    }

    #[test]
    fn trials_by_the_hundred_are_those_one_by_one() {
        let (mut one, mut rng) = (Trials::new(0.01), Rng::new(1, "trials"));
        let (mut many, mut other) = (Trials::new(0.01), Rng::new(1, "trials"));
        let singly: Vec<u64> = (0..100_000).filter(|_| one.succeeds(&mut rng)).collect();
        let mut at_once = Vec::new();
        for start in (0..100_000).step_by(100) {
            let mut from = 0;
            while let Some(failures) = many.first_of(100 - from, &mut other) {
                at_once.push(start + from + failures);
                from += failures + 1;
            }
        }
        assert_eq!(singly, at_once);
        assert!(singly.len() > 900);
    }

    #[test]
    fn certain_and_impossible_trials_need_no_randomness() {
        let mut rng = Rng::new(1, "trials");
        assert!((0..100).all(|_| !Trials::new(0.0).succeeds(&mut rng)));
        assert!((0..100).all(|_| Trials::new(1.0).succeeds(&mut rng)));
        assert_eq!(rng.unit(), Rng::new(1, "trials").unit());
    }
}
