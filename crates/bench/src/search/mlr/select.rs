//! Which load to try next for a goal.
//!
//! | known | next |
//! | --- | --- |
//! | nothing | the guess, else the most load |
//! | an upper bound | the guess, else the lower bound of the stage before, else what the device forwarded at the upper bound |
//! | a lower bound | the guess, else the upper bound of the stage before, else a step above |
//! | both | the guess, else a bound of the stage before, else the middle |
//!
//! The guess comes from the losses that were seen (`crossing`). Whatever is tried lies at least a
//! *step* inside the bounds, a width at first: so that one trial ends the search where it goes as
//! hoped, and twice as far each time that it leads to the same kind of bound again, so that a wrong
//! guess costs the logarithm of its error.
//!
//! A load that is not decided by its first trial is tried again before any other.
//!
//! Steps and middles are powers of one less the goal's width: an interval found in two steps has a
//! middle that ends the search on either side.

use super::Irregular;
use super::classify::Class;
use super::crossing::crossing;
use super::goal::Goal;
use super::record::{Bounds, Record};

/// Room for rounding in widths.
const ROUNDING: f64 = 1e-9;
/// After so many loads of a stage its middles are tried: a device without a curve leads guesses
/// astray.
const GUESSES: u32 = 8;
/// A guess so many widths below an upper bound at most is moved to one width below it, where a
/// trial that passes ends the search.
const NEAR: i32 = 3;

/// Where a search may go, frames a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) least: f64,
    pub(super) most: f64,
    /// The tester cannot offer this, nor more.
    pub(super) ceiling: Option<f64>,
}

/// What a goal wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wish {
    /// A trial at a load.
    Trial(f64),
    /// Nothing: its bounds are near enough.
    Found,
    /// Nothing, since there is nothing to find.
    Vain(Irregular),
}

/// How a stage came along.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Widths of the next step.
    step: f64,
    /// Loads that were decided.
    decided: u32,
    /// What the last of them was.
    latest: Class,
    /// A load that was tried and is not decided.
    pending: Option<f64>,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress {
            step: 1.0,
            decided: 0,
            latest: Class::Undecided,
            pending: None,
        }
    }
}

impl Progress {
    /// A trial made a load what it is.
    pub(super) fn note(&mut self, load: f64, class: Class) {
        self.pending = (class == Class::Undecided).then_some(load);
        if class != Class::Undecided {
            let is_same = class == self.latest;
            self.step = if is_same { 2.0 * self.step } else { 1.0 };
            self.latest = class;
            self.decided += 1;
        }
    }
}

/// What a choice depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) goal: &'a Goal,
    pub(super) record: &'a Record,
    pub(super) limits: Limits,
    /// The bounds of the stage before.
    pub(super) before: Bounds,
    pub(super) progress: Progress,
}

pub(super) fn is_narrow(lower: f64, upper: f64, width: f64) -> bool {
    upper - lower <= width * upper * (1.0 + ROUNDING)
}

/// The bounds of the stage, the ceiling being an upper one too.
#[derive(Clone, Copy, Debug)]
struct Ends {
    lower: Option<f64>,
    upper: Option<f64>,
    /// The upper end is the ceiling.
    is_testers: bool,
}

impl Ends {
    fn surround(&self, load: f64) -> bool {
        self.lower.is_none_or(|lower| lower < load) && self.upper.is_none_or(|upper| load < upper)
    }
}

