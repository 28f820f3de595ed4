//! Binary search: halves the interval between a load that passed and one that did not.
//!
//! The most and the least load are tried first, so a device that bears the most, or not the least,
//! is known after one trial or two. A load *passes* where the share of lost frames is at most the
//! goal (0 for RFC 2544). Then the middle of the interval is tried until it is narrow enough. Its
//! ends are loads that were tried: the lower passed, the upper did not, whatever the device does
//! between them.
//!
//! Where a final duration is given, the interval is found with short trials and its lower end then
//! tried for that long; where it does not pass, the search goes on below it with trials of that
//! length.
//!
//! A trial that says nothing of the device ([`crate::validity`]) makes its load an upper end that
//! is the tester's.
//!
//= rfc2544 §24
//# The tests that involve some form of "binary search", for example the throughput test, to
//# determine the exact result MAY use a shorter trial duration to minimize the length of the search
//# procedure, but the final determination SHOULD be made with full length trials.

use super::{Ends, Error, Found, check, least, most, share, time, width};
use crate::trial::{Load, Trial};
use crate::validity::{Tester, Validity};
use trammel_core::time::Span;

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
    pub duration: Span,
    /// How long the trial is that decides, where that is longer.
    pub final_duration: Option<Span>,
    /// Which trials count.
    pub validity: Validity,
}

impl Binary {
    /// Zero loss between `least` and `most` frames a second, to half a percent, with trials of
    /// `duration`.
    pub fn new(least: f64, most: f64, duration: Span) -> Binary {
        Binary {
            least,
            most,
            loss_goal: 0.0,
            width: 0.005,
            duration,
            final_duration: None,
            validity: Validity::default(),
        }
    }

    fn check(&self) -> Result<(), Error> {
        let rules = [
            least(self.least),
            most(self.most, self.least),
            share("loss_goal", self.loss_goal),
            width(self.width),
            time("duration", self.duration),
            share("tolerance", self.validity.tolerance),
        ];
        check("binary search", &rules)
    }

    /// Searches.
    pub fn search(&self, device: &mut dyn Trial) -> Result<Found, Error> {
        self.check()?;
        let mut run = Run {
            settings: *self,
            tester: Tester::new(self.validity, device),
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
        Ok(ends.into_found(run.tester.into_trials()))
    }
}

struct Run<'a> {
    settings: Binary,
    tester: Tester<'a>,
}

impl Run<'_> {
    /// The interval below `most`, found with trials of `duration`.
    fn narrow(&mut self, most: f64, duration: Span) -> Result<Ends, Error> {
        let mut ends = Ends::default();
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
    fn place(&mut self, rate: f64, duration: Span, ends: &mut Ends) -> Result<bool, Error> {
        let load = Load::new(rate, duration).expect("a rate between two that are above 0");
        let tried = self.tester.offer(load)?;
        Ok(ends.place(rate, tried, self.settings.loss_goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Verdict;
    use crate::trial::{Failure, TrialOutcome};
    use crate::validity::Standing;
    use proptest::prelude::*;
    use trammel_core::rng::Rng;

    const SECOND: Span = Span::from_secs(1);

    /// A device that forwards so many frames of those that are offered in a trial.
    fn device(
        mut forwarded: impl FnMut(Load) -> f64,
    ) -> impl FnMut(Load) -> Result<TrialOutcome, Failure> {
        move |load| {
            let offered = load.frames() as u64;
            Ok(TrialOutcome {
                offered,
                forwarded: (forwarded(load) as u64).min(offered),
                effective: load.duration(),
                bunched: 0,
                latency: None,
            })
        }
    }

    fn of_capacity(capacity: f64) -> impl FnMut(Load) -> Result<TrialOutcome, Failure> {
        device(move |load| capacity * load.duration().as_secs_f64())
    }

    /// What holds of every search, whatever the device.
    fn holds(search: &Binary, found: &Found) -> Result<(), TestCaseError> {
        let said = |rate: f64, passes| {
            let mut all = found.trials.iter();
            all.any(|t| t.load.frames_per_second() == rate && t.passes(search.loss_goal) == passes)
        };
        if let Some(lower) = found.lower {
            prop_assert!(said(lower, Some(true)));
            prop_assert!(found.at_lower().is_some());
        }
        if let Some(upper) = found.upper {
            prop_assert!(said(upper, Some(false)) || said(upper, None));
        }
        if let (Some(lower), Some(upper)) = (found.lower, found.upper) {
            prop_assert!(lower < upper && upper - lower <= search.width * upper);
        }
        // The most, the least, and a halving for each bit of the relative width, which is at the
        // worst taken at the least load.
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
        let short = Binary::new(1e3, 1e6, Span::from_ms(100));
        let found = short.search(&mut buffered).unwrap();
        assert!(found.lower.unwrap() > 5.9e5, "{:?}", found.lower);
        let long = Binary {
            final_duration: Some(Span::from_secs(60)),
            ..short
        };
        let found = long.search(&mut buffered).unwrap();
        assert!(
            (found.lower.unwrap() / 5e5 - 1.0).abs() < 0.006,
            "{:?}",
            found.lower
        );
        let decided = found.at_lower().unwrap().load.duration();
        assert_eq!(decided, Span::from_secs(60));
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
            .filter(|t| t.standing == Standing::FellShort);
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
        assert!(matches!(error, Error::Trial(broken) if broken.trials.len() == 1));
    }
}
