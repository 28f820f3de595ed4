//! Passes: every quantity is sampled in turn, again and again, so that a noisy second hits all alike.

use super::bench::Bench;
use super::quantity::{Quantity, What};
use std::time::{Duration, Instant};
use trammel_packet::cpu::cycles;

/// Samples of one quantity on one visit, at most.
const SAMPLES: usize = 5;
/// Ticks that a visit goes on for, about.
const VISIT_TICKS: u64 = 600_000;
/// Rounds without which a pass says nothing.
const LEAST_ROUNDS: u32 = 3;

/// The samples of one pass: ticks a step of each quantity.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    samples: Vec<Vec<f64>>,
    /// Ticks of the counter, and the nanoseconds in which they came.
    ticks: u64,
    ns: u64,
    /// Rounds through all quantities.
    pub rounds: u32,
}

impl Pass {
    /// Goes on for so long; stops early where `is_over` says so, which is asked before each quantity.
    pub(super) fn go_on(
        &mut self,
        bench: &mut Bench,
        all: &mut [Quantity],
        time: Duration,
        is_over: &dyn Fn() -> bool,
    ) {
        self.samples.resize(all.len(), Vec::new());
        let (start, first) = (Instant::now(), cycles());
        let before = self.rounds;
        while start.elapsed() < time || self.rounds < before + LEAST_ROUNDS {
            for (quantity, samples) in all.iter_mut().zip(&mut self.samples) {
                if is_over() {
                    return;
                }
                visit(bench, quantity, samples);
            }
            self.rounds += 1;
        }
        self.ticks += cycles().saturating_sub(first);
        self.ns += start.elapsed().as_nanos() as u64;
    }

    /// The samples of both.
    pub(super) fn with(&self, other: &Pass) -> Pass {
        let both = self.samples.iter().zip(&other.samples);
        Pass {
            samples: both.map(|(a, b)| [&a[..], &b[..]].concat()).collect(),
            ticks: self.ticks + other.ticks,
            ns: self.ns + other.ns,
            rounds: self.rounds + other.rounds,
        }
    }

    /// Nanoseconds of a step: the least of all samples, or their lower quartile where others share.
    pub(super) fn times_ns(&self, all: &[Quantity]) -> Vec<(What, f64)> {
        let tick_ns = self.ns as f64 / (self.ticks as f64).max(1.0);
        let quantities = all.iter().zip(&self.samples);
        quantities
            .map(|(quantity, samples)| (quantity.what, typical(quantity.what, samples) * tick_ns))
            .collect()
    }
}

fn visit(bench: &mut Bench, quantity: &mut Quantity, samples: &mut Vec<f64>) {
    bench.warm(&mut quantity.work, quantity.steps);
    let mut spent = 0;
    for _ in 0..SAMPLES {
        let ticks = bench.sample(&mut quantity.work, quantity.steps);
        samples.push(ticks as f64 / f64::from(quantity.steps));
        spent += ticks;
        if spent > VISIT_TICKS {
            break;
        }
    }
}

fn typical(what: What, samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = if what.is_shared() {
        sorted.len() / 4
    } else {
        0
    };
    sorted.get(at).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_things_are_taken_at_their_least_and_shared_ones_at_their_quartile() {
        let samples: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(typical(What::Level(0), &samples), 1.0);
        assert_eq!(typical(What::Set(1), &samples), 26.0);
        assert_eq!(typical(What::Set(1), &[]), 0.0);
    }
}
