//! What makes packets: laws of gaps and sizes, bursts, modulated and self-similar processes, files and captures.
//!
//! All of them are deterministic: one seed, one plan. When packets leave and how long they are draw from streams
//! of chance of their own, so that other sizes leave the times where they are.

pub mod capture;
pub mod file;
pub mod laws;
pub mod modulated;
pub mod on_off;
pub mod self_similar;
pub mod sizes;
pub mod transfers;

use crate::stream::{Departure, Plan};
use sizes::Sizes;
use std::path::PathBuf;
use trammel_core::dist::{self, Distribution};
use trammel_core::entry::{Params, Value};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// Why a source cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its numbers contradict one another or are out of range.
    #[error("{0}")]
    Invalid(String),
    /// A file cannot be read.
    #[error("`{}`: {error}; check the path and the rights", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A line of a file is not a number that can be used.
    #[error("`{}`, line {line}: `{text}` is {what}; write one number a line", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What stands there, shortened.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// A capture cannot be read.
    #[error("`{}`: {error}; repair the capture or cut it off there", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// Where the trouble is and what it is.
        error: trammel_packet::capture::Error,
    },
    /// A file has nothing to send.
    #[error("`{}` {what}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is missing, and what to do.
        what: String,
    },
}

/// The distribution `name` with some of its numbers given, or what is wrong with them.
pub fn law(name: &str, given: &[(&str, f64)]) -> Result<Box<dyn Distribution>, String> {
    let entry = dist::FAMILY.get(name).map_err(|error| error.to_string())?;
    let given: Vec<_> = given
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::Float(*value)))
        .collect();
    let params = Params::resolve(&entry.about, &given).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        errors.join("; ")
    })?;
    (entry.build)(&params)
}

/// The distribution whose cumulative probabilities are the `corners`, (value, probability) each: see
/// [`dist::empirical`].
pub fn empirical(corners: &[(f64, f64)]) -> Result<Box<dyn Distribution>, String> {
    let (values, probabilities) = corners.iter().copied().unzip();
    let given = [
        ("values".to_owned(), Value::Floats(values)),
        ("probabilities".to_owned(), Value::Floats(probabilities)),
    ];
    let entry = &dist::empirical::ENTRY;
    let params = Params::resolve(&entry.about, &given).expect("both are lists");
    (entry.build)(&params)
}

/// The distribution of `weighted` values, (value, weight) each, the values rising and the weights above 0.
pub fn discrete(weighted: &[(f64, f64)]) -> Result<Box<dyn Distribution>, String> {
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let mut corners = Vec::new();
    let mut below = 0.0;
    for (value, weight) in weighted {
        corners.push((*value, below / total));
        below += weight;
        corners.push((*value, below / total));
    }
    if let Some((_, probability)) = corners.last_mut() {
        // The sum of parts is 1 but for rounding.
        *probability = 1.0;
    }
    empirical(&corners)
}

/// Packets at `times`, of `sizes`.
fn packets(times: impl Iterator<Item = Time> + Send + 'static, sizes: Sizes, seed: u64) -> Plan {
    let mut rng = Rng::new(seed, "sizes");
    Box::new(times.map(move |at| Departure {
        at,
        bytes: sizes.draw(&mut rng),
    }))
}