impl View<'_> {
    /// What the goal wants next; `forwarded` is what the device forwarded at a load, frames a
    /// second.
    pub(super) fn wish(&self, forwarded: impl Fn(f64) -> Option<f64>) -> Wish {
        let bounds = self.record.bounds(self.goal);
        let ceiling = self
            .limits
            .ceiling
            .filter(|ceiling| bounds.upper.is_none_or(|u| *ceiling <= u));
        let ends = Ends {
            lower: bounds.lower,
            upper: ceiling.or(bounds.upper),
            is_testers: ceiling.is_some(),
        };
        if let Some(end) = self.end(bounds, ends) {
            return end;
        }
        let pending = self.progress.pending.filter(|load| ends.surround(*load));
        Wish::Trial(pending.unwrap_or_else(|| self.next(ends, forwarded)))
    }

    /// Whether there is nothing left to want, and why.
    fn end(&self, bounds: Bounds, ends: Ends) -> Option<Wish> {
        let is_found = |lower, upper| is_narrow(lower, upper, self.goal.width);
        match (ends.lower, ends.upper) {
            (Some(lower), _) if bounds.upper.is_some_and(|upper| is_found(lower, upper)) => {
                Some(Wish::Found)
            }
            _ if bounds.upper == Some(self.limits.least) => {
                Some(Wish::Vain(Irregular::FailedAtLeast))
            }
            (Some(lower), Some(upper)) if ends.is_testers && is_found(lower, upper) => {
                Some(Wish::Vain(Irregular::Tester))
            }
            (None, Some(upper)) if upper <= self.limits.least => {
                Some(Wish::Vain(Irregular::Tester))
            }
            (Some(lower), None) if lower >= self.limits.most => {
                Some(Wish::Vain(Irregular::PassedAtMost))
            }
            _ => None,
        }
    }

    /// The next load, by the table above.
    fn next(&self, ends: Ends, forwarded: impl Fn(f64) -> Option<f64>) -> f64 {
        let Limits { least, most, .. } = self.limits;
        let hint = self.hint(ends);
        match (ends.lower, ends.upper) {
            (None, None) => hint.map_or(most, |hint| hint.clamp(least, most)),
            (Some(lower), None) => {
                let above = self.inwards(lower, -1.0);
                hint.map_or(above, |hint| hint.max(above)).min(most)
            }
            (None, Some(upper)) => {
                let below = self.inwards(upper, 1.0);
                let next = hint.unwrap_or_else(|| self.below_by_rate(upper, forwarded(upper)));
                let next = next.min(below);
                let is_at_least = is_narrow(least, next, self.goal.width);
                if is_at_least { least } else { next }
            }
            (Some(lower), Some(upper)) => self.between(lower, upper, hint),
        }
    }

    /// A step from a bound, downwards where `direction` is 1 and upwards where it is -1.
    fn inwards(&self, bound: f64, direction: f64) -> f64 {
        bound * (1.0 - self.goal.width).powf(direction * self.progress.step)
    }

    /// The guess, or a bound of the stage before that lies between those of this one.
    fn hint(&self, ends: Ends) -> Option<f64> {
        let is_inside = |load: &f64| ends.surround(*load);
        self.guess(ends.upper)
            .or(self.before.lower.filter(is_inside))
            .or(self.before.upper.filter(is_inside))
    }

    /// Half a width below where the loss seems to cross the goal, so that the crossing is amid the
    /// bounds.
    fn guess(&self, upper: Option<f64>) -> Option<f64> {
        if self.progress.decided >= GUESSES {
            return None;
        }
        let rest = 1.0 - self.goal.width;
        let guess = crossing(self.goal, self.record)? * rest.sqrt();
        let is_near = |upper: &f64| guess > upper * rest.powi(NEAR);
        Some(
            upper
                .filter(is_near)
                .map_or(guess, |upper| guess.max(upper * rest)),
        )
    }

    /// Below an upper bound at which the device forwarded so much.
    fn below_by_rate(&self, upper: f64, forwarded: Option<f64>) -> f64 {
        let least = self.limits.least;
        let bears = forwarded.unwrap_or(0.0) / (1.0 - self.goal.loss_ratio);
        // Loss so heavy says little of where it ends.
        if bears < least {
            return least + (upper - least) / 2.0;
        }
        bears
    }

    fn between(&self, lower: f64, upper: f64, hint: Option<f64>) -> f64 {
        let (from, to) = (self.inwards(lower, -1.0), self.inwards(upper, 1.0));
        match hint {
            Some(hint) if from <= to => hint.clamp(from, to),
            // Halves the number of widths between two that are near to each other,
            _ if upper < 2.0 * lower => (lower * upper).sqrt(),
            // else the loads.
            _ => lower + (upper - lower) / 2.0,
        }
    }
}
