//! How the throughput of a device is searched: one goal, by any of the searches.
//!
//! | search | takes | finds |
//! | --- | --- | --- |
//! | `binary` | trials of `duration`, then of `final_duration` | both ends of an interval of `width` |
//! | `mlr` | trials of a second, then of `final_duration` | the same, in a third of the time |
//! | `incremental` | trials of `final_duration`, one for each `step` | the first loss |

use super::binary::Binary;
use super::incremental::Incremental;
use super::mlr::goal::Goal;
use super::mlr::{GoalResult, Irregular, MultipleLossRatio};
use super::{Error, Found, Verdict, repeated};
use crate::trial::{Load, Trial};
use crate::validity::{Mismatch, Validity};
use trammel_core::entry::Params;
use trammel_core::time::Span;

/// The names of the searches, in the order of [`By`].
pub const SEARCHES: &[&str] = &["binary", "mlr", "incremental"];

/// What a trial that fell short is taken for: the names of [`Mismatch`].
pub(crate) const MISMATCHES: &[&str] = &["invalid", "loss"];

/// By which search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// [`Binary`].
    Binary,
    /// [`MultipleLossRatio`].
    Mlr,
    /// [`Incremental`].
    Incremental,
}

/// The settings of the test `throughput`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// By which search.
    pub by: By,
    /// The share of frames that may be lost.
    pub loss_ratio: f64,
    /// The width of the interval that is found, as a share of its upper end.
    pub width: f64,
    /// How long the trials of a binary search are.
    pub duration: Span,
    /// How long the trials are that decide.
    pub final_duration: Span,
    /// The least load that is tried, as a share of the line's.
    pub least: f64,
    /// By how much an incremental search raises the load, as a share of the line's.
    pub step: f64,
    /// By what share a trial may fall short of its load.
    pub tolerance: f64,
    /// How often a trial that fell short is repeated.
    pub repeats: u32,
    /// How often one is that lost no more than the tester may be to blame for.
    pub doubts: u32,
    /// How often a trial that lost is made again before its load is one that loses.
    pub verifications: u32,
    /// How often the whole search is made, of a device that does not the same each time.
    pub searches: u32,
    /// What it is taken for after that.
    pub mismatch: Mismatch,
    /// For how long the most load is offered before the first trial; none where it is 0.
    pub ramp_up: Span,
}

impl Search {
    /// As the settings of the test `throughput` say.
    pub fn of(params: &Params) -> Search {
        Search {
            by: match params.text("search") {
                "mlr" => By::Mlr,
                "incremental" => By::Incremental,
                _ => By::Binary,
            },
            loss_ratio: params.float("loss_ratio"),
            width: params.float("width"),
            duration: params.time("duration"),
            final_duration: params.time("final_duration"),
            least: params.float("least"),
            step: params.float("step"),
            tolerance: params.float("tolerance"),
            repeats: params.int("repeats") as u32,
            doubts: params.int("doubts") as u32,
            verifications: params.int("verifications") as u32,
            searches: params.int("searches") as u32,
            mismatch: match params.text("mismatch") {
                "loss" => Mismatch::Loss,
                _ => Mismatch::Invalid,
            },
            ramp_up: params.time("ramp_up"),
        }
    }

    /// Zero loss to half a percent of the line by a binary search with trials of `duration`.
    pub fn binary(duration: Span) -> Search {
        let validity = Validity::default();
        Search {
            by: By::Binary,
            loss_ratio: 0.0,
            width: 0.005,
            duration,
            final_duration: duration,
            least: 0.001,
            step: 0.01,
            tolerance: validity.tolerance,
            repeats: validity.repeats,
            doubts: validity.doubts,
            verifications: validity.verifications,
            searches: 1,
            mismatch: validity.mismatch,
            ramp_up: Span::ZERO,
        }
    }

    /// Which trials count where at most `most` frames a second are offered.
    pub fn validity(&self, most: f64) -> Validity {
        Validity {
            tolerance: self.tolerance,
            repeats: self.repeats,
            doubts: self.doubts,
            // Where some may be lost, one that lost says nothing yet.
            verifications: if self.loss_ratio == 0.0 {
                self.verifications
            } else {
                0
            },
            mismatch: self.mismatch,
            ramp_up: Load::new(most, self.ramp_up),
        }
    }

    /// Searches up to `most` frames a second, on a line that carries `line_fps`, as often as it
    /// should.
    pub fn run_all(
        &self,
        line_fps: f64,
        most: f64,
        device: &mut dyn Trial,
    ) -> Result<Found, Error> {
        let searches = (0..self.searches.max(1)).map(|_| self.run(line_fps, most, device));
        let searches = searches.collect::<Result<Vec<Found>, Error>>()?;
        Ok(repeated::together(&searches, self.width).expect("it was searched once at least"))
    }

