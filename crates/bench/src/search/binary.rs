//! Binary search: halves the interval between a load that passed and one that did not.
//!
//! The most and the least load are tried first, so a device that bears the most, or not the least, is known after
//! one trial or two. A load *passes* where the share of lost frames is at most the goal (0 for RFC 2544). Then
//! the middle of the interval is tried until it is narrow enough. Its ends are loads that were tried: the lower
//! passed, the upper did not, whatever the device does between them.
//!
//! Where a final duration is given, the interval is found with short trials and its lower end then tried for that
//! long; where it does not pass, the search goes on below it with trials of that length.
//!
//! A trial that offered less than it intended says nothing about the device: it is repeated, and where that does
//! not help, its load is an upper end that is the tester's.
//!
//= rfc2544 §24
//# The tests that involve some form of "binary search", for example the throughput test, to determine the exact
//# result MAY use a shorter trial duration to minimize the length of the search procedure, but the final
//# determination SHOULD be made with full length trials.

use crate::trial::{Failure, Load, Outcome, Trial};
use trammel_core::time::Time;

/// What to search for, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binary {
    /// The least load, in frames a second; above 0.
    pub least: f64,
    /// The most, not below the least: what the line carries.
    pub most: f64,
    /// The share of frames that may be lost, from 0 to below 1.
    pub loss_goal: f64,
    /// The width of the interval at its end, as a share of its upper end; above 0 and below 1.
    pub width: f64,
    /// How long a trial is; above 0.
    pub duration: Time,
    /// How long the trial is that decides, where that is longer.
    pub final_duration: Option<Time>,
    /// By what share a trial may fall short of the load it intends.
    pub shortfall: f64,
    /// How often a trial that falls short is repeated.
    pub repeats: u32,
}

/// Why nothing is searched, or the search did not end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings cannot be.
    #[error("binary search: `{name}` is {value}; it must be {must}")]
    Setting {
        /// Which.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// A trial could not be made.
    #[error("trial at {frames_per_second} frames/s: {failure}")]
    Trial {
        /// Its load.
        frames_per_second: f64,
        /// Why.
        #[source]
        failure: Failure,
        /// The trials before it.
        trials: Vec<Tried>,
    },
}

/// What a trial says of its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The loss was within the goal.
    Passed,
    /// It was not.
    Failed,
    /// The tester fell short of the load.
    FellShort,
}

/// A trial that was made.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What was intended.
    pub load: Load,
    /// What became of it.
    pub outcome: Outcome,
    /// What it says.
    pub judgement: Judgement,
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
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// How the search ended.
    pub verdict: Verdict,
    /// The highest load that passed below all that did not, in frames a second.
    pub lower: Option<f64>,
    /// The lowest that did not, where there is one.
    pub upper: Option<f64>,
    /// All trials, in their order.
    pub trials: Vec<Tried>,
}

impl Found {
    /// The trial that decided on the lower end.
    pub fn at_lower(&self) -> Option<&Tried> {
        let lower = self.lower?;
        let mut latest_first = self.trials.iter().rev();
        latest_first
            .find(|t| t.load.frames_per_second() == lower && t.judgement == Judgement::Passed)
    }
}

