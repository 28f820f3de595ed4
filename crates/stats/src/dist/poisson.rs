//! Poisson: how many events of a memoryless process fall into one interval.
//!
//! # What it does
//! P(k) = exp(−m) · mᵏ / k! for k = 0, 1, 2, … with m = `mean`. It is a law of counts; the gaps of
//! a Poisson process are `exponential`.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! rate = 200
//! size = { distribution = "poisson", mean = 500 }
//! ```
//!
//! # Parameters
//! `mean`.
//!
//! # References
//! Ahrens and Dieter, "Computer Generation of Poisson Deviates from Modified Normal Distributions",
//! 1982; D-ITG, `-O` and `-o`.

use super::{Distribution, Entry, positive};
use rand_distr::Distribution as _;
use statrs::function::gamma::gamma_ur;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The Poisson distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "poisson",
        aliases: &[],
        summary: "counts of a memoryless process in one interval",
        references: &[
            "Ahrens and Dieter, Computer Generation of Poisson Deviates from Modified Normal \
             Distributions, 1982",
        ],
        params: &[Param {
            name: "mean",
            // Above, a double no longer holds every count.
            kind: Kind::Float(0.0, 1e15),
            default: "10",
            unit: "",
            help: "the mean count, above 0",
        }],
    },
    build: |params| {
        let mean = positive(params, "mean")?;
        let sampler = rand_distr::Poisson::new(mean).map_err(|error| error.to_string())?;
        Ok(Box::new(Poisson { mean, sampler }))
    },
};

#[derive(Debug)]
struct Poisson {
    mean: f64,
    sampler: rand_distr::Poisson<f64>,
}

impl Distribution for Poisson {
    fn sample(&self, rng: &mut Rng) -> f64 {
        self.sampler.sample(rng)
    }
    fn mean(&self) -> Option<f64> {
        Some(self.mean)
    }
    fn variance(&self) -> Option<f64> {
        Some(self.mean)
    }
    /// The sum of P(0) … P(⌊x⌋) is the regularised upper incomplete gamma function Q(⌊x⌋ + 1, m).
    fn cdf(&self, x: f64) -> f64 {
        if x < 0.0 {
            0.0
        } else if x > self.mean + 40.0 * self.mean.sqrt() + 1000.0 {
            // By Chernoff's bound less than e⁻⁷⁰⁰ is left, and the function overflows far out.
            1.0
        } else {
            gamma_ur(x.floor() + 1.0, self.mean)
        }
    }
}
