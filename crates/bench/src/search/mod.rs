//! Searches for the load that a device bears, and what they have in common: settings, results,
//! errors.
//!
//! | search | finds | asks for |
//! | --- | --- | --- |
//! | [`binary`] | the interval between a load that passes and one that fails | one loss goal |
//! | [`incremental`] | the first loss, in steps upwards | one loss goal |
//! | [`mlr`] | the intervals of several goals at once | RFC 9971's Search Goals |
//! | [`whole`] | the largest whole number that passes | a way to try one |
//! | [`throughput`] | a device's throughput | settings, which name one of the first three |
//!
//! A load *passes* where at most a goal's share of the frames is lost. Whether a trial says
//! something at all, [`crate::validity`] judges for all of them.

pub mod binary;
pub mod incremental;
pub mod mlr;
pub mod repeated;
pub mod throughput;
pub mod whole;

use crate::validity::{Broken, Standing, Tried};

/// Why nothing is searched, or the search did not end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings cannot be.
    #[error("{search}: `{name}` is {value}; it must be {must}")]
    Setting {
        /// Of which search.
        search: &'static str,
        /// Which.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// A trial could not be made.
    #[error(transparent)]
    Trial(#[from] Broken),
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Between the two ends.
    Between,
    /// The most load passed: the line is the limit, or what was asked for.
    PassedAtMost,
    /// The least load failed.
    FailedAtLeast,
    /// The upper end is what the tester could not offer.
    Tester,
    /// It made as many trials as it may: they contradict each other.
    GaveUp,
    /// Several searches found what cannot be one device's throughput.
    Unsteady,
}

/// What a search for one goal found.
#[derive(Clone, Debug)]
pub struct Found {
    /// How the search ended.
    pub verdict: Verdict,
    /// The highest load that passed below all that did not, in frames a second.
    pub lower: Option<f64>,
    /// The lowest that did not, where there is one.
    pub upper: Option<f64>,
    /// What each of several searches found, in their order: the highest load that passed.
    pub each: Vec<Option<f64>>,
    /// All trials, in their order.
    pub trials: Vec<Tried>,
}

impl Found {
    /// The trial that decided on the lower end.
    pub fn at_lower(&self) -> Option<&Tried> {
        let lower = self.lower?;
        let mut latest_first = self.trials.iter().rev();
        latest_first.find(|t| t.load.frames_per_second() == lower && t.standing == Standing::Valid)
    }
}

/// The ends of an interval of loads, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    lower: Option<f64>,
    upper: Option<f64>,
    /// The upper end is the tester's.
    is_testers: bool,
}

impl Ends {
    fn into_found(self, trials: Vec<Tried>) -> Found {
        let verdict = match (self.lower, self.upper) {
            (_, Some(_)) if self.is_testers => Verdict::Tester,
            (None, _) => Verdict::FailedAtLeast,
            (Some(_), None) => Verdict::PassedAtMost,
            (Some(_), Some(_)) => Verdict::Between,
        };
        Found {
            verdict,
            lower: self.lower,
            upper: self.upper,
            each: vec![self.lower],
            trials,
        }
    }

    /// Makes `rate` an end by what its trial says; whether it passed.
    fn place(&mut self, rate: f64, tried: &Tried, loss_goal: f64) -> bool {
        let passes = tried.passes(loss_goal);
        if passes == Some(true) {
            self.lower = Some(rate);
        } else {
            self.upper = Some(rate);
            self.is_testers = passes.is_none();
        }
        passes == Some(true)
    }
}

/// A setting: its name, its value, whether that can be, and what it must be.
type Rule = (&'static str, f64, bool, &'static str);

/// The first setting of `search` that cannot be.
fn check(search: &'static str, rules: &[Rule]) -> Result<(), Error> {
    match rules.iter().find(|rule| !rule.2) {
        Some(&(name, value, _, must)) => Err(Error::Setting {
            search,
            name,
            value,
            must,
        }),
        None => Ok(()),
    }
}

fn least(value: f64) -> Rule {
    let is_right = value > 0.0 && value.is_finite();
    ("least", value, is_right, "above 0 frames/s")
}

fn most(value: f64, least: f64) -> Rule {
    let is_right = value >= least && value.is_finite();
    ("most", value, is_right, "not below `least`")
}

/// A share that may be none but not all.
fn share(name: &'static str, value: f64) -> Rule {
    let is_right = (0.0..1.0).contains(&value);
    (name, value, is_right, "from 0 to below 1")
}

/// A width, as a share of the upper end of an interval.
fn width(value: f64) -> Rule {
    let is_right = value > 0.0 && value < 1.0;
    ("width", value, is_right, "above 0 and below 1")
}

/// A time, above 0.
fn time(name: &'static str, value: trammel_core::time::Span) -> Rule {
    let seconds = value.as_secs_f64();
    (name, seconds, seconds > 0.0, "above 0 s")
}
