//! Gamma: sums of exponential times; from very bursty (shape below 1) to nearly constant (shape
//! large).
//!
//! # What it does
//! Density x^(k − 1) · exp(−x / θ) / (Γ(k) · θᵏ) with k = `shape`, θ = `scale`. The mean is k · θ,
//! the squared coefficient of variation 1 / k.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! gap = { distribution = "gamma", shape = 0.5, scale = "4 ms" }
//! size = 500
//! ```
//!
//! # Parameters
//! `shape`, `scale`.
//!
//! # References
//! Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000; ns-3,
//! GammaRandomVariable (Alpha, Beta); D-ITG, `-G` and `-g`.

use super::{Distribution, Entry, positive};
use rand_distr::Distribution as _;
use statrs::function::gamma::{gamma, gamma_lr};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The gamma distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "gamma",
        aliases: &[],
        summary: "sums of exponential times, for any burstiness",
        references: &[
            "Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, 2000",
            "ns-3, GammaRandomVariable",
        ],
        params: &[
            Param {
                name: "shape",
                // Below, more and more samples are too small for a double and become zero.
                kind: Kind::Float(0.01, f64::INFINITY),
                default: "2",
                unit: "",
                help: "1 is exponential, more is steadier, less burstier",
            },
            Param {
                name: "scale",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "1",
                unit: "",
                help: "the mean divided by the shape, above 0",
            },
        ],
    },
    build: |params| {
        let (shape, scale) = (positive(params, "shape")?, positive(params, "scale")?);
        // Below 1, the law of one shape more is drawn and boosted: Marsaglia and Tsang, §6.
        let drawn = if shape < 1.0 { shape + 1.0 } else { shape };
        // The library scales an exponential time by its rate; all others are scaled here, in an
        // order of products that the versions of the library round differently.
        let (inner, outer) = if shape == 1.0 {
            (scale, 1.0)
        } else {
            (1.0, scale)
        };
        let sampler = rand_distr::Gamma::new(drawn, inner).map_err(|error| error.to_string())?;
        Ok(Box::new(Gamma {
            shape,
            scale,
            sampler,
            outer,
        }))
    },
};

#[derive(Debug)]
struct Gamma {
    shape: f64,
    scale: f64,
    sampler: rand_distr::Gamma<f64>,
    /// What a drawn value is multiplied by.
    outer: f64,
}

impl Distribution for Gamma {
    fn sample(&self, rng: &mut Rng) -> f64 {
        if self.shape < 1.0 {
            let u: f64 = rand_distr::Open01.sample(rng);
            self.sampler.sample(rng) * self.outer * u.powf(1.0 / self.shape)
        } else {
            self.sampler.sample(rng) * self.outer
        }
    }
    fn mean(&self) -> Option<f64> {
        Some(self.shape * self.scale)
    }
    fn variance(&self) -> Option<f64> {
        Some(self.shape * self.scale * self.scale)
    }
    fn cdf(&self, x: f64) -> f64 {
        let x = x / self.scale;
        if x <= 0.0 {
            0.0
        } else if x == f64::INFINITY {
            1.0
        } else if x < 1e-10 {
            // The first term of the series is enough, and `gamma_lr` takes the smallest values for
            // zero.
            x.powf(self.shape) / gamma(self.shape + 1.0)
        } else {
            gamma_lr(self.shape, x)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::{Params, Value};

    /// The bits that `rand_distr` 0.5 drew: a seed means the same numbers in every version.
    #[test]
    fn samples_are_the_same_bits_in_every_version() {
        let sum = |shape, scale| {
            let given = [("shape", shape), ("scale", scale)];
            let given = given.map(|(name, x)| (name.to_owned(), Value::Float(x)));
            let params = Params::resolve(&ENTRY.about, &given).expect("both are in their ranges");
            let law = (ENTRY.build)(&params).expect("both are positive");
            let mut rng = Rng::new(42, "gamma");
            (0..1000).fold(1_u64, |sum, _| {
                sum.rotate_left(7) ^ law.sample(&mut rng).to_bits()
            })
        };
        assert_eq!(sum(0.5, 7.0), 0xb60d_66de_ec11_5b82);
        assert_eq!(sum(1.0, 7.0), 0x6068_f8f4_8ea5_c1a6);
        assert_eq!(sum(2.5, 0.01), 0xbee2_8f69_0f61_f1e1);
    }
}
