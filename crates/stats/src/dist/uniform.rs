//! Uniform: every value between two bounds is equally likely.
//!
//! # What it does
//! A sample is `min` + u · (`max` − `min`) with u uniform in [0, 1). Equal bounds make a constant.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! gap = { distribution = "uniform", min = "1 ms", max = "3 ms" }
//! size = 500
//! ```
//!
//! # Parameters
//! `min`, `max`.
//!
//! # References
//! ns-3, UniformRandomVariable; D-ITG, `-U` and `-u`.

use super::{Distribution, Entry, finite};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The uniform distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "uniform",
        aliases: &[],
        summary: "every value between two bounds equally likely",
        references: &["ns-3, UniformRandomVariable"],
        params: &[
            Param {
                name: "min",
                kind: Kind::Float(f64::NEG_INFINITY, f64::INFINITY),
                default: "0",
                unit: "",
                help: "the lower bound, included",
            },
            Param {
                name: "max",
                kind: Kind::Float(f64::NEG_INFINITY, f64::INFINITY),
                default: "1",
                unit: "",
                help: "the upper bound, excluded",
            },
        ],
    },
    build: |params| {
        let (min, max) = (finite(params, "min")?, finite(params, "max")?);
        if min > max {
            return Err(format!("`min` is {min}, above `max`, which is {max}"));
        }
        if !(max - min).is_finite() {
            return Err("`min` and `max` are too far apart".to_owned());
        }
        Ok(Box::new(Uniform { min, max }))
    },
};

#[derive(Debug)]
struct Uniform {
    min: f64,
    max: f64,
}

impl Distribution for Uniform {
    fn sample(&self, rng: &mut Rng) -> f64 {
        self.min + rng.unit() * (self.max - self.min)
    }
    fn mean(&self) -> Option<f64> {
        Some(self.min + (self.max - self.min) / 2.0)
    }
    fn variance(&self) -> Option<f64> {
        Some((self.max - self.min).powi(2) / 12.0)
    }
    fn cdf(&self, x: f64) -> f64 {
        if x >= self.max {
            1.0
        } else if x <= self.min {
            0.0
        } else {
            (x - self.min) / (self.max - self.min)
        }
    }
}
