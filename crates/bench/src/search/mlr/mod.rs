//! Multiple Loss Ratio search (MLRsearch, RFC 9971): the bounds of several goals in one search.
//!
//! Trials are far shorter than a goal's final duration as long as they can be. Each goal is reached
//! over *stages*: goals like it with shorter trials, the last of them the goal itself. A stage
//! begins where the losses seen so far say that its trials pass as often as not (`crossing`), else
//! with the bounds of the stage before (`select`), and a trial counts for all goals. Where the
//! exceed ratio is 0, a short trial that lost too much makes an upper bound for good, so that only
//! lower bounds need final trials.
//!
//! Of the trials that the goals wish for, the shortest is made, and of these the one at the
//! smallest load: an upper bound found late must not refute a lower one found dearly (§5.3.4 of the
//! RFC).
//!
//! | RFC 9971 | here |
//! | --- | --- |
//! | Controller Input: Search Goals, Min Load, Max Load | [`MultipleLossRatio`] |
//! | Measurer: Trial Input, Trial Output | [`Trial`], [`Load`], [`TrialOutcome`] |
//! | Load Classification (appendix A), Conditional Throughput (B) | [`classify`] |
//! | Controller Output: Search Result, Goal Results | [`Output`], [`GoalResult`] |
//!
//! [`Load`]: crate::trial::Load
//! [`TrialOutcome`]: crate::trial::TrialOutcome
//!
//! Konstantynowicz and Polák, "Multiple Loss Ratio Search", RFC 9971, 2026.

pub mod classify;
mod controller;
mod crossing;
pub mod goal;
mod record;
mod select;

use super::{Error, check, least, most, share};
use crate::trial::Trial;
use crate::validity::{Tried, Validity};
use controller::Controller;
use goal::Goal;

/// What to search for, and where: the Controller Input.
#[derive(Clone, Debug, PartialEq)]
pub struct MultipleLossRatio {
    /// What is searched for, all at once; one at least.
    pub goals: Vec<Goal>,
    /// Min Load, in frames a second; above 0.
    pub least: f64,
    /// Max Load, not below the least: what the line carries.
    pub most: f64,
    /// After so many trials the search ends, whatever was found: a device whose trials contradict
    /// each other can keep any search busy.
    pub most_trials: usize,
    /// Which trials count.
    pub validity: Validity,
}

/// Why a goal has no regular result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// The most load is a lower bound.
    PassedAtMost,
    /// The least load is an upper bound.
    FailedAtLeast,
    /// What is above the lower bound, the tester could not offer.
    Tester,
    /// The search ended at its number of trials.
    GaveUp,
}

/// What was found for one goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoalResult {
    /// The goal.
    pub goal: Goal,
    /// Why the result is not regular; none where it is.
    pub irregular: Option<Irregular>,
    /// The Relevant Lower Bound, frames a second. Where there is no upper bound it is only the
    /// largest lower one.
    pub lower: Option<f64>,
    /// The Relevant Upper Bound, frames a second.
    pub upper: Option<f64>,
    /// The Conditional Throughput at the lower bound, frames a second.
    pub conditional_throughput: Option<f64>,
}

/// What a search returns: the Controller Output.
#[derive(Clone, Debug)]
pub struct Output {
    /// The Search Result: one result for each goal, in their order.
    pub results: Vec<GoalResult>,
    /// All trials, in their order.
    pub trials: Vec<Tried>,
}

impl MultipleLossRatio {
    /// `goals` between `least` and `most` frames a second, in at most a thousand trials.
    pub fn new(goals: Vec<Goal>, least: f64, most: f64) -> MultipleLossRatio {
        MultipleLossRatio {
            goals,
            least,
            most,
            most_trials: 1000,
            validity: Validity::default(),
        }
    }

    /// Searches.
    pub fn search(&self, device: &mut dyn Trial) -> Result<Output, Error> {
        let goals = self.goals.len() as f64;
        let rules = [
            ("goals", goals, goals > 0.0, "at least 1"),
            least(self.least),
            most(self.most, self.least),
            share("tolerance", self.validity.tolerance),
        ];
        check(goal::NAME, &rules)?;
        self.goals.iter().try_for_each(Goal::check)?;
        Controller::new(self, device).run()
    }
}

#[cfg(test)]
mod tests;
