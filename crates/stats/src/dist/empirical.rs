//! Empirical: any distribution, from the points of its measured cumulative distribution.
//!
//! # What it does
//! `values` and `probabilities` are the corners of a piecewise linear F(x): between two points all
//! values are equally likely. A repeated value is a jump, a repeated probability a gap; a first
//! probability above 0 is a jump at the first value. A sample is F⁻¹(u). `preset` names a published
//! flow-size distribution, in bytes:
//!
//! - `web-search`: query, short-message and background flows of a search cluster; mean 1.7 MB.
//! - `data-mining`: flows of a cluster for data mining; most have one packet, few carry nearly all
//!   bytes; mean 7.7 MB.
//!
//! Both are points read off the curves of the papers' figures, as later work uses them. The two
//! readings of the data-mining curve in use differ at 100 MB (98 % and 99 % of the flows are
//! smaller); this is the second, pFabric's.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "10 ms"
//! [[workload]]
//! kind = "poisson"
//! variant = "cubic"
//! load = "30 %"
//! size = { distribution = "empirical", preset = "web-search" }
//! ```
//!
//! # Parameters
//! `preset`, or `values` and `probabilities`.
//!
//! # References
//! Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, figure 4; Greenberg et al., "VL2: A
//! Scalable and Flexible Data Center Network", SIGCOMM 2009, figure 2; Alizadeh et al., "pFabric:
//! Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013, figure 4; ns-3,
//! EmpiricalRandomVariable.

use super::{Distribution, Entry};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;

/// The empirical distribution in the table of distributions.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "empirical",
        aliases: &[],
        summary: "any distribution, from points of its CDF or a published preset",
        references: &[
            "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4",
            "Greenberg et al., VL2: A Scalable and Flexible Data Center Network, SIGCOMM 2009, \
             figure 2",
            "Alizadeh et al., pFabric: Minimal Near-Optimal Datacenter Transport, SIGCOMM 2013, \
             figure 4",
            "ns-3, EmpiricalRandomVariable",
        ],
        params: &[
            Param {
                name: "preset",
                kind: Kind::Choice(&["none", "web-search", "data-mining"]),
                default: "none",
                unit: "",
                help: "a published distribution of flow sizes in bytes, instead of the lists",
            },
            Param {
                name: "values",
                kind: Kind::Floats,
                default: UNIT_STEP,
                unit: "",
                help: "the values at the corners of the CDF, rising",
            },
            Param {
                name: "probabilities",
                kind: Kind::Floats,
                default: UNIT_STEP,
                unit: "",
                help: "the CDF at these values, rising to 1",
            },
        ],
    },
    build,
};

/// The default of both lists: uniform between 0 and 1.
const UNIT_STEP: &str = "0, 1";

/// Flow size in bytes and the fraction of flows of at most this size.
const WEB_SEARCH: &[(f64, f64)] = &[
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];

/// Flow size in bytes and the fraction of flows of at most this size.
const DATA_MINING: &[(f64, f64)] = &[
    (0.0, 0.0),
    (180.0, 0.1),
    (216.0, 0.2),
    (560.0, 0.3),
    (900.0, 0.4),
    (1100.0, 0.5),
    (1870.0, 0.6),
    (3160.0, 0.7),
    (10e3, 0.8),
    (400e3, 0.9),
    (3.16e6, 0.95),
    (100e6, 0.99),
    (1e9, 1.0),
];

#[derive(Debug)]
struct Empirical {
    /// Corners (value, probability), both rising; the first probability is 0, the last 1.
    points: Vec<(f64, f64)>,
}

fn build(params: &Params) -> Result<Box<dyn Distribution>, String> {
    let (values, probabilities) = (params.floats("values"), params.floats("probabilities"));
    let points = match params.text("preset") {
        "none" => points(values, probabilities)?,
        preset if values != [0.0, 1.0] || probabilities != [0.0, 1.0] => {
            return Err(format!(
                "`preset = \"{preset}\"` takes the place of `values` and `probabilities`; leave \
                 one out"
            ));
        }
        "web-search" => WEB_SEARCH.to_vec(),
        _ => DATA_MINING.to_vec(),
    };
    Ok(Box::new(Empirical { points }))
}

/// The corners, or what is wrong with the lists.
fn points(values: &[f64], probabilities: &[f64]) -> Result<Vec<(f64, f64)>, String> {
    if values.len() != probabilities.len() {
        return Err(format!(
            "`values` has {} numbers and `probabilities` {}; each value needs one probability",
            values.len(),
            probabilities.len()
        ));
    }
    if let Some(value) = values.iter().find(|value| !value.is_finite()) {
        return Err(format!("`values` must be finite, not {value}"));
    }
    for (list, name) in [(values, "values"), (probabilities, "probabilities")] {
        let falls = list.windows(2).find(|pair| pair[0] > pair[1]);
        if let Some(&[a, b]) = falls {
            return Err(format!("`{name}` must rise, but {b} follows {a}"));
        }
    }
    let (Some(&value), Some(&low), Some(&high)) =
        (values.first(), probabilities.first(), probabilities.last())
    else {
        return Err("`values` is empty".to_owned());
    };
    // Also refuses not-a-number, which the test for rising lets pass.
    if probabilities.iter().any(|p| !(0.0..=1.0).contains(p)) || high != 1.0 {
        return Err(format!(
            "`probabilities` must lie between 0 and 1 and end with 1, not {high}"
        ));
    }
    let jump = (low > 0.0).then_some((value, 0.0));
    let given = values.iter().copied().zip(probabilities.iter().copied());
    Ok(jump.into_iter().chain(given).collect())
}

