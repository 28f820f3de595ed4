//! Which trials say something of the device: what stands between a search and whom it tries.
//!
//! A tester that falls short of the load it intends, or takes longer for it, has tested another
//! load: such a trial is *invalid*, neither a lower nor an upper bound. It is repeated; where that
//! does not help, its load is a *ceiling* that is the tester's and not the device's, and a search
//! stays below it. RFC 9971 has another form: a severe mismatch is counted as loss.
//!
//! So has a tester that stood still and then made up for it at once, where frames were lost: the
//! burst was not what was intended, and as many losses as it had frames may be its doing. Such a
//! trial is *in doubt*: it is repeated too, and where each time is, its load is the tester's. One
//! in which nothing was lost says that the device bears the load, burst and all; one in which more
//! was lost than the tester can be to blame for says that it does not.
//!
//! A trial that lost may be *verified*: made again, and only if it loses each time the load is one
//! that loses (ETSI GS NFV-TST 009 §12.3.2, "binary search with loss verification").
//!
//! A *ramp-up* before the first trial fills the tables and caches of the device and wakes its
//! processors; what becomes of it counts for nothing.
//!
//! All searches offer their loads through a [`Tester`], which keeps every trial that was made.

use crate::trial::{Failure, Load, Trial, TrialOutcome};
use trammel_stats::table::format_float;

/// When a trial is valid, and what becomes of those that are not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Validity {
    /// By what share a trial may fall short of its load or outlast its duration; from 0 to below 1.
    pub tolerance: f64,
    /// How often a trial that fell short is repeated.
    pub repeats: u32,
    /// How often one is that is in doubt: what made the tester stand still is chance.
    pub doubts: u32,
    /// How often one that lost is verified.
    pub verifications: u32,
    /// What a mismatch of offered and intended load is taken for.
    pub mismatch: Mismatch,
    /// What is offered once before all trials, if anything.
    pub ramp_up: Option<Load>,
}

impl Default for Validity {
    /// A thousandth, two repeats, five of a trial in doubt, no verification, a mismatch is invalid,
    /// no ramp-up.
    fn default() -> Validity {
        Validity {
            tolerance: 0.001,
            repeats: 2,
            doubts: 5,
            verifications: 0,
            mismatch: Mismatch::Invalid,
            ramp_up: None,
        }
    }
}

/// What a trial that fell short is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A trial of the tester, which says nothing of the device.
    Invalid,
    /// Loss: frames that should have been offered in the time that the trial took, and were not,
    /// count as offered and lost.
    //= rfc9971 §4.9.1
    //# When testing the real SUT, it is RECOMMENDED to turn any severe deviation between the
    //# Intended Load and the Offered Load into the increased Trial Loss Ratio.
    Loss,
}

/// What a trial counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It says something of the device.
    Valid,
    /// The tester fell short of the load.
    FellShort,
    /// Frames were lost, and the tester's own bursts may have been why.
    InDoubt,
    /// It came before all others.
    RampUp,
}

/// A trial that was made.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What was intended.
    pub load: Load,
    /// What became of it.
    pub outcome: TrialOutcome,
    /// What it counts for.
    pub standing: Standing,
}

impl Tried {
    /// Whether at most the share `loss_goal` of the frames was lost; none where the trial says
    /// nothing.
    pub fn passes(&self, loss_goal: f64) -> Option<bool> {
        (self.standing == Standing::Valid).then(|| self.outcome.loss_ratio() <= loss_goal)
    }
}

/// A trial could not be made.
#[derive(Debug, thiserror::Error)]
#[error("trial at {} frames/s: {failure}", format_float(*frames_per_second, 9))]
pub struct Broken {
    /// Its load.
    pub frames_per_second: f64,
    /// Why.
    #[source]
    pub failure: Failure,
    /// The trials before it.
    pub trials: Vec<Tried>,
}

/// Offers loads for a search and keeps what became of them.
pub struct Tester<'a> {
    validity: Validity,
    device: &'a mut dyn Trial,
    trials: Vec<Tried>,
    ceiling: Option<f64>,
}