impl Binary {
    /// Zero loss between `least` and `most` frames a second, to half a percent, with trials of `duration` that may
    /// fall short by a thousandth and are repeated twice if so.
    pub fn new(least: f64, most: f64, duration: Time) -> Binary {
        Binary {
            least,
            most,
            loss_goal: 0.0,
            width: 0.005,
            duration,
            final_duration: None,
            shortfall: 0.001,
            repeats: 2,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let is_positive = |x: f64| x > 0.0 && x.is_finite();
        let rules = [
            (
                "least",
                self.least,
                is_positive(self.least),
                "above 0 frames/s",
            ),
            (
                "most",
                self.most,
                is_positive(self.most) && self.most >= self.least,
                "not below `least`",
            ),
            (
                "loss_goal",
                self.loss_goal,
                (0.0..1.0).contains(&self.loss_goal),
                "from 0 to below 1",
            ),
            (
                "width",
                self.width,
                self.width > 0.0 && self.width < 1.0,
                "above 0 and below 1",
            ),
            (
                "duration",
                self.duration.as_secs_f64(),
                self.duration > Time::ZERO,
                "above 0 s",
            ),
            (
                "shortfall",
                self.shortfall,
                (0.0..1.0).contains(&self.shortfall),
                "from 0 to below 1",
            ),
        ];
        match rules.into_iter().find(|rule| !rule.2) {
            Some((name, value, _, must)) => Err(Error::Setting { name, value, must }),
            None => Ok(()),
        }
    }

    /// Searches.
    pub fn search(&self, device: &mut dyn Trial) -> Result<Found, Error> {
        self.check()?;
        let mut run = Run {
            settings: *self,
            device,
            trials: Vec::new(),
        };
        let mut ends = run.narrow(self.most, self.duration)?;
        let longer = self.final_duration.filter(|long| *long > self.duration);
        if let (Some(long), Some(lower)) = (longer, ends.lower) {
            let short = ends;
            ends = run.narrow(lower, long)?;
            if ends.lower == Some(lower) {
                ends = short;
            }
        }
        let verdict = match (ends.lower, ends.upper) {
            (_, Some(_)) if ends.is_testers => Verdict::Tester,
            (None, _) => Verdict::FailedAtLeast,
            (Some(_), None) => Verdict::PassedAtMost,
            (Some(_), Some(_)) => Verdict::Between,
        };
        Ok(Found {
            verdict,
            lower: ends.lower,
            upper: ends.upper,
            trials: run.trials,
        })
    }
}

/// The ends of the interval.
#[derive(Clone, Copy, Debug)]
struct Ends {
    lower: Option<f64>,
    upper: Option<f64>,
    /// The upper end is the tester's.
    is_testers: bool,
}

struct Run<'a> {
    settings: Binary,
    device: &'a mut dyn Trial,
    trials: Vec<Tried>,
}