impl Empirical {
    /// E[f(x)], where `f` gives the mean of the function over a segment from its two ends.
    fn average(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        self.points
            .windows(2)
            .map(|pair| (pair[1].1 - pair[0].1) * f(pair[0].0, pair[1].0))
            .sum()
    }
}

impl Distribution for Empirical {
    fn sample(&self, rng: &mut Rng) -> f64 {
        let u = rng.unit();
        // The last probability is 1 and the first 0, so there is a segment that holds u.
        let next = self.points.partition_point(|(_, p)| *p <= u);
        let ((a, pa), (b, pb)) = (self.points[next - 1], self.points[next]);
        a + (b - a) * (u - pa) / (pb - pa)
    }
    fn mean(&self) -> Option<f64> {
        Some(self.average(f64::midpoint))
    }
    fn variance(&self) -> Option<f64> {
        let mean = self.average(f64::midpoint);
        // About the mean, so that nothing cancels.
        Some(self.average(|a, b| {
            let (a, b) = (a - mean, b - mean);
            (a * a + a * b + b * b) / 3.0
        }))
    }
    fn cdf(&self, x: f64) -> f64 {
        let next = self.points.partition_point(|(value, _)| *value <= x);
        match (next.checked_sub(1), self.points.get(next)) {
            (None, _) => 0.0,
            (_, None) => 1.0,
            (Some(previous), Some((b, pb))) => {
                let (a, pa) = self.points[previous];
                pa + (pb - pa) * (x - a) / (b - a)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::ALL;
    use trammel_core::entry::Value;

    fn build(values: &[f64], probabilities: &[f64]) -> Result<Box<dyn Distribution>, String> {
        let given = [
            ("values".to_owned(), Value::Floats(values.to_vec())),
            (
                "probabilities".to_owned(),
                Value::Floats(probabilities.to_vec()),
            ),
        ];
        (ENTRY.build)(&Params::resolve(&ENTRY.about, &given).unwrap())
    }

    #[test]
    fn knows_jumps_and_gaps() {
        // A third at 1, nothing up to 3, a sixth between 3 and 5, half at 5.
        let law = build(&[1.0, 3.0, 5.0, 5.0], &[1.0 / 3.0, 1.0 / 3.0, 0.5, 1.0]).unwrap();
        assert_eq!(law.cdf(0.999), 0.0);
        assert_eq!(law.cdf(1.0), 1.0 / 3.0);
        assert_eq!(law.cdf(2.0), 1.0 / 3.0);
        assert!((law.cdf(4.0) - 5.0 / 12.0).abs() < 1e-15);
        assert_eq!(law.cdf(5.0), 1.0);
        assert!((law.mean().unwrap() - 3.5).abs() < 1e-12);
        let mut rng = Rng::new(1, "gaps");
        for _ in 0..1000 {
            let x = law.sample(&mut rng);
            assert!(x == 1.0 || (3.0..=5.0).contains(&x), "{x}");
        }
    }

    #[test]
    fn a_single_point_is_a_constant() {
        let law = build(&[7.0], &[1.0]).unwrap();
        assert_eq!(law.sample(&mut Rng::new(1, "point")), 7.0);
        assert_eq!((law.mean(), law.variance()), (Some(7.0), Some(0.0)));
    }

    #[test]
    fn says_what_is_wrong_with_the_lists() {
        let error =
            |values: &[f64], probabilities: &[f64]| build(values, probabilities).unwrap_err();
        assert_eq!(
            error(&[1.0, 2.0], &[1.0]),
            "`values` has 2 numbers and `probabilities` 1; each value needs one probability"
        );
        assert_eq!(
            error(&[2.0, 1.0], &[0.0, 1.0]),
            "`values` must rise, but 1 follows 2"
        );
        assert_eq!(
            error(&[1.0, 2.0], &[0.0, 0.9]),
            "`probabilities` must lie between 0 and 1 and end with 1, not 0.9"
        );
        assert!(error(&[1.0, 2.0, 3.0], &[0.0, f64::NAN, 1.0]).contains("between 0 and 1"));
        assert!(error(&[f64::NAN], &[1.0]).contains("finite"));
        assert_eq!(error(&[], &[]), "`values` is empty");
    }

    #[test]
    fn a_preset_and_lists_exclude_each_other() {
        let entry = ALL.iter().find(|entry| entry.about.name == "empirical");
        let given = [
            ("preset".to_owned(), Value::Text("web-search".to_owned())),
            ("values".to_owned(), Value::Floats(vec![0.0, 2.0])),
        ];
        let params = Params::resolve(&entry.unwrap().about, &given).unwrap();
        assert!(super::build(&params).unwrap_err().contains("leave one out"));
    }

    #[test]
    fn presets_have_the_means_that_their_points_imply() {
        for (preset, mean_bytes) in [("web-search", 1_711_250.0), ("data-mining", 7_674_000.0)] {
            let given = [("preset".to_owned(), Value::Text(preset.to_owned()))];
            let law = super::build(&Params::resolve(&ENTRY.about, &given).unwrap()).unwrap();
            let error = law.mean().unwrap() / mean_bytes - 1.0;
            assert!(error.abs() < 1e-3, "{preset}: {:?}", law.mean());
        }
    }
}
