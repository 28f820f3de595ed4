//! Exponential: the memoryless gap of a Poisson process.
//!
//! # What it does
//! F(x) = 1 − exp(−x / `mean`) for x ≥ 0. Gaps drawn from it make a Poisson process of 1 / `mean`
//! arrivals per unit of time.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! gap = { distribution = "exponential", mean = "2 ms" }
//! size = 500
//! ```
//!
//! # Parameters
//! `mean`.
//!
//! # References
//! Marsaglia and Tsang, "The Ziggurat Method for Generating Random Variables", 2000; ns-3,
//! ExponentialRandomVariable; D-ITG, `-E` and `-e`.

use super::{Distribution, Entry, positive};
use rand_distr::Distribution as _;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The exponential distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "exponential",
        aliases: &[],
        summary: "the memoryless gap of a Poisson process",
        references: &["ns-3, ExponentialRandomVariable"],
        params: &[Param {
            name: "mean",
            kind: Kind::Float(0.0, f64::INFINITY),
            default: "1",
            unit: "",
            help: "the mean, above 0",
        }],
    },
    build: |params| {
        Ok(Box::new(Exponential {
            mean: positive(params, "mean")?,
        }))
    },
};

#[derive(Debug)]
struct Exponential {
    mean: f64,
}

impl Distribution for Exponential {
    fn sample(&self, rng: &mut Rng) -> f64 {
        let unit: f64 = rand_distr::Exp1.sample(rng);
        self.mean * unit
    }
    fn mean(&self) -> Option<f64> {
        Some(self.mean)
    }
    fn variance(&self) -> Option<f64> {
        Some(self.mean * self.mean)
    }
    fn cdf(&self, x: f64) -> f64 {
        -(-x.max(0.0) / self.mean).exp_m1()
    }
}