impl<'a> Tester<'a> {
    /// For one search on `device`.
    pub fn new(validity: Validity, device: &'a mut dyn Trial) -> Tester<'a> {
        Tester {
            validity,
            device,
            trials: Vec::new(),
            ceiling: None,
        }
    }

    /// Offers `load` until a trial is valid or the repeats are used up, and gives the last. A load
    /// that fell short, or was in doubt, to the end becomes the ceiling.
    pub fn offer(&mut self, load: Load) -> Result<&Tried, Broken> {
        if self.trials.is_empty()
            && let Some(ramp_up) = self.validity.ramp_up
        {
            self.attempt(ramp_up, true)?;
        }
        let Validity {
            repeats,
            doubts,
            verifications,
            ..
        } = self.validity;
        let (mut short, mut doubtful, mut lossy) = (0, 0, 0);
        let standing = loop {
            let standing = self.attempt(load, false)?;
            let (count, most) = match standing {
                Standing::FellShort => (&mut short, repeats),
                Standing::InDoubt => (&mut doubtful, doubts),
                Standing::Valid | Standing::RampUp if self.has_lost() => {
                    (&mut lossy, verifications)
                }
                Standing::Valid | Standing::RampUp => break standing,
            };
            if *count == most {
                break standing;
            }
            *count += 1;
        };
        if standing != Standing::Valid {
            let rate = load.frames_per_second();
            self.ceiling = Some(self.ceiling.map_or(rate, |lowest| lowest.min(rate)));
        }
        Ok(self.trials.last().expect("at least one attempt was made"))
    }

    /// Whether the last trial lost frames.
    fn has_lost(&self) -> bool {
        self.trials
            .last()
            .is_some_and(|last| last.outcome.lost() > 0)
    }

    /// The lowest load that could not be offered, in frames a second, if there is one: none at or
    /// above it can.
    pub fn ceiling(&self) -> Option<f64> {
        self.ceiling
    }

    /// All trials that were made, in their order.
    pub fn trials(&self) -> &[Tried] {
        &self.trials
    }

    /// All trials that were made, in their order.
    pub(crate) fn into_trials(self) -> Vec<Tried> {
        self.trials
    }

    fn attempt(&mut self, load: Load, is_ramp_up: bool) -> Result<Standing, Broken> {
        let mut outcome = match self.device.run(load) {
            Ok(outcome) => outcome,
            Err(failure) => {
                return Err(Broken {
                    frames_per_second: load.frames_per_second(),
                    failure,
                    trials: std::mem::take(&mut self.trials),
                });
            }
        };
        let (tolerance, sources) = (self.validity.tolerance, self.device.sources());
        let falls_short = outcome.falls_short(load, tolerance, sources);
        let standing = match self.validity.mismatch {
            _ if is_ramp_up => Standing::RampUp,
            Mismatch::Invalid if falls_short => Standing::FellShort,
            Mismatch::Loss if falls_short => {
                let took = load.duration().max(outcome.effective).as_secs_f64();
                let due = (load.frames_per_second() * took).round() as u64;
                outcome.offered = outcome.offered.max(due);
                Standing::Valid
            }
            _ if outcome.is_in_doubt() => Standing::InDoubt,
            _ => Standing::Valid,
        };
        self.trials.push(Tried {
            load,
            outcome,
            standing,
        });
        Ok(standing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::Span;

    const SECOND: Span = Span::from_secs(1);

    fn load(rate: f64) -> Load {
        Load::new(rate, SECOND).unwrap()
    }

    /// A tester that sends `most` frames at most and stretches a trial by `stretch`, before a
    /// device that loses nothing.
    fn limited(most: u64, stretch: f64) -> impl FnMut(Load) -> Result<TrialOutcome, Failure> {
        move |load| {
            let offered = (load.frames() as u64).min(most);
            Ok(TrialOutcome {
                offered,
                forwarded: offered,
                effective: Span::from_secs_f64(load.duration().as_secs_f64() * stretch),
                bunched: 0,
                latency: None,
            })
        }
    }

    #[test]
    fn a_load_that_falls_short_to_the_end_is_the_ceiling() {
        let mut device = limited(1000, 1.0);
        let mut tester = Tester::new(Validity::default(), &mut device);
        assert_eq!(tester.offer(load(900.0)).unwrap().passes(0.0), Some(true));
        assert_eq!(tester.ceiling(), None);
        for rate in [3000.0, 2000.0, 4000.0] {
            let tried = tester.offer(load(rate)).unwrap();
            assert_eq!(
                (tried.standing, tried.passes(0.0)),
                (Standing::FellShort, None)
            );
        }
        assert_eq!(tester.ceiling(), Some(2000.0));
        assert_eq!(tester.into_trials().len(), 1 + 3 * 3);
    }

    #[test]
    fn a_trial_that_recovers_is_valid_and_no_ceiling() {
        let mut count = 0;
        let mut device = |load: Load| {
            count += 1;
            limited(1000, if count == 1 { 1.5 } else { 1.0 })(load)
        };
        let mut tester = Tester::new(Validity::default(), &mut device);
        assert_eq!(tester.offer(load(500.0)).unwrap().standing, Standing::Valid);
        assert_eq!(tester.ceiling(), None);
        let standings: Vec<Standing> = tester.trials().iter().map(|t| t.standing).collect();
        assert_eq!(standings, [Standing::FellShort, Standing::Valid]);
    }

    /// A device that bears 1000 frames a second and holds ten, and a tester that makes so many a
    /// burst in each trial.
    fn bursty(bursts: &'static [u64]) -> impl FnMut(Load) -> Result<TrialOutcome, Failure> {
        let mut made = bursts.iter().cycle();
        move |load| {
            let (offered, burst) = (load.frames() as u64, *made.next().unwrap());
            let overload = offered.saturating_sub(1000);
            Ok(TrialOutcome {
                offered,
                forwarded: offered - overload - burst.saturating_sub(10),
                effective: load.duration(),
                bunched: burst,
                latency: None,
            })
        }
    }

    #[test]
    fn what_the_testers_own_bursts_may_have_lost_says_nothing_of_the_device() {
        let standings = |bursts, rate| {
            let mut device = bursty(bursts);
            let mut tester = Tester::new(Validity::default(), &mut device);
            let passes = tester.offer(load(rate)).unwrap().passes(0.0);
            let all: Vec<Standing> = tester.trials().iter().map(|t| t.standing).collect();
            (passes, all, tester.ceiling())
        };
        let doubt = Standing::InDoubt;
        // Below what it bears: in doubt until the tester is steady, which passes; at once where a
        // burst was held.
        let (passes, all, ceiling) = standings(&[60, 40, 0], 900.0);
        assert_eq!((passes, ceiling), (Some(true), None));
        assert_eq!(all, [doubt, doubt, Standing::Valid]);
        assert_eq!(standings(&[8], 900.0).0, Some(true));
        // Never steady: the load is the tester's.
        let (passes, all, ceiling) = standings(&[60], 900.0);
        assert_eq!((passes, all, ceiling), (None, vec![doubt; 6], Some(900.0)));
        // Above it: more is lost than the tester can be to blame for.
        assert_eq!(standings(&[60], 1200.0).0, Some(false));
    }

    #[test]
    fn a_loss_is_one_where_it_comes_each_time() {
        for (losing, verifications, passes) in
            [(1, 0, false), (1, 1, true), (2, 1, false), (2, 2, true)]
        {
            let mut left = losing;
            let mut device = |load: Load| {
                let mut outcome = limited(10_000, 1.0)(load)?;
                if left > 0 {
                    left -= 1;
                    outcome.forwarded -= 1;
                }
                Ok(outcome)
            };
            let verified = Validity {
                verifications,
                ..Validity::default()
            };
            let mut tester = Tester::new(verified, &mut device);
            assert_eq!(tester.offer(load(100.0)).unwrap().passes(0.0), Some(passes));
        }
    }

    #[test]
    fn a_mismatch_is_loss_where_asked_for() {
        let as_loss = Validity {
            mismatch: Mismatch::Loss,
            ..Validity::default()
        };
        // Too few frames, and the frames in too long a time: half of the intended load either way.
        for (mut device, rate) in [(limited(1000, 1.0), 2000.0), (limited(1000, 2.0), 1000.0)] {
            let mut tester = Tester::new(as_loss, &mut device);
            let tried = tester.offer(load(rate)).unwrap();
            assert_eq!(
                (tried.outcome.loss_ratio(), tried.passes(0.4)),
                (0.5, Some(false))
            );
            assert_eq!((tester.ceiling(), tester.trials().len()), (None, 1));
        }
        // Within the tolerance nothing is made of it.
        let mut device = limited(9995, 1.0);
        let mut tester = Tester::new(as_loss, &mut device);
        assert_eq!(tester.offer(load(1e4)).unwrap().outcome.lost(), 0);
    }

    #[test]
    fn a_ramp_up_comes_once_and_counts_for_nothing() {
        let mut is_cold = true;
        let mut device = |load: Load| {
            let mut outcome = limited(10_000, 1.0)(load)?;
            if std::mem::take(&mut is_cold) {
                outcome.forwarded = 0;
            }
            Ok(outcome)
        };
        let ramped = Validity {
            ramp_up: Some(load(100.0)),
            ..Validity::default()
        };
        let mut tester = Tester::new(ramped, &mut device);
        for _ in 0..2 {
            assert_eq!(tester.offer(load(1000.0)).unwrap().passes(0.0), Some(true));
        }
        let first = &tester.trials()[0];
        assert_eq!(
            (first.standing, first.passes(1.0)),
            (Standing::RampUp, None)
        );
        assert_eq!(first.load, load(100.0));
        assert_eq!(tester.trials().len(), 3);
    }
}
