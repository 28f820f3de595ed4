//! The search itself: makes the trials that the goals wish for until none wishes for any.

use super::classify::{TrialResult, classify, conditional_throughput};
use super::goal::Goal;
use super::record::{Bounds, Record};
use super::select::{Limits, Progress, View, Wish, is_narrow};
use super::{GoalResult, Irregular, MultipleLossRatio, Output};
use crate::search::Error;
use crate::trial::{Load, Trial};
use crate::validity::{Standing, Tester};
use trammel_core::time::Span;

/// The way to one goal.
struct Pursuit {
    stages: Vec<Goal>,
    stage: usize,
    /// The bounds of the stage before.
    before: Bounds,
    progress: Progress,
}

impl Pursuit {
    fn of(goal: &Goal) -> Pursuit {
        Pursuit {
            stages: goal.stages(),
            stage: 0,
            before: Bounds::default(),
            progress: Progress::default(),
        }
    }

    fn goal(&self) -> &Goal {
        &self.stages[self.stage]
    }

    fn is_at_last(&self) -> bool {
        self.stage + 1 == self.stages.len()
    }

    fn advance(&mut self, record: &Record) {
        self.before = record.bounds(self.goal());
        self.stage += 1;
        self.progress = Progress::default();
    }
}

/// A trial that a goal wishes for.
#[derive(Clone, Copy, Debug)]
struct Next {
    pursuit: usize,
    rate: f64,
    duration: Span,
}

/// A search under way.
pub(super) struct Controller<'a> {
    input: &'a MultipleLossRatio,
    tester: Tester<'a>,
    record: Record,
    pursuits: Vec<Pursuit>,
}

impl<'a> Controller<'a> {
    pub(super) fn new(input: &'a MultipleLossRatio, device: &'a mut dyn Trial) -> Controller<'a> {
        Controller {
            input,
            tester: Tester::new(input.validity, device),
            record: Record::default(),
            pursuits: input.goals.iter().map(Pursuit::of).collect(),
        }
    }

    pub(super) fn run(mut self) -> Result<Output, Error> {
        while self.tester.trials().len() < self.input.most_trials
            && let Some(next) = self.next()
        {
            self.measure(next)?;
        }
        Ok(Output {
            results: self.pursuits.iter().map(|p| self.result(p)).collect(),
            trials: self.tester.into_trials(),
        })
    }

    fn wish(&self, pursuit: &Pursuit) -> Wish {
        let view = View {
            goal: pursuit.goal(),
            record: &self.record,
            limits: Limits {
                least: self.input.least,
                most: self.input.most,
                ceiling: self.tester.ceiling(),
            },
            before: pursuit.before,
            progress: pursuit.progress,
        };
        view.wish(|rate| self.forwarded(rate))
    }

    /// What the device forwarded in the last trial at a load, frames a second.
    fn forwarded(&self, rate: f64) -> Option<f64> {
        let mut latest_first = self.tester.trials().iter().rev();
        let trial = latest_first
            .find(|t| t.load.frames_per_second() == rate && t.standing != Standing::RampUp)?;
        Some(trial.outcome.forwarding_rate())
    }

    /// The next trial; none where all goals have what they want.
    fn next(&mut self) -> Option<Next> {
        let mut best: Option<Next> = None;
        for at in 0..self.pursuits.len() {
            let rate = loop {
                match self.wish(&self.pursuits[at]) {
                    Wish::Trial(rate) => break Some(rate),
                    _ if self.pursuits[at].is_at_last() => break None,
                    _ => self.pursuits[at].advance(&self.record),
                }
            };
            let duration = self.pursuits[at].goal().final_duration;
            if let Some(rate) = rate
                && best.is_none_or(|b| (duration, rate) < (b.duration, b.rate))
            {
                best = Some(Next {
                    pursuit: at,
                    rate,
                    duration,
                });
            }
        }
        best
    }

    fn measure(&mut self, next: Next) -> Result<(), Error> {
        let load =
            Load::new(next.rate, next.duration).expect("a load between two that are above 0");
        let tried = self.tester.offer(load)?;
        if tried.standing == Standing::Valid {
            let trial = TrialResult {
                duration: next.duration,
                loss_ratio: tried.outcome.loss_ratio(),
            };
            self.record.add(next.rate, trial);
        }
        let pursuit = &mut self.pursuits[next.pursuit];
        let class = classify(pursuit.goal(), self.record.at(next.rate));
        pursuit.progress.note(next.rate, class);
        Ok(())
    }

    fn result(&self, pursuit: &Pursuit) -> GoalResult {
        let goal = *pursuit.stages.last().expect("a goal is its own last stage");
        let Bounds { lower, upper } = self.record.bounds(&goal);
        let irregular = match (lower, upper) {
            (Some(lower), Some(upper)) if is_narrow(lower, upper, goal.width) => None,
            _ => match self.wish(pursuit) {
                Wish::Vain(why) if pursuit.is_at_last() => Some(why),
                _ => Some(Irregular::GaveUp),
            },
        };
        GoalResult {
            goal,
            irregular,
            lower,
            upper,
            conditional_throughput: lower
                .map(|lower| conditional_throughput(&goal, lower, self.record.at(lower))),
        }
    }
}