impl Run<'_> {
    /// The interval below `most`, found with trials of `duration`.
    fn narrow(&mut self, most: f64, duration: Time) -> Result<Ends, Error> {
        let mut ends = Ends {
            lower: None,
            upper: None,
            is_testers: false,
        };
        if self.place(most, duration, &mut ends)? {
            return Ok(ends);
        }
        if most == self.settings.least || !self.place(self.settings.least, duration, &mut ends)? {
            return Ok(ends);
        }
        while let (Some(lower), Some(upper)) = (ends.lower, ends.upper) {
            let middle = lower + (upper - lower) / 2.0;
            let is_narrow = upper - lower <= self.settings.width * upper;
            // Between two neighbouring numbers there is none.
            if is_narrow || middle <= lower || middle >= upper {
                break;
            }
            self.place(middle, duration, &mut ends)?;
        }
        Ok(ends)
    }

    /// Tries a load, which becomes one of the ends; whether it passed.
    fn place(&mut self, rate: f64, duration: Time, ends: &mut Ends) -> Result<bool, Error> {
        let mut judgement = Judgement::FellShort;
        for _ in 0..=self.settings.repeats {
            judgement = self.attempt(rate, duration)?;
            if judgement != Judgement::FellShort {
                break;
            }
        }
        if judgement == Judgement::Passed {
            ends.lower = Some(rate);
        } else {
            ends.upper = Some(rate);
            ends.is_testers = judgement == Judgement::FellShort;
        }
        Ok(judgement == Judgement::Passed)
    }

    fn attempt(&mut self, rate: f64, duration: Time) -> Result<Judgement, Error> {
        let settings = self.settings;
        let load = Load::new(rate, duration).expect("a rate between two that are above 0");
        let outcome = match self.device.run(load) {
            Ok(outcome) => outcome,
            Err(failure) => {
                return Err(Error::Trial {
                    frames_per_second: rate,
                    failure,
                    trials: std::mem::take(&mut self.trials),
                });
            }
        };
        let judgement = if outcome.falls_short(load, settings.shortfall) {
            Judgement::FellShort
        } else if outcome.loss_ratio() <= settings.loss_goal {
            Judgement::Passed
        } else {
            Judgement::Failed
        };
        self.trials.push(Tried {
            load,
            outcome,
            judgement,
        });
        Ok(judgement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trammel_core::rng::Rng;

    const SECOND: Time = Time::from_secs(1);

    /// A device that forwards so many frames of those that are offered in a trial.
    fn device(
        mut forwarded: impl FnMut(Load) -> f64,
    ) -> impl FnMut(Load) -> Result<Outcome, Failure> {
        move |load| {
            let offered = load.frames() as u64;
            Ok(Outcome {
                offered,
                forwarded: (forwarded(load) as u64).min(offered),
                effective: load.duration(),
                latency: None,
            })
        }
    }

    fn of_capacity(capacity: f64) -> impl FnMut(Load) -> Result<Outcome, Failure> {
        device(move |load| capacity * load.duration().as_secs_f64())
    }

    /// What holds of every search, whatever the device.
    fn holds(search: &Binary, found: &Found) -> Result<(), TestCaseError> {
        let said = |rate: f64, judgement| {
            let mut all = found.trials.iter();
            all.any(|t| t.load.frames_per_second() == rate && t.judgement == judgement)
        };
        if let Some(lower) = found.lower {
            prop_assert!(said(lower, Judgement::Passed));
            prop_assert!(found.at_lower().is_some());
        }
        if let Some(upper) = found.upper {
            prop_assert!(said(upper, Judgement::Failed) || said(upper, Judgement::FellShort));
        }
        if let (Some(lower), Some(upper)) = (found.lower, found.upper) {
            prop_assert!(lower < upper && upper - lower <= search.width * upper);
        }
        // The most, the least, and a halving for each bit of the relative width, which is at the worst taken at
        // the least load.
        let halvings = (search.most / (search.width * search.least)).log2().ceil() as usize;
        prop_assert!(
            found.trials.len() <= 2 * (3 + halvings),
            "{}",
            found.trials.len()
        );
        Ok(())
    }

    proptest! {
        #[test]
        fn a_capacity_is_found_to_the_width(
            capacity in 2e3..1e6_f64,
            width in 0.001..0.2_f64,
        ) {
            let search = Binary { width, ..Binary::new(1e3, 1e6, SECOND) };
            let found = search.search(&mut of_capacity(capacity)).unwrap();
            holds(&search, &found)?;
            prop_assert_eq!(found.verdict, Verdict::Between);
            // Frames are whole: the device forwards one less than its capacity at times.
            let (lower, upper) = (found.lower.unwrap(), found.upper.unwrap());
            prop_assert!(lower <= capacity + 1.0 && capacity - 1.0 <= upper, "{} {}", lower, upper);
        }

        #[test]
        fn a_loss_goal_is_kept(capacity in 2e4..9e5_f64, goal in 0.001..0.1_f64) {
            let search = Binary { loss_goal: goal, ..Binary::new(1e3, 1e6, SECOND) };
            let found = search.search(&mut of_capacity(capacity)).unwrap();
            holds(&search, &found)?;
            let bears = (capacity / (1.0 - goal)).min(1e6);
            let lower = found.lower.unwrap();
            prop_assert!((lower / bears - 1.0).abs() < 0.006, "{} {}", lower, bears);
        }

        #[test]
        fn the_ends_of_noisy_and_whimsical_devices_are_what_was_tried(
            capacity in 1e3..2e6_f64,
            noise in 0.0..1.0_f64,
            seed: u64,
        ) {
            let mut rng = Rng::new(seed, "noise");
            let search = Binary::new(1e3, 1e6, SECOND);
            let mut noisy = device(|load| {
                capacity * load.duration().as_secs_f64() * (1.0 - noise * rng.unit())
            });
            holds(&search, &search.search(&mut noisy).unwrap())?;
            // It bears some loads and not others, in no order.
            let mut rng = Rng::new(seed, "whims");
            let mut whimsical = device(|load| if rng.chance(0.5) { load.frames() } else { 0.0 });
            let search = Binary { final_duration: Some(SECOND * 2), ..search };
            holds(&search, &search.search(&mut whimsical).unwrap())?;
        }
    }

    #[test]
    fn a_capacity_above_the_line_needs_one_trial() {
        let found = Binary::new(1.0, 1e6, SECOND)
            .search(&mut of_capacity(1e9))
            .unwrap();
        assert_eq!(
            (found.verdict, found.trials.len()),
            (Verdict::PassedAtMost, 1)
        );
        assert_eq!((found.lower, found.upper), (Some(1e6), None));
    }

    #[test]
    fn a_device_that_forwards_nothing_is_told_after_two_trials() {
        let found = Binary::new(1e3, 1e6, SECOND)
            .search(&mut of_capacity(0.0))
            .unwrap();
        assert_eq!(
            (found.verdict, found.trials.len()),
            (Verdict::FailedAtLeast, 2)
        );
        assert_eq!((found.lower, found.upper), (None, Some(1e3)));
    }

    #[test]
    fn what_a_long_trial_refutes_is_searched_below_with_long_trials() {
        // A buffer of 10,000 frames hides an overload from short trials.
        let mut buffered = device(|load| 5e5 * load.duration().as_secs_f64() + 1e4);
        let short = Binary::new(1e3, 1e6, Time::from_ms(100));
        let found = short.search(&mut buffered).unwrap();
        assert!(found.lower.unwrap() > 5.9e5, "{:?}", found.lower);
        let long = Binary {
            final_duration: Some(Time::from_secs(60)),
            ..short
        };
        let found = long.search(&mut buffered).unwrap();
        assert!(
            (found.lower.unwrap() / 5e5 - 1.0).abs() < 0.006,
            "{:?}",
            found.lower
        );
        let decided = found.at_lower().unwrap().load.duration();
        assert_eq!(decided, Time::from_secs(60));
    }

    #[test]
    fn a_tester_at_its_limit_is_told_from_the_device() {
        let mut device = of_capacity(1e9);
        let mut limited = |load: Load| {
            let mut outcome = device(load)?;
            outcome.offered = outcome.offered.min(300_000);
            outcome.forwarded = outcome.offered;
            Ok(outcome)
        };
        let found = Binary::new(1e3, 1e6, SECOND).search(&mut limited).unwrap();
        assert_eq!(found.verdict, Verdict::Tester);
        assert!((found.lower.unwrap() / 3e5 - 1.0).abs() < 0.006);
        // Each that fell short was repeated twice.
        let short = found
            .trials
            .iter()
            .filter(|t| t.judgement == Judgement::FellShort);
        assert_eq!(short.count() % 3, 0);
    }

    #[test]
    fn impossible_settings_and_failing_trials_are_told() {
        let search = Binary::new(1e6, 1e3, SECOND);
        let said = search
            .search(&mut of_capacity(1.0))
            .unwrap_err()
            .to_string();
        assert_eq!(
            said,
            "binary search: `most` is 1000; it must be not below `least`"
        );
        let mut left = 2;
        let mut dies = |load: Load| {
            left -= 1;
            if left == 0 {
                return Err("the device is gone".into());
            }
            of_capacity(0.0)(load)
        };
        let error = Binary::new(1e3, 1e6, SECOND).search(&mut dies).unwrap_err();
        assert_eq!(
            error.to_string(),
            "trial at 1000 frames/s: the device is gone"
        );
        assert!(matches!(error, Error::Trial { trials, .. } if trials.len() == 1));
    }
}
