//! A Search Goal of RFC 9971, and the coarser goals that lead to it.

use crate::search::{Error, check, share, time, width};
use trammel_core::time::Span;

/// The name in messages.
pub(super) const NAME: &str = "multiple loss ratio search";

/// The most by which durations grow from one stage to the next: trials of a second lead to those of
/// a minute at once. More stages make more trials, and a guess from the losses seen leads as far
/// (`crossing`).
const GROWTH: f64 = 64.0;

/// What is searched for.
//= rfc9971 §4.6.7
//# The required attributes are Goal Final Trial Duration, Goal Duration Sum, Goal Loss Ratio, and
//# Goal Exceed Ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The share of frames that a trial may lose, from 0 to below 1.
    pub loss_ratio: f64,
    /// The share of time that trials at a load may lose more, from 0 to below 1. With 0, one such
    /// trial of any length makes the load an upper bound.
    pub exceed_ratio: f64,
    /// How long a trial at a lower bound must be, above 0.
    pub final_duration: Span,
    /// How long all trials of that length at a load together are at most needed, above 0.
    pub duration_sum: Span,
    /// The shortest trials that lead to the final ones, above 0 and at most as long as those; none
    /// where all are final. A second for the presets, which the RFC's reference implementation
    /// takes too.
    pub initial_duration: Option<Span>,
    /// How far apart the bounds may be, as a share of the upper; above 0 and below 1, and not below
    /// the loss ratio where results of several goals are to be in order (§5.6.2 of the RFC).
    pub width: f64,
}

impl Goal {
    /// At most the share `loss_ratio` lost in one trial of `duration`, to half a percent.
    pub fn single(loss_ratio: f64, duration: Span) -> Goal {
        Goal {
            loss_ratio,
            exceed_ratio: 0.0,
            final_duration: duration,
            duration_sum: duration,
            initial_duration: Some(duration.min(Span::from_secs(1))),
            width: 0.005,
        }
    }

    /// Non-drop rate: no frame lost in one trial of `duration`.
    pub fn ndr(duration: Span) -> Goal {
        Goal::single(0.0, duration)
    }

    /// Partial drop rate as it is mostly meant: at most half a percent lost in one trial of
    /// `duration`.
    pub fn pdr(duration: Span) -> Goal {
        Goal::single(0.005, duration)
    }

    /// RFC 2544's throughput: the lower bound is the throughput.
    //= rfc9971 §4.10.2
    //# The following Search Goal instance makes the corresponding Search Result unconditionally
    //# compliant with Section 24 of [RFC2544].
    pub fn rfc2544() -> Goal {
        Goal::ndr(Span::from_secs(60))
    }

    /// Binary search with loss verification of ETSI GS NFV-TST 009, a trial that lost repeated
    /// once: one of two passes.
    //= rfc9971 §4.10.3
    //# For example, for the "max(r) = 2" variant, the following Search Goal instance should be used
    //# to get a compatible Search Result
    pub fn tst009() -> Goal {
        Goal {
            exceed_ratio: 0.5,
            duration_sum: Span::from_secs(120),
            ..Goal::rfc2544()
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let initial = self.initial_duration.unwrap_or(self.final_duration);
        let is_in_order = initial <= self.final_duration;
        let rules = [
            share("loss_ratio", self.loss_ratio),
            share("exceed_ratio", self.exceed_ratio),
            time("final_duration", self.final_duration),
            time("duration_sum", self.duration_sum),
            time("initial_duration", initial),
            (
                "initial_duration",
                initial.as_secs_f64(),
                is_in_order,
                "at most `final_duration`",
            ),
            width(self.width),
        ];
        check(NAME, &rules)
    }

    /// The goals that lead to this one, from the shortest trials to its own, which is the last.
    /// Durations and their sums grow by equal factors.
    pub(super) fn stages(&self) -> Vec<Goal> {
        let initial = self.initial_duration.unwrap_or(self.final_duration);
        let growth = |last: Span| last.as_secs_f64() / initial.as_secs_f64();
        let total = growth(self.final_duration).max(growth(self.duration_sum));
        let steps = (total.ln() / GROWTH.ln()).ceil().max(0.0);
        let at = |last: Span, step: f64| {
            let seconds = initial.as_secs_f64() * growth(last).powf(step / steps);
            // Whole milliseconds read better, and some testers know no others.
            let ms = (seconds * 1e3).round();
            if ms < 100.0 {
                Span::from_secs_f64(seconds)
            } else {
                Span::from_ms(ms as u64)
            }
        };
        let mut stages: Vec<Goal> = (0..steps as u32)
            .map(|step| Goal {
                final_duration: at(self.final_duration, f64::from(step)),
                duration_sum: at(self.duration_sum, f64::from(step)),
                ..*self
            })
            .collect();
        stages.push(*self);
        stages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn durations(goal: &Goal) -> Vec<(u64, u64)> {
        let stages = goal.stages();
        stages
            .iter()
            .map(|s| (s.final_duration.as_ms(), s.duration_sum.as_ms()))
            .collect()
    }

    #[test]
    fn stages_lead_from_the_initial_duration_to_the_goal() {
        assert_eq!(
            durations(&Goal::rfc2544()),
            [(1000, 1000), (60_000, 60_000)]
        );
        assert_eq!(
            durations(&Goal::tst009()),
            [(1000, 1000), (7746, 10_954), (60_000, 120_000)]
        );
        // Many trials of one length: the sums grow alone.
        let many = Goal {
            exceed_ratio: 0.5,
            duration_sum: Span::from_secs(21),
            ..Goal::ndr(Span::from_secs(1))
        };
        assert_eq!(durations(&many), [(1000, 1000), (1000, 21_000)]);
    }

    #[test]
    fn a_goal_of_final_trials_alone_has_one_stage() {
        let goal = Goal {
            initial_duration: None,
            ..Goal::rfc2544()
        };
        assert_eq!(goal.stages(), [goal]);
        // A sum below the final duration is allowed.
        let goal = Goal {
            duration_sum: Span::from_secs(10),
            ..goal
        };
        assert_eq!(goal.stages(), [goal]);
    }
}
