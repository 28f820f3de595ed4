//! Normal: the bell curve.
//!
//! # What it does
//! F(x) = Φ((x − `mean`) / `std_dev`). Samples may be negative; a gap or size made of one then
//! counts as zero.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! gap = { distribution = "normal", mean = "2 ms", std_dev = "0.2 ms" }
//! size = 500
//! ```
//!
//! # Parameters
//! `mean`, `std_dev`.
//!
//! # References
//! Marsaglia and Tsang, "The Ziggurat Method for Generating Random Variables", 2000; ns-3,
//! NormalRandomVariable; D-ITG, `-N` and `-n`.

use super::{Distribution, Entry, finite, positive};
use rand_distr::Distribution as _;
use statrs::function::erf::erfc;
use std::f64::consts::SQRT_2;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The normal distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "normal",
        aliases: &["gaussian"],
        summary: "the bell curve",
        references: &["ns-3, NormalRandomVariable"],
        params: &[
            Param {
                name: "mean",
                kind: Kind::Float(f64::NEG_INFINITY, f64::INFINITY),
                default: "0",
                unit: "",
                help: "the mean",
            },
            Param {
                name: "std_dev",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "1",
                unit: "",
                help: "the standard deviation, above 0",
            },
        ],
    },
    build: |params| {
        Ok(Box::new(Normal {
            mean: finite(params, "mean")?,
            std_dev: positive(params, "std_dev")?,
        }))
    },
};

#[derive(Debug)]
struct Normal {
    mean: f64,
    std_dev: f64,
}

impl Distribution for Normal {
    fn sample(&self, rng: &mut Rng) -> f64 {
        let unit: f64 = rand_distr::StandardNormal.sample(rng);
        self.mean + self.std_dev * unit
    }
    fn mean(&self) -> Option<f64> {
        Some(self.mean)
    }
    fn variance(&self) -> Option<f64> {
        Some(self.std_dev * self.std_dev)
    }
    fn cdf(&self, x: f64) -> f64 {
        0.5 * erfc((self.mean - x) / (self.std_dev * SQRT_2))
    }
}
