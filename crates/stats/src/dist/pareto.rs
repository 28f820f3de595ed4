//! Pareto: a power-law tail; flow sizes and burst lengths that make traffic self-similar.
//!
//! # What it does
//! F(x) = 1 − (`scale` / x)^`shape` for x ≥ `scale`. The mean is infinite for `shape` ≤ 1, the
//! variance for `shape` ≤ 2. On–off sources whose periods have 1 < `shape` < 2 add up to
//! self-similar traffic with Hurst parameter (3 − `shape`) / 2. A `bound` truncates: F(x) /
//! F(`bound`) up to it, and all moments exist.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! gap = { distribution = "pareto", shape = 1.5, scale = "1 ms", bound = "1 s" }
//! size = 500
//! ```
//!
//! # Parameters
//! `shape` (1.5 as in ns-2), `scale` (the smallest value), `bound` (0: none).
//!
//! # References
//! Taqqu, Willinger and Sherman, "Proof of a Fundamental Result in Self-Similar Traffic Modeling",
//! 1997; ns-3, ParetoRandomVariable, with the same three parameters; D-ITG, `-V` and `-v`.

use super::{Distribution, Entry, finite, positive};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;

/// The Pareto distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "pareto",
        aliases: &[],
        summary: "a power-law tail, truncated on request",
        references: &[
            "Taqqu, Willinger and Sherman, Proof of a Fundamental Result in Self-Similar Traffic \
             Modeling, 1997",
            "ns-3, ParetoRandomVariable",
        ],
        params: &[
            Param {
                name: "shape",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "1.5",
                unit: "",
                help: "the exponent of the tail, above 0; smaller is heavier",
            },
            Param {
                name: "scale",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "1",
                unit: "",
                help: "the smallest value, above 0",
            },
            Param {
                name: "bound",
                kind: Kind::Float(0.0, f64::INFINITY),
                default: "0",
                unit: "",
                help: "the largest value; 0 for none",
            },
        ],
    },
    build: |params| {
        let (shape, scale) = (positive(params, "shape")?, positive(params, "scale")?);
        let bound = match finite(params, "bound")? {
            0.0 => f64::INFINITY,
            bound if bound > scale => bound,
            bound => {
                return Err(format!(
                    "`bound` is {bound}, but the smallest value, `scale`, is {scale}"
                ));
            }
        };
        Ok(Box::new(Pareto {
            shape,
            scale,
            bound,
            mass: -(shape * (scale / bound).ln()).exp_m1(),
        }))
    },
};

#[derive(Debug)]
struct Pareto {
    shape: f64,
    scale: f64,
    /// Infinite without truncation.
    bound: f64,
    /// The probability below `bound` before truncation.
    mass: f64,
}

impl Pareto {
    /// E[xᵏ]: the integral of shape · scaleˢ · x^(k − shape − 1) from `scale` to `bound`, over
    /// `mass`.
    fn moment(&self, k: f64) -> Option<f64> {
        let Pareto {
            shape,
            scale,
            bound,
            mass,
        } = *self;
        if bound.is_infinite() {
            return (shape > k).then(|| shape * scale.powf(k) / (shape - k));
        }
        let span = (bound / scale).ln();
        // (e^(a·span) − 1) / a, which tends to `span` as a tends to 0.
        let a = k - shape;
        let integral = if a.abs() * span < 1e-9 {
            span
        } else {
            (a * span).exp_m1() / a
        };
        Some(shape * scale.powf(k) * integral / mass)
    }
}

impl Distribution for Pareto {
    fn sample(&self, rng: &mut Rng) -> f64 {
        // The tail beyond the sample, in (1 − mass, 1]. Very small shapes overflow.
        let tail = 1.0 - self.mass * rng.unit();
        (self.scale * tail.powf(-1.0 / self.shape)).min(self.bound.min(f64::MAX))
    }
    fn mean(&self) -> Option<f64> {
        self.moment(1.0)
    }
    fn variance(&self) -> Option<f64> {
        if self.bound.is_infinite() {
            // The closed form, as the difference of moments cancels for large shapes.
            let (a, s) = (self.shape, self.scale);
            return (a > 2.0).then(|| s * s * a / ((a - 1.0).powi(2) * (a - 2.0)));
        }
        Some((self.moment(2.0)? - self.moment(1.0)?.powi(2)).max(0.0))
    }
    fn cdf(&self, x: f64) -> f64 {
        if x <= self.scale {
            0.0
        } else if x >= self.bound {
            1.0
        } else {
            -(self.shape * (self.scale / x).ln()).exp_m1() / self.mass
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::dist::tests::build;

    #[test]
    fn moments_are_missing_where_they_are_infinite() {
        let moments = |shape: f64| {
            let law = build("pareto", &[("shape", shape)]).unwrap();
            (law.mean().is_some(), law.variance().is_some())
        };
        assert_eq!(moments(1.0), (false, false));
        assert_eq!(moments(2.0), (true, false));
        assert_eq!(moments(2.1), (true, true));
    }

    #[test]
    fn a_bound_gives_every_shape_its_moments() {
        // For shape 1 between 1 and e: density 1 / (mass · x²), mean 1 / mass, second moment (e
        // − 1) / mass.
        let bound = std::f64::consts::E;
        let mass = 1.0 - 1.0 / bound;
        let law = build("pareto", &[("shape", 1.0), ("bound", bound)]).unwrap();
        assert!((law.mean().unwrap() - 1.0 / mass).abs() < 1e-12);
        let variance = (bound - 1.0) / mass - 1.0 / (mass * mass);
        assert!((law.variance().unwrap() - variance).abs() < 1e-12);
        assert_eq!(law.cdf(bound), 1.0);
    }

    #[test]
    fn refuses_a_bound_below_the_smallest_value() {
        let error = build("pareto", &[("scale", 2.0), ("bound", 1.0)]).unwrap_err();
        assert_eq!(error, "`bound` is 1, but the smallest value, `scale`, is 2");
    }
}
