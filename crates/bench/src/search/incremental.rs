//! Incremental search: raises the load by a step until the first loss.
//!
//! Linguaglossa et al. ("the rate in the Packet Generator configuration file was increased every
//! time until a loss packet occurred") take the first load that lost for the limit: here that is
//! the upper end, and the load before it, which passed, the lower. The true limit lies between them
//! or, where chance made the loss, above. A search takes as many trials as there are steps below
//! the limit; [`super::binary`] takes as many as their logarithm.
//!
//! Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between the Click Modular
//! Router and the NetFPGA Router", throughput.

use super::{Ends, Error, Found, check, least, most, share, time};
use crate::trial::{Load, Trial};
use crate::validity::{Tester, Validity};
use trammel_core::time::Span;

/// More steps than anyone waits for.
const MOST_STEPS: f64 = 1e6;

/// What to search for, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Incremental {
    /// The first load, in frames a second; above 0.
    pub least: f64,
    /// The last, not below the first: what the line carries.
    pub most: f64,
    /// By how much the load is raised, in frames a second; above 0, and at least a millionth of the
    /// way from `least` to `most`.
    pub step: f64,
    /// The share of frames that may be lost, from 0 to below 1; 0 in the paper.
    pub loss_goal: f64,
    /// How long a trial is; above 0.
    pub duration: Span,
    /// Which trials count.
    pub validity: Validity,
}

impl Incremental {
    /// The first loss between `least` and `most` frames a second, in a hundred steps.
    pub fn new(least: f64, most: f64, duration: Span) -> Incremental {
        Incremental {
            least,
            most,
            step: most / 100.0,
            loss_goal: 0.0,
            duration,
            validity: Validity::default(),
        }
    }

    /// Searches: `lower` is the load before the first that did not pass, `upper` that one, which
    /// the paper takes for the limit.
    pub fn search(&self, device: &mut dyn Trial) -> Result<Found, Error> {
        let is_step = self.step > 0.0 && (self.most - self.least) / self.step <= MOST_STEPS;
        let rules = [
            least(self.least),
            most(self.most, self.least),
            (
                "step",
                self.step,
                is_step,
                "above 0 frames/s and at least a millionth of the way from `least` to `most`",
            ),
            share("loss_goal", self.loss_goal),
            time("duration", self.duration),
            share("tolerance", self.validity.tolerance),
        ];
        check("incremental search", &rules)?;
        let mut tester = Tester::new(self.validity, device);
        let mut ends = Ends::default();
        // Multiples of the step, so that no error adds up.
        for step in 0_u32.. {
            let rate = (self.least + f64::from(step) * self.step).min(self.most);
            let load = Load::new(rate, self.duration).expect("a rate that is not below the least");
            let passed = ends.place(rate, tester.offer(load)?, self.loss_goal);
            if !passed || rate >= self.most {
                break;
            }
        }
        Ok(ends.into_found(tester.into_trials()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Verdict;
    use crate::trial::{Failure, TrialOutcome};
    use proptest::prelude::*;

    const SECOND: Span = Span::from_secs(1);

    fn of_capacity(capacity: f64) -> impl FnMut(Load) -> Result<TrialOutcome, Failure> {
        move |load| {
            let offered = load.frames() as u64;
            Ok(TrialOutcome {
                offered,
                forwarded: offered.min((capacity * load.duration().as_secs_f64()) as u64),
                effective: load.duration(),
                bunched: 0,
                latency: None,
            })
        }
    }

    proptest! {
        #[test]
        fn the_first_loss_is_one_step_above_the_last_pass(
            capacity in 1e3..2e6_f64,
            step in 5e3..3e5_f64,
        ) {
            let search = Incremental { step, ..Incremental::new(1e3, 1e6, SECOND) };
            let found = search.search(&mut of_capacity(capacity)).unwrap();
            let steps = (found.trials.len() - 1) as f64;
            prop_assert!(steps <= (1e6 / step).ceil());
            let passes: Vec<bool> = found.trials.iter().filter_map(|t| t.passes(0.0)).collect();
            let (last, before) = passes.split_last().unwrap();
            prop_assert!(before.iter().all(|passed| *passed));
            match found.verdict {
                Verdict::Between => {
                    prop_assert!(!last);
                    let (lower, upper) = (found.lower.unwrap(), found.upper.unwrap());
                    prop_assert!(upper - lower <= step * (1.0 + 1e-9));
                    prop_assert!(lower <= capacity && capacity <= upper + 1.0);
                }
                Verdict::PassedAtMost => prop_assert!(*last && capacity >= 1e6 - 1.0),
                verdict => prop_assert_eq!((verdict, *last), (Verdict::FailedAtLeast, false)),
            }
        }
    }

    #[test]
    fn a_device_that_forwards_nothing_is_told_after_one_trial() {
        let found = Incremental::new(1e3, 1e6, SECOND)
            .search(&mut of_capacity(0.0))
            .unwrap();
        assert_eq!(
            (found.verdict, found.lower, found.upper, found.trials.len()),
            (Verdict::FailedAtLeast, None, Some(1e3), 1)
        );
    }

    #[test]
    fn a_step_that_never_arrives_is_refused() {
        for step in [0.0, -1.0, f64::NAN, 1e-6] {
            let search = Incremental {
                step,
                ..Incremental::new(1e3, 1e6, SECOND)
            };
            let said = search.search(&mut of_capacity(1.0)).unwrap_err();
            assert!(
                said.to_string()
                    .starts_with("incremental search: `step` is")
            );
        }
    }
}
