//! Log-normal: a value whose logarithm is normal; sizes and times that products of many factors
//! make.
//!
//! # What it does
//! A sample is exp(N) with N normal of mean `mu` and standard deviation `sigma`. The median is
//! exp(`mu`), the mean exp(`mu` + `sigma`² / 2).
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
//! size = { distribution = "log-normal", mu = 6, sigma = 0.5 }
//! ```
//!
//! # Parameters
//! `mu`, `sigma`: of the logarithm, not of the value.
//!
//! # References
//! ns-3, LogNormalRandomVariable, whose parameters have the same names; Johnson, Kotz and
//! Balakrishnan, "Continuous Univariate Distributions", vol. 1, chapter 14.

use super::{Distribution, Entry, finite, positive};
use rand_distr::Distribution as _;
use statrs::function::erf::erfc;
use std::f64::consts::SQRT_2;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The log-normal distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "log-normal",
        aliases: &["lognormal"],
        summary: "a value whose logarithm is normal",
        references: &["ns-3, LogNormalRandomVariable"],
        params: &[
            Param {
                name: "mu",
                // Within these ranges the variance is a finite double.
                kind: Kind::Float(-200.0, 200.0),
                default: "0",
                unit: "",
                help: "the mean of the natural logarithm",
            },
            Param {
                name: "sigma",
                kind: Kind::Float(0.0, 10.0),
                default: "0.5",
                unit: "",
                help: "the standard deviation of the natural logarithm, above 0",
            },
        ],
    },
    build: |params| {
        Ok(Box::new(LogNormal {
            mu: finite(params, "mu")?,
            sigma: positive(params, "sigma")?,
        }))
    },
};

#[derive(Debug)]
struct LogNormal {
    mu: f64,
    sigma: f64,
}

impl Distribution for LogNormal {
    fn sample(&self, rng: &mut Rng) -> f64 {
        let unit: f64 = rand_distr::StandardNormal.sample(rng);
        (self.mu + self.sigma * unit).exp()
    }
    fn mean(&self) -> Option<f64> {
        Some((self.mu + self.sigma * self.sigma / 2.0).exp())
    }
    fn variance(&self) -> Option<f64> {
        let square = self.sigma * self.sigma;
        Some(square.exp_m1() * (2.0 * self.mu + square).exp())
    }
    fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 {
            0.0
        } else {
            0.5 * erfc((self.mu - x.ln()) / (self.sigma * SQRT_2))
        }
    }
}
