//! Weibull: a stretched exponential; session gaps and lifetimes, from bursty to regular.
//!
//! # What it does
//! F(x) = 1 − exp(−(x / `scale`)^`shape`) for x ≥ 0. Shape 1 is exponential; below 1 the tail is
//! heavier. The mean is `scale` · Γ(1 + 1 / `shape`).
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! gap = { distribution = "weibull", shape = 0.7, scale = "2 ms" }
//! size = 500
//! ```
//!
//! # Parameters
//! `shape`, `scale`.
//!
//! # References
//! Feldmann, "Characteristics of TCP Connection Arrivals", 2000, for its use; ns-3,
//! WeibullRandomVariable; D-ITG, `-W` and `-w`.

use super::{Distribution, Entry, positive};
use rand_distr::Distribution as _;
use statrs::function::gamma::gamma;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The Weibull distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "weibull",
        aliases: &[],
        summary: "a stretched exponential, for gaps of sessions",
        references: &[
            "Feldmann, Characteristics of TCP Connection Arrivals, 2000",
            "ns-3, WeibullRandomVariable",
        ],
        params: &[
            Param {
                name: "shape",
                // Below, the second moment leaves the range of a double.
                kind: Kind::Float(0.02, f64::INFINITY),
                default: "2",
                unit: "",
                help: "1 is exponential, less has a heavier tail",
            },
            Param {
                name: "scale",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "1",
                unit: "",
                help: "the value that 63.2 % of the samples stay below; above 0",
            },
        ],
    },
    build: |params| {
        let (shape, scale) = (positive(params, "shape")?, positive(params, "scale")?);
        Ok(Box::new(Weibull { shape, scale }))
    },
};

#[derive(Debug)]
struct Weibull {
    shape: f64,
    scale: f64,
}

impl Distribution for Weibull {
    fn sample(&self, rng: &mut Rng) -> f64 {
        let unit: f64 = rand_distr::Exp1.sample(rng);
        self.scale * unit.powf(1.0 / self.shape)
    }
    fn mean(&self) -> Option<f64> {
        Some(self.scale * gamma(1.0 + 1.0 / self.shape))
    }
    fn variance(&self) -> Option<f64> {
        let first = gamma(1.0 + 1.0 / self.shape);
        let second = gamma(1.0 + 2.0 / self.shape);
        Some(self.scale * self.scale * (second - first * first).max(0.0))
    }
    fn cdf(&self, x: f64) -> f64 {
        -(-(x.max(0.0) / self.scale).powf(self.shape)).exp_m1()
    }
}