    /// Searches once.
    pub fn run(&self, line_fps: f64, most: f64, device: &mut dyn Trial) -> Result<Found, Error> {
        let validity = self.validity(most);
        let least = (line_fps * self.least).min(most);
        match self.by {
            By::Binary => Binary {
                loss_goal: self.loss_ratio,
                width: self.width,
                final_duration: Some(self.final_duration),
                validity,
                ..Binary::new(least, most, self.duration)
            }
            .search(device),
            By::Incremental => Incremental {
                step: line_fps * self.step,
                loss_goal: self.loss_ratio,
                validity,
                ..Incremental::new(least, most, self.final_duration)
            }
            .search(device),
            By::Mlr => {
                let goal = Goal {
                    width: self.width,
                    ..Goal::single(self.loss_ratio, self.final_duration)
                };
                let search = MultipleLossRatio {
                    validity,
                    ..MultipleLossRatio::new(vec![goal], least, most)
                };
                let output = search.search(device)?;
                let [result] = output.results[..] else {
                    unreachable!("a result for each goal");
                };
                Ok(Found {
                    verdict: verdict(&result),
                    lower: result.lower,
                    upper: result.upper,
                    each: vec![result.lower],
                    trials: output.trials,
                })
            }
        }
    }
}

/// How the search for a goal ended.
pub fn verdict(of: &GoalResult) -> Verdict {
    match of.irregular {
        None => Verdict::Between,
        Some(Irregular::PassedAtMost) => Verdict::PassedAtMost,
        Some(Irregular::FailedAtLeast) => Verdict::FailedAtLeast,
        Some(Irregular::Tester) => Verdict::Tester,
        Some(Irregular::GaveUp) => Verdict::GaveUp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Failure, TrialOutcome};
    use crate::validity::Standing;
    use proptest::prelude::*;

    fn of_capacity(capacity: f64, most: f64) -> impl FnMut(Load) -> Result<TrialOutcome, Failure> {
        move |load| {
            let seconds = load.duration().as_secs_f64();
            let offered = load.frames().min(most * seconds) as u64;
            Ok(TrialOutcome {
                offered,
                forwarded: offered.min((capacity * seconds) as u64),
                effective: load.duration(),
                bunched: 0,
                latency: None,
            })
        }
    }

    fn search(by: By) -> Search {
        Search {
            by,
            ..Search::binary(Span::from_secs(10))
        }
    }

    const ALL: [By; 3] = [By::Binary, By::Mlr, By::Incremental];

    proptest! {
        #[test]
        fn all_searches_find_the_same_capacity(capacity in 2e4..9e5_f64) {
            for by in ALL {
                let found = search(by).run(1e6, 1e6, &mut of_capacity(capacity, 1e9)).unwrap();
                let width = if by == By::Incremental {
                    0.01 * 1e6
                } else {
                    0.005 * capacity * 1.01
                };
                let (lower, upper) = (found.lower.unwrap(), found.upper.unwrap());
                prop_assert!(
                    lower <= capacity + 1.0 && capacity <= upper + 1.0, "{:?} {} {}", by, lower,
                    upper
                );
                prop_assert!(upper - lower <= width * 1.001, "{:?} {} {}", by, lower, upper);
                prop_assert_eq!(found.verdict, Verdict::Between);
                prop_assert!(found.at_lower().is_some());
            }
        }
    }

    #[test]
    fn the_ends_of_the_line_and_of_the_tester_are_told_by_all() {
        for by in ALL {
            let ends = |capacity, most| {
                let found = search(by).run(1e6, 1e6, &mut of_capacity(capacity, most));
                found.unwrap().verdict
            };
            assert_eq!(ends(1e9, 1e9), Verdict::PassedAtMost, "{by:?}");
            assert_eq!(ends(0.0, 1e9), Verdict::FailedAtLeast, "{by:?}");
            assert_eq!(ends(1e9, 5e5), Verdict::Tester, "{by:?}");
        }
    }

    #[test]
    fn a_ramp_up_and_a_mismatch_that_is_loss_reach_all_searches() {
        for by in ALL {
            let ramped = Search {
                ramp_up: Span::from_secs(3),
                mismatch: Mismatch::Loss,
                ..search(by)
            };
            let found = ramped.run(1e6, 1e6, &mut of_capacity(1e9, 5e5)).unwrap();
            assert_eq!(found.verdict, Verdict::Between, "{by:?}");
            let first = &found.trials[0];
            assert_eq!(first.standing, Standing::RampUp, "{by:?}");
            assert_eq!(first.load, Load::new(1e6, Span::from_secs(3)).unwrap());
        }
    }
}
