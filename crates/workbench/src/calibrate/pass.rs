//! Two passes in turn, round by round: every quantity is sampled again and again, so that a noisy
//! second hits all alike.
//!
//! What the passes disagree on is what samples of this machine are good for at this time. Samples
//! from which the kernel took the processor away in between count only where too few others are
//! left: who ran meanwhile emptied the caches.

use super::bench::Bench;
use super::quantity::{Quantity, What};
use super::system::Waited;
use std::time::{Duration, Instant};
use trammel_packet::cpu::cycles;

/// Samples of one quantity on one visit, at most.
const SAMPLES: usize = 5;
/// Ticks that a visit goes on for, about.
const VISIT_TICKS: u64 = 600_000;
/// Rounds of each pass without which it says nothing.
const LEAST_ROUNDS: u32 = 3;
/// Undisturbed samples of a quantity without which the disturbed count too.
const ENOUGH: usize = 8;

/// The samples of one pass: ticks a step of each quantity.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    samples: Vec<Samples>,
    /// Ticks of the counter, and the nanoseconds in which they came.
    ticks: u64,
    ns: u64,
    /// Rounds through all quantities.
    pub rounds: u32,
}

/// The samples of one quantity.
#[derive(Clone, Debug, Default)]
struct Samples {
    undisturbed: Vec<f64>,
    disturbed: Vec<f64>,
}

impl Samples {
    /// Those that count.
    fn counting(&self) -> Vec<f64> {
        let mut all = self.undisturbed.clone();
        if all.len() < ENOUGH {
            all.extend(&self.disturbed);
        }
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Goes on with both passes for so long, a round of the one and a round of the other; stops early
/// where `is_over` says so, which is asked before each quantity.
pub(super) fn go_on(
    passes: &mut [Pass; 2],
    bench: &mut Bench,
    all: &mut [Quantity],
    time: Duration,
    is_over: &dyn Fn() -> bool,
) {
    let start = Instant::now();
    let enough = passes[1].rounds + LEAST_ROUNDS;
    while start.elapsed() < time || passes[1].rounds < enough {
        for pass in &mut *passes {
            if !pass.round(bench, all, is_over) {
                return;
            }
        }
    }
}

impl Pass {
    /// A round through all quantities; says whether it came to its end.
    fn round(
        &mut self,
        bench: &mut Bench,
        all: &mut [Quantity],
        is_over: &dyn Fn() -> bool,
    ) -> bool {
        self.samples.resize(all.len(), Samples::default());
        let (start, first) = (Instant::now(), cycles());
        for (quantity, samples) in all.iter_mut().zip(&mut self.samples) {
            if is_over() {
                return false;
            }
            visit(bench, quantity, samples);
        }
        self.rounds += 1;
        self.ticks += cycles().saturating_sub(first);
        self.ns += start.elapsed().as_nanos() as u64;
        true
    }

    /// The samples of both.
    pub(super) fn with(&self, other: &Pass) -> Pass {
        let both = self.samples.iter().zip(&other.samples);
        let joined = |a: &[f64], b: &[f64]| [a, b].concat();
        Pass {
            samples: both
                .map(|(a, b)| Samples {
                    undisturbed: joined(&a.undisturbed, &b.undisturbed),
                    disturbed: joined(&a.disturbed, &b.disturbed),
                })
                .collect(),
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
            .map(|(quantity, samples)| {
                let typical = typical(quantity.what, &samples.counting());
                (quantity.what, typical * tick_ns)
            })
            .collect()
    }

    /// By how much what neighbours share differs from sample to sample, from the lower quartile to
    /// the middle: in the mean over all that waits for memory.
    pub(super) fn neighbours(&self, all: &[Quantity]) -> f64 {
        let shared = all.iter().zip(&self.samples);
        let shared = shared.filter(|(quantity, _)| quantity.what.is_shared());
        let each: Vec<f64> = shared
            .filter_map(|(_, samples)| {
                let sorted = samples.counting();
                let (quartile, middle) =
                    (sorted.get(sorted.len() / 4)?, sorted.get(sorted.len() / 2)?);
                (*quartile > 0.0).then(|| middle / quartile - 1.0)
            })
            .collect();
        each.iter().sum::<f64>() / each.len().max(1) as f64
    }

    /// The share of all samples that were disturbed, 0 to 1.
    pub(super) fn disturbed(&self) -> f64 {
        let of = |one: &dyn Fn(&Samples) -> usize| self.samples.iter().map(one).sum::<usize>();
        let (undisturbed, disturbed) = (of(&|s| s.undisturbed.len()), of(&|s| s.disturbed.len()));
        disturbed as f64 / (undisturbed + disturbed).max(1) as f64
    }
}

fn visit(bench: &mut Bench, quantity: &mut Quantity, samples: &mut Samples) {
    bench.warm(&mut quantity.work, quantity.steps);
    let mut spent = 0;
    for _ in 0..SAMPLES {
        let before = Waited::now();
        let ticks = bench.sample(&mut quantity.work, quantity.steps);
        // Threads of our own wait for each other by design where all cores are asked.
        let is_disturbed = quantity.what != What::FarTogether && before != Waited::now();
        let to = if is_disturbed {
            &mut samples.disturbed
        } else {
            &mut samples.undisturbed
        };
        to.push(ticks as f64 / f64::from(quantity.steps));
        spent += ticks;
        if spent > VISIT_TICKS {
            break;
        }
    }
}

fn typical(what: What, sorted: &[f64]) -> f64 {
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
        let samples: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(typical(What::Level(0), &samples), 1.0);
        assert_eq!(typical(What::Set(1), &samples), 26.0);
        assert_eq!(typical(What::Set(1), &[]), 0.0);
    }

    #[test]
    fn disturbed_samples_count_only_where_few_others_are_left() {
        let mut samples = Samples {
            undisturbed: vec![3.0, 2.0],
            disturbed: vec![9.0, 1.0],
        };
        assert_eq!(samples.counting(), [1.0, 2.0, 3.0, 9.0]);
        samples.undisturbed.extend([4.0; ENOUGH]);
        assert_eq!(samples.counting()[..3], [2.0, 3.0, 4.0]);
    }
}
