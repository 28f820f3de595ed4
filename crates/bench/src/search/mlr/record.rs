//! All trials of a search by their loads, and the bounds that follow from them.

use super::classify::{Class, TrialResult, classify};
use super::goal::Goal;

/// What was measured at one load.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// Frames a second.
    pub(super) load: f64,
    /// At least one.
    pub(super) trials: Vec<TrialResult>,
}

impl Measured {
    /// How long the trials were together.
    pub(super) fn seconds(&self) -> f64 {
        self.trials.iter().map(|t| t.duration.as_secs_f64()).sum()
    }

    /// The share of the frames of all of them that was lost.
    pub(super) fn loss_ratio(&self) -> f64 {
        let lost = self
            .trials
            .iter()
            .map(|t| t.loss_ratio * t.duration.as_secs_f64());
        lost.sum::<f64>() / self.seconds()
    }
}

/// The relevant bounds of a goal, frames a second, as far as there are any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    /// The largest lower bound that is smaller than every upper.
    pub(super) lower: Option<f64>,
    /// The smallest upper bound.
    pub(super) upper: Option<f64>,
}

/// Loads in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Record(Vec<Measured>);

impl Record {
    pub(super) fn add(&mut self, load: f64, trial: TrialResult) {
        match self.0.binary_search_by(|m| m.load.total_cmp(&load)) {
            Ok(at) => self.0[at].trials.push(trial),
            Err(at) => self.0.insert(
                at,
                Measured {
                    load,
                    trials: vec![trial],
                },
            ),
        }
    }

    /// The trials at a load, none where there were none.
    pub(super) fn at(&self, load: f64) -> &[TrialResult] {
        match self.0.binary_search_by(|m| m.load.total_cmp(&load)) {
            Ok(at) => &self.0[at].trials,
            Err(_) => &[],
        }
    }

    /// What was measured, in ascending order of the loads.
    pub(super) fn loads(&self) -> impl Iterator<Item = &Measured> {
        self.0.iter()
    }

    //= rfc9971 §4.8.1
    //# The Relevant Upper Bound is the smallest Trial Load value classified as an Upper Bound for a
    //# given Search Goal at the end of the Search.
    //= rfc9971 §4.8.2
    //# The Relevant Lower Bound is the largest Trial Load value among those smaller than the
    //# Relevant Upper Bound that got classified as a Lower Bound for a given Search Goal at the end
    //# of the search.
    pub(super) fn bounds(&self, goal: &Goal) -> Bounds {
        let mut bounds = Bounds::default();
        for measured in &self.0 {
            match classify(goal, &measured.trials) {
                Class::Lower => bounds.lower = Some(measured.load),
                Class::Upper => {
                    bounds.upper = Some(measured.load);
                    break;
                }
                Class::Undecided => {}
            }
        }
        bounds
    }
}
