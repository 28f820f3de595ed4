//! Constant: always the same value.
//!
//! # What it does
//! Every sample is `value`. The cumulative distribution is a step there.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! rate = 500
//! size = { distribution = "constant", value = 500 }
//! ```
//!
//! # Parameters
//! `value`.
//!
//! # References
//! ns-3, ConstantRandomVariable; D-ITG, `-C` and `-c`.

use super::{Distribution, Entry, finite};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The constant in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "constant",
        aliases: &["deterministic"],
        summary: "always the same value",
        references: &["ns-3, ConstantRandomVariable"],
        params: &[Param {
            name: "value",
            kind: Kind::Float(f64::NEG_INFINITY, f64::INFINITY),
            default: "1",
            unit: "",
            help: "the value",
        }],
    },
    build: |params| Ok(Box::new(Constant::new(finite(params, "value")?))),
};

/// One value with probability one.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    value: f64,
}

impl Constant {
    /// Always `value`.
    pub fn new(value: f64) -> Constant {
        Constant { value }
    }
}

impl Distribution for Constant {
    fn sample(&self, _rng: &mut Rng) -> f64 {
        self.value
    }
    fn mean(&self) -> Option<f64> {
        Some(self.value)
    }
    fn variance(&self) -> Option<f64> {
        Some(0.0)
    }
    fn cdf(&self, x: f64) -> f64 {
        f64::from(u8::from(x >= self.value))
    }
}
