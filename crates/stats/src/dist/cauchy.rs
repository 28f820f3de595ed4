//! Cauchy: so heavy a tail that not even the mean exists.
//!
//! # What it does
//! F(x) = ½ + arctan((x − `location`) / `scale`) / π. Sample means do not settle, however many
//! there are. Half of the samples lie within `scale` of `location`; a negative gap or size counts
//! as zero.
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
//! size = { distribution = "cauchy", location = 500, scale = 20 }
//! ```
//!
//! # Parameters
//! `location`, `scale`.
//!
//! # References
//! Johnson, Kotz and Balakrishnan, "Continuous Univariate Distributions", vol. 1, chapter 16;
//! D-ITG, `-Y` and `-y`.

use super::{Distribution, Entry, finite, positive};
use std::f64::consts::{FRAC_1_PI, PI};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The Cauchy distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "cauchy",
        aliases: &[],
        summary: "a tail so heavy that no mean exists",
        references: &[
            "Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions, vol. 1, chapter \
             16",
        ],
        params: &[
            Param {
                name: "location",
                kind: Kind::Float(f64::NEG_INFINITY, f64::INFINITY),
                default: "0",
                unit: "",
                help: "the median",
            },
            Param {
                name: "scale",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "1",
                unit: "",
                help: "half the distance between the quartiles, above 0",
            },
        ],
    },
    build: |params| {
        Ok(Box::new(Cauchy {
            location: finite(params, "location")?,
            scale: positive(params, "scale")?,
        }))
    },
};

#[derive(Debug)]
struct Cauchy {
    location: f64,
    scale: f64,
}

impl Distribution for Cauchy {
    fn sample(&self, rng: &mut Rng) -> f64 {
        // The pole of the tangent is no double, so every sample is finite.
        self.location + self.scale * (PI * (rng.unit() - 0.5)).tan()
    }
    fn mean(&self) -> Option<f64> {
        None
    }
    fn variance(&self) -> Option<f64> {
        None
    }
    fn cdf(&self, x: f64) -> f64 {
        // By the two-argument form, for full precision in the lower tail.
        FRAC_1_PI * self.scale.atan2(self.location - x)
    }
}
