//! Zipf: ranks 1 … n, the k-th as likely as 1 / kˢ; popularity of flows, prefixes and contents.
//!
//! # What it does
//! P(k) = k⁻ˢ / H(n, s) with the generalised harmonic number H(n, s) = Σ k⁻ˢ over 1 … n. Exponent 0
//! is uniform. Sampling is by rejection from the continuous law and needs no table, so `n` may be
//! huge. H is summed term by term at the head and by the Euler–Maclaurin formula behind it.
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
//! size = { distribution = "zipf", n = 1400, exponent = 0.5 }
//! ```
//!
//! # Parameters
//! `n`, `exponent`.
//!
//! # References
//! Breslau et al., "Web Caching and Zipf-like Distributions", 1999; ns-3, ZipfRandomVariable (N,
//! Alpha); NIST Digital Library of Mathematical Functions §2.10(i) for the sum.

use super::{Distribution, Entry, finite};
use rand_distr::Distribution as _;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The Zipf distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "zipf",
        aliases: &[],
        summary: "ranks whose popularity falls as a power",
        references: &[
            "Breslau et al., Web Caching and Zipf-like Distributions, 1999",
            "ns-3, ZipfRandomVariable",
        ],
        params: &[
            Param {
                name: "n",
                kind: Kind::Int(1, 1_000_000_000_000),
                default: "1000",
                unit: "",
                help: "the number of ranks",
            },
            Param {
                name: "exponent",
                kind: Kind::Float(0.0, 20.0),
                default: "1",
                unit: "",
                help: "how steeply popularity falls; 0 is uniform",
            },
        ],
    },
    build: |params| {
        let n = params.int("n") as f64;
        let mut exponent = finite(params, "exponent")?;
        // The sampler divides by 1 − s, which leaves no digits so near to 1.
        if (exponent - 1.0).abs() < 1e-9 {
            exponent = 1.0;
        }
        let sampler = rand_distr::Zipf::new(n, exponent).map_err(|error| error.to_string())?;
        Ok(Box::new(Zipf {
            n,
            exponent,
            sum: harmonic(n, exponent),
            sampler,
        }))
    },
};

#[derive(Debug)]
struct Zipf {
    n: f64,
    exponent: f64,
    /// H(n, exponent).
    sum: f64,
    sampler: rand_distr::Zipf<f64>,
}

impl Distribution for Zipf {
    fn sample(&self, rng: &mut Rng) -> f64 {
        // Rounding at the upper end of the continuous law may give n + 1.
        self.sampler.sample(rng).min(self.n)
    }
    fn mean(&self) -> Option<f64> {
        Some(harmonic(self.n, self.exponent - 1.0) / self.sum)
    }
    fn variance(&self) -> Option<f64> {
        let mean = harmonic(self.n, self.exponent - 1.0) / self.sum;
        let square = harmonic(self.n, self.exponent - 2.0) / self.sum;
        Some((square - mean * mean).max(0.0))
    }
    fn cdf(&self, x: f64) -> f64 {
        let rank = x.floor().min(self.n);
        if rank < 1.0 {
            0.0
        } else {
            harmonic(rank, self.exponent) / self.sum
        }
    }
}

/// Σ k⁻ˢ over k = 1 … n, for whole n of at least 1 and s ≥ −2, to about 11 digits.
fn harmonic(n: f64, s: f64) -> f64 {
    // Behind 32 terms the first term left out of the series is below 10⁻¹¹ of the sum for any s.
    const HEAD: f64 = 32.0;
    let term = |k: f64| k.powf(-s);
    let head: f64 = (1..=n.min(HEAD) as u32).map(|k| term(f64::from(k))).sum();
    if n <= HEAD {
        return head;
    }
    // ∫ x⁻ˢ dx = HEAD^(1 − s) · (e^((1 − s) · ln(n / HEAD)) − 1) / (1 − s), a logarithm at s = 1.
    let (power, span) = (1.0 - s, (n / HEAD).ln());
    let integral = if power.abs() * span < 1e-12 {
        span
    } else {
        HEAD.powf(power) * (power * span).exp_m1() / power
    };
    let first = -s * (n.powf(-s - 1.0) - HEAD.powf(-s - 1.0)) / 12.0;
    let third = -s * (s + 1.0) * (s + 2.0) * (n.powf(-s - 3.0) - HEAD.powf(-s - 3.0)) / 720.0;
    head + integral + (term(n) - term(HEAD)) / 2.0 + first - third
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_as_the_definition_does() {
        for s in [-2.0, -1.0, 0.0, 0.5, 1.0 - 1e-7, 1.0, 1.5, 5.0, 20.0] {
            for n in [1_u32, 31, 32, 33, 1000, 100_000] {
                // From the small end, to keep the rounding errors small.
                let terms: Vec<f64> = (1..=n).map(|k| f64::from(k).powf(-s)).collect();
                let exact: f64 = terms.iter().rev().sum();
                let error = harmonic(f64::from(n), s) / exact - 1.0;
                assert!(error.abs() < 1e-11, "H({n}, {s}) is off by {error:e}");
            }
        }
    }
}
