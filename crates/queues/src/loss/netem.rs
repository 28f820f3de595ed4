//! Netem's loss: as Bernoulli's, by the generator of Linux's netem, so that the kernel loses the
//! same packets.
//!
//! # What it does
//! Takes a number of 32 bits for each packet, which is lost where the number is at most the
//! probability's share of 2³². The generator is LFSR113, four Tausworthe registers; its seed is the
//! first number of the link's own stream, and a guest of the real kernel is given the same. Where a
//! simulated connection sends what the kernel's does, both lose the same segments, and what differs
//! is TCP and not chance.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! loss = { model = "netem", probability = 0.001 }
//! [[flow]]
//! variant = "cubic"
//! ```
//!
//! # Parameters
//! `probability`: the fraction of packets lost.
//!
//! # References
//! L'Ecuyer, "Tables of maximally equidistributed combined LFSR generators", Mathematics of
//! Computation 68(225), 1999, figure 1; tc-netem(8), `loss random` and `seed`.

use super::{Entry, LossModel};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// Netem's loss in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "netem",
        aliases: &[],
        summary: "as bernoulli, by the generator of Linux's netem: simulator and real kernel lose \
                  the same packets",
        references: &[
            "tc-netem(8), `loss random`",
            "L'Ecuyer, Mathematics of Computation 68(225), 1999",
        ],
        params: &[Param {
            name: "probability",
            kind: Kind::Float(0.0, 1.0),
            default: "",
            unit: "",
            help: "fraction of packets lost",
        }],
    },
    build: |params| {
        let probability = params.float("probability");
        Ok(Box::new(Netem {
            probability,
            most: share(probability),
            generator: None,
        }))
    },
};

#[derive(Debug)]
struct Netem {
    probability: f64,
    /// The largest number that is a loss; nothing is lost where it is 0.
    most: u32,
    /// Nothing before the first packet.
    generator: Option<Lfsr113>,
}

impl LossModel for Netem {
    fn loses(&mut self, _now: Time, _bytes: u32, rng: &mut Rng) -> bool {
        let generator = self
            .generator
            .get_or_insert_with(|| Lfsr113::new(seed(rng)));
        self.most > 0 && generator.draw() <= self.most
    }

    fn change(&mut self, probability: Option<f64>, seed: u64) {
        if let Some(probability) = probability {
            self.probability = probability;
            self.most = share(probability);
        }
        self.generator = Some(Lfsr113::new(seed));
    }

    fn mean_loss(&self) -> Option<f64> {
        Some(self.probability)
    }
}

/// The share of 2³² that is `probability`.
fn share(probability: f64) -> u32 {
    (probability * f64::from(u32::MAX)).round() as u32
}

/// The seed that netem is given for a link whose losses are drawn from `rng`, which is as new.
pub fn seed(rng: &mut Rng) -> u64 {
    rng.below(u64::MAX)
}

/// The registers.
#[derive(Clone, Debug)]
struct Lfsr113([u32; 4]);

impl Lfsr113 {
    /// Of each register: the bits that it keeps, the shift of what is kept, the two shifts of what
    /// is fed back.
    const STEPS: [(u32, u32, u32, u32); 4] = [
        (!1, 18, 6, 13),
        (!7, 2, 2, 27),
        (!15, 7, 13, 21),
        (!127, 13, 3, 12),
    ];

    /// A register must be larger than the bits that it does not keep; netem folds its seed of 64
    /// bits into all four.
    fn new(seed: u64) -> Lfsr113 {
        let folded = ((seed >> 32) ^ (seed << 10) ^ seed) as u32;
        Lfsr113(Lfsr113::STEPS.map(|(kept, ..)| {
            let least = !kept + 1;
            if folded < least {
                folded + least
            } else {
                folded
            }
        }))
    }

    fn draw(&mut self) -> u32 {
        for (z, (kept, shift, left, right)) in self.0.iter_mut().zip(Lfsr113::STEPS) {
            *z = ((*z & kept) << shift) ^ (((*z << left) ^ *z) >> right);
        }
        self.0.iter().fold(0, |sum, z| sum ^ z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_even_and_numbers_spread() {
        let mut generator = Lfsr113::new(0x1234_5678_9abc_def0);
        let (mut ones, mut cells) = ([0_u32; 32], [0_u32; 64]);
        for _ in 0..64_000 {
            let number = generator.draw();
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += number >> bit & 1;
            }
            cells[(number >> 26) as usize] += 1;
        }
        // Four deviations of a binomial(64000, 1/2) are 506; chi-square of 63 degrees is below 116
        // but once in 20,000.
        assert!(ones.iter().all(|count| count.abs_diff(32_000) < 506));
        let chi: f64 = cells
            .iter()
            .map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0)
            .sum();
        assert!(chi < 116.0, "{chi}");
    }

    #[test]
    fn no_seed_stops_a_register() {
        for seed in [0, 1, 127, u64::MAX, 1 << 32 | 1 << 10 | 1] {
            let mut generator = Lfsr113::new(seed);
            let all: std::collections::BTreeSet<u32> =
                (0..1000).map(|_| generator.draw()).collect();
            assert_eq!(all.len(), 1000, "{seed}");
        }
    }
}
