//! Gamma: sums of exponential times; from very bursty (shape below 1) to nearly constant (shape large).
//!
//! # What it does
//! Density x^(k − 1) · exp(−x / θ) / (Γ(k) · θᵏ) with k = `shape`, θ = `scale`. The mean is k · θ, the squared
//! coefficient of variation 1 / k.
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
        let sampler = rand_distr::Gamma::new(shape, scale).map_err(|error| error.to_string())?;
        Ok(Box::new(Gamma {
            shape,
            scale,
            sampler,
        }))
    },
};

#[derive(Debug)]
struct Gamma {
    shape: f64,
    scale: f64,
    sampler: rand_distr::Gamma<f64>,
}

impl Distribution for Gamma {
    fn sample(&self, rng: &mut Rng) -> f64 {
        self.sampler.sample(rng)
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
            // The first term of the series is enough, and `gamma_lr` takes the smallest values for zero.
            x.powf(self.shape) / gamma(self.shape + 1.0)
        } else {
            gamma_lr(self.shape, x)
        }
    }
}
